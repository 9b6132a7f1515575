"""Files of one JSON object a line into numpy columns: fast, in bounded memory, and forgiving.

A run of 300,000 steps on 8 ranks is a gigabyte of lines. Whole blocks are decoded at once; only where a block does not
fit are its lines taken one by one. Half a line is passed over, or what follows it on the same line is saved. Fields
that are missing or new, NaN and null are all fine. What could not be read is counted.
"""

import contextlib
import json
import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from dragoman.report.columns import Column, StepColumns, step_columns

BLOCK_BYTES = 1 << 19
"""Small enough that what is decoded from a block stays in a processor's cache: a third faster than eight megabytes."""
WORTH_PROCESSES_BYTES = 200_000_000
"""Shorter files are read before a second process has begun."""
NAN = math.nan
Line = TypeVar("Line")


class StepLine(msgspec.Struct, gc=False):
    """A step as far as columns need it. NaN: the line has no such field. None: it was unknown, or no finite number."""

    step: int
    time: str | None = None
    loss: float | None = NAN
    smoothed_loss: float | None = NAN
    gradient_norm: float | None = NAN
    learning_rate: float | None = NAN
    target_tokens: float | None = NAN
    real_tokens: float | None = NAN
    padded_tokens: float | None = NAN
    data_wait_s: float | None = NAN
    forward_s: float | None = NAN
    backward_s: float | None = NAN
    exchange_s: float | None = NAN
    optimizer_s: float | None = NAN
    step_s: float | None = NAN
    wire_bytes: float | None = NAN
    skew_s: float | None = NAN
    was_skipped: bool | None = False
    is_probe: bool | None = False


NUMBERS = tuple(name for name in StepLine.__struct_fields__ if name != "time")


@dataclass(frozen=True)
class RankSteps:
    """What one rank wrote down."""

    columns: StepColumns
    num_unread: int
    """Lines that are no records."""
    redone_steps: int
    redone_s: float
    """Rows that a crash or a roll-back made void, and the time that had gone into them."""


class Reader(Generic[Line]):
    """Blocks of decoded lines, and how many lines were none."""

    def __init__(self, kind: type[Line]) -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._kind = kind
        self.num_unread = 0

    def blocks(self, path: Path, *, every: int = 1) -> Iterator[list[Line]]:
        """All lines, or of each block one in `every`."""
        for block in _whole_lines(path):
            if every > 1:
                block = b"\n".join(block.splitlines()[::every])
            try:
                yield self._decoder.decode_lines(block)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield list(self._one_by_one(block))

    def _one_by_one(self, block: bytes) -> Iterator[Line]:
        for line in block.splitlines():
            if not line.strip():
                continue
            # A crash may leave half a record, and the next one begins on the same line.
            start = max(0, line.rfind(b'{"step"') if line.count(b'{"step"') > 1 else 0)
            try:
                yield msgspec.convert(_finite(json.loads(line[start:])), self._kind)
                self.num_unread += start > 0
            except (ValueError, msgspec.MsgspecError, RecursionError):
                self.num_unread += 1


def read_steps(path: Path) -> RankSteps:
    """The steps of one rank; UserError never, an unreadable file is an empty one."""
    reader = Reader(StepLine)
    numbers, times, non_finite = [np.empty((0, len(NUMBERS)))], [np.empty(0)], [np.empty(0, dtype=bool)]
    for lines in reader.blocks(path):
        if not lines:
            continue
        block = np.array(list(map(_NUMBERS_OF, lines)), dtype=np.float64)
        numbers.append(block)
        times.append(unix_seconds([line.time for line in lines]))
        non_finite.append(_null_losses(lines, block))
    table, time_s, is_bad = np.concatenate(numbers), np.concatenate(times), np.concatenate(non_finite)
    is_kept = stays(table[:, 0])
    lost_s = np.nansum(table[~is_kept, NUMBERS.index("step_s")])
    if not is_kept.all():
        table, time_s, is_bad = table[is_kept], time_s[is_kept], is_bad[is_kept]
    columns = dict(zip(NUMBERS, np.ascontiguousarray(table.T), strict=True))
    return RankSteps(
        columns=step_columns(columns.pop("step"), time_s=time_s, is_non_finite=is_bad, **_possible(columns)),
        num_unread=reader.num_unread,
        redone_steps=int((~is_kept).sum()),
        redone_s=float(lost_s),
    )


def read_all_steps(paths: Sequence[Path], num_processes: int = 1) -> list[RankSteps]:
    """The steps of all ranks; files that are long together are shared out over processes."""
    num_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    if min(num_processes, len(paths)) > 1 and num_bytes > WORTH_PROCESSES_BYTES:
        # Started anew, not forked: whoever asks may have threads.
        context = multiprocessing.get_context("spawn")
        with (
            contextlib.suppress(BrokenProcessPool, OSError),
            ProcessPoolExecutor(min(num_processes, len(paths)), context) as pool,
        ):
            return list(pool.map(read_steps, paths))
    return [read_steps(path) for path in paths]


_NUMBERS_OF: Callable[[StepLine], tuple[Any, ...]] = attrgetter(*NUMBERS)


def stays(steps: Column) -> npt.NDArray[np.bool_]:
    """Which rows count: those behind which no row goes back to their step or before it."""
    if not len(steps):
        return np.empty(0, dtype=bool)
    least_behind = np.append(np.minimum.accumulate(steps[::-1])[::-1][1:], np.inf)
    return np.asarray(steps < least_behind)


def unix_seconds(times: Sequence[str | None]) -> Column:
    """Seconds since 1970; NaN for what is no time."""
    if all(time is not None and time.endswith(("+00:00", "Z")) for time in times):
        try:
            plain = [time.removesuffix("Z").removesuffix("+00:00") for time in times if time is not None]
            return np.array(plain, dtype="datetime64[ms]").astype(np.float64) / 1000
        except ValueError:
            pass
    return np.array([_unix(time) for time in times], dtype=np.float64)


def _unix(time: str | None) -> float:
    try:
        return datetime.fromisoformat(time).timestamp() if time else NAN
    except ValueError:
        return NAN


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Blocks that end with a line; the half line that a crash or a writer at work leaves at the end is not given."""
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                block += file.readline()
                yield block if block.endswith(b"\n") else block[: block.rfind(b"\n") + 1]
    except OSError:
        return


def _finite(value: Any) -> Any:
    """NaN and infinity as Python's own reader lets them through become null, as we write them."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _null_losses(lines: Sequence[StepLine], block: Column) -> npt.NDArray[np.bool_]:
    """Rows whose loss or norm is null: measured, and no finite number.

    The trainer skips such steps. Others without a loss are steps in which ranks did not meet: nobody knew it.
    """
    is_bad = np.zeros(len(lines), dtype=bool)
    was_skipped = block[:, NUMBERS.index("was_skipped")] == 1
    for name in ("loss", "gradient_norm"):
        for place in np.flatnonzero(was_skipped & np.isnan(block[:, NUMBERS.index(name)])):
            is_bad[place] |= getattr(lines[int(place)], name) is None
    return is_bad


def _possible(columns: dict[str, Column]) -> dict[str, Any]:
    """Times and counts below zero, as a clock that jumps back makes them, are unknown."""
    unsigned = {"loss", "smoothed_loss", "learning_rate"}
    return {name: column if name in unsigned else np.where(column < 0, NAN, column) for name, column in columns.items()}
