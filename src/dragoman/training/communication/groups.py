"""Which ranks share a host, and the groups that two-level exchanges need.

Every launcher numbers the ranks of a host one after the other, with local ranks from 0: so a host begins where the
local rank is 0. Names of hosts prove nothing: containers and namespaces share them.
"""

from dataclasses import dataclass

import torch.distributed as dist

from dragoman.training.world import World

Group = dist.ProcessGroup | None
"""None is all ranks."""


@dataclass(frozen=True)
class Circle:
    """Ranks that exchange among themselves, as one of them sees it."""

    size: int
    place: int
    """Of this rank in it, from 0."""
    group: Group = None


@dataclass(frozen=True)
class Levels:
    """One rank's two circles."""

    inside: Circle
    """The ranks of this host."""
    first_rank: int
    """Of this host: it speaks for the others."""
    between: Circle | None
    """The first ranks of all hosts; None on a rank that is not one of them."""


def everyone(world: World) -> Circle:
    return Circle(world.size, world.rank)


def hosts_of(world: World) -> tuple[tuple[int, ...], ...]:
    """The ranks of each host. Every rank must call this."""
    local_ranks = [int(part) for part in world.gather_bytes(str(world.local_rank).encode())]
    firsts = [rank for rank, local_rank in enumerate(local_ranks) if local_rank == 0 or rank == 0]
    return tuple(tuple(range(*ends)) for ends in zip(firsts, [*firsts[1:], world.size], strict=True))


def levels(world: World, hosts: tuple[tuple[int, ...], ...]) -> Levels:
    """Make the groups. Every rank must call this, with the same hosts."""
    inside: Circle | None = None
    first_rank = 0
    for ranks in hosts:  # a group is made by all ranks, in the same order, also by those outside
        group = dist.new_group(list(ranks)) if len(hosts) > 1 else None
        if world.rank in ranks:
            inside, first_rank = Circle(len(ranks), ranks.index(world.rank), group), ranks[0]
    firsts = [ranks[0] for ranks in hosts]
    group = dist.new_group(firsts)
    between = Circle(len(firsts), firsts.index(world.rank), group) if world.rank in firsts else None
    assert inside is not None, "every rank is on a host"
    return Levels(inside, first_rank, between)
