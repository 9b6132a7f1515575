"""A cluster that grows: where adding machines stops paying.

The step keeps its tokens however many GPUs share it, so each GPU gets less to do while the gradients stay as large:
sooner or later a step is all exchange. Doubling the machines is worth it while it makes training clearly faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dragoman.core.config import ModelConfig
from dragoman.planner.estimate import estimate, speed_of
from dragoman.planner.hardware import Gpu
from dragoman.planner.machines import Machines
from dragoman.planner.offers import ETHERNET_LATENCY_S, payload
from dragoman.planner.workload import ASSUMED_LENGTH, Workload
from dragoman.theory.wire import PLAIN, Link

MOST_GPUS = 1024
WORTH = 1.5
"""Doubling the machines pays while it is at least this much faster: the same training then costs a third more."""


@dataclass(frozen=True)
class Size:
    """A cluster of one size."""

    num_gpus: int
    num_hosts: int
    plain_tokens_per_s: float
    tokens_per_s: float
    """On the rung that `auto` chooses."""
    rung: str


@dataclass(frozen=True)
class Growth:
    """Clusters of 1, 2, 4 … GPUs on one kind of link."""

    model: str
    link_name: str
    sizes: tuple[Size, ...]
    last_worth: int
    """GPUs of the largest cluster that the last worthwhile doubling reached, on the rung that `auto` chooses."""
    last_worth_plain: int


def workload_for(preset: str, tokens_per_step: int, *, vocabulary: int = 32_768) -> Workload:
    """A preset without a corpus."""
    model = ModelConfig(preset=preset).sized()
    length = ASSUMED_LENGTH
    return Workload(model, vocabulary, vocabulary, length, length, tokens_per_step, 8_192, 100_000, "auto")


def grow(name: str, work: Workload, gpu: Gpu, gpus_per_host: int, link_name: str, port_bytes_per_s: float) -> Growth:
    """Hosts are filled before another is added."""
    link = Link(payload(port_bytes_per_s), ETHERNET_LATENCY_S)
    sizes = []
    num_gpus = 1
    while num_gpus <= MOST_GPUS:
        on_host = min(num_gpus, gpus_per_host)
        machines = Machines(num_gpus // on_host, on_host, gpu, link, "simulated", None)
        speed = speed_of(work, machines)
        plain = estimate("plain", work, machines, speed, PLAIN)
        chosen = estimate("auto", work, machines, speed)
        sizes.append(Size(num_gpus, machines.num_hosts, plain.tokens_per_s, chosen.tokens_per_s, chosen.rung))
        num_gpus *= 2
    return Growth(
        name,
        link_name,
        tuple(sizes),
        last_worth([(size.num_gpus, size.tokens_per_s) for size in sizes]),
        last_worth([(size.num_gpus, size.plain_tokens_per_s) for size in sizes]),
    )


def last_worth(speeds: Sequence[tuple[int, float]]) -> int:
    """The size after which a doubling first fails to pay."""
    for (size, speed), (_, doubled) in pairwise(speeds):
        if doubled < WORTH * speed:
            return size
    return speeds[-1][0]
