"""Help pages from Debian packages that the tests build, and once from the real ones."""

import io
import lzma
import os
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.core.progress import Silent
from dragoman.corpus.datasets import fetch
from dragoman.corpus.libreoffice import aligned_paragraphs, package, packages, paragraphs_of

FRAME = """<!DOCTYPE html><html><body><header><p id="top">LibreOffice 7.4 Help</p></header>
<div id="DisplayArea" itemprop="softwareHelp">
{}
</div><div id="SearchFrame"></div><footer><p id="bm_module">debug</p></footer></body></html>"""


def paragraph(identity: str, body: str, tag: str = "p") -> str:
    return f'<{tag} id="{identity}" class="paragraph" dir="auto">{body}</{tag}>'


def deb(directory: Path, name: str, language: str, pages: Mapping[str, str]) -> Path:
    """A package with help pages, and with the other things that lie in a real one."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        root = f"./usr/share/libreoffice/help/{language}"
        files = {f"{root}/{page}": FRAME.format(body) for page, body in pages.items()}
        for path, content in {f"{root}/bookmarks.js": "js", "./usr/share/doc/copyright": "MPL", **files}.items():
            info = tarfile.TarInfo(path)
            info.size = len(content.encode())
            tar.addfile(info, io.BytesIO(content.encode()))
    data = lzma.compress(packed.getvalue())
    container = b"!<arch>\n"
    for member, part in (("debian-binary", b"2.0\n"), ("data.tar.xz", data)):
        container += f"{member:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(part):<10}`\n".encode() + part
    directory.mkdir(exist_ok=True)
    package_file = directory / f"{name}_4%3a7.4.7_all.deb"
    package_file.write_bytes(container)
    return package_file


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory with an English and a German package, as a mirror would have them."""
    store = tmp_path / "store"
    english = {
        "text/b.html": paragraph("par_1", "Press Enter.") + paragraph("par_2", "LibreOffice"),
        "text/a.html": paragraph("hd_1", "Rows", "h2") + paragraph("par_1", "Press Enter."),
    }
    german = {
        "text/a.html": paragraph("par_1", "Drücken Sie die Eingabetaste.") + paragraph("hd_1", "Zeilen", "h2"),
        "text/b.html": paragraph("par_1", "Drücken Sie die Eingabetaste.") + paragraph("par_2", "LibreOffice"),
    }
    deb(store, "libreoffice-help-en-us", "en-US", english)
    deb(store, "libreoffice-help-de", "de", german)
    return store


