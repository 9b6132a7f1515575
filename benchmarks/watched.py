"""Commands under observation: how long they ran, how busy the machine was, how much memory they held."""

import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.ground import ROOT


class Clock:
    """Adds up time, and what the machine's cores worked in that time."""

    def __init__(self) -> None:
        self.seconds = self.busy_s = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts until the end of the block."""
        start, busy = time.monotonic(), _busy_s()
        yield
        self.seconds += time.monotonic() - start
        self.busy_s += _busy_s() - busy


def watch(command: Sequence[str]) -> float:
    """Run a command; the most memory that it and its children held together, in MB (shared pages counted once)."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak_kb = 0
    ended = threading.Event()

    def sample() -> None:
        nonlocal peak_kb
        while not ended.wait(0.1):
            peak_kb = max(peak_kb, sum(_proportional_kb(pid) for pid in _family(process.pid)))

    thread = threading.Thread(target=sample)
    thread.start()
    code = process.wait()
    ended.set()
    thread.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with code {code}")
    return peak_kb / 1000


def _family(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(child))]


def _proportional_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _busy_s() -> float:
    """Processor seconds that the machine has spent working since it started."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / 100
