"""A rank like any other, hindered on purpose: `LAB_HINDRANCE="wire 0.2" python -m tests.laboratory.hindered RUN`.

Real training, real collectives between two processes; what is slow is made slow by waiting where it would be slow. The
rest of the machine may be as busy as it likes: the waits are many times longer than a step of these models.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dragoman.batching.stream import Stream
from dragoman.training import worker
from dragoman.training.communication.sums import Plain
from dragoman.training.step import Stepper

VARIABLE = "LAB_HINDRANCE"


def wire(seconds: float) -> None:
    """Every bucket takes longer on its way, on all ranks."""
    real = Plain.add_up

    def slow(self: Plain, *arguments: Any, **named: Any) -> int:
        sent = real(self, *arguments, **named)
        time.sleep(seconds)
        return sent

    Plain.add_up = slow  # type: ignore[method-assign]


def last_rank(seconds: float) -> None:
    """One rank computes longer."""
    real = Stepper._forward_backward

    def slow(self: Stepper, *arguments: Any, **named: Any) -> float:
        forward_s = real(self, *arguments, **named)
        if self.world.rank == self.world.size - 1:
            time.sleep(seconds)
        return forward_s

    Stepper._forward_backward = slow  # type: ignore[method-assign]


def batches(seconds: float) -> None:
    """Every batch takes long to make, on all ranks."""
    real = Stream._work

    def slow(self: Stream, make: Callable[[int], Any], after_step: int) -> None:
        def make_slowly(number: int) -> Any:
            time.sleep(seconds)
            return make(number)

        real(self, make_slowly, after_step)

    Stream._work = slow  # type: ignore[method-assign]


HINDRANCES = {"wire": wire, "last_rank": last_rank, "batches": batches}


if __name__ == "__main__":
    if words := os.environ.get(VARIABLE, "").split():
        HINDRANCES[words[0]](float(words[1]))
    sys.exit(worker.main(Path(sys.argv[1])))
