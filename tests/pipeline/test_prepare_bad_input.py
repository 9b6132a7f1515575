"""Bad input: one sentence, exit code 2, no traceback; nothing new on disk and nothing lost."""

import gzip
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core import config_file
from dragoman.core.errors import UserError
from dragoman.core.progress import Silent
from dragoman.corpus import prepare as prepare_module
from dragoman.corpus.manifest import FORMAT_VERSION
from dragoman.corpus.shards import open_corpus, verify

from .prepare_runs import Done, dragoman, listing, packed, prepare, write_text


def assert_refused(done: Done, *words: str) -> None:
    """It ended with one sentence that has these words."""
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert done.sentence.startswith("dragoman: ")
    assert done.err.count("dragoman: ") == 1
    for word in words:
        assert word in done.sentence, done.sentence


def refused(directory: Path, *arguments: object, words: tuple[str, ...], size: int | None = 512) -> None:
    """Preparing in `directory` is refused and leaves it as it was."""
    before = listing(directory)
    done = prepare(*arguments, "--out", directory / "corpus", size=size)
    assert_refused(done, *words)
    assert listing(directory) == before


def files(directory: Path, source: bytes, target: bytes) -> tuple[object, ...]:
    (directory / "a.en").write_bytes(source)
    (directory / "a.de").write_bytes(target)
    return "--source", directory / "a.en", "--target", directory / "a.de"


# Files that are not what they should be.


@pytest.mark.parametrize(("dataset", "line"), [("multi30k/train", 12_345), ("europarl/dev2000", 700)])
def test_unequal_line_counts_name_both_files_and_where_they_drift(
    shared_data: Path, tmp_path: Path, dataset: str, line: int
) -> None:
    source, target = (gzip.decompress((shared_data / f"{dataset}.{side}.gz").read_bytes()) for side in ("en", "de"))
    rows = target.splitlines(keepends=True)
    del rows[line - 1]
    arguments = files(tmp_path, source, b"".join(rows))
    before = listing(tmp_path)
    done = dragoman("prepare", *arguments, "--out", "corpus", directory=tmp_path)
    assert_refused(
        done, f"a.en has {len(rows) + 1:,} lines but ", f"a.de has {len(rows):,}; they seem to drift apart near"
    )
    named = int(done.sentence.rpartition("near line ")[2].replace(",", ""))
    assert abs(named - line) <= 10
    assert listing(tmp_path) == before


