"""Curves as characters: one line of blocks, or a picture of Braille dots. Pure."""

from collections.abc import Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bits of a Braille character by column and by row from above."""

XY = tuple[float, float | None]


def spark(values: Sequence[float | None], width: int) -> str:
    """One line; what is not known is a space. (1, 2, 3) -> '▁▄█'."""
    ends = (0.0, float(max(0, len(values) - 1)))
    columns = _columns([(float(i), value) for i, value in enumerate(values)], min(width, len(values)), ends)
    known = [value for value in columns if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    steps = len(BLOCKS) - 1
    return "".join(
        " " if value is None else BLOCKS[round((value - low) / span * steps) if span else 0] for value in columns
    )


Cell = tuple[str, int | None]
"""A Braille character, and the number of the curve that it shows; None shows nothing."""


def picture(
    lines: Sequence[Sequence[XY]], width: int, height: int, held: Sequence[float | None] = ()
) -> list[list[Cell]]:
    """Curves upon one scale in `height` rows of `width` characters of 2 by 4 dots; where two meet, the first shows.

    The scale also holds the values `held`.
    """
    ends = [x for line in lines for x, _ in line]
    drawn = [_columns(line, 2 * width, (min(ends), max(ends))) for line in lines if ends]
    known = [value for columns in (*drawn, held) for value in columns if value is not None]
    dots = [[0] * width for _ in range(height)]
    owners: list[list[int | None]] = [[None] * width for _ in range(height)]
    for number, columns in enumerate(drawn):
        before: int | None = None
        for x, value in enumerate(columns):
            y = None if value is None else _row(value, min(known), max(known), 4 * height)
            for dot in _stroke(before, y) if y is not None else ():
                owner = owners[dot // 4][x // 2]
                if owner in (None, number):
                    owners[dot // 4][x // 2] = number
                    dots[dot // 4][x // 2] |= _DOTS[x % 2][dot % 4]
            before = y
    rows = zip(dots, owners, strict=True)
    return [[(chr(0x2800 + bits), owner) for bits, owner in zip(*row, strict=True)] for row in rows]


def stacked(lines: Sequence[Sequence[XY]]) -> list[list[XY]]:
    """Each curve upon the ones before it; they share their axis. What is not known adds nothing."""
    heights: dict[float, float] = {}
    piled = []
    for line in lines:
        heights.update({x: heights.get(x, 0.0) + (y or 0.0) for x, y in line})
        piled.append([(x, None if y is None else heights[x]) for x, y in line])
    return piled


def _row(value: float, low: float, high: float, num_rows: int) -> int:
    return round((high - value) / (high - low) * (num_rows - 1)) if high > low else num_rows // 2


def _stroke(before: int | None, now: int) -> range:
    """The dots of a column that join a point to the one before it."""
    if before is None or abs(before - now) <= 1:
        return range(now, now + 1)
    return range(now, before) if now < before else range(before + 1, now + 1)


def _columns(points: Sequence[XY], width: int, ends: tuple[float, float]) -> list[float | None]:
    """The mean of the points over each of `width` equal parts of the axis; parts between two points are joined."""
    first, last = ends
    sums, counts, gaps = [0.0] * width, [0] * width, [False] * width
    for x, y in points:
        column = min(width - 1, int((x - first) / (last - first) * width)) if last > first else 0
        gaps[column] |= y is None
        sums[column] += y or 0.0
        counts[column] += y is not None
    values = [total / count if count else None for total, count in zip(sums, counts, strict=True)]
    known = [column for column, value in enumerate(values) if value is not None]
    for left, right in pairwise(known):
        if not any(gaps[left + 1 : right]):
            low, high = values[left], values[right]
            assert low is not None and high is not None
            for column in range(left + 1, right):
                values[column] = low + (high - low) * (column - left) / (right - left)
    return values
