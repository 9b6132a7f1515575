"""Dropout masks from eight random bits a number.

Gives tensors of 0 and 1 to multiply with, and the factor that keeps the expectation. Eight bits are enough:
a rate of 0.1 becomes 26/256, and what is kept is divided by exactly what was kept on average.

The bytes are two fixed tables of random bytes, laid over each other at two random places (exclusive or). Each mask is
made of independent bytes, and two masks share a relation only if both pairs of places are equally far apart. Drawing
fresh bits runs on one thread only, and took about ten times as long (2026-11).
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

TABLE_BYTES = 1 << 23
LONGEST = 1 << 22
"""Masks larger than this are made in pieces, each at places of its own."""
FULL_RANGE = -(2**63)
"""`random_(FULL_RANGE, None)` sets all 64 bits; without it the top bit is always 0 and every eighth byte biased."""


@dataclass(frozen=True)
class Noise:
    """Dropout of one kind: its rate, and the generator that says where in the tables its masks begin."""

    rate: float
    generator: torch.Generator | None

    @property
    def dropped_of_256(self) -> int:
        return round(self.rate * 256)

    @property
    def scale(self) -> float:
        """What the kept numbers are multiplied by."""
        return 256 / (256 - self.dropped_of_256)

    def keep(self, like: Tensor) -> Tensor | None:
        """1 to keep, 0 to drop, shaped and typed like the tensor to multiply with; None if nothing is dropped.

        Floats, not bytes: torch would turn bytes into floats at every multiply, forward and backward.
        """
        if not self.dropped_of_256:
            return None
        mask = torch.empty(like.numel(), dtype=torch.uint8)
        for start in range(0, len(mask), LONGEST):
            piece = mask[start : start + LONGEST]
            places = torch.randint(0, TABLE_BYTES - len(piece), (2,), generator=self.generator).tolist()
            first, second = (table[place : place + len(piece)] for table, place in zip(_tables(), places, strict=True))
            torch.bitwise_xor(first, second, out=piece)
        return torch.ge(mask, self.dropped_of_256, out=mask).to(like.dtype).view(like.shape)


SILENCE = Noise(0.0, None)


@cache
def _tables() -> tuple[Tensor, Tensor]:
    """The same bytes in every process, so that the generator alone decides a mask."""
    generator = torch.Generator().manual_seed(20261115)
    words = torch.empty(2, TABLE_BYTES // 8, dtype=torch.int64).random_(FULL_RANGE, None, generator=generator)
    first, second = words.view(torch.uint8)
    return first, second
