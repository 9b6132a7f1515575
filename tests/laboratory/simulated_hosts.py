"""What the machines of a simulated run wrote down: interfaces count bytes, GPUs draw power by what they really do."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import GpuSample, NicSample, SystemRecord
from dragoman.theory import wire
from tests.laboratory.conditions import Conditions

Column = npt.NDArray[np.float64]

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
SAMPLE_EVERY_S = 2.0
PACKET_BYTES = 1448
IDLE_POWER_SHARE, BUSY_POWER_SHARE = 0.16, 0.95
"""Of the cap: kernels that only wait, at a reading of 100 %, and kernels that compute."""


def stamp(second: float) -> str:
    return (BEGIN + timedelta(seconds=second)).isoformat(timespec="milliseconds")


def write_telemetry(
    paths: RunPaths, c: Conditions, ends: Column, computing_s: float, random: np.random.Generator
) -> None:
    """A record every other second: counters grow with the steps done, power with the share of computing."""
    seconds = np.arange(0.0, float(ends[-1]) + SAMPLE_EVERY_S, SAMPLE_EVERY_S)
    done = np.interp(seconds, np.concatenate([[0.0], ends]), np.arange(len(ends) + 1))
    busy = min(1.0, computing_s / float(np.median(ends / np.arange(1, len(ends) + 1))))
    power_w = c.power_cap_w * (IDLE_POWER_SHARE + (BUSY_POWER_SHARE - IDLE_POWER_SHARE) * busy)
    for number in range(c.num_hosts):
        host = f"host{number}"
        paths.telemetry(host).parent.mkdir(exist_ok=True)
        lines = (
            _sample(c, host, second, steps, tuple(_gpus(c, power_w, random)))
            for second, steps in zip(seconds.tolist(), done.tolist(), strict=True)
        )
        records.write_lines(paths.telemetry(host), lines)


def _sample(c: Conditions, host: str, second: float, steps: float, gpus: tuple[GpuSample, ...]) -> SystemRecord:
    return SystemRecord(
        time=stamp(second),
        host=host,
        cpu_share=0.3,
        memory_used_bytes=8 * 10**9,
        memory_total_bytes=64 * 10**9,
        process_memory_bytes=4 * 10**9,
        disk_free_bytes=10**12,
        disk_read_bytes=10**9,
        disk_written_bytes=10**9,
        nics=tuple(_nics(c, second, steps)),
        gradient_nic=c.meant_for,
        gpus=gpus,
    )


def _nics(c: Conditions, second: float, steps: float) -> Iterator[NicSample]:
    """Gradients cross one interface; others see a little of everything else."""
    gradients = steps * wire.nic_bytes(c.row_bytes, wire.Layout(c.num_ranks, c.num_hosts))
    for name, per_s in (("lo", 1_000.0), ("eth0", c.other_traffic_bytes_per_s), ("eth1", c.other_traffic_bytes_per_s)):
        num_bytes = round(per_s * second + (gradients if name == c.carries_over else 0.0))
        num_packets = num_bytes // PACKET_BYTES
        yield NicSample(name, num_bytes, num_bytes, num_packets, num_packets, 0, 1000.0)


def _gpus(c: Conditions, power_w: float, random: np.random.Generator) -> Iterator[GpuSample]:
    for index in range(c.ranks_per_host if c.gpu else 0):
        drawn_w = power_w * float(np.exp(0.03 * random.standard_normal()))
        yield GpuSample(
            index=index,
            name=c.gpu or "",
            utilisation=c.gpu_busy,
            memory_used_bytes=12 * 10**9,
            memory_total_bytes=16 * 10**9,
            power_w=drawn_w,
            power_cap_w=c.power_cap_w,
            clock_mhz=1380.0,
            max_clock_mhz=1380.0,
            temperature_c=50.0,
            throttle_reasons=(),
        )