def test_a_missing_file_is_named_with_what_was_probably_meant(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    meant = f"there is no file {tmp_path}/b.en; did you mean {source}?"
    refused(tmp_path, "--source", tmp_path / "b.en", "--target", target, words=(meant,))
    refused(tmp_path, "--source", source, "--target", tmp_path / "no" / "a.de", words=("there is no directory",))


@pytest.mark.parametrize("name", ["x" * 300, os.fsdecode(b"caf\xe9.en"), "."])
def test_a_file_that_cannot_be_named_or_read_is_refused(tmp_path: Path, name: str) -> None:
    source, target = write_text(tmp_path)
    if not name.startswith("x") and name != ".":
        shutil.copy(source, tmp_path / name)
    words = {"x": "there is no file", "c": "is not valid UTF-8; rename it"}.get(name[0], "is a directory")
    before = {path.name for path in tmp_path.iterdir()}
    done = prepare("--source", tmp_path / name, "--target", target, "--out", tmp_path / "corpus")
    assert_refused(done, words)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("no /proc here")
    _, target = write_text(tmp_path)
    refused(
        tmp_path,
        "--source",
        "/proc/self/mem",
        "--target",
        target,
        words=("cannot read /proc/self/mem: Input/output error",),
    )


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_corpus_is_refused(tmp_path: Path, content: bytes) -> None:
    refused(tmp_path, *files(tmp_path, content, content), words=("there are no sentences in a.en",))


@pytest.mark.parametrize(
    ("rule", "source", "target"),
    [
        ("empty_side", b"\n\n\n", b"\n\n\n"),
        ("identical_sides", b"one house\ntwo houses\n", b"one house\ntwo houses\n"),
        ("wrong_script", "привет мир\nтри слова тут\n".encode(), b"hallo Welt\ndrei Worte hier\n"),
        ("invalid_utf8", b"caf\xe9\nna\xefve\n", b"Kaffee\nnaiv\n"),
        ("control_characters", b"a\tb c d e\nf\tg h i j\n" * 9, b"ein Haus\nzwei\n" * 9),
        ("too_many_pieces", b"some words here\n", b"einige Worte hier\n"),
    ],
)
def test_when_all_pairs_are_dropped_the_rule_is_named(tmp_path: Path, rule: str, source: bytes, target: bytes) -> None:
    arguments = [*files(tmp_path, source, target), "--set", "cleaning.max_pieces=1"]
    switch = f"switch the rule off: --set 'cleaning.switched_off=[\"{rule}\"]'"
    words = ("were dropped, ", f"of them by the rule {rule}; look at the text, or {switch}")
    refused(tmp_path, *arguments, words=words, size=288)


def test_a_weight_of_nothing_says_what_to_change(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    texts = f"corpus.texts=[{{source={str(source)!r}, target={str(target)!r}, weight=0}}]"
    refused(tmp_path, "--set", texts, words=("by the rule left_out_by_weight; give the text a larger weight",))


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)) * 40, "is not a text file: it is full of NUL bytes"),
        (b"\0" * 5_000, "is not a text file: it is full of NUL bytes"),
        ("\ufeffein Haus\n".encode("utf-16-le"), "is UTF-16, not UTF-8; convert it: iconv"),
        (gzip.compress(b"a house\n" * 100)[:-9], "is cut off or damaged"),
        (gzip.compress(b"a house\n" * 100)[:20] + b"garbage" * 9, "is cut off or damaged"),
        (gzip.compress(bytes(5_000)), "is not a text file: it is full of NUL bytes"),
        (b"\x28\xb5\x2f\xfd\x00", "is cut off or damaged"),
    ],
)
def test_a_file_that_is_no_text_is_refused_on_either_side(
    tmp_path: Path, side: str, content: bytes, words: str
) -> None:
    good = b"ein Haus am See\n" * 100
    sides = (content, good) if side == "source" else (good, content)
    name = "a.en" if side == "source" else "a.de"
    refused(tmp_path, *files(tmp_path, *sides), words=(f"{tmp_path}/{name}", words))


