"""The help pages of LibreOffice as parallel text, in any two of the languages that Debian packages.

Takes two Debian packages, from a mirror directory or through the machine's own apt-get, and gives pairs of paragraphs
with the page they stand on. Pages are aligned by path and paragraphs by id, so a pair is a translation or it is not
there. Text that depends on the system or the application is read as on a system that has no case of its own.
Knows nothing of caches, cleaning or splits.
"""

import html
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import environ
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.core.progress import Progress
from dragoman.corpus.archives import members

# Slovak is missing: its package is a link to the Czech pages.
LANGUAGES = (
    "ca", "cs", "da", "de", "dz", "el", "en", "en-gb", "es", "et", "eu", "fi", "fr", "gl", "hi", "hu", "id", "it", "ja",
    "km", "ko", "nl", "om", "pl", "pt", "pt-br", "ru", "sl", "sv", "tr", "vi", "zh-cn", "zh-tw",
)  # fmt: skip
APT_TIMEOUT_S = 900.0
MAX_PAGE_BYTES = 4 << 20

PAGE = re.compile(r"usr/share/libreoffice/help/[^/]+/(text/.+\.html)")
PARAGRAPH = re.compile(r"<(p|h[1-6])\b([^>]*)>(.*?)</\1>", re.DOTALL)
ID = re.compile(r'\bid="([^"]+)"')
IS_CODE = re.compile(r'\bclass="[^"]*code')
TAG = re.compile(r"(<[^>]*>)")
# No-break spaces are part of French; every other white space, line separators among them, is layout.
LAYOUT = re.compile(r"[^\S\u00a0\u202f]+")


def package(language: str) -> str:
    """The Debian package that holds the help in `language`."""
    return "libreoffice-help-" + ("en-us" if language == "en" else language)


@contextmanager
def packages(languages: tuple[str, str], mirror: Path | None) -> Iterator[tuple[Path, Path]]:
    """The packages of two languages as files; those that were downloaded are gone when the block ends."""
    wanted = (package(languages[0]), package(languages[1]))
    if mirror is not None:
        yield _in_mirror(mirror, wanted[0]), _in_mirror(mirror, wanted[1])
        return
    with tempfile.TemporaryDirectory(prefix="dragoman-apt-") as directory:
        _let_apt_write(Path(directory))
        _apt_get_download(wanted, Path(directory))
        yield _package_file(Path(directory), wanted[0]), _package_file(Path(directory), wanted[1])


def aligned_paragraphs(first: Path, second: Path, progress: Progress) -> Iterator[tuple[str, str, str]]:
    """Yield each different pair of paragraphs once, with the path of the first page that has it."""
    seen: set[tuple[str, str]] = set()
    originals, translations = dict(_pages(first, progress)), dict(_pages(second, progress))
    with progress.stage("align help pages", total=None, unit="pairs") as bar:
        for page in sorted(originals):
            for identity, texts in originals[page].items():
                both = texts, translations.get(page, {}).get(identity, set())
                # Some pages give one id to several texts, and sort their sections by the translated heading:
                # then which belongs to which cannot be known.
                if any(len(side) != 1 for side in both):
                    continue
                pair = min(both[0]), min(both[1])
                if all(pair) and pair[0] != pair[1] and pair not in seen:
                    seen.add(pair)
                    bar.advance(1, pairs=1)
                    yield *pair, page


def paragraphs_of(page: str) -> Mapping[str, set[str]]:
    """The texts of a help page by paragraph id, without program code and without the page's frame."""
    content = page[max(page.find('id="DisplayArea"'), 0) :].partition('id="SearchFrame"')[0]
    texts: dict[str, set[str]] = {}
    for _tag, attributes, body in PARAGRAPH.findall(content):
        identity = ID.search(attributes)
        # Paragraphs embedded from another page carry no id; they are read where they belong.
        if identity and not IS_CODE.search(attributes):
            texts.setdefault(identity[1], set()).add(_text(body))
    return texts


def _text(body: str) -> str:
    """The words of a paragraph. Of a switch, only the alternative for "any other system or application" is read:
    without it a sentence would have a hole ("Press +F6"), with all of them it would say everything twice."""
    words: list[str] = []
    spans: list[str] = []
    for piece in TAG.split(body):
        if piece.startswith("<span"):
            spans.append(_kind_of_span(piece, spans[-1] if spans else ""))
        elif piece.startswith("</span"):
            del spans[-1:]
        elif piece.startswith("<br"):
            words.append(" ")
        elif not piece.startswith("<") and "alternative" not in spans:
            words.append(piece)
    return LAYOUT.sub(" ", html.unescape("".join(words))).strip()


def _kind_of_span(tag: str, parent: str) -> str:
    if 'class="switch' in tag:
        return "switch"
    return "alternative" if parent == "switch" and 'id="default' not in tag else ""


def _pages(package_file: Path, progress: Progress) -> Iterator[tuple[str, Mapping[str, set[str]]]]:
    num_pages = 0
    for name, stream in members(package_file, lambda name: PAGE.fullmatch(name) is not None, progress=progress):
        match = PAGE.fullmatch(name)
        assert match is not None
        text = stream.read(MAX_PAGE_BYTES).decode("utf-8", errors="replace")
        num_pages += 1
        yield match[1], paragraphs_of(text)
    if not num_pages:
        raise UserError(f"{package_file.name} holds no help pages: it is not a LibreOffice help package")


def _in_mirror(mirror: Path, name: str) -> Path:
    for directory in (mirror / "libreoffice-help", mirror):
        if found := sorted(directory.glob(f"{name}_*.deb")):
            return found[-1]
    raise UserError(
        f"the mirror {mirror} holds no {name}_*.deb, neither itself nor in libreoffice-help/",
        f"put it there with `apt-get download {name}` on a machine that has a network",
    )


def _package_file(directory: Path, name: str) -> Path:
    found = sorted(directory.glob(f"{name}_*.deb"))
    if not found:
        raise UserError(f"apt-get said that it downloaded {name}, but left no {name}_*.deb")
    return found[-1]


def _let_apt_write(directory: Path) -> None:
    """Give the directory to apt's sandbox user where there is one: run by root, apt downloads as that user."""
    directory.chmod(0o755)
    with suppress(LookupError, PermissionError):  # no such user, or not root: then apt downloads as whoever runs it
        shutil.chown(directory, user="_apt")


def _apt_get_download(names: tuple[str, ...], directory: Path) -> None:
    if shutil.which("apt-get") is None:
        raise UserError(
            "LibreOffice's help comes in Debian packages, and this machine has no apt-get",
            f"download {' and '.join(names)} on a Debian or Ubuntu machine with `apt-get download` "
            "and name their directory with `--mirror DIR`",
        )
    if _problem_of(["apt-get", "download", *names], directory) is None:
        return
    # The package lists may be missing, as in a fresh container, or too old.
    _problem_of(["apt-get", "update"], directory)
    if problem := _problem_of(["apt-get", "download", *names], directory):
        raise UserError(
            f"apt-get cannot download {' and '.join(names)}: {problem}",
            "run `sudo apt-get update` and then the same command again",
        )


def _problem_of(command: list[str], directory: Path) -> str | None:
    """None if the command succeeds, or else what it said last."""
    try:
        done = subprocess.run(
            command, cwd=directory, env={**environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=APT_TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it did not end within {APT_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
