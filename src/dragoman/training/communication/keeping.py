"""What every rank has for itself, in the one checkpoint: gathered when it is written, handed back when it is read.

With another number of ranks than before, nobody's own is there. Then all take the mean, times a factor that keeps what
counts: of residuals the sum over all ranks, which is what has not been sent yet.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from dragoman.training.world import World


def gathered(name: str, own: Tensor, world: World) -> dict[str, Tensor]:
    """`{name}.rank00`, `{name}.rank01` … on the main rank, nothing elsewhere. Every rank must call this."""
    return {f"{name}.rank{rank:02}": row for rank, row in enumerate(world.gather_rows(own))}


def own_of(name: str, tensors: Mapping[str, Tensor], world: World, *, keeps_sum: bool = False) -> Tensor | None:
    """This rank's own, the common mean (or share of the sum) where the number of ranks has changed; None if none is."""
    rows = [tensors[key] for key in sorted(tensors) if key.startswith(f"{name}.rank")]
    if not rows:
        return None
    if len(rows) == world.size:
        return rows[world.rank]
    total = torch.stack([row.float() for row in rows]).sum(dim=0)
    return (total / (world.size if keeps_sum else len(rows))).to(rows[0].dtype)