def test_a_few_nuls_and_broken_bytes_cost_their_pairs_only(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    lines = source.read_bytes().splitlines(keepends=True)
    lines[300] = b"a NUL \0 here\n"
    lines[400] = b"a broken \xff byte\n"
    source.write_bytes(b"".join(lines))
    done = prepare("--source", source, "--target", target, "--out", tmp_path / "corpus")
    assert done.code == 0, done.err
    [text] = open_corpus(tmp_path / "corpus").manifest.texts
    assert text.dropped == {"control_characters": 1, "invalid_utf8": 1}


def test_a_line_of_100_mb_costs_one_pair(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    lines = source.read_bytes().splitlines(keepends=True)
    lines[300] = b"x" * 100_000_000 + b"\n"
    (tmp_path / "long.en.gz").write_bytes(gzip.compress(b"".join(lines), 1))
    done = prepare("--source", tmp_path / "long.en.gz", "--target", target, "--out", tmp_path / "corpus")
    assert done.code == 0, done.err
    [text] = open_corpus(tmp_path / "corpus").manifest.texts
    assert (text.pairs_read, text.dropped) == (600, {"too_long": 1})
    [example] = map(json.loads, (tmp_path / "corpus" / "dropped.jsonl").read_text().splitlines())
    assert example["line"] == 301


@pytest.mark.parametrize("line", [b"broken \xff", b"x" * 1_100_000])
def test_a_given_test_set_is_taken_whole_or_refused(tmp_path: Path, line: bytes) -> None:
    source, target = write_text(tmp_path)
    (tmp_path / "t.en").write_bytes(b"one line\n" + line + b"\n")
    (tmp_path / "t.de").write_bytes(b"eine Zeile\nnoch eine\n")
    sets = ("--set", f"held_out.test_source={tmp_path}/t.en", "--set", f"held_out.test_target={tmp_path}/t.de")
    refused(tmp_path, "--source", source, "--target", target, *sets, words=("line 2 of", "t.en or its target is"))


def test_an_empty_dev_set_is_refused(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    (tmp_path / "dev.tsv").write_bytes(b"")
    sets = ("--set", f"held_out.dev_source={tmp_path}/dev.tsv")
    refused(tmp_path, "--source", source, "--target", target, *sets, words=("there are no sentences in dev",))


def test_a_wrong_hash_of_a_data_set_is_refused(shared_data: Path, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    for path in (shared_data / "multi30k").glob("*.gz"):
        if "lc.norm" not in path.name:
            shutil.copyfile(path, mirror / path.name)
    with gzip.open(mirror / "val.de.gz", "ab") as file:
        file.write(b"ein Satz mehr\n")
    before = listing(tmp_path)
    done = dragoman("prepare", "multi30k", "--mirror", "mirror", "--out", "corpus", directory=tmp_path)
    assert_refused(done, "val.de.gz")
    after = listing(tmp_path)
    new = {name for name in after.keys() - before.keys() if name.split("/")[0] != "cache"}
    assert (new, {name: after[name] for name in before}) == (set(), before)
    assert not list((tmp_path / "cache").rglob("*text-*")), "nothing half-made stays in the cache"


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_larger_than_the_text_supports_names_one_that_works(tmp_path: Path, kind: str) -> None:
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target, "--set", f"vocabulary.kind={kind}")
    before = listing(tmp_path)
    done = prepare(*arguments, "--out", tmp_path / "corpus", size=80_000)
    assert_refused(done, "a vocabulary of 80,000 pieces is larger than the en-de text supports; --set vocabulary.size=")
    assert listing(tmp_path) == before
    most = int(done.sentence.rpartition("=")[2])
    assert prepare(*arguments, "--out", tmp_path / "corpus", size=most).code == 0


def test_a_vocabulary_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target)
    refused(tmp_path, *arguments, "--set", f"vocabulary.model={source}", words=("a.en is not a SentencePiece model",))
    refused(tmp_path, *arguments, "--set", "vocabulary.model=no.model", words=("cannot read the vocabulary no.model",))
    one_sided = ("--set", f"vocabulary.source_model={source}")
    refused(tmp_path, *arguments, *one_sided, words=("one side has an existing vocabulary, the other has none",))


# Commands that cannot be meant.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is nothing to prepare; name a recipe, a data set, or files"),
        (("--source", "a.en"), "the corpus needs a directory; name it with --out DIR"),
        (("--target", "a.de", "--out", "c"), "0 --source files but 1 --target file"),
        (("--source", "a", "--source", "b", "--target", "c", "--out", "d"), "2 --source files but 1 --target file"),
        (("multi30", "--out", "c"), "multi30 is not a data set; did you mean multi30k?"),
        (("multi30k", "--source", "a.en", "--out", "c"), "a data set and --source exclude each other"),
        (("none.toml", "--out", "c"), "there is no recipe none.toml"),
        (("x" * 300, "--out", "c"), "is not a data set"),
        (("--source", "a.en", "--out", "c", "--set", "corpus.languages=german"), "'german' is not a language pair"),
        (("--source", "a.en", "--out", "c", "--set", "corpus.sed=1"), "unknown key corpus.sed; did you mean seed?"),
        (("--source", "a.en", "--out", "x" * 300), "File name too long"),
        (("--source", "a.en", "--out", os.fsdecode(b"caf\xe9")), "is not valid UTF-8; rename it"),
    ],
)
def test_a_command_that_cannot_be_meant_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    write_text(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = listing(tmp_path)
    assert_refused(prepare(*arguments, size=None), words)
    assert listing(tmp_path) == before


def test_a_recipe_with_a_nul_in_a_path_is_told(tmp_path: Path) -> None:
    write_text(tmp_path)
    for directory, source in (("a\\u0000b", "a.en"), ("corpus", "a\\u0000b")):
        recipe = f'[corpus]\ndirectory = "{directory}"\n[[corpus.texts]]\nsource = "{source}"\n'
        (tmp_path / "recipe.toml").write_text(recipe)
        before = listing(tmp_path)
        assert_refused(dragoman("prepare", "recipe.toml", directory=tmp_path), "is not a name that a file can have")
        assert listing(tmp_path) == before


# What is already there.


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "content", [{"notes.txt": "mine"}, {"manifest.json": '{"name": "web app"}', "index.html": "x"}]
)
def test_a_directory_that_is_no_corpus_is_never_overwritten(
    tmp_path: Path, content: dict[str, str], force: tuple[str, ...]
) -> None:
    source, target = write_text(tmp_path)
    (tmp_path / "corpus").mkdir()
    for name, text in content.items():
        (tmp_path / "corpus" / name).write_text(text)
    words = (f"{tmp_path}/corpus holds files but no corpus; nothing was changed; name another with --out",)
    refused(tmp_path, "--source", source, "--target", target, *force, words=words)


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_file_in_the_place_of_the_corpus_is_kept(tmp_path: Path, force: tuple[str, ...]) -> None:
    source, target = write_text(tmp_path)
    (tmp_path / "corpus").write_text("mine")
    refused(tmp_path, "--source", source, "--target", target, *force, words=("is a file; a corpus is a directory",))


