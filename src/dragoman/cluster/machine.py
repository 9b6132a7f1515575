"""What a machine says of itself: versions, cores, memory, disk, clock, network interfaces. Reads, changes nothing."""

import fcntl
import hashlib
import importlib.metadata
import os
import platform
import shutil
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dragoman

ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR of Linux
DISCARD_PORT = 9


@dataclass(frozen=True)
class Interface:
    """One IPv4 address of a network interface."""

    name: str
    address: str
    claimed_mbps: float | None


@dataclass(frozen=True)
class Machine:
    """One machine at one moment."""

    hostname: str
    time: float
    """Seconds since 1970 by its own clock."""
    dragoman: str
    source: str
    """A hash of Dragoman's own code there."""
    python: str
    torch: str | None
    directory: str
    """Where Dragoman keeps things there, in full."""
    cores: int
    memory_bytes: int | None
    """Free for new work."""
    disk_free_bytes: int | None
    num_gpus: int
    interfaces: tuple[Interface, ...]

    @property
    def num_processes(self) -> int:
        """What it runs if nobody says otherwise: one rank a GPU, else one with all cores."""
        return self.num_gpus or 1


def this_machine(directory: Path) -> Machine:
    return Machine(
        hostname=socket.gethostname(),
        time=time.time(),
        dragoman=dragoman.__version__,
        source=source_hash(),
        python=platform.python_version(),
        torch=_version_of("torch"),
        directory=str(directory),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=_available_memory(),
        disk_free_bytes=_free_bytes(directory),
        num_gpus=len(list(Path("/proc/driver/nvidia/gpus").glob("*"))),
        interfaces=tuple(interfaces()),
    )


def source_hash() -> str:
    """Two copies of Dragoman with one hash do the same; a version number alone does not promise that."""
    package = Path(dragoman.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def interfaces() -> Iterator[Interface]:
    """Every network interface that has an IPv4 address, with its first: the one that gloo would use."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asking, ADDRESS_OF_INTERFACE, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # has no IPv4 address
            yield Interface(name, socket.inet_ntoa(answer[20:24]), _claimed_mbps(name))


def route_to(address: str) -> str | None:
    """The own address from which packets to `address` leave; None where no route leads there. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, DISCARD_PORT))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def _claimed_mbps(name: str) -> float | None:
    try:
        speed = int(Path(f"/sys/class/net/{name}/speed").read_text())
    except (OSError, ValueError):
        return None
    return float(speed) if speed > 0 else None


def _version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _available_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _free_bytes(directory: Path) -> int | None:
    """Of the disk that holds `directory`, or will."""
    for place in (directory, *directory.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None
