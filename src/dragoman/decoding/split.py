"""Lines as a model can read them: without control characters, and in parts if they are too long.

Takes a line, a way to count its pieces and the most that a part may have. Cuts at the ends of sentences; what is still
too long at other punctuation, then at white space, at last anywhere. Nothing is lost: the parts with what stands
between them are the line. Knows no language.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_LINE_BREAK = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
# C0 but tab, DEL, C1, zero-width spaces, byte-order marks, directional overrides, non-characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Each ends in the group that separates two parts. Chinese and Japanese put no space after their punctuation.
_CUTS = (
    re.compile(r"[.!?…؟۔।॥]+[\"'”’»«“)\]]*(\s+)|[。！？｡]+[”’」』）]*(\s*)"),
    re.compile(r"[;:,،؛–—]+(\s+)|[，；：、]+(\s*)"),
    re.compile(r"(\s+)"),
)


@dataclass(frozen=True)
class Part:
    """A piece of a line, and what stands between it and the next."""

    text: str
    separator: str = ""


def cleaned(line: str) -> str:
    """The line without its ends of white space and without what no reader sees."""
    line = _INVISIBLE.sub("", _LINE_BREAK.sub(" ", line))
    return _LONE_SURROGATE.sub("\ufffd", line).strip()


def parts_of(line: str, count: Callable[[str], int], most: int) -> list[Part]:
    """Parts of at most so many pieces (or of one character that has more)."""
    return list(_cut(Part(line), count, most, 0))


def _cut(part: Part, count: Callable[[str], int], most: int, level: int) -> Iterable[Part]:
    if count(part.text) <= most or len(part.text) == 1:
        return [part]
    if level < len(_CUTS):
        units = _units(part, _CUTS[level])
        if level > 0:  # sentences stand alone, as the model learnt them; smaller parts are as long as they may be
            units = _joined(units, count, most)
    else:
        middle = len(part.text) // 2
        units = [Part(part.text[:middle]), Part(part.text[middle:], part.separator)]
    next_level = min(level + 1, len(_CUTS))
    return [smaller for unit in units for smaller in _cut(unit, count, most, next_level)]


def _units(part: Part, cut: re.Pattern[str]) -> list[Part]:
    units, start = [], 0
    for match in cut.finditer(part.text):
        first, last = match.span(match.lastindex or 0)
        if last < len(part.text):
            units.append(Part(part.text[start:first], part.text[first:last]))
            start = last
    return [*units, Part(part.text[start:], part.separator)]


def _joined(units: list[Part], count: Callable[[str], int], most: int) -> list[Part]:
    """Neighbours put together again while they fit."""
    joined, total = [units[0]], count(units[0].text)
    for unit in units[1:]:
        number = count(unit.text)
        if total + number <= most:
            joined[-1] = Part(joined[-1].text + joined[-1].separator + unit.text, unit.separator)
            total += number
        else:
            joined.append(unit)
            total = number
    return joined
