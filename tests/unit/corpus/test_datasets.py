"""Data sets by name, from mirrors that the tests build and from the real Multi30k files."""

import gzip
import io
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.core.progress import Silent
from dragoman.corpus import phrasebook
from dragoman.corpus.catalogue import CATALOGUE, IWSLT14, MULTI30K, WMT16
from dragoman.corpus.datasets import Fetched, fetch, fetch_catalogued, names
from dragoman.corpus.markup import sgm_segments, talk_lines, xml_segments
from dragoman.corpus.sources import ParallelText


def tgz(path: Path, members: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content.encode())
            tar.addfile(info, io.BytesIO(content.encode()))


def lines(text: ParallelText) -> tuple[list[str], list[str]]:
    assert text.target is not None
    return text.source.read_text().splitlines(), text.target.read_text().splitlines()


def got(name: str, languages: tuple[str, str], cache: Path, mirror: Path | None = None) -> Fetched:
    return fetch(name, languages, cache=cache, mirror=mirror, progress=Silent())


def talk(language: str, num_sentences: int) -> str:
    sentences = "".join(f" sentence {i} in {language} &amp; more \n" for i in range(1, num_sentences + 1))
    translator = "<translator href='x'>Anna</translator>\n" if language == "de" else ""
    return (
        "<url>http://www.ted.com/talks/x.html</url>\n<keywords>talks, sea</keywords>\n<speaker>A</speaker>\n"
        f"<talkid>1</talkid>\n{translator}<title>title in {language}</title>\n"
        f"<description>description in {language}</description>\n{sentences}"
    )


@pytest.fixture
def iwslt_mirror(tmp_path: Path) -> Path:
    """A mirror with a small archive that is built like the real one."""
    members = {"de-en/README": "read me"}
    for language in ("de", "en"):
        members[f"de-en/train.tags.de-en.{language}"] = talk(language, 44)
        for test in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            members[f"de-en/IWSLT14.{test}.de-en.{language}.xml"] = (
                f'<?xml version="1.0"?>\n<mteval><doc docid="1"><title>no segment</title>\n'
                f'<seg id="1"> {test} in {language} &lt;one&gt; </seg>\n<seg id="2">two</seg>\n</doc></mteval>\n'
            )
    tgz(tmp_path / "mirror" / "iwslt14" / "de-en.tgz", members)
    return tmp_path / "mirror"


def test_iwslt_talks_become_aligned_lines(iwslt_mirror: Path, tmp_path: Path) -> None:
    fetched = got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror)
    german, english = lines(fetched.train[0])
    assert german[:3] == ["title in de", "description in de", "sentence 1 in de & more"]
    assert english[:3] == ["title in en", "description in en", "sentence 1 in en & more"]
    assert len(german) == len(english) == 44


def test_every_23rd_line_of_the_iwslt_talks_is_the_dev_set(iwslt_mirror: Path, tmp_path: Path) -> None:
    fetched = got("iwslt14", ("en", "de"), tmp_path / "cache", iwslt_mirror)
    assert lines(fetched.dev[0])[0] == ["sentence 21 in en & more", "sentence 44 in en & more"]
    assert not set(lines(fetched.dev[0])[1]) & set(lines(fetched.train[0])[1])


def test_the_iwslt_test_set_is_five_sets_as_one(iwslt_mirror: Path, tmp_path: Path) -> None:
    english, german = lines(got("iwslt14", ("en", "de"), tmp_path / "cache", iwslt_mirror).test[0])
    assert len(english) == len(german) == 10
    assert english[:3] == ["TED.dev2010 in en <one>", "two", "TEDX.dev2012 in en <one>"]


def test_the_reverse_direction_is_the_same_text_swapped(iwslt_mirror: Path, tmp_path: Path) -> None:
    forth = got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror)
    back = got("iwslt14", ("en", "de"), tmp_path / "cache", iwslt_mirror)
    assert (forth.train[0].source, forth.train[0].target) == (back.train[0].target, back.train[0].source)


