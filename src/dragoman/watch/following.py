"""Reading files of records that grow, without reading them twice and without reading all of a long one.

Each look gives what is new, as groups of neighbouring records. A short piece is one group. Of a long one, such as the
first look at a run of weeks, groups are taken from spots that lie evenly over it, and the end whole: a gigabyte opens
as fast as a megabyte. Lines that are no records are counted and passed over; half a line waits for its other half.
"""

import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

LONGEST_LINE = 1_000_000

Group = list[dict[str, Any]]


@dataclass
class Follower:
    """A file and how far it has been read. Counts in `num_bad_lines` what could not be understood."""

    path: Path
    whole_below_bytes: int = 1_000_000
    """A piece that is longer is not read whole."""
    tail_bytes: int = 128_000
    """Of a long piece's end."""
    num_spots: int = 300
    """Of a long piece; with 0 only its end is read."""
    records_a_spot: int = 4
    num_bad_lines: int = 0
    _offset: int = 0
    _identity: tuple[int, int] | None = field(default=None, repr=False)

    def look(self) -> list[Group]:
        """What is new since the last look. OSError if the file cannot be read; a file not yet there holds nothing."""
        try:
            with self.path.open("rb") as file:
                return self._read(file)
        except FileNotFoundError:
            return []

    def _read(self, file: BinaryIO) -> list[Group]:
        status = os.fstat(file.fileno())
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity or status.st_size < self._offset:  # replaced, or cut: begin anew
            self._identity, self._offset = identity, 0
        start, end = self._offset, status.st_size
        if end - start <= self.whole_below_bytes:
            groups, self._offset = [self._lines(file, start, end)], self._offset_behind(file, start, end)
        else:
            groups = self._spots(file, start, end - self.tail_bytes)
            tail_start = _next_line(file, end - self.tail_bytes)
            groups.append(self._lines(file, tail_start, end))
            self._offset = self._offset_behind(file, tail_start, end)
        return [group for group in groups if group]

    def _spots(self, file: BinaryIO, start: int, end: int) -> list[Group]:
        """A few neighbouring records from each of many places."""
        groups, position = [], start
        for spot in range(self.num_spots):
            wanted = start + (end - start) * spot // self.num_spots
            if wanted < position:
                continue  # lines are so long that the last spot has passed this one
            file.seek(start if spot == 0 else _next_line(file, wanted))
            lines = [file.readline(LONGEST_LINE) for _ in range(self.records_a_spot)]
            position = file.tell()
            groups.append([record for line in lines for record in self._parsed(line)])
        return groups

    def _lines(self, file: BinaryIO, start: int, end: int) -> Group:
        file.seek(start)
        whole, newline, _ = file.read(max(0, end - start)).rpartition(b"\n")
        return [record for line in whole.split(b"\n") for record in self._parsed(line + newline)] if newline else []

    def _offset_behind(self, file: BinaryIO, start: int, end: int) -> int:
        """Where the first line begins that is not whole yet."""
        file.seek(start)
        return start + file.read(max(0, end - start)).rfind(b"\n") + 1

    def _parsed(self, line: bytes) -> Group:
        if not line.strip():
            return []
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            return [record]
        self.num_bad_lines += 1
        return []


def _next_line(file: BinaryIO, position: int) -> int:
    """Where the first line behind `position` begins."""
    file.seek(max(0, position - 1))
    file.readline(LONGEST_LINE)
    return file.tell()


def number(record: dict[str, Any], name: str) -> float | None:
    """A finite number of a record; None if it is missing, null, NaN or something else."""
    value = record.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def whole_number(record: dict[str, Any], name: str) -> int | None:
    """A whole number of a record, such as a step; None if there is none."""
    value = number(record, name)
    return int(value) if value is not None and value == int(value) else None


def words(record: dict[str, Any], name: str) -> str | None:
    """A text of a record, fit to be shown: without what would steer a terminal."""
    value = record.get(name)
    return printable(value) if isinstance(value, str) else None


def printable(text: str) -> str:
    """A text in which control characters, such as the start of a terminal's commands, are replaced."""
    return "".join(character if character.isprintable() else "�" for character in text)