def fake_apt_get(directory: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put an apt-get first on PATH that notes how it is called and then runs `script`; gives where it notes it."""
    calls = directory / "calls"
    tools = directory / "tools"
    tools.mkdir()
    (tools / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {calls}\n{script}\n')
    (tools / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return calls


def texts(body: str) -> list[str]:
    """The texts of a page with this body, each under the one id it has."""
    return [text for (text,) in paragraphs_of(FRAME.format(body)).values()]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Choose <span class='emph'>File - Save</span>.", "Choose File - Save."),
        ("Fish &amp; chips &lt;now&gt; &eacute;", "Fish & chips <now> é"),
        ("one\n      two\tthree<br>four\u2028five", "one two three four five"),
        ("Voulez-vous\u00a0?  \n Oui", "Voulez-vous\u00a0? Oui"),
        ('<a name="x"></a><img src="i.png" alt="Icon">Save', "Save"),
        (
            'Press <span id="swlnsys_1" class="switchinline"><span hidden="true" id="MAC_1" class="MAC"><b>'
            'Command</b></span><span hidden="true" id="default_1"><span class="key">Ctrl</span></span></span>+F6.',
            "Press Ctrl+F6.",
        ),
        (
            'Sorts.<span id="swlnappl_1" class="switchinline"><span hidden="true" id="CALC_1" class="CALC"> Also in '
            "<b>Calc</b>.</span></span> Then stops.",
            "Sorts. Then stops.",
        ),
    ],
    ids=["markup", "entities", "layout", "no-break space", "empty tags", "switch of systems", "switch without default"],
)
def test_a_paragraph_is_read_as_a_reader_sees_it(body: str, text: str) -> None:
    assert texts(paragraph("par_1", body)) == [text]


def test_code_and_the_frame_of_a_page_and_embedded_paragraphs_are_left_out() -> None:
    body = (
        '<p id="par_1" class="code">Print x</p><pre id="par_2" class="bascode">Sub Main</pre>'
        '<div class="embedded"><p class="embedded">From elsewhere.</p></div>' + paragraph("par_3", "A sentence.")
    )
    assert texts(body) == ["A sentence."]


def test_a_switch_of_whole_paragraphs_keeps_them() -> None:
    body = f'<span class="switch"><span hidden="true" class="CALC">{paragraph("par_1", "In Calc.")}</span></span>'
    assert texts(body) == ["In Calc."]


def test_paragraphs_are_aligned_by_page_and_id_and_each_pair_comes_once(store: Path) -> None:
    with packages(("en", "de"), store) as both:
        assert list(aligned_paragraphs(*both, Silent())) == [
            ("Rows", "Zeilen", "text/a.html"),
            ("Press Enter.", "Drücken Sie die Eingabetaste.", "text/a.html"),
        ]


def test_an_id_with_several_texts_is_left_out(tmp_path: Path) -> None:
    first = deb(tmp_path, "a", "en-US", {"text/a.html": paragraph("p", "Two") + paragraph("p", "One")})
    second = deb(tmp_path, "b", "de", {"text/a.html": paragraph("p", "Eins") + paragraph("p", "Zwei")})
    assert list(aligned_paragraphs(first, second, Silent())) == []


def test_what_one_language_lacks_is_left_out(tmp_path: Path) -> None:
    first = deb(
        tmp_path, "a", "en-US", {"text/a.html": paragraph("p", "One") + paragraph("q", "Two"), "text/b.html": ""}
    )
    second = deb(tmp_path, "b", "de", {"text/a.html": paragraph("q", "") + paragraph("p", "Eins")})
    assert list(aligned_paragraphs(first, second, Silent())) == [("One", "Eins", "text/a.html")]


def test_a_package_without_help_pages_is_told_in_a_sentence(tmp_path: Path, store: Path) -> None:
    other = deb(tmp_path, "other", "de", {})
    with pytest.raises(UserError, match=r"other_.*deb holds no help pages: it is not a LibreOffice help package"):
        list(aligned_paragraphs(other, other, Silent()))


@pytest.mark.parametrize(
    ("language", "name"),
    [("en", "libreoffice-help-en-us"), ("de", "libreoffice-help-de"), ("pt-br", "libreoffice-help-pt-br")],
)
def test_packages_are_called_as_debian_calls_them(language: str, name: str) -> None:
    assert package(language) == name


def test_packages_come_through_apt_get_and_then_from_the_cache(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_apt_get(tmp_path, f"cp {store}/*.deb .", monkeypatch)
    cache = tmp_path / "cache"
    fetched = fetch("libreoffice-help", ("en", "de"), cache=cache, mirror=None, progress=Silent())
    assert fetched.train[0].source.read_text() == (
        "Press Enter.\tDrücken Sie die Eingabetaste.\ttext/a.html\nRows\tZeilen\ttext/a.html\n"
    )
    assert (fetched.train[0].target, fetched.dev, fetched.test) == (None, (), ())
    assert "MPL-2.0" in fetched.licence
    swapped = fetch("libreoffice-help:en-de", ("de", "en"), cache=cache, mirror=None, progress=Silent())
    assert swapped.train[0].source.read_text().endswith("\nZeilen\tRows\ttext/a.html\n")
    assert calls.read_text() == "download libreoffice-help-de libreoffice-help-en-us\n"


def test_package_lists_are_updated_when_the_first_download_fails(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        f'if [ "$1" = update ]; then touch {tmp_path}/updated; exit 0; fi; test -e {tmp_path}/updated && cp {store}/* .'
    )
    calls = fake_apt_get(tmp_path, script, monkeypatch)
    with packages(("en", "de"), None) as both:
        assert [path.name.partition("_")[0] for path in both] == ["libreoffice-help-en-us", "libreoffice-help-de"]
    assert [line.split()[0] for line in calls.read_text().splitlines()] == ["download", "update", "download"]
    assert not any(path.exists() for path in both)


def test_when_apt_get_fails_its_last_word_and_what_to_do_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt_get(tmp_path, 'echo "E: Unable to locate package" >&2; exit 100', monkeypatch)
    with pytest.raises(  # noqa: SIM117
        UserError, match=r"apt-get cannot download .*help-en-us and .*help-de: E: Unable .*; run `sudo apt-get update`"
    ):
        with packages(("en", "de"), None):
            pass


def test_an_apt_get_that_leaves_no_package_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt_get(tmp_path, "exit 0", monkeypatch)
    with pytest.raises(UserError, match=r"left no libreoffice-help-en-us_\*.deb"), packages(("en", "de"), None):
        pass


def test_without_apt_get_the_packages_and_the_mirror_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(  # noqa: SIM117
        UserError, match=r"this machine has no apt-get; download libreoffice-help-en-us and .*-de .*`--mirror DIR`"
    ):
        with packages(("en", "de"), None):
            pass


def test_a_mirror_is_used_without_apt_get(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fetched = fetch("libreoffice-help", ("en", "de"), cache=tmp_path / "cache", mirror=store, progress=Silent())
    assert len(fetched.train[0].source.read_text().splitlines()) == 2


def test_a_mirror_that_lacks_a_package_names_it(store: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"holds no libreoffice-help-fr_\*.deb, .*`apt-get download libreoffice-help-fr`"
    ):
        fetch("libreoffice-help", ("en", "fr"), cache=tmp_path / "cache", mirror=store, progress=Silent())
    assert not (tmp_path / "cache" / "libreoffice-help" / "en-fr-v1").exists()


@pytest.mark.slow
def test_the_real_packages_give_some_thirty_thousand_clean_pairs(tmp_path: Path) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get on this machine")
    try:
        fetched = fetch("libreoffice-help", ("en", "de"), cache=tmp_path, mirror=None, progress=Silent())
    except UserError as error:
        pytest.skip(f"the packages cannot be had: {error}")
    rows = [
        line.split("\t") for line in fetched.train[0].source.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ]
    assert len(rows) > 30_000
    assert {len(row) for row in rows} == {3}
    assert len({(source, target) for source, target, _ in rows}) == len(rows)
    assert len({page for *_, page in rows}) > 2_000
    assert not [row for row in rows if not all(row) or "<span" in row[0] + row[1]]
    assert ["Press Ctrl+C.", "Drücken Sie Strg+C."] in [row[:2] for row in rows]
