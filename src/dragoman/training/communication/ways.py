"""From a rung of the ladder to the wire that it means."""

import torch
from torch import Tensor

from dragoman.theory.wire import Rung
from dragoman.training.communication.codecs import EIGHT_BITS, HALF
from dragoman.training.communication.groups import Circle, everyone, levels
from dragoman.training.communication.sums import Packed, Plain, Sum, TwoLevel
from dragoman.training.communication.wire import Wire
from dragoman.training.gradients import Gradients
from dragoman.training.world import World

CODECS = {"half": HALF, "eight_bits": EIGHT_BITS}
RESIDUAL = torch.bfloat16
"""Of what packing lost: exact enough for a correction, and half the bytes of a checkpoint's."""


def wire_for(rung: Rung, gradients: Gradients, world: World, hosts: tuple[tuple[int, ...], ...]) -> Wire:
    """Every rank must call this, with the same rung."""
    way = _way(rung, world, hosts)
    codec = CODECS.get(rung.codec)
    # Of a host, only the rank that speaks for it packs anything, but which one that is may change: all have a row.
    residual: Tensor | None = None
    if codec is not None and codec.loses_much:
        residual = torch.zeros_like(gradients.flat, dtype=RESIDUAL)
    return Wire(gradients, world, way, residual)


def _way(rung: Rung, world: World, hosts: tuple[tuple[int, ...], ...]) -> Sum:
    if world.size == 1:
        return Plain(everyone(world))
    if not rung.is_two_level:
        return _flat(rung, everyone(world))
    both = levels(world, hosts)
    return TwoLevel(both, None if both.between is None else _flat(rung, both.between))


def _flat(rung: Rung, circle: Circle) -> Sum:
    codec = CODECS.get(rung.codec)
    return Plain(circle) if codec is None else Packed(circle, codec)
