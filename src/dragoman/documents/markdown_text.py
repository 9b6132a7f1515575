"""Markdown: paragraphs, headings, list items, quotes and table cells are translated; code, links and layout stay.

Goes line by line. What begins a line (bullets, #, >) stays, and so do fenced and indented code, tables' rulers, link
definitions, HTML comments and front matter. Lines of one paragraph are one segment: a sentence may run over several.
"""

import re
from collections.abc import Iterator

from dragoman.documents.codes import merged, with_placeholders
from dragoman.documents.document import Code, Document, Item, Segment

_FENCE = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})")
_START = re.compile(
    r"(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|\#{1,6}(?=[ \t]))[ \t]*)*(?:\[[ xX]\][ \t]+)?[ \t]*"
)
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\#{1,6}[ \t]|>)")
_STAYS = re.compile(
    r"[ \t>]*(?:(?:[-*_][ \t]*){3,}|=+[ \t]*|\[[^\]]+\]:.*|</?[A-Za-z][^<>]*>[ \t]*"
    r"|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*)"
)
_INDENTED = re.compile(r" {4}|\t")
_HEADING = re.compile(r"[ \t>]*\#{1,6}[ \t]")
_BREAK = re.compile(r"(?: {2,}|\\)\r?\n[ \t>]*")
_SOFT_BREAK = re.compile(r"[ \t]*\r?\n[ \t>]*")
_CODES = re.compile(
    r"""(?xs)
    (?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)) | <!--.*?-->
    | (?P<tag></?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>) | <[^<>\s]+> | \\[!-/:-@\[-`{-~]
    | &(?:\#\d+|\#[xX][0-9a-fA-F]+|\w+); | (?:\ {2,}|\\)\r?\n[ \t>]*
    | (?P<open>!?\[)(?!\^)(?=[^\[\]]*\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\[\]]*\]))
    | (?P<close>\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\[\]]*\])) | \[\^[^\]]+\]
    | (?P<begins>(?<![\w*_~])(?:\*{1,3}|_{1,3}|~~)(?=[^\s*_~]))
    | (?P<ends>(?<=[^\s*_~])(?:\*{1,3}|_{1,3}|~~)(?![\w*_~]))
    """
)
_CELL = re.compile(r"(?<!\\)\|")


def parse(text: str) -> Document:
    """A Markdown text in segments."""
    parts: list[str | Segment] = []
    paragraph: list[str] = []
    first = 1
    for number, line, stays in _lines(text):
        begins = bool(_BLOCK_START.match(line))
        if paragraph and (stays or not line.strip() or begins or _is_row(line)):
            parts += _segment("".join(paragraph), first)
            paragraph = []
        if stays or not line.strip():
            parts.append(line)
        elif _is_row(line):
            parts += _cells(line, number)
        elif _HEADING.match(line):
            parts += _segment(line, number)
        else:
            first = first if paragraph else number
            paragraph.append(line)
    parts += _segment("".join(paragraph), first)
    return Document(tuple(part for part in parts if part != ""))


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number and whether it stays as it is."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    fence, was_blank, in_list, in_comment = "", True, False, False
    in_front = bool(lines) and lines[0].strip("\r\n\ufeff") == "---"
    for number, line in enumerate(lines, start=1):
        body = line.rstrip("\r\n")
        if in_front:
            in_front = number == 1 or body not in ("---", "...")
            yield number, line, True
            continue
        match = _FENCE.match(body)
        if fence:
            is_end = match is not None and match[1].startswith(fence) and body.strip("> \t") == match[1]
            fence = "" if is_end else fence
            yield number, line, True
        elif match:
            fence = match[1]
            yield number, line, True
        elif in_comment or body.lstrip().startswith("<!--"):
            in_comment = "-->" not in body
            yield number, line, True
        else:
            is_code = bool(_INDENTED.match(body)) and was_blank and not in_list
            yield number, line, is_code or bool(_STAYS.fullmatch(body))
            in_list = bool(_BLOCK_START.match(body)) or (in_list and (not body.strip() or body[:1] in " \t"))
            was_blank = not body.strip() or is_code


def _is_row(line: str) -> bool:
    return line.lstrip(" \t>").startswith("|") and len(_CELL.findall(line)) > 1


def _cells(line: str, number: int) -> list[str | Segment]:
    parts: list[str | Segment] = []
    start = 0
    for match in _CELL.finditer(line):
        parts += [*_segment(line[start : match.start()], number), match[0]]
        start = match.end()
    return [*parts, line[start:]]


def _segment(raw: str, number: int) -> list[str | Segment]:
    """White space and what begins a line, a segment, and the line's end."""
    start = _START.match(raw)
    before = start[0] if start else ""
    body = raw[len(before) :].rstrip(" \t\r\n")
    if _HEADING.match(raw):
        body = re.sub(r"[ \t]+#+$", "", body)
    after = raw[len(before) + len(body) :]
    items = with_placeholders(_items(body))
    if not any(isinstance(item, str) and item.strip() for item in items):
        return [raw] if raw else []
    return [part for part in (before, Segment(body, items, number), after) if part != ""]


def _items(body: str) -> tuple[Item, ...]:
    """Text with soft line breaks as spaces, and codes with their roles."""
    items: list[Item] = []
    start = 0
    for match in _CODES.finditer(body):
        items += [_SOFT_BREAK.sub(" ", body[start : match.start()]), _code(match)]
        start = match.end()
    return merged([*items, _SOFT_BREAK.sub(" ", body[start:])])


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
