"""How gradients cross the wire, timed.

One sum over all ranks of the flat row. With a single rank nothing crosses.
"""

import time
from dataclasses import dataclass

from dragoman.training.gradients import Gradients
from dragoman.training.world import World


@dataclass(frozen=True)
class Exchange:
    """What one exchange moved, and how long this rank waited for it."""

    num_bytes: int
    wait_s: float


def exchange(gradients: Gradients, world: World) -> Exchange:
    """Add up the gradients of all ranks. Every rank must call this."""
    if world.size == 1:
        return Exchange(0, 0.0)
    start = time.monotonic()
    world.sum_(gradients.flat)
    num_bytes = gradients.flat.numel() * gradients.flat.element_size()
    # A ring sends 2(N-1)/N of the row through each rank.
    return Exchange(2 * (world.size - 1) * num_bytes // world.size, time.monotonic() - start)