def changed_manifest(tmp_path: Path, change: Any) -> tuple[object, ...]:
    """A corpus whose manifest is another; the arguments that made it."""
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target)
    assert prepare(*arguments, "--out", tmp_path / "corpus").code == 0
    path = tmp_path / "corpus" / "manifest.json"
    path.write_text(change(path.read_text()))
    return arguments


@pytest.mark.parametrize(
    ("version", "words"),
    [(FORMAT_VERSION + 1, "by a newer version of Dragoman"), (0, "by an older version of Dragoman")],
)
def test_a_corpus_of_another_version_is_told_and_can_be_replaced(tmp_path: Path, version: int, words: str) -> None:
    arguments = changed_manifest(
        tmp_path, lambda text: text.replace(f'"format_version": {FORMAT_VERSION}', f'"format_version": {version}')
    )
    refused(tmp_path, *arguments, words=(words,))
    assert_refused(prepare("--verify", tmp_path / "corpus"), words)
    assert prepare(*arguments, "--out", tmp_path / "corpus", "--force").code == 0
    verify(tmp_path / "corpus", Silent())


@pytest.mark.parametrize(
    "change", [lambda text: text[:100], lambda text: "", lambda text: text.replace("pairs_kept", "x")]
)
def test_a_damaged_manifest_is_told_and_can_be_replaced(tmp_path: Path, change: Any) -> None:
    arguments = changed_manifest(tmp_path, change)
    refused(tmp_path, *arguments, words=("manifest.json is damaged; prepare the corpus again with --force",))
    assert_refused(prepare("--verify", tmp_path / "corpus"), "manifest.json is damaged")
    assert prepare(*arguments, "--out", tmp_path / "corpus", "--force").code == 0
    verify(tmp_path / "corpus", Silent())


def test_verify_refuses_what_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert_refused(dragoman("prepare", "--verify", "nothing", directory=tmp_path), "nothing is not a prepared corpus")
    assert_refused(
        dragoman("prepare", "--verify", ".", directory=tmp_path), "is not a prepared corpus: no manifest.json"
    )
    assert_refused(dragoman("prepare", "--verify", "file", directory=tmp_path), "Not a directory")


def test_a_failed_replacement_leaves_the_old_corpus(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    assert prepare("--source", source, "--target", target, "--out", tmp_path / "corpus").code == 0
    empty = files(tmp_path, b"\n", b"\n")
    refused(tmp_path, *empty, "--force", words=("by the rule empty_side",))
    verify(tmp_path / "corpus", Silent())


# Disks.


@contextmanager
def mounted(directory: Path, options: str) -> Iterator[Path]:
    """A small disk of memory; needs the right to mount."""
    directory.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", directory], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", directory], check=True)


