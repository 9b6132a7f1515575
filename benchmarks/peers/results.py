"""What was measured: a column for each question, a row for each participant, a number for each round."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.peers import fairseq
from benchmarks.peers.roster import DRAGOMAN
from dragoman.core import records
from dragoman.core.files import write_atomically


@dataclass(frozen=True)
class Row:
    """One participant; every list has a number a round."""

    key: str
    rates: tuple[float, ...]
    ours: tuple[float, ...]
    """What ours did in the same rounds."""
    shares: tuple[float, ...] = ()
    """Of the matrix-multiply peak; empty where that is not asked."""
    peak_mb: float | None = None
    is_converted: bool = False
    """Not measured here, but told by what others did."""

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def ratios(self) -> tuple[float, ...]:
        """How many times as fast ours was, round by round."""
        return tuple(ours / theirs for ours, theirs in zip(self.ours, self.rates, strict=True))

    @property
    def times(self) -> float:
        """How many times as fast ours was, in the middle."""
        return statistics.median(self.ratios)


@dataclass(frozen=True)
class Column:
    """One question, and what all who took part did."""

    name: str
    unit: str
    measured_at: str
    command: str
    rows: tuple[Row, ...]
    failed: dict[str, str] = field(default_factory=dict)
    machine: str = ""
    """What it was measured on: only ratios inside a column mean anything."""

    @property
    def ours(self) -> Row:
        return next(row for row in self.rows if row.key == self.own_key)

    @property
    def own_key(self) -> str:
        return next(row.key for row in self.rows if row.key.startswith(DRAGOMAN))

    @property
    def peers(self) -> list[Row]:
        """Everyone but ours in any form, the fastest first."""
        return sorted((row for row in self.rows if not row.key.startswith(DRAGOMAN)), key=lambda row: row.times)


@dataclass(frozen=True)
class Results:
    """Everything that `make bench-peers` has found so far."""

    columns: dict[str, Column] = field(default_factory=dict)

    def with_column(self, column: Column) -> "Results":
        return replace(self, columns={**self.columns, column.name: column})


def rows_of(
    column: str,
    rates: Mapping[str, Sequence[float]],
    peaks_mb: Mapping[str, float],
    ceiling: Sequence[float] | None = None,
    work: Callable[[str], float] = lambda _key: 1.0,
) -> tuple[Row, ...]:
    """Rows of one heat, ours first, fairseq converted; `work` is what one unit costs each, in units of the ceiling."""
    own_key = next(key for key in rates if key.startswith(DRAGOMAN))
    ours = tuple(rates[own_key])

    def row(key: str, own: Sequence[float], *, is_converted: bool = False) -> Row:
        each = work(key)
        shares = () if ceiling is None else tuple(r * each / peak for r, peak in zip(own, ceiling, strict=True))
        return Row(key, tuple(own), ours, shares, peaks_mb.get(key), is_converted)

    measured = [row(key, own) for key, own in rates.items()]
    told = fairseq.converted(column, rates)
    return (*measured, *([row(fairseq.KEY, told, is_converted=True)] if told else []))


def joined(heats: Sequence[Sequence[Row]]) -> tuple[Row, ...]:
    """Rows of several heats as one; who took part in all of them has the rounds of all."""
    found: dict[str, Row] = {}
    for row in (row for heat in heats for row in heat):
        before = found.get(row.key)
        if before is None:
            found[row.key] = row
        elif not row.is_converted:
            found[row.key] = Row(
                row.key,
                before.rates + row.rates,
                before.ours + row.ours,
                before.shares + row.shares,
                max((peak for peak in (before.peak_mb, row.peak_mb) if peak is not None), default=None),
            )
    return tuple(found.values())


def load(path: Path) -> Results:
    """What was found before; nothing where nothing was or it cannot be read."""
    try:
        return records.from_json(Results, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return Results()


def save(path: Path, results: Results) -> None:
    write_atomically(path, records.dumps(results))
