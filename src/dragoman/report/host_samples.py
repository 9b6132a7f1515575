"""What the hosts' sensors said, as columns."""

from collections import Counter
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
    throttle_reasons: tuple[str, ...] = ()


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


def read_host(path: Path) -> tuple[HostColumns | None, int]:
    """The samples of one host (None without any), and how many lines were none."""
    reader = Reader(HostLine)
    lines = [line for block in reader.blocks(path) for line in block]
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


def _nics(lines: list[HostLine]) -> dict[str, NicColumns]:
    rows: dict[str, Column] = {}
    speeds: dict[str, float | None] = {}
    for place, line in enumerate(lines):
        for nic in line.nics:
            row = rows.setdefault(nic.name, np.full((2, len(lines)), np.nan))
            row[:, place] = [np.nan if value is None else value for value in (nic.sent_bytes, nic.received_bytes)]
            speeds[nic.name] = nic.speed_mbps
    return {name: NicColumns(sent, received, speeds[name]) for name, (sent, received) in rows.items()}


def _gpus(lines: list[HostLine]) -> dict[int, GpuColumns]:
    rows: dict[int, Column] = {}
    names: dict[int, str | None] = {}
    reasons: dict[int, Counter[str]] = {}
    seen = Counter[int]()
    for place, line in enumerate(lines):
        for gpu in line.gpus:
            row = rows.setdefault(gpu.index, np.full((len(GPU_NUMBERS), len(lines)), np.nan))
            values = (getattr(gpu, name) for name in GPU_NUMBERS)
            row[:, place] = [np.nan if value is None else value for value in values]
            names[gpu.index] = gpu.name or names.get(gpu.index)
            reasons.setdefault(gpu.index, Counter()).update(set(gpu.throttle_reasons))
            seen[gpu.index] += 1
    return {
        index: GpuColumns(
            name=names[index],
            **dict(zip(GPU_NUMBERS, row, strict=True)),
            throttled={reason: number / seen[index] for reason, number in reasons[index].items()},
        )
        for index, row in rows.items()
    }
