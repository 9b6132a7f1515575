"""Dropout masks from eight random bits a number.

Gives tensors of 0 and 1 to multiply with, and the factor that keeps the expectation. Eight bits are enough:
a rate of 0.1 becomes 26/256, and what is kept is divided by exactly what was kept on average.

The bytes are two fixed tables of random bytes, laid over each other at two random places (exclusive or). Each mask is
made of independent bytes, and two masks share a relation only if both pairs of places are equally far apart. Drawing
fresh bits runs on one thread only, and took about ten times as long (2026-11).
"""

from dataclasses import dataclass
from functools import cache, cached_property

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

    def mask(self, count: int) -> "Mask | None":
        """Which of `count` numbers are kept; None if nothing is dropped."""
        if not self.dropped_of_256:
            return None
        lengths = (min(LONGEST, count - start) for start in range(0, count, LONGEST))
        drawn = (torch.randint(0, TABLE_BYTES - length, (2,), generator=self.generator).tolist() for length in lengths)
        return Mask(self.dropped_of_256, count, tuple(place for places in drawn for place in places))

    def keep(self, like: Tensor) -> Tensor | None:
        """1 to keep, 0 to drop, shaped and typed like the tensor to multiply with; None if nothing is dropped."""
        mask = self.mask(like.numel())
        return None if mask is None else mask.keep(like)


@dataclass(frozen=True)
class Mask:
    """Where in the tables the bytes of one mask stand. Cheap to hold: its numbers are made where they are needed."""

    dropped_of_256: int
    count: int
    places: tuple[int, ...]
    """In the first and in the second table, for each piece of `LONGEST`."""

    def keep(self, like: Tensor) -> Tensor:
        """1 to keep, 0 to drop, shaped and typed like the tensor to multiply with."""
        return self._floats.to(like.dtype).view(like.shape)

    @cached_property
    def _floats(self) -> Tensor:
        """Floats, not bytes: torch would turn bytes into floats at every multiply, forward and backward."""
        bytes_ = torch.empty(self.count, dtype=torch.uint8)
        for start in range(0, self.count, LONGEST):
            piece, places = bytes_[start : start + LONGEST], self.places[2 * (start // LONGEST) :]
            first, second = (
                table[place : place + len(piece)] for table, place in zip(tables(), places[:2], strict=True)
            )
            torch.bitwise_xor(first, second, out=piece)
        return torch.ge(bytes_, self.dropped_of_256, out=bytes_).float()


SILENCE = Noise(0.0, None)


@cache
def tables() -> tuple[Tensor, Tensor]:
    """The same bytes in every process, so that the generator alone decides a mask."""
    generator = torch.Generator().manual_seed(20261115)
    words = torch.empty(2, TABLE_BYTES // 8, dtype=torch.int64).random_(FULL_RANGE, None, generator=generator)
    first, second = words.view(torch.uint8)
    return first, second
