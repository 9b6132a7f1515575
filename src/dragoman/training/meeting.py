"""Where ranks meet for the first time: a file, an address of our own choosing, or what torchrun and srun give.

Our own launcher names the address with DRAGOMAN_BIND. Then rank 0 listens there and nowhere else: torch's own store
would listen on every interface of the machine, and anyone who reaches it could speak to the ranks.
"""

import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from datetime import timedelta

import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store, TCPStore  # torch.distributed has them, without types

from dragoman.core.errors import UserError

TIMEOUT_S = 180.0
"""Of a collective, unless DRAGOMAN_TIMEOUT_S says otherwise: minutes, not torch's half an hour."""
ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR of Linux


class MeetingError(RuntimeError):
    """The ranks did not find each other. Trying again may help: it is nobody's mistake that this process can see."""


def timeout() -> timedelta:
    """How long a rank waits for the others."""
    wanted = os.environ.get("DRAGOMAN_TIMEOUT_S", str(TIMEOUT_S))
    try:
        seconds = float(wanted)
        if not 1 <= seconds < 1e9:
            raise ValueError
    except ValueError:
        raise UserError(f"DRAGOMAN_TIMEOUT_S = {wanted!r} is no number of seconds", "set it to 60 or more") from None
    return timedelta(seconds=seconds)


def meet(backend: str, rank: int, size: int) -> None:
    """Join the process group of `size` ranks as number `rank`."""
    wait = timeout()
    own = os.environ.get("DRAGOMAN_BIND")
    if not own:
        dist.init_process_group(backend, init_method=_found_place(), rank=rank, world_size=size, timeout=wait)
        return
    place = f"{os.environ.get('MASTER_ADDR', own)}:{os.environ.get('MASTER_PORT')}"
    # Gloo listens too, on a port of each rank: it must know on which interface.
    if "GLOO_SOCKET_IFNAME" not in os.environ:
        os.environ["GLOO_SOCKET_IFNAME"] = interface_of(private(own))
    try:
        store = _store(own, rank, wait)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=wait)
    except (dist.DistError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise MeetingError(f"rank {rank} of {size} did not meet the others at {place}: {reason}") from error


def _found_place() -> str:
    """A file where the launcher of one machine says so (no port is opened); else what torchrun or srun gives."""
    if store := os.environ.get("DRAGOMAN_STORE"):
        return f"file://{store}"
    if "MASTER_ADDR" not in os.environ and "SLURM_JOB_ID" in os.environ:
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        os.environ["MASTER_PORT"] = str(20_000 + int(os.environ["SLURM_JOB_ID"]) % 20_000)
    return "env://"


def _store(own: str, rank: int, wait: timedelta) -> Store:
    """A store that listens on `own` alone; what it holds lies under the meeting's id, so that strays do not matter."""
    port = int(os.environ["MASTER_PORT"])
    if rank == 0:
        listener = listening_on(own, port)
        # The store owns the listener from here on, and closes it.
        store = TCPStore(
            own, port, is_master=True, timeout=wait, wait_for_workers=False, master_listen_fd=listener.detach()
        )
    else:
        store = TCPStore(os.environ["MASTER_ADDR"], port, is_master=False, timeout=wait, wait_for_workers=False)
    return PrefixStore(os.environ.get("DRAGOMAN_MEETING", "meeting"), store)


def listening_on(address: str, port: int) -> socket.socket:
    """A socket that is bound to one address of this machine."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((private(address), port))
    except OSError as error:
        listener.close()
        raise MeetingError(f"rank 0 cannot listen on {address}:{port}: {error.strerror}") from error
    return listener


def private(address: str) -> str:
    """The address itself. UserError if it is not one literal IPv4 address of one interface."""
    try:
        parsed = ipaddress.IPv4Address(address)
    except ValueError:
        raise UserError(f"DRAGOMAN_BIND = {address!r} is not an IPv4 address", "write it as 10.0.0.1") from None
    if parsed.is_unspecified or parsed.is_multicast:
        raise UserError(
            f"DRAGOMAN_BIND = {address} would listen on every address of this machine", "name the private one"
        )
    return address


def interface_of(address: str) -> str:
    """The name of the network interface that has an address."""
    for name, own in _interfaces():
        if own == address:
            return name
    raise UserError(f"no interface of this machine has the address {address}", "`ip -4 address` shows those it has")


def _interfaces() -> Iterator[tuple[str, str]]:
    """Name and first IPv4 address of every interface that has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asking, ADDRESS_OF_INTERFACE, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # has no IPv4 address
            yield name, socket.inet_ntoa(answer[20:24])
