"""Markdown: paragraphs, headings, list items, quotes and table cells are translated; code, links and layout stay.

Goes line by line. What begins a line (bullets, #, >) stays, and so do fenced and indented code, tables' rulers, link
definitions, mathematics, HTML comments and front matter. Lines of one paragraph are one segment: a sentence may run
over several. A link whose text is also its label, [like this], keeps its label: [wie dieser][like this].
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Literal

from dragoman.documents.codes import merged, with_placeholders
from dragoman.documents.document import Code, Document, Item, Segment

_FENCE = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})")
_START = re.compile(
    r"(?:[ \t]*(?:>|[-*+:](?=[ \t])|\d{1,9}[.)](?=[ \t])|\#{1,6}(?=[ \t])|\[\^[^\]]+\]:)[ \t]*)*"
    r"(?:\[[ xX]\][ \t]+)?[ \t]*"
)
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+:][ \t]|\d{1,9}[.)][ \t]|\#{1,6}[ \t]|>|\[\^[^\]]+\]:)")
_ITEM = re.compile(r" *(?:(?:[-*+:]|\d{1,9}[.)]) +|\[\^[^\]]+\]: *)")
_STAYS = re.compile(
    r"[ \t>]*(?:(?:[-*_][ \t]*){3,}|=+[ \t]*|\[(?!\^)[^\]]+\]:.*|</?[A-Za-z][^<>]*>[ \t]*"
    r"|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*)"
)
_RULER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+")
_DEFINITION = re.compile(r"^[ \t>]*\[(?!\^)([^\]\n]+)\]:", re.M)
_HEADING = re.compile(r"[ \t>]*\#{1,6}[ \t]")
_SOFT_BREAK = re.compile(r"[ \t]*\r?\n[ \t>]*")
_TARGET = r"""\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:"[^"]*"|'[^']*'))?\)|\[[^\[\]]+\]"""
"""What follows the text of a link: an address, perhaps with a title, or a label."""
_CODES = re.compile(
    r"""(?xs)
    (?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)) | <!--.*?-->
    | (?P<tag></?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>) | <[^<>\s]+> | \\[!-/:-@\[-`{-~]
    | &(?:\#\d+|\#[xX][0-9a-fA-F]+|\w+); | (?:\ {2,}|\\)\r?\n[ \t>]*
    | \$\$.+?\$\$ | (?<![\w$])\$(?=[^\s$])[^$\n]*(?<=[^\s])\$(?![\w$]) | \{:?\ *[\#.][^{}\n]*\}
    | (?P<open>!?\[)(?!\^)(?=[^\[\]]*\](?:TARGET))
    | (?P<close>\](?:TARGET)) | \[\^[^\]]+\]
    | (?P<short>!?\[(?P<label>[^\[\]]+)\](?:\[\])?)
    | (?P<begins>(?<![\w*_~])(?:\*{1,3}|_{1,3}|~~)(?=[^\s*_~]))
    | (?P<ends>(?<=[^\s*_~])(?:\*{1,3}|_{1,3}|~~)(?![\w*_~]))
    """.replace("TARGET", _TARGET)
)
_CELL = re.compile(r"(?<!\\)\|")
Kind = Literal["stays", "row", "text"]


def parse(text: str) -> Document:
    """A Markdown text in segments."""
    labels = frozenset(_label(match[1]) for match in _DEFINITION.finditer(text))
    parts: list[str | Segment] = []
    paragraph: list[str] = []
    first = 1
    for number, line, kind in _lines(text):
        begins = bool(_BLOCK_START.match(line))
        if paragraph and (kind != "text" or begins):
            parts += _segment("".join(paragraph), first, labels)
            paragraph = []
        if kind == "stays":
            parts.append(line)
        elif kind == "row":
            parts += _cells(line, number, labels)
        elif _HEADING.match(line):
            parts += _segment(line, number, labels)
        else:
            first = first if paragraph else number
            paragraph.append(line)
    parts += _segment("".join(paragraph), first, labels)
    return Document(tuple(part for part in parts if part != ""))


