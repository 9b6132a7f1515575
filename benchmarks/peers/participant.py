"""What every participant does alike: settings from the command line, progress in a counter file.

The counter holds one 64-bit number of target tokens (or floating-point operations) done so far; the parent reads it and
stops and continues the process from outside.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Peers run in environments of their own, where neither this project nor its package is installed.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks import multi30k

SIZES = {"small": (256, 1024, 4, 3), "base": (512, 2048, 8, 6)}
"""Width, inner width, heads, layers of either side."""
HALF_VARIABLE = "TRAIN_IN_BFLOAT16"
DROPOUT, SMOOTHING, LEARNING_RATE = 0.1, 0.1, 3e-4
BEAM, NUM_STEPS = 5, 15
"""Of decoding: every sentence has as many pieces as its translation has steps, eos among them."""


@dataclass(frozen=True)
class Task:
    """What to train, and where to count."""

    preset: str
    counter: "np.memmap[tuple[int], np.dtype[np.int64]]"

    def batches(self) -> Iterator[list[multi30k.Pair]]:
        return multi30k.load().forever(seed=1)

    def done(self, amount: int) -> None:
        """Count what one more step has done."""
        self.counter[0] += amount

    def reached(self, amount: int) -> None:
        """Count what all steps have done."""
        self.counter[0] = amount


def is_half() -> bool:
    """Whether to train in bfloat16."""
    return HALF_VARIABLE in os.environ


def autocast() -> AbstractContextManager[object]:
    """For a peer's forward pass."""
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_half())


def task() -> Task:
    """The task that the command line gives."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="small", choices=tuple(SIZES))
    parser.add_argument("--counter", type=Path, required=True)
    arguments = parser.parse_args()
    return Task(arguments.preset, np.memmap(arguments.counter, dtype=np.int64, mode="r+", shape=(1,)))


def padded(sentences: list[list[int]]) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Sentences as one rectangle."""
    ids = np.full((len(sentences), max(map(len, sentences))), multi30k.PAD, dtype=np.int64)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = sentence
    return ids