def test_a_second_run_needs_neither_mirror_nor_network(iwslt_mirror: Path, tmp_path: Path) -> None:
    cache, empty = tmp_path / "cache", tmp_path / "empty"
    empty.mkdir()
    first = got("iwslt14", ("de", "en"), cache, iwslt_mirror)
    assert got("iwslt14", ("de", "en"), cache, empty) == first


def test_packed_copies_do_not_stay_in_the_cache(iwslt_mirror: Path, tmp_path: Path) -> None:
    got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror)
    assert sorted(str(path.relative_to(tmp_path / "cache")) for path in (tmp_path / "cache").rglob("*.*")) == [
        "iwslt14/text-v1/dev.de",
        "iwslt14/text-v1/dev.en",
        "iwslt14/text-v1/test.de",
        "iwslt14/text-v1/test.en",
        "iwslt14/text-v1/train.de",
        "iwslt14/text-v1/train.en",
        "known_hashes.json",
    ]


def test_a_mirror_that_lacks_an_archive_names_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds neither de-en.tgz nor iwslt14/de-en.tgz"):
        got("iwslt14", ("de", "en"), tmp_path / "cache", tmp_path)


def test_a_web_page_in_place_of_an_archive_is_not_remembered(iwslt_mirror: Path, tmp_path: Path) -> None:
    portal = tmp_path / "portal"
    portal.mkdir()
    (portal / "de-en.tgz").write_bytes(b"<html>please log in</html>")
    with pytest.raises(UserError, match=r"de-en.tgz is damaged: .*; get it anew"):
        got("iwslt14", ("de", "en"), tmp_path / "cache", portal)
    assert got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror).train


def test_an_archive_that_changed_since_the_first_time_is_refused(iwslt_mirror: Path, tmp_path: Path) -> None:
    fetched = got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror)
    shutil.rmtree(fetched.train[0].source.parent)
    tgz(iwslt_mirror / "iwslt14" / "de-en.tgz", {"de-en/README": "another"})
    with pytest.raises(UserError, match=r"de-en.tgz is not the file that came the first time"):
        got("iwslt14", ("de", "en"), tmp_path / "cache", iwslt_mirror)


def test_a_text_whose_sides_differ_in_length_is_refused(tmp_path: Path) -> None:
    data_set = replace(
        MULTI30K,
        downloads=tuple(replace(file, sha256=None) for file in MULTI30K.downloads),
    )
    for file in data_set.downloads:
        content = b"one\n" if file.base_name == "val.de.gz" else b"one\ntwo\n"
        (tmp_path / file.base_name).write_bytes(gzip.compress(content))
    with pytest.raises(UserError, match=r"val of multi30k is not aligned: it has 1 lines of de and 2 lines of en"):
        fetch_catalogued(data_set, ("en", "de"), tmp_path / "cache", tmp_path, Silent())
    assert not (tmp_path / "cache" / "multi30k" / "text-v1").exists()


@pytest.fixture
def wmt_mirror(tmp_path: Path) -> Path:
    mirror = tmp_path / "mirror"

    def both(path: str, text: str = "in {}\n") -> dict[str, str]:
        return {
            path.format(language=language, role=role): text.format(language)
            for language, role in (("de", "src"), ("en", "ref"))
        }

    europarl = {"training/europarl-v7.fr-en.fr": "x\n", **both("training/europarl-v7.de-en.{language}")}
    tgz(mirror / "training-parallel-europarl-v7.tgz", europarl)
    tgz(mirror / "training-parallel-commoncrawl.tgz", both("commoncrawl.de-en.{language}", "two\r\n{}\n"))
    news = both("training-parallel-nc-v11/news-commentary-v11.de-en.{language}")
    tgz(mirror / "training-parallel-nc-v11.tgz", news)
    tests = both("dev/newstest2013.{language}")
    for year in (2014, 2015, 2016):
        text = f'<srcset setid="newstest{year}">\n<DOC>\n<p>\n<seg id="1">Bread &amp; <b> in {{}}</seg>\n</p></DOC>\n'
        tests |= both(f"dev/newstest{year}-deen-{{role}}.{{language}}.sgm", text)
    tgz(mirror / "dev.tgz", tests)
    return mirror


