"""SubRip subtitles (.srt): numbers and times stay, texts are translated and broken into as many lines as they had."""

import re
from itertools import zip_longest

from dragoman.documents.codes import merged, split_at, with_placeholders
from dragoman.documents.document import Code, Document, Item, Segment

_TIME = re.compile(r"[ \t]*\d+:\d+:\d+[.,]\d+[ \t]*-->")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\{\\[^{}]*\}|[♪♫]|\\[Nnh]")
_WORD = re.compile(r"(?:</?[A-Za-z][^<>]*>|\{\\[^{}]*\}|[^ ])+")
_OWN_LINE = re.compile(r"\s*(?:<[^>]*>|\{\\[^{}]*\})*\s*(?:[-–—♪♫].*|\[[^\[\]]*\]\s*|\([^()]*\)\s*)", re.S)
"""A speaker's line, a song's, or a sound in brackets: no part of the sentence in the line before."""


def parse(text: str) -> Document:
    """Subtitles in segments: one a subtitle, or one a line where each line is another speaker's."""
    parts: list[str | Segment] = []
    block: list[str] = []
    is_text = False
    first = 1
    lines = text.splitlines(keepends=True)
    for number, (line, following) in enumerate(zip_longest(lines, lines[1:], fillvalue=""), start=1):
        # Some files have no empty line between subtitles: a number before a time is never a text.
        begins = bool(_TIME.match(line)) or (line.strip().isdecimal() and bool(_TIME.match(following)))
        if is_text and line.strip() and not begins:
            first = first if block else number
            block.append(line)
            continue
        parts += _segments(block, first)
        block, is_text = [], bool(_TIME.match(line))
        parts.append(line)
    parts += _segments(block, first)
    return Document(tuple(parts))


def _segments(lines: list[str], number: int) -> list[str | Segment]:
    if not lines:
        return []
    if any(_OWN_LINE.fullmatch(line) for line in lines):
        return [part for place, line in enumerate(lines) for part in _segment([line], number + place)]
    return _segment(lines, number)


def _segment(lines: list[str], number: int) -> list[str | Segment]:
    raw = "".join(lines)
    body = raw.rstrip("\r\n")
    dash = re.match(r"\s*[-–—]\s*", body)
    before = dash[0] if dash else ""
    end = "\r\n" if "\r\n" in raw else "\n"
    items = merged([_with_role(item) for item in split_at(_TAG, re.sub(r"\s*\r?\n\s*", " ", body[len(before) :]))])
    if not any(isinstance(item, str) and item.strip() for item in items):
        return [raw]

    def finish(translation: str) -> str:
        return end.join(broken(translation, len(lines)))

    segment = Segment(body[len(before) :], with_placeholders(items), number, finish=finish)
    return [part for part in (before, segment, raw[len(body) :]) if part != ""]


def _with_role(item: Item) -> Item:
    match = re.fullmatch(r"<(/?)([A-Za-z]+)[^<>]*>", item.source) if isinstance(item, Code) else None
    return Code(match[0], "closes" if match[1] else "opens", match[2].lower()) if match else item


def broken(text: str, num_lines: int) -> list[str]:
    """A text in so many lines of about the same visible length, or fewer where it has not so many words."""
    words, lines = _WORD.findall(text), []
    for left in range(num_lines, 1, -1):
        goal, line = _width(words) / left, words[:1]
        while len(words) > len(line) and _width([*line, words[len(line)]]) <= goal + _width([words[len(line)]]) / 2:
            line.append(words[len(line)])
        lines.append(" ".join(line))
        words = words[len(line) :]
        if not words:
            return lines
    return [*lines, " ".join(words)]


def _width(words: list[str]) -> int:
    """Characters that are seen."""
    return len(_TAG.sub("", " ".join(words)))
