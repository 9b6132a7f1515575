"""A long way between two hosts: `python -m tests.laboratory.relay SECONDS KEEPER KEEPER`. Needs root.

The kernel here cannot delay packets (it has no netem), so a process does: it holds one end of a tunnel device `far0`
in the network of each keeper process, and hands every packet on after a fixed time, as many as come.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
LARGEST_PACKET = 65_536


def tunnel_end(keeper: str) -> int:
    """The file of a tunnel device in the network of a process; this process is in that network afterwards."""
    network = os.open(f"/proc/{keeper}/ns/net", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(network, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot enter the network")
    os.close(network)
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22s", b"far0", IFF_TUN | IFF_NO_PI, b""))
    return end


def relay(delay_s: float, left: int, right: int) -> None:
    """For ever."""
    other = {left: right, right: left}
    waiting: deque[tuple[float, int, bytes]] = deque()
    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([left, right], [], [], patience)
        for end in readable:
            waiting.append((time.monotonic() + delay_s, other[end], os.read(end, LARGEST_PACKET)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, packet = waiting.popleft()
            with contextlib.suppress(OSError):  # a device that is not up yet loses packets, as cables do
                os.write(end, packet)


if __name__ == "__main__":
    ends = [tunnel_end(keeper) for keeper in sys.argv[2:4]]
    print("ready", flush=True)
    relay(float(sys.argv[1]), *ends)