@pytest.mark.parametrize(("kilobytes", "processes"), [(4, 0), (40, 0), (120, 0), (240, 0), (320, 0), (40, 2), (240, 2)])
def test_a_full_disk_is_told_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int, processes: int
) -> None:
    source, target = write_text(tmp_path, number=2_000)
    monkeypatch.setattr(prepare_module, "INLINE_BYTES", 0)
    monkeypatch.setattr(prepare_module, "num_cores", lambda: processes)
    with mounted(tmp_path / "disk", f"size={kilobytes}k") as disk:
        done = prepare("--source", source, "--target", target, "--out", disk / "corpus")
        assert_refused(done, f"the disk that holds {disk}/corpus is full; make room, or write elsewhere")
        assert listing(disk) == {}


def test_a_corpus_stays_when_there_is_no_room_for_its_successor(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    with mounted(tmp_path / "disk", "size=900k") as disk:
        assert prepare("--source", source, "--target", target, "--out", disk / "corpus").code == 0
        more = write_text(tmp_path, "more", 9_000)
        before = listing(disk)
        done = prepare("--source", more[0], "--target", more[1], "--out", disk / "corpus", "--force")
        assert_refused(done, "is full")
        assert listing(disk) == before
        verify(disk / "corpus", Silent())


def test_a_read_only_disk_is_told(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    with mounted(tmp_path / "disk", "ro") as disk:
        done = prepare("--source", source, "--target", target, "--out", disk / "new" / "corpus")
        assert_refused(done, f"cannot write to {disk}/new/corpus: Read-only file system; write elsewhere")
        done = prepare("--source", source, "--target", target, "--out", disk / "corpus")
        assert_refused(done, "Read-only file system")


def test_a_mount_point_cannot_become_a_corpus(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    with mounted(tmp_path / "disk", "size=9m") as disk:
        done = prepare("--source", source, "--target", target, "--out", disk)
        assert_refused(done, f"{disk} is a mount point; name a directory inside it: --out {disk}/corpus")
        assert listing(disk) == {}


def test_a_file_in_the_way_of_the_target_is_told(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    before = listing(tmp_path)
    done = prepare("--source", source, "--target", target, "--out", source / "corpus")
    assert_refused(done, f"cannot write to {source}/corpus")
    assert listing(tmp_path) == before


# Anything at all.


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("model")
    source, target = write_text(directory)
    assert prepare("--source", source, "--target", target, "--out", directory / "corpus").code == 0
    return directory / "corpus" / "vocab.model"


LINES = st.lists(
    st.binary(max_size=8) | st.sampled_from([b"ein Haus", b"a house", "日本".encode(), b"\r", b"\t"]), max_size=6
)
CONTENT = st.binary(max_size=50) | LINES.map(b"\n".join)


@settings(max_examples=120)
@given(CONTENT, CONTENT, st.booleans(), st.sampled_from([(), ("few_letters", "control_characters", "invalid_utf8")]))
def test_any_two_files_become_a_corpus_or_a_sentence(
    small_model: Path,
    tmp_path_factory: pytest.TempPathFactory,
    source: bytes,
    target: bytes,
    is_tsv: bool,
    switched_off: tuple[str, ...],
) -> None:
    directory = tmp_path_factory.mktemp("any")
    files(directory, source, target)
    second = "" if is_tsv else f", target={str(directory / 'a.de')!r}"
    overrides = [
        f"corpus.texts=[{{source={str(directory / 'a.en')!r}{second}}}]",
        f"corpus.directory={str(directory / 'corpus')!r}",
        f"vocabulary.model={str(small_model)!r}",
        f"cleaning.switched_off={list(switched_off)}",
    ]
    try:
        prepare_module.prepare(config_file.load(None, overrides), mirror=None, progress=Silent())
    except UserError as error:
        assert "\n" not in str(error)
        assert sorted(path.name for path in directory.iterdir()) == ["a.de", "a.en"]
    else:
        verify(directory / "corpus", Silent())


def test_random_damage_to_a_packed_corpus_is_a_corpus_or_a_sentence(tmp_path: Path) -> None:
    source, target = map(packed, write_text(tmp_path))
    content = source.read_bytes()
    draw = random.Random(4)
    for number in range(12):
        changed = bytearray(content)
        changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        source.write_bytes(changed)
        done = prepare("--source", source, "--target", target, "--out", tmp_path / f"corpus {number}")
        assert done.code in (0, 2)
        assert "Traceback" not in done.err
