"""Taking turns: processes that are started, warmed up and stopped, then continued one after the other.

A machine changes its speed twofold within minutes. Slices of a few seconds in turn, in reversed order every other
round, let its moods hit all alike. A participant counts what it has done in a file of one 64-bit number, from
outside it is only stopped and continued.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import numpy as np

Clock = Literal["wall_s", "cpu_s"]
"""CPU time is the fairer clock where others use the machine too; set OMP_WAIT_POLICY=passive for it."""


class FailedError(Exception):
    """A participant ended; its text is the last that it said."""


@dataclass(frozen=True)
class Start:
    """How a participant is started; `--counter FILE` is put behind the command."""

    command: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Slice:
    """What one participant did in one turn."""

    amount: int
    wall_s: float
    cpu_s: float


@dataclass
class Participant:
    """A running process and what it has done in its slices."""

    name: str
    process: "subprocess.Popen[bytes]"
    counter: "np.memmap[tuple[int], np.dtype[np.int64]]"
    log: Path
    slices: list[Slice] = field(default_factory=list)

    def run(self, least_steps: int, least_s: float) -> Slice:
        """Continue, and stop at the end of the first step after so many steps and seconds."""
        start_s, start_cpu_s, start_amount = time.monotonic(), self._cpu_s(), int(self.counter[0])
        done, steps = start_amount, 0
        self.process.send_signal(signal.SIGCONT)
        while True:
            if int(self.counter[0]) != done:
                done, steps = int(self.counter[0]), steps + 1
                if steps >= least_steps and time.monotonic() - start_s >= least_s:
                    break
            time.sleep(0.005)
            if self.process.poll() is not None:
                raise FailedError(f"{self.name} ended with code {self.process.returncode}: {last_line(self.log)}")
        self.process.send_signal(signal.SIGSTOP)
        return Slice(done - start_amount, time.monotonic() - start_s, self._cpu_s() - start_cpu_s)

    def take_turn(self, slice_s: float) -> None:
        self.slices.append(self.run(least_steps=1, least_s=slice_s))

    def rates(self, clock: Clock) -> list[float]:
        return [part.amount / getattr(part, clock) for part in self.slices]

    def rate(self, clock: Clock) -> float:
        seconds: float = sum(getattr(part, clock) for part in self.slices)
        return sum(part.amount for part in self.slices) / seconds

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def peak_rss_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000


@contextmanager
def started(name: str, start: Start, directory: Path) -> Iterator[Participant]:
    """A participant from its start to its end; its counter and its log are kept in the directory."""
    counter, log = directory / name, directory / f"{name}.log"
    counter.write_bytes(bytes(8))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*start.command, "--counter", str(counter)],
            cwd=Path(__file__).resolve().parent.parent,
            env={**os.environ, **start.variables},
            stdout=output,
            stderr=output,
        )
    try:
        yield Participant(name, process, np.memmap(counter, dtype=np.int64, mode="r", shape=(1,)), log)
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Race:
    """Those who take turns, and why others do not."""

    participants: list[Participant]
    failed: dict[str, str]


def race(starts: Mapping[str, Start], rounds: int, slice_s: float, warm_up_s: float = 2.0) -> Iterator[Race]:
    """Start all, warm them up, and let them take turns; yields after every round. Nobody runs on when it is over."""
    ready: list[Participant] = []
    failed: dict[str, str] = {}
    # Whoever is stopped cannot end by itself: it would hold its memory for ever if we were ended in the usual way.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        for name, start in starts.items():
            participant = stack.enter_context(started(name, start, Path(directory)))
            try:
                participant.run(least_steps=2, least_s=warm_up_s)
                ready.append(participant)
            except FailedError as error:
                failed[name] = str(error)
                print(error, file=sys.stderr, flush=True)
        for _ in rounds_of(ready, rounds, slice_s):
            yield Race(ready, failed)


class TakesTurns(Protocol):
    """What can be continued for a slice."""

    def take_turn(self, slice_s: float) -> None: ...


Turner = TypeVar("Turner", bound=TakesTurns)


def rounds_of(participants: Sequence[Turner], rounds: int, slice_s: float) -> Iterator[int]:
    """Let all take turns, in reversed order every other round; yields the number of each round when it is over."""
    for number in range(rounds):
        for participant in participants if number % 2 == 0 else reversed(participants):
            participant.take_turn(slice_s)
        yield number + 1


def last_line(log: Path) -> str:
    """The last words of a log."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
