"""HTML: text between tags and in attributes that people read, byte-exact everywhere else.

Python's own parser finds where tags, comments and texts begin; the slices between those places are the page, so that
nothing can be lost or rewritten. Tags of blocks end a segment, tags inside a line are its codes. Scripts, styles,
code and whatever says translate="no" stay as they are. Attributes are a document of their own, since their tags are
codes of the text: translate them first.
"""

import html
import re
from collections.abc import Callable, Iterator
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
READ_ATTRIBUTES = re.compile(
    "alt|title|placeholder|summary|label|aria-(?:label|description|placeholder|roledescription|valuetext)"
)
READ_META = re.compile("description|(?:og|twitter):(?:title|description|image:alt)")
FOR_PROGRAMS = re.compile("link|style|script|meta")
"""Tags whose title is a name that programs know, such as that of a style sheet."""
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+)""")
SPACE = " \t\r\n\f"
"""That of HTML; at the ends of a text it stays as it is, inside it is one space."""
Kind = Literal["opens", "closes", "alone", "text", "other"]


@dataclass(frozen=True)
class _Event:
    """What begins at a place of the page."""

    kind: Kind
    tag: str
    start: int
    is_kept: bool = False
    """Whether all up to its end tag stays as it is."""
    read: tuple[tuple[int, int], ...] = ()
    """Where in the page the values of attributes that people read begin and end, quotes included."""


class _Places(HTMLParser):
    """Notes where everything begins."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.events: list[_Event] = []
        self._line_starts = [0, *accumulate(len(line) for line in page.split("\n"))]
        self._line_starts = [start + number for number, start in enumerate(self._line_starts)]
        self.feed(page)
        self.close()

    def _place(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def _note(self, kind: Kind, tag: str = "") -> None:
        self.events.append(_Event(kind, tag, self._place()))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_void = bool(VOID.fullmatch(tag))
        stays = ("translate", "no") in attrs
        is_kept = not is_void and (stays or bool(OPAQUE.fullmatch(tag)))
        read = () if stays else tuple(self._read(tag, attrs))
        self.events.append(_Event("alone" if is_void else "opens", tag, self._place(), is_kept, read))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        read = () if ("translate", "no") in attrs else tuple(self._read(tag, attrs))
        self.events.append(_Event("alone", tag, self._place(), read=read))

    def _read(self, tag: str, attrs: list[tuple[str, str | None]]) -> Iterator[tuple[int, int]]:
        """Where the values are that people read; only those that the parser has seen, too."""
        start, known = self._place(), dict(attrs)
        for match in _ATTRIBUTE.finditer(self.get_starttag_text() or ""):
            name, value = match[1].lower(), html.unescape(_bare(match[2]))
            if (name, value) in attrs and _is_read(tag, name, known):
                yield start + match.start(2), start + match.end(2)

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
        raw = "".join(raws)
        body = raw.strip(SPACE)
        if any(isinstance(item, str) and item.strip() for item in items):
            before, after = raw[: raw.index(body)], raw[raw.index(body) + len(body) :]
            folded = list(merged([_folded(item) if isinstance(item, str) else item for item in items]))
            for place, is_spaced in ((0, bool(before)), (-1, bool(after))):
                if is_spaced and isinstance(text := folded[place], str):
                    folded[place] = text.removeprefix(" ") if place == 0 else text.removesuffix(" ")
            segment = Segment(body, with_placeholders(merged(folded)), line + before.count("\n"), _escaped)
            parts.extend((before, segment, after))
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


def parse_attributes(page: str) -> Document:
    """The attributes that people read, a segment each; all else stays."""
    parts: list[str | Segment] = []
    done = 0
    for event, _, _ in _slices(page):
        for start, end in event.read:
            raw = page[start:end]
            quote = raw[0] if raw[0] in "\"'" else '"'
            items = with_placeholders((_folded(html.unescape(_bare(raw))),))
            parts += [page[done:start], Segment(raw, items, page.count("\n", 0, start) + 1, *_quoting(quote))]
            done = end
    return Document(tuple(part for part in (*parts, page[done:]) if part != ""))


def _is_read(tag: str, name: str, attributes: dict[str, str | None]) -> bool:
    """Whether people read this attribute of this tag."""
    if tag == "meta":
        return name == "content" and bool(
            READ_META.fullmatch((attributes.get("name") or attributes.get("property") or "").lower())
        )
    if tag == "input" and name == "value":
        return (attributes.get("type") or "").lower() in ("submit", "button", "reset")
    return bool(READ_ATTRIBUTES.fullmatch(name)) and not FOR_PROGRAMS.fullmatch(tag)


def _bare(value: str) -> str:
    """Without the quotes, where it has some."""
    return value[1:-1] if value[:1] in ('"', "'") else value


def _quoting(quote: str) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """How a value between such quotes is written."""
    own = {'"': "&quot;", "'": "&#39;"}[quote]
    return (lambda text: _escaped(text).replace(quote, own)), (lambda text: f"{quote}{text}{quote}")


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
    return re.sub(f"[{SPACE}]+", " ", text)


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\xa0", "&nbsp;")
