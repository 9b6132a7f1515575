"""The truth about a simulated run: machines, link, and what is wrong with them."""

import dataclasses
from dataclasses import dataclass

from dragoman.theory import wire

FLOAT_BYTES = 4


@dataclass(frozen=True)
class Conditions:
    """The truth about a run."""

    num_steps: int = 260
    num_hosts: int = 2
    ranks_per_host: int = 2
    parameters: int = 60_880_896
    compute_s: float = 0.5
    """Forward and backward of a rank, without noise."""
    noise: float = 0.02
    """Of each time, relative."""
    link_bytes_per_s: float = 11.5e9
    latency_s: float = 50e-6
    num_buckets: int = 10
    hides_exchange: bool = True
    slow_rank: int | None = None
    slow_factor: float = 1.0
    data_wait_s: float = 0.002
    padding_share: float = 0.05
    degrades_at_step: int | None = None
    degrades_by: float = 1.0
    carries_over: str = "eth0"
    """The interface that really carries the gradients."""
    meant_for: str = "eth0"
    """The interface that was meant to."""
    other_traffic_bytes_per_s: float = 20_000.0
    gpu: str | None = "Tesla V100-PCIE-16GB"
    gpu_busy: float = 0.98
    power_cap_w: float = 250.0
    has_preflight: bool = True
    preflight_bytes_per_s: float | None = None
    """What the preflight measured; the link's own rate if None."""
    probe_every: int = 50
    """Steps between probes; 0 is never. Training has one every 200, more than these short runs can hold."""
    tokens_per_step: int = 25_000
    price_per_hour: float = 12.24

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.ranks_per_host

    @property
    def row_bytes(self) -> int:
        return self.parameters * FLOAT_BYTES

    def exchange_s(self, step: int) -> float:
        """The whole ring at a step, without noise."""
        rate = self.link_bytes_per_s
        if self.degrades_at_step is not None and step >= self.degrades_at_step:
            rate /= self.degrades_by
        between = wire.Link(rate, self.latency_s)
        ground = wire.Wire(wire.Layout(self.num_ranks, self.num_hosts), between)
        return wire.exchange_s(ground, self.row_bytes, num_buckets=self.num_buckets)


HEALTHY = Conditions()
"""Four GPUs on two hosts joined by 100 Gb/s: nothing waits for long."""


def like(healthy: Conditions = HEALTHY, **changes: object) -> Conditions:
    """Healthy but for what is said."""
    return dataclasses.replace(healthy, **changes)  # type: ignore[arg-type]
