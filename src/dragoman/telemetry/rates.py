"""What happened between two records of one host: counters become rates. Pure; reads and writes nothing.

None where the records do not say: counters that went backwards (the host was started anew), clocks that jumped, or a
gap so long that the mean over it would hide what it holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dragoman.core.run_records import NicSample, SystemRecord

LONGEST_GAP_S = 60.0


@dataclass(frozen=True)
class NicRate:
    """One interface over a moment."""

    name: str
    sent_bytes_per_s: float
    received_bytes_per_s: float
    new_errors: int
    speed_mbps: float | None


@dataclass(frozen=True)
class HostRates:
    """One host over a moment. `seconds` is the time between the records."""

    seconds: float
    nics: tuple[NicRate, ...]
    disk_read_bytes_per_s: float | None
    disk_written_bytes_per_s: float | None


def between(before: SystemRecord, now: SystemRecord) -> HostRates | None:
    """The rates from one record to a later one of the same host."""
    seconds = seconds_between(before.time, now.time)
    if seconds is None or not 0.05 < seconds <= LONGEST_GAP_S:
        return None
    earlier = {nic.name: nic for nic in before.nics}
    return HostRates(
        seconds=seconds,
        nics=tuple(rate for nic in now.nics for rate in _nic_rate(earlier.get(nic.name), nic, seconds)),
        disk_read_bytes_per_s=_rate(before.disk_read_bytes, now.disk_read_bytes, seconds),
        disk_written_bytes_per_s=_rate(before.disk_written_bytes, now.disk_written_bytes, seconds),
    )


def seconds_between(before: str, now: str) -> float | None:
    """Between two times as records hold them; None if one is no time."""
    try:
        return (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds()
    except (TypeError, ValueError):  # one has no time zone, or is no time at all
        return None


def busiest(rates: HostRates, gradient_nic: str | None) -> NicRate | None:
    """The interface worth showing: the one that carries the gradients, else the busiest that leaves the host."""
    own = [nic for nic in rates.nics if nic.name == gradient_nic]
    others = [nic for nic in rates.nics if nic.name != "lo"]
    return own[0] if own else max(others, key=lambda nic: nic.sent_bytes_per_s + nic.received_bytes_per_s, default=None)


def scalars(before: SystemRecord | None, now: SystemRecord) -> dict[str, float]:
    """All that is known of a host as named numbers, for charts."""
    named: dict[str, float | None] = {
        "system/cpu_share": now.cpu_share,
        "system/memory_share": _ratio(now.memory_used_bytes, now.memory_total_bytes),
        "system/training_memory_gb": _ratio(now.process_memory_bytes, 1e9),
        "system/disk_free_gb": _ratio(now.disk_free_bytes, 1e9),
    }
    rates = between(before, now) if before else None
    if rates is not None:
        named["system/disk_read_mb_per_s"] = _ratio(rates.disk_read_bytes_per_s, 1e6)
        named["system/disk_written_mb_per_s"] = _ratio(rates.disk_written_bytes_per_s, 1e6)
        for nic in rates.nics:
            named[f"network/{nic.name}_sent_mb_per_s"] = nic.sent_bytes_per_s / 1e6
            named[f"network/{nic.name}_received_mb_per_s"] = nic.received_bytes_per_s / 1e6
            named[f"network/{nic.name}_new_errors"] = nic.new_errors
    for gpu in now.gpus:
        named[f"gpu/{gpu.index}_utilisation"] = gpu.utilisation
        named[f"gpu/{gpu.index}_memory_share"] = _ratio(gpu.memory_used_bytes, gpu.memory_total_bytes)
        named[f"gpu/{gpu.index}_power_w"] = gpu.power_w
        named[f"gpu/{gpu.index}_power_share"] = _ratio(gpu.power_w, gpu.power_cap_w)
        named[f"gpu/{gpu.index}_clock_mhz"] = gpu.clock_mhz
        named[f"gpu/{gpu.index}_temperature_c"] = gpu.temperature_c
        named[f"gpu/{gpu.index}_power_cap_w"] = gpu.power_cap_w
        if gpu.throttle_reasons is not None:
            named[f"gpu/{gpu.index}_num_throttle_reasons"] = len(gpu.throttle_reasons)
    return {name: value for name, value in named.items() if value is not None}


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _rate(before: int | None, now: int | None, seconds: float) -> float | None:
    return (now - before) / seconds if before is not None and now is not None and now >= before else None


def _nic_rate(before: NicSample | None, now: NicSample, seconds: float) -> Iterator[NicRate]:
    """Nothing for an interface that is new or was counted anew."""
    if before is None:
        return
    sent = _rate(before.sent_bytes, now.sent_bytes, seconds)
    received = _rate(before.received_bytes, now.received_bytes, seconds)
    if sent is not None and received is not None:
        yield NicRate(now.name, sent, received, max(0, now.errors - before.errors), now.speed_mbps)
