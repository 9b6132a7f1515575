"""Which parser reads which document."""

from collections.abc import Callable
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.documents import gettext_catalogue, markdown_text, subtitles, web_page
from dragoman.documents.document import Document

PARSERS: dict[str, Callable[[str], Document]] = {
    "markdown": markdown_text.parse,
    "html": web_page.parse,
    "srt": subtitles.parse,
    "po": gettext_catalogue.parse,
}
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


def parse(text: str, kind: str) -> Document:
    """A document in segments. A byte-order mark stays in front."""
    if kind not in PARSERS:
        raise UserError(f"{kind!r} is no format of documents", f"take one of {', '.join(FORMATS)}")
    mark = text[:1] if text[:1] == "\ufeff" else ""
    document = PARSERS[kind](text[len(mark) :])
    return Document((mark, *document.parts)) if mark else document