def _lines(text: str) -> Iterator[tuple[int, str, Kind]]:
    """Each line with its number and what it is."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    front, rows, blocks = _num_front_lines(lines), _rows(lines), _Blocks()
    for number, line in enumerate(lines, start=1):
        if number <= front or blocks.stays(line.rstrip("\r\n")) or not line.strip():
            yield number, line, "stays"
        else:
            yield number, line, "row" if number in rows else "text"


def _num_front_lines(lines: list[str]) -> int:
    """How many lines at the top are front matter; a ruler that nothing closes is none."""
    mark = lines[0].strip("\r\n") if lines else ""
    if mark not in ("---", "+++") or not "".join(lines[1:2]).strip():
        return 0
    ends = (mark, "...") if mark == "---" else (mark,)
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip("\r\n") in ends), 0)


def _rows(lines: list[str]) -> frozenset[int]:
    """The numbers of lines that are rows of a table: between pipes, or with pipes around a table's ruler."""
    rows = {
        number
        for number, line in enumerate(lines, start=1)
        if line.lstrip(" \t>").startswith("|") and len(_CELL.findall(line)) > 1
    }
    for place in range(1, len(lines)):
        if _CELL.search(lines[place - 1]) and _RULER.fullmatch(lines[place].rstrip("\r\n")):
            rows.add(place)
            below = takewhile(lambda number: _CELL.search(lines[number - 1]), range(place + 2, len(lines) + 1))
            rows.update(below)
    return frozenset(rows)


class _Blocks:
    """What of the lines so far says whether the next one stays: fences, comments, lists, indented code."""

    def __init__(self) -> None:
        self._fence = ""
        self._in_comment = False
        self._was_blank = True
        self._columns: list[int] = []
        """Where the texts of the list items begin that are open, the innermost last."""

    def stays(self, body: str) -> bool:
        match = _FENCE.match(body)
        if self._fence:
            if match and match[1].startswith(self._fence) and body.strip("> \t") == match[1]:
                self._fence = ""
            return True
        if match:
            self._fence = match[1]
            return True
        if self._in_comment or body.lstrip().startswith("<!--"):
            self._in_comment = "-->" not in body
            return True
        return self._is_code(body) or bool(_STAYS.fullmatch(body))

    def _is_code(self, body: str) -> bool:
        """Whether a line is code by its indentation: four columns more than the text around it, after an empty line."""
        wide = body.expandtabs(4)
        column, item = len(wide) - len(wide.lstrip()), _ITEM.match(wide)
        is_code = False
        if body.strip():
            if self._was_blank or item:  # otherwise it goes on with the paragraph, wherever it begins
                while self._columns and column < self._columns[-1]:
                    self._columns.pop()
            is_code = self._was_blank and column >= (self._columns[-1] if self._columns else 0) + 4
            if item and not is_code:
                self._columns.append(min(len(item[0]), column + 4))
        self._was_blank = not body.strip() or is_code
        return is_code


def _cells(line: str, number: int, labels: frozenset[str]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    start = 0
    for match in _CELL.finditer(line):
        parts += [*_segment(line[start : match.start()], number, labels), match[0]]
        start = match.end()
    return [*parts, *_segment(line[start:], number, labels)]


def _segment(raw: str, number: int, labels: frozenset[str]) -> list[str | Segment]:
    """White space and what begins a line, a segment, and the line's end."""
    start = _START.match(raw)
    before = start[0] if start else ""
    body = raw[len(before) :].rstrip(" \t\r\n")
    if _HEADING.match(raw):
        body = re.sub(r"[ \t]+#+$", "", body)
    after = raw[len(before) + len(body) :]
    items = with_placeholders(_items(body, labels))
    if not any(isinstance(item, str) and item.strip() for item in items):
        return [raw] if raw else []
    return [part for part in (before, Segment(body, items, number), after) if part != ""]


def _items(body: str, labels: frozenset[str]) -> tuple[Item, ...]:
    """Text with soft line breaks as spaces, and codes with their roles."""
    items: list[Item] = []
    start = place = 0
    while match := _CODES.search(body, place):
        place = match.end()
        if match["short"] and _label(match["label"]) not in labels:
            place = match.start() + 1  # only brackets
            continue
        items.append(_SOFT_BREAK.sub(" ", body[start : match.start()]))
        if match["short"]:
            opening = Code("![" if match[0].startswith("!") else "[", "opens", "link")
            closing = Code(f"][{match['label']}]", "closes", "link")
            items += [opening, *_items(match["label"], frozenset()), closing]
        else:
            items.append(_code(match))
        start = place
    return merged([*items, _SOFT_BREAK.sub(" ", body[start:])])


def _label(text: str) -> str:
    """The label of a link as links are compared."""
    return " ".join(text.split()).casefold()


def _code(match: re.Match[str]) -> Code:
    source = match[0]
    if match["tag"]:
        name = re.sub(r"[^a-z0-9].*", "", source.strip("</>").lower(), flags=re.S)
        is_alone = source.endswith("/>") or name in ("br", "img", "hr", "wbr", "input")
        return Code(source, "alone" if is_alone else "closes" if source.startswith("</") else "opens", name)
    if match["open"] or match["close"]:
        return Code(source, "opens" if match["open"] else "closes", "link")
    if match["begins"] or match["ends"]:
        return Code(source, "opens" if match["begins"] else "closes", source)
    return Code(source)