def test_wmt_has_three_training_texts_one_dev_and_one_test(wmt_mirror: Path, tmp_path: Path) -> None:
    data_set = replace(WMT16, downloads=tuple(replace(file, sha256=None) for file in WMT16.downloads))
    fetched = fetch_catalogued(data_set, ("en", "de"), tmp_path / "cache", wmt_mirror, Silent())
    assert [text.name for text in fetched.train] == [
        "wmt16 europarl-v7",
        "wmt16 commoncrawl",
        "wmt16 news-commentary-v11",
    ]
    assert [text.name for text in fetched.dev] == ["wmt16 newstest2013"]
    assert [text.name for text in fetched.test] == ["wmt16 newstest2014"]
    assert lines(fetched.train[1]) == (["two", "en"], ["two", "de"])
    assert lines(fetched.test[0]) == (["Bread &amp; <b> in en"], ["Bread &amp; <b> in de"])


def test_the_archives_of_wmt_must_be_the_published_ones(wmt_mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training-parallel-europarl-v7.tgz is not the file it should be"):
        got("wmt16", ("en", "de"), tmp_path / "cache", wmt_mirror)


def test_every_member_of_the_catalogue_lies_in_exactly_one_download() -> None:
    for data_set in CATALOGUE.values():
        for text in data_set.texts:
            assert set(text.members) == data_set.languages
            for member in (member for side in text.members.values() for member in side):
                assert sum(member.startswith(file.holds) for file in data_set.downloads) == 1


def test_what_is_downloaded_has_a_hash_or_comes_over_https() -> None:
    for data_set in CATALOGUE.values():
        for file in data_set.downloads:
            assert file.url.startswith("https://")
            assert file.sha256 is None or len(file.sha256) == 64


def test_the_real_multi30k_files_are_the_ones_of_the_catalogue(shared_data: Path, tmp_path: Path) -> None:
    if not (shared_data / "multi30k").is_dir():
        pytest.skip(f"no Multi30k in {shared_data}")
    fetched = got("multi30k", ("en", "de"), tmp_path, shared_data)
    assert [len(lines(text)[0]) for text in (*fetched.train, *fetched.dev, *fetched.test)] == [29_000, 1_014, 1_000]
    assert lines(fetched.train[0])[0][0] == "Two young, White males are outside near many bushes."
    assert lines(fetched.train[0])[1][0] == "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche."


KILLED = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from dragoman.corpus.datasets import fetch
left = int(sys.argv[3])
def tick():
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
class Deadly:
    @contextmanager
    def stage(self, name, *, total, unit):
        tick()
        yield self
        tick()
    def advance(self, amount, *, pairs=0):
        tick()
written = os.fsync
def fsync(descriptor):
    written(descriptor)
    tick()
os.fsync = fsync
fetch("iwslt14", ("de", "en"), cache=Path(sys.argv[1]), mirror=Path(sys.argv[2]), progress=Deadly())
print("survived")
"""


def test_a_kill_at_any_moment_leaves_nothing_that_a_later_run_believes(iwslt_mirror: Path, tmp_path: Path) -> None:
    """Kills at one write or progress report after the other, each time in the cache that the last kill left."""
    cache, moment = tmp_path / "cache", 1
    whole = [lines(text) for text in got("iwslt14", ("de", "en"), tmp_path / "whole", iwslt_mirror).train]
    while True:
        arguments = [str(cache), str(iwslt_mirror), str(moment)]
        run = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
        if run.returncode == 0:
            break
        assert run.returncode == -signal.SIGKILL, run.stderr
        moment += 6
    assert moment > 20
    assert [lines(text) for text in got("iwslt14", ("de", "en"), cache, None).train] == whole
    assert not list(cache.rglob("*.partial"))


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(iwslt_mirror: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/cache cannot be filled: .*; make room there or name another"):
        got("iwslt14", ("de", "en"), tmp_path / "file" / "cache", iwslt_mirror)


def test_the_phrasebook_is_written_in_both_directions(tmp_path: Path) -> None:
    fetched = got("phrasebook", ("en", "de"), tmp_path)
    back = got("phrasebook:en-de", ("de", "en"), tmp_path)
    assert fetched.train[0].source.parent.name.startswith(f"v{phrasebook.VERSION}-")
    written = {}
    for split in ("train", "dev", "test"):
        for text, reverse in zip(getattr(fetched, split), getattr(back, split), strict=True):
            rows = [tuple(row.split("\t")) for row in text.source.read_text().removesuffix("\n").split("\n")]
            assert {len(row) for row in rows} == {2}
            assert reverse.source.read_text().partition("\n")[0].split("\t") == list(reversed(rows[0]))
            written[text.name] = rows
    assert written["phrasebook dev"] == list(phrasebook.pairs("dev"))
    assert set(written["phrasebook phrases"]) == phrasebook.fixed_phrases()
    together = written["phrasebook train"] + written["phrasebook phrases"]
    assert sorted(together) == sorted(phrasebook.pairs("train"))
    assert [text.weight for text in fetched.train] == [1.0, 20.0]


def test_every_data_set_has_a_name() -> None:
    assert names() == ("multi30k", "iwslt14", "wmt16", "libreoffice-help:en-XX", "phrasebook")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("multi30", "did you mean multi30k?"),
        ("libreofice-help:en-de", "did you mean libreoffice-help?"),
        ("opus", "there are multi30k, iwslt14, wmt16, libreoffice-help:en-XX, phrasebook"),
    ],
)
def test_a_misspelt_data_set_gets_a_suggestion(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        got(name, ("en", "de"), tmp_path)
    assert str(caught.value) == f"{name.partition(':')[0]} is not a data set; {hint}"


@pytest.mark.parametrize(
    ("name", "languages", "message"),
    [
        ("multi30k", ("en", "fr"), "multi30k has no text from en to fr; its languages are de, en, any two of them"),
        ("phrasebook", ("en", "en"), "phrasebook has no text from en to en; its languages are de, en, any two of them"),
        ("libreoffice-help", ("en", "xx"), "libreoffice-help has no text from en to xx; its languages are ca, cs, "),
        (
            "libreoffice-help:en-pt-br",
            ("en", "de"),
            "libreoffice-help:en-pt-br has no text from en to de; name libreoffice-help:en-de",
        ),
        ("libreoffice-help:english", ("en", "de"), "english is not a pair of languages; write it like en-de"),
    ],
)
def test_languages_that_are_not_there_are_told(
    tmp_path: Path, name: str, languages: tuple[str, str], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        got(name, languages, tmp_path)
    assert str(caught.value).startswith(message)


def test_segments_are_read_across_lines_and_in_any_case() -> None:
    text = b'<SEG id="1">one\n two</SEG><seg id="2"></seg>\n<hl><seg id=3>three &amp;</seg></hl>'
    assert list(sgm_segments(io.BytesIO(text))) == [b"one two", b"", b"three &amp;"]
    assert list(xml_segments(io.BytesIO(text))) == [b"one two", b"", b"three &"]


def test_a_talk_keeps_sentences_that_merely_begin_with_a_bracket() -> None:
    text = b"<doc docid='1'>\n<3 is a heart\n</doc>\n\n<title>A</title>\n"
    assert list(talk_lines(io.BytesIO(text))) == [b"<3 is a heart", b"", b"A"]


def test_iwslt_has_no_published_hash() -> None:
    assert [file.sha256 for file in IWSLT14.downloads] == [None]
