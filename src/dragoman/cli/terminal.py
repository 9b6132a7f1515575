"""What a person sees of long work: a live bar in a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dragoman.core.progress import Bar, Progress
from dragoman.core.units import count, duration, size

PLAIN_LINE_EVERY_S = 10.0


def progress() -> Progress:
    """Progress for standard error as it is: a terminal, or a file or a pipe."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()


class PlainProgress:
    """A line at the end of each stage, and every ten seconds of a longer one."""

    @contextmanager
    def stage(self, name: str, *, total: int | None, unit: str) -> Iterator[Bar]:
        bar = _PlainBar(name, total, unit)
        yield bar
        bar.tell(is_finished=True)


class _PlainBar:
    def __init__(self, name: str, total: int | None, unit: str) -> None:
        self._name, self._total, self._unit = name, total, unit
        self._done = self._pairs = 0
        self._start = self._told = time.monotonic()

    def advance(self, amount: int, *, pairs: int = 0) -> None:
        self._done += amount
        self._pairs += pairs
        if time.monotonic() - self._told > PLAIN_LINE_EVERY_S:
            self.tell(is_finished=False)

    def tell(self, *, is_finished: bool) -> None:
        self._told = time.monotonic()
        seconds = max(self._told - self._start, 1e-9)
        words = [f"{self._name}:"]
        if self._total and not is_finished:
            share = min(self._done / self._total, 1.0)
            words.append(f"{share:.0%}, {duration(seconds / max(share, 1e-9) - seconds)} left,")
        if self._pairs:
            words.append(f"{count(self._pairs)} pairs, {count(round(self._pairs / seconds))}/s,")
        elif self._done and self._unit == "bytes":
            words.append(f"{size(self._done)}, {size(self._done / seconds)}/s,")
        words.append(duration(seconds))
        print(" ".join(words), file=sys.stderr, flush=True)


class LiveProgress:
    """Bars that move, with pairs a second and the time left."""

    @contextmanager
    def stage(self, name: str, *, total: int | None, unit: str) -> Iterator[Bar]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description:<18}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[pace]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=Console(stderr=True)) as live:
            task = live.add_task(name, total=total, pace="")
            yield _LiveBar(live, task, unit)
            live.update(task, total=total or 1, completed=total or 1)


class _LiveBar:
    def __init__(self, live: object, task: int, unit: str) -> None:
        self._live, self._task, self._unit = live, task, unit
        self._done = self._pairs = 0
        self._start = time.monotonic()

    def advance(self, amount: int, *, pairs: int = 0) -> None:
        self._done += amount
        self._pairs += pairs
        seconds = max(time.monotonic() - self._start, 1e-9)
        pace = f"{self._pairs / seconds:,.0f} pairs/s" if self._pairs else ""
        if self._unit == "bytes" and not self._pairs:
            pace = f"{size(self._done / seconds)}/s"
        self._live.update(self._task, advance=amount, pace=pace)  # type: ignore[attr-defined]
