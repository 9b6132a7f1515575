"""What the hosts' sensors said, as columns."""

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import msgspec
import numpy as np

from dragoman.report.columns import Column, GpuColumns, HostColumns, NicColumns
from dragoman.report.record_lines import Reader, unix_seconds


class NicLine(msgspec.Struct):
    """One interface at one moment."""

    name: str
    sent_bytes: float | None = None
    received_bytes: float | None = None
    speed_mbps: float | None = None


class GpuLine(msgspec.Struct):
    """One GPU at one moment."""

    index: int
    name: str | None = None
    utilisation: float | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    clock_mhz: float | None = None
    max_clock_mhz: float | None = None
    temperature_c: float | None = None
    throttle_reasons: tuple[str, ...] | None = None


class HostLine(msgspec.Struct):
    """One host at one moment."""

    time: str | None = None
    cpu_share: float | None = None
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    process_memory_bytes: float | None = None
    disk_free_bytes: float | None = None
    nics: tuple[NicLine, ...] = ()
    gradient_nic: str | None = None
    gpus: tuple[GpuLine, ...] = ()


HOST_NUMBERS = ("cpu_share", "memory_used_bytes", "memory_total_bytes", "process_memory_bytes", "disk_free_bytes")
GPU_NUMBERS = (
    "utilisation",
    "power_w",
    "power_cap_w",
    "memory_used_bytes",
    "memory_total_bytes",
    "clock_mhz",
    "max_clock_mhz",
    "temperature_c",
)


MOST_SAMPLES = 20_000
"""Of a longer file only every so-manieth line is read: medians, shares and counters need no more."""


def read_host(path: Path) -> tuple[HostColumns | None, int]:
    """The samples of one host (None without any), and how many lines were none."""
    reader = Reader(HostLine)
    lines = [line for block in reader.blocks(path, every=_stride(path)) for line in block]
    if not lines:
        return None, reader.num_unread
    columns = {name: np.array([getattr(line, name) for line in lines], dtype=np.float64) for name in HOST_NUMBERS}
    named = [line.gradient_nic for line in lines if line.gradient_nic]
    host = HostColumns(
        time_s=unix_seconds([line.time for line in lines]),
        **columns,
        nics=_nics(lines),
        gradient_nic=named[-1] if named else None,
        gpus=_gpus(lines),
    )
    return host, reader.num_unread


def _stride(path: Path) -> int:
    """So that about MOST_SAMPLES lines are left, by the length of the first."""
    try:
        with path.open("rb") as file:
            return max(1, path.stat().st_size // (max(1, len(file.readline())) * MOST_SAMPLES))
    except OSError:
        return 1


def _nics(lines: list[HostLine]) -> dict[str, NicColumns]:
    seen: dict[str, list[tuple[int, NicLine]]] = {}
    for place, line in enumerate(lines):
        for nic in line.nics:
            seen.setdefault(nic.name, []).append((place, nic))
    columns = {}
    for name, found in seen.items():
        sent, received = _table(found, ("sent_bytes", "received_bytes"), len(lines))
        columns[name] = NicColumns(sent, received, found[-1][1].speed_mbps)
    return columns


def _gpus(lines: list[HostLine]) -> dict[int, GpuColumns]:
    seen: dict[int, list[tuple[int, GpuLine]]] = {}
    for place, line in enumerate(lines):
        for gpu in line.gpus:
            seen.setdefault(gpu.index, []).append((place, gpu))
    return {index: _gpu(found, len(lines)) for index, found in seen.items()}


def _gpu(found: list[tuple[int, GpuLine]], num_lines: int) -> GpuColumns:
    told = [set(gpu.throttle_reasons) for _, gpu in found if gpu.throttle_reasons is not None]
    reasons = Counter(reason for given in told for reason in given)
    return GpuColumns(
        name=next((gpu.name for _, gpu in reversed(found) if gpu.name), None),
        **dict(zip(GPU_NUMBERS, _table(found, GPU_NUMBERS, num_lines), strict=True)),
        throttled={reason: number / len(told) for reason, number in reasons.items()} if told else None,
    )


def _table(found: Sequence[tuple[int, NicLine | GpuLine]], names: tuple[str, ...], num_lines: int) -> Column:
    """[name, line]; NaN where a line has no such device, or a device no such number."""
    table: Column = np.full((len(names), num_lines), np.nan)
    places = [place for place, _ in found]
    table[:, places] = np.array([attrgetter(*names)(device) for _, device in found], dtype=np.float64).T
    return table
