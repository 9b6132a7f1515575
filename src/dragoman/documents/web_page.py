"""HTML: text between tags, byte-exact everywhere else.

Python's own parser finds where tags, comments and texts begin; the slices between those places are the page, so that
nothing can be lost or rewritten. Tags of blocks end a segment, tags inside a line are its codes. Scripts, styles,
code and whatever says translate="no" stay as they are.
"""

import html
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import Literal

from dragoman.documents.codes import merged, with_placeholders
from dragoman.documents.document import Code, Document, Item, Segment

INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|data|del|dfn|em|font|i|ins|label|mark|q|rp|rt|ruby|s|small|span|strike|strong|sub"
    "|sup|time|tt|u|wbr|img|code|kbd|samp|var"
)
VOID = re.compile("br|wbr|img|input|hr|meta|link|area|base|col|embed|source|track")
OPAQUE = re.compile("script|style|code|kbd|samp|var|pre|textarea|svg|math|template|noscript|iframe|object")
Kind = Literal["opens", "closes", "alone", "text", "other"]


@dataclass(frozen=True)
class _Event:
    """What begins at a place of the page."""

    kind: Kind
    tag: str
    start: int
    is_kept: bool = False
    """Whether all up to its end tag stays as it is."""


class _Places(HTMLParser):
    """Notes where everything begins."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.events: list[_Event] = []
        self._line_starts = [0, *accumulate(len(line) for line in page.split("\n"))]
        self._line_starts = [start + number for number, start in enumerate(self._line_starts)]
        self.feed(page)
        self.close()

    def _note(self, kind: Kind, tag: str = "", *, is_kept: bool = False) -> None:
        line, column = self.getpos()
        self.events.append(_Event(kind, tag, self._line_starts[line - 1] + column, is_kept))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_kept = bool(OPAQUE.fullmatch(tag)) or ("translate", "no") in attrs
        self._note("alone" if VOID.fullmatch(tag) else "opens", tag, is_kept=is_kept and not VOID.fullmatch(tag))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note("alone", tag)

    def handle_endtag(self, tag: str) -> None:
        self._note("closes", tag)

    def handle_data(self, data: str) -> None:
        self._note("text")

    def handle_entityref(self, name: str) -> None:
        self._note("text")

    def handle_charref(self, name: str) -> None:
        self._note("text")

    def handle_comment(self, data: str) -> None:
        self._note("other")

    def handle_decl(self, decl: str) -> None:
        self._note("other")

    def handle_pi(self, data: str) -> None:
        self._note("other")

    def unknown_decl(self, data: str) -> None:
        self._note("other")


def parse(page: str) -> Document:
    """A page in segments."""
    parts: list[str | Segment] = []
    raws: list[str] = []
    items: list[Item] = []
    line = 1

    def close_segment() -> None:
        raw, texts = "".join(raws), tuple(items)
        if any(isinstance(item, str) and item.strip() for item in texts):
            folded = with_placeholders(merged([_folded(item) if isinstance(item, str) else item for item in texts]))
            parts.append(Segment(raw, folded, line, _escaped))
        else:
            parts.append(raw)
        raws.clear()
        items.clear()

    for event, raw, number in _slices(page):
        if event.kind == "text":
            if not raws:
                line = number
            raws.append(raw)
            items.append(html.unescape(raw))
        elif INLINE.fullmatch(event.tag) and event.kind != "other":
            line = line if raws else number
            raws.append(raw)
            kept = event.is_kept or event.kind == "alone"
            items.append(Code(raw) if kept else Code(raw, "opens" if event.kind == "opens" else "closes", event.tag))
        else:
            close_segment()
            parts.append(raw)
    close_segment()
    return Document(tuple(part for part in parts if part != ""))


def _slices(page: str) -> list[tuple[_Event, str, int]]:
    """Each event, its part of the page and the line that it begins in; what is kept is one slice up to its end tag."""
    events = _Places(page).events
    ends = [after.start for _, after in pairwise(events)] + [len(page)]
    slices: list[tuple[_Event, str, int]] = []
    first = events[0].start if events else len(page)
    if first:
        slices.append((_Event("other", "", 0), page[:first], 1))
    place = 0
    while place < len(events):
        event, last = events[place], place
        if event.is_kept:
            depth = 0
            for last in range(place, len(events)):
                if events[last].tag == event.tag:
                    depth += {"opens": 1, "closes": -1}.get(events[last].kind, 0)
                if depth == 0:
                    break
        slices.append((event, page[event.start : ends[last]], page.count("\n", 0, event.start) + 1))
        place = last + 1
    return slices


def _folded(text: str) -> str:
    """White space as a browser shows it; that with meaning, such as a no-break space, stays."""
    return re.sub(r"[ \t\r\n\f]+", " ", text)


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")
