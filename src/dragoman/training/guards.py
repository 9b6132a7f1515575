"""What keeps a run from being lost: signals become votes, stalls become stacks, bad numbers become decisions."""

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SKIPS_IN_A_ROW = 3
"""Steps without finite gradients before the run goes back to its last checkpoint."""
MOST_ROLLBACKS = 3
RATE_CUT = 0.5
STALL_S = 120.0
STALL_STEPS = 20
"""A rank is stuck when it has not moved for so many of its usual steps, and for STALL_S."""
SILENT_S = 30.0
"""A rank of this host that has not signed for so long is stopped or dead, whatever it was doing."""
PAUSE_S = 10.0
"""So long between two looks at the clock: this process was stopped itself, by Ctrl-Z or a lid that was closed."""
STALLED = 75
"""Exit code of a rank that did not move (EX_TEMPFAIL: trying again may help)."""


class Signals:
    """SIGTERM and SIGINT, remembered instead of obeyed at once: the run stops after the step, with a checkpoint."""

    def __init__(self) -> None:
        self.received: int | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._remember)

    def stop_with_parent(self) -> None:
        """Stop as if asked to when the process that started this one has died, however it died."""
        threading.Thread(target=self._watch_parent, args=(os.getppid(),), daemon=True).start()

    def _watch_parent(self, parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        self.received = signal.SIGTERM

    def _remember(self, number: int, _frame: object) -> None:
        if self.received == signal.SIGINT and number == signal.SIGINT:
            raise KeyboardInterrupt  # a second Ctrl-C means now
        self.received = number


@dataclass
class FiniteGuard:
    """Counts steps whose gradients were not finite."""

    in_a_row: int = 0

    def sees(self, is_finite: bool) -> bool:
        """True if the run should roll back."""
        self.in_a_row = 0 if is_finite else self.in_a_row + 1
        return self.in_a_row >= SKIPS_IN_A_ROW


class Watchdog:
    """Ends this process, with the stacks of its threads, if it does not move for STALL_S.

    A rank that waits for others is not stuck itself. Each second every rank signs a file, `working 3` or `waiting 0`,
    however busy it is: one that waits for a rank of its host that no longer signs names it and ends. For ranks of other
    hosts there is the collective's own timeout.
    """

    def __init__(
        self, directory: Path, rank: int, stall_s: float = STALL_S, silent_s: float = SILENT_S, world_size: int = 1
    ) -> None:
        self._file = directory / f"rank{rank:02}"
        self._rank, self._stall_s = rank, stall_s
        self._silent_s, self._world_size = silent_s, world_size
        self._moved, self._is_waiting, self._has_moved = time.monotonic(), False, False
        self._quiet_until = 0.0
        self._ended = threading.Event()
        directory.mkdir(parents=True, exist_ok=True)
        self._file.touch()
        threading.Thread(target=self._watch, name="dragoman-watchdog", daemon=True).start()

    def moved(self, usual_s: float = 0.0) -> None:
        """A step is done; such a step usually takes `usual_s`."""
        self._moved, self._has_moved = time.monotonic(), True
        self._stall_s = max(self._stall_s, STALL_STEPS * usual_s)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False
            self.moved()

    def close(self) -> None:
        self._ended.set()
        self._file.unlink(missing_ok=True)

    def _sign(self) -> str:
        """What the rank is doing, and for how many seconds it has not moved."""
        state = "waiting" if self._is_waiting else "working" if self._has_moved else "starting"
        return f"{state} {time.monotonic() - self._moved:.0f}"

    def _watch(self) -> None:
        looked = time.time()  # goes on while a machine sleeps, which a monotonic clock does not
        while not self._ended.wait(1.0):
            now = time.time()
            if now - looked > PAUSE_S:  # nobody was stuck: all is counted anew, and the other ranks may wake up first
                self._moved, self._quiet_until = time.monotonic(), now + self._silent_s
            looked = now
            with suppress(OSError):
                self._file.write_text(self._sign(), encoding="utf-8")
            if self._is_waiting:
                if now > self._quiet_until:
                    self._look_for_silent_ranks()
            elif time.monotonic() - self._moved > self._stall_s:
                print(f"dragoman: rank {self._rank} has not moved for {self._stall_s:.0f} s:", file=sys.stderr)
                faulthandler.dump_traceback(file=sys.stderr)
                os._exit(STALLED)

    def _look_for_silent_ranks(self) -> None:
        silent = silent_ranks(self._file.parent, self._world_size, after_s=self._silent_s)
        if silent:
            names = " and ".join(f"rank {rank}" for rank in silent)
            print(
                f"dragoman: rank {self._rank} waits for {names}, silent for {self._silent_s:.0f} s: stopped or dead; "
                "the run ends here, the same command goes on from the last checkpoint",
                file=sys.stderr,
                flush=True,
            )
            os._exit(STALLED)


def silent_ranks(directory: Path, world_size: int, *, after_s: float = 10.0) -> list[int]:
    """The ranks of this host that have not signed lately: those that everyone else waits for."""
    now, silent = time.time(), []
    for rank in range(world_size):
        with suppress(OSError):  # it runs elsewhere, or has ended
            if now - (directory / f"rank{rank:02}").stat().st_mtime > after_s:
                silent.append(rank)
    return silent
