"""Ways to add up a bucket over all ranks: as it is, packed, or first inside each host.

Each blocks until the sum is there, is called in the same order on every rank, and adds in an order that does not depend
on time: the result is the same on all ranks, to the byte. Each says how many bytes this rank sent.

A packed sum is made in two rounds, so that numbers are packed twice and no more, however many ranks there are:

    scatter   every rank sends part i of its bucket to rank i, packed; rank i adds them up with 32 bits
    gather    every rank sends its finished part to all, packed
"""

from collections.abc import Sequence
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from dragoman.training.communication.codecs import Codec
from dragoman.training.communication.groups import Circle, Levels

ALIGNMENT = 8
"""Bytes: every packed part begins where numbers may."""


class Sum(Protocol):
    """A way to add up."""

    def add_up(self, row: Tensor, residual: Tensor | None) -> int:
        """`row` becomes the sum over all ranks; `residual`, where there is one, what packing has lost so far."""
        ...


class Plain:
    """As it is, by the backend's own ring."""

    def __init__(self, circle: Circle) -> None:
        self._circle = circle

    def add_up(self, row: Tensor, residual: Tensor | None = None) -> int:
        if self._circle.size == 1:
            return 0
        dist.all_reduce(row, group=self._circle.group)
        # A ring sends 2(N-1)/N of the row through each rank.
        return 2 * (self._circle.size - 1) * row.numel() * row.element_size() // self._circle.size


class Packed:
    """With fewer bytes a number."""

    def __init__(self, circle: Circle, codec: Codec) -> None:
        self._circle, self._codec = circle, codec
        self._memory = torch.empty(0, dtype=torch.uint8)

    @torch.no_grad()
    def add_up(self, row: Tensor, residual: Tensor | None = None) -> int:
        size, own = self._circle.size, self._circle.place
        if size == 1:
            return 0
        part_numbers = -(-len(row) // size)
        part_bytes = -(-self._codec.packed_bytes(part_numbers) // ALIGNMENT) * ALIGNMENT
        sent, received = self._buffers(row, size * part_bytes)
        parts = [slice(min(n * part_numbers, len(row)), (n + 1) * part_numbers) for n in range(size)]
        lost = [None if residual is None else residual[part] for part in parts]
        for place in _others(own, size):
            self._codec.pack(row[parts[place]], sent[place], lost[place])
        self._swap([sent[place] for place in range(size)], received)
        finished = row[parts[own]]
        for place in _others(own, size):
            self._codec.unpack(received[place], finished, is_sum=True)
        mine = sent[own]
        self._codec.pack(finished, mine, lost[own])
        self._swap([mine] * size, received)
        for place, part in enumerate(parts):
            self._codec.unpack(mine if place == own else received[place], row[part])
        return 2 * (size - 1) * part_bytes

    def _swap(self, sent: Sequence[Tensor], received: Tensor) -> None:
        """Send each rank its row and receive one from each, both ways at once.

        All receives are announced before anything is sent. The collectives of gloo do not: an announcement then waits
        behind megabytes of data on the same connection, the other rank waits for it, and the wire is used one way at
        a time (at 68 Mb/s: 0.44 s instead of 0.25 s for two megabytes each way).
        """
        others = _others(self._circle.place, self._circle.size)
        group = self._circle.group
        receives = [dist.P2POp(dist.irecv, received[place], group=group, group_peer=place) for place in others]
        sends = [dist.P2POp(dist.isend, sent[place], group=group, group_peer=place) for place in others]
        for work in dist.batch_isend_irecv([*receives, *sends]):
            work.wait()

    def _buffers(self, row: Tensor, num_bytes: int) -> tuple[Tensor, Tensor]:
        """Memory for what is sent and received, one row a rank; kept for the next bucket."""
        if self._memory.numel() < 2 * num_bytes or self._memory.device != row.device:
            self._memory = torch.zeros(2 * num_bytes, dtype=torch.uint8, device=row.device)
        sent, received = self._memory[: 2 * num_bytes].view(2, self._circle.size, -1)
        return sent, received


def _others(own: int, size: int) -> list[int]:
    return [place for place in range(size) if place != own]


class TwoLevel:
    """First inside each host, where the wire is memory; then between hosts; then inside again."""

    def __init__(self, levels: Levels, between: Sum | None) -> None:
        self._levels, self._between = levels, between

    def add_up(self, row: Tensor, residual: Tensor | None = None) -> int:
        inside, first = self._levels.inside, self._levels.first_rank
        if inside.size > 1:
            dist.reduce(row, first, group=inside.group)
        sent = self._between.add_up(row, residual) if self._between is not None else 0
        if inside.size > 1:
            dist.broadcast(row, first, group=inside.group)
        return sent
