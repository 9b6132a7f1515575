"""Which parsers read which document, and a whole document in the other language."""

from collections.abc import Callable
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.documents import gettext_catalogue, markdown_text, subtitles, web_page
from dragoman.documents.document import Document
from dragoman.documents.retelling import Candidates, Note, retell

PARSERS: dict[str, tuple[Callable[[str], Document], ...]] = {
    "markdown": (markdown_text.parse,),
    "html": (web_page.parse_attributes, web_page.parse),
    "srt": (subtitles.parse,),
    "po": (gettext_catalogue.parse,),
}
"""Each reads the document anew: an attribute stands inside a tag, and the tag inside a sentence."""
FORMATS = ("text", *PARSERS)
_ENDINGS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".srt": "srt",
    ".po": "po",
    ".pot": "po",
}


def format_of(file: Path | None) -> str:
    """The format that a file's name tells; plain text where it tells none."""
    return _ENDINGS.get(file.suffix.lower(), "text") if file else "text"


def parsers_of(kind: str) -> tuple[Callable[[str], Document], ...]:
    """How to read a kind of document, in this order."""
    if kind not in PARSERS:
        raise UserError(f"{kind!r} is no format of documents", f"take one of {', '.join(FORMATS)}")
    return PARSERS[kind]


def retold(text: str, kind: str, candidates: Candidates) -> tuple[str, list[Note]]:
    """A document in the other language, and what was left as it was. A byte-order mark stays in front."""
    mark = text[:1] if text[:1] == "\ufeff" else ""
    body, notes = text[len(mark) :], list[Note]()
    for parse in parsers_of(kind):
        body, left = retell(parse(body), candidates)
        notes += left
    return mark + body, sorted(notes, key=lambda note: note.line)
