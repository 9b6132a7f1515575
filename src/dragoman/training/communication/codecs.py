"""Fewer bytes for the same numbers: 16 bits, or 8 bits with a scale for each block.

A packed part is a row of bytes: the scales of its blocks, then the values. What is not finite stays not finite: the
scale of its block carries it. Work is done in pieces that one core does from its cache, without waking the threads
that compute gradients.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK = 256
"""Numbers that share a scale at 8 bits, as `theory.wire` counts them."""
PIECE = 127 * BLOCK
"""Numbers worked on at once: torch starts its threads at 32,768."""
HALF_TOP = 2.0**15
"""What the largest number of a piece becomes at 16 bits, at most: far from 65,504, where they end."""
LEVELS = 127.0
SMALLEST = 2.0**-100
"""Blocks of smaller numbers have this scale: one over it must be a number too."""


@dataclass(frozen=True)
class Codec:
    """Packs rows of 32-bit numbers into bytes."""

    name: str
    value_bytes: int
    block: int
    """Numbers that share a scale."""
    loses_much: bool
    """What packing lost must be sent later (error feedback)."""

    def packed_bytes(self, num_numbers: int) -> int:
        return num_numbers * self.value_bytes + 4 * -(-num_numbers // self.block)

    def pack(self, row: Tensor, packed: Tensor, residual: Tensor | None = None) -> None:
        """Write `row` into `packed`, bytes of the right number.

        With a residual, that is added to the row first and then becomes what packing lost: nothing is lost for good.
        What is not finite leaves none: it would never go away.
        """
        values, scales = self._parts(packed, len(row))
        for piece, blocks in self._pieces(row):
            numbers = row[piece] if residual is None else row[piece].add_(residual[piece])
            if self.value_bytes == 2:
                _to_half(numbers, values[piece], scales[blocks])
            else:
                _to_eight_bits(numbers, values[piece], scales[blocks])
            if residual is not None:
                lost = numbers - _scaled(values[piece], scales[blocks], self.block)
                residual[piece] = lost.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def unpack(self, packed: Tensor, row: Tensor, *, is_sum: bool = False) -> None:
        """Write what `packed` holds into `row`, or add it."""
        values, scales = self._parts(packed, len(row))
        for piece, blocks in self._pieces(row):
            numbers = _scaled(values[piece], scales[blocks], self.block)
            _ = row[piece].add_(numbers) if is_sum else row[piece].copy_(numbers)

    def _parts(self, packed: Tensor, num_numbers: int) -> tuple[Tensor, Tensor]:
        """Values and scales. The scales come first, where 32-bit numbers may lie."""
        start = 4 * -(-num_numbers // self.block)
        kind = torch.float16 if self.value_bytes == 2 else torch.int8
        return packed[start : self.packed_bytes(num_numbers)].view(kind), packed[:start].view(torch.float32)

    def _pieces(self, row: Tensor) -> Iterator[tuple[slice, slice]]:
        """Slices of the row, and of its scales."""
        step = PIECE if row.device.type == "cpu" or self.block == PIECE else -(-len(row) // self.block) * self.block
        for start in range(0, len(row), step):
            end = min(start + step, len(row))
            yield slice(start, end), slice(start // self.block, -(-end // self.block))


HALF = Codec("half", value_bytes=2, block=PIECE, loses_much=False)
EIGHT_BITS = Codec("eight_bits", value_bytes=1, block=BLOCK, loses_much=True)


def _to_half(row: Tensor, values: Tensor, scale: Tensor) -> None:
    """As fp16, which is four times finer than bf16, with a power of two that brings the largest number to its top."""
    smallest, largest = torch.aminmax(row)
    top = torch.maximum(largest, -smallest).clamp_(min=SMALLEST)
    exponent = torch.frexp(top).exponent
    # frexp of what is not finite says 0 or nothing at all: such a scale is the number itself.
    factor = torch.ldexp(torch.ones_like(top), exponent) / HALF_TOP
    factor = torch.where(torch.isfinite(top), factor, top)
    scale.copy_(factor)
    values.copy_(row / factor)


def _to_eight_bits(row: Tensor, values: Tensor, scales: Tensor) -> None:
    """As whole numbers from -127 to 127 of a 127th of the block's largest."""
    whole = len(row) // BLOCK * BLOCK
    for part, first in ((slice(0, whole), 0), (slice(whole, len(row)), whole // BLOCK)):
        if part.start == part.stop:
            continue
        numbers = row[part].view(-1, min(BLOCK, part.stop - part.start))
        steps = numbers.abs().amax(dim=1).clamp_(min=SMALLEST).div_(LEVELS)
        scales[first : first + len(steps)] = steps
        values[part] = numbers.div(steps[:, None]).round_().view(-1)


def _scaled(values: Tensor, scales: Tensor, block: int) -> Tensor:
    numbers = values.to(torch.float32)
    if len(scales) == 1:
        return numbers.mul_(scales)
    whole = len(numbers) // block * block
    numbers[:whole].view(-1, block).mul_(scales[: whole // block, None])
    numbers[whole:].mul_(scales[whole // block :])  # none, or the last block's only one
    return numbers
