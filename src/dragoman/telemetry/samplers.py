"""What this host does at one moment: CPU, memory, disks, network interfaces.

One function a sensor. None of them raises: a sensor that is missing or refuses gives None, or nothing in a list.
Counters are those of the kernel since the host started; whoever reads two records makes rates of them (`rates`).
"""

import importlib
import os
import shutil
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dragoman.core.run_records import NicSample

Value = TypeVar("Value")


def sensed(sensor: Callable[[], Value]) -> Value | None:
    """What a sensor says; None where it fails, whatever the reason."""
    try:
        return sensor()
    except Exception:
        return None


def _psutil() -> Any:
    return importlib.import_module("psutil")


def cpu_seconds() -> tuple[float, float] | None:
    """Seconds that all cores together were busy, and that there were, since the host started."""

    def read() -> tuple[float, float]:
        times = _psutil().cpu_times()._asdict()
        # A guest's time is counted in user and nice already; waiting for a disk is not work.
        total = sum(seconds for kind, seconds in times.items() if kind not in ("guest", "guest_nice"))
        return total - times["idle"] - times.get("iowait", 0.0), total

    return sensed(read)


def cpu_share(before: tuple[float, float] | None, now: tuple[float, float] | None) -> float | None:
    """Share of all cores that was busy between two readings of `cpu_seconds`."""
    if before is None or now is None or now[1] <= before[1]:
        return None
    return min(1.0, max(0.0, (now[0] - before[0]) / (now[1] - before[1])))


def memory() -> tuple[int, int] | None:
    """Bytes in use that could not be had without swapping, and bytes that there are."""

    def read() -> tuple[int, int]:
        found = _psutil().virtual_memory()
        return int(found.total - found.available), int(found.total)

    return sensed(read)


def training_processes() -> list[Any]:
    """This process and those that the same launcher started with the same command: the ranks of this host."""

    def read() -> list[Any]:
        psutil = _psutil()
        own = psutil.Process()
        command, parent = own.cmdline(), own.parent()
        ranks = [other for other in parent.children() if sensed(other.cmdline) == command] if parent else []
        return ranks if own in ranks else [own, *ranks]

    return sensed(read) or []


def memory_of(processes: Iterable[Any]) -> int | None:
    """Resident bytes of the processes together; pages that they share count for each. None if none can be read."""
    found = [sensed(lambda process=process: int(process.memory_info().rss)) for process in processes]  # type: ignore[misc]
    known = [num_bytes for num_bytes in found if num_bytes is not None]
    return sum(known) if known else None


def disk_free_bytes(directory: Path) -> int | None:
    """Room that is left where the run is written."""
    return sensed(lambda: shutil.disk_usage(directory).free)


def disk_traffic() -> tuple[int, int] | None:
    """Bytes that the disks of this host have read and written."""

    def read() -> tuple[int, int]:
        found = _psutil().disk_io_counters()
        return int(found.read_bytes), int(found.write_bytes)

    return sensed(read)


def nics() -> tuple[NicSample, ...]:
    """Every network interface, in the kernel's order."""
    counters: Mapping[str, Any] = sensed(lambda: _psutil().net_io_counters(pernic=True)) or {}
    samples = (sensed(lambda name=name, one=one: _nic(name, one)) for name, one in counters.items())  # type: ignore[misc]
    return tuple(sample for sample in samples if sample is not None)


def _nic(name: str, counters: Any) -> NicSample:
    return NicSample(
        name=name,
        sent_bytes=int(counters.bytes_sent),
        received_bytes=int(counters.bytes_recv),
        sent_packets=int(counters.packets_sent),
        received_packets=int(counters.packets_recv),
        errors=int(counters.errin + counters.errout),
        speed_mbps=claimed_mbps(name),
    )


def claimed_mbps(name: str, below: Path = Path("/sys/class/net")) -> float | None:
    """What the interface claims to carry. Read anew each time: a cable that renegotiates to 100 Mb/s must show."""
    speed = sensed(lambda: float((below / name / "speed").read_text()))
    return speed if speed is not None and speed > 0 else None


def gradient_nic(environment: Mapping[str, str], names: Iterable[str], backend: str) -> str | None:
    """The interface that carries the gradients between ranks, or None where that is not known.

    The variable of the `backend` ("gloo" or "nccl") decides if it leaves exactly one interface; else the interface from
    which the host of rank 0 is reached. One rank alone exchanges nothing.
    """
    if sensed(lambda: int(environment.get("WORLD_SIZE") or environment.get("SLURM_NTASKS") or "1")) == 1:
        return None
    chosen = named_nics(environment.get(f"{backend.upper()}_SOCKET_IFNAME", ""), list(names), backend)
    if len(chosen) == 1:
        return chosen[0]
    address = environment.get("MASTER_ADDR")
    return _nic_towards(address) if address else None


def named_nics(wish: str, names: list[str], backend: str) -> list[str]:
    """The interfaces that a *_SOCKET_IFNAME leaves. To NCCL "eth" is a prefix, "=eth0" exact, "^docker" all others."""
    if not wish:
        return []
    is_exclusion = wish.startswith("^")
    wish = wish.removeprefix("^")
    is_exact = wish.startswith("=") or backend == "gloo"
    wanted = [part.strip() for part in wish.removeprefix("=").split(",") if part.strip()]

    def fits(name: str) -> bool:
        return any(name == part if is_exact else name.startswith(part) for part in wanted)

    if is_exclusion:
        return [name for name in names if not fits(name) and name != "lo"]
    return [name for name in names if fits(name)]


def _nic_towards(address: str) -> str | None:
    """The interface whose own address this host would use to talk to `address`; no packet is sent."""

    def read() -> str | None:
        [family, kind, _, _, place], *_ = socket.getaddrinfo(address, 9, type=socket.SOCK_DGRAM)
        with socket.socket(family, kind) as probe:
            probe.connect(place)
            own = probe.getsockname()[0]
        for name, addresses in _psutil().net_if_addrs().items():
            if any(one.address.partition("%")[0] == own for one in addresses):
                return str(name)
        return None

    return sensed(read)


def own_environment() -> Mapping[str, str]:
    """The variables that say how the ranks talk."""
    return dict(os.environ)
