"""What the kernel knows of the connections of our ranks: bytes that arrived at each peer, and the time they took.

Sent bytes over the time in which something was on its way is the rate of a link as training meets it, whatever the
ranks do between two exchanges, without a byte sent for it. Asked over netlink (`sock_diag`, what `ss -ti` uses).
"""

import errno
import os
import socket
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
REQUEST_AND_DUMP = 0x301
DONE, ERROR = 3, 2
TCP_INFO = 2
ESTABLISHED = 1 << 1
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBBBI48x")
FOUND = struct.Struct("=4x2x2x16x4s12x12x16xI")
"""Of `inet_diag_msg`: the peer's address and the socket's inode."""
ATTRIBUTE = struct.Struct("=HH")
COUNTERS = struct.Struct("=120xQ40xQQ")
"""Of `tcp_info`: bytes acknowledged, microseconds in which data was on its way, and in which the peer had no room."""


def flows(pids: Collection[int]) -> dict[str, list[float]]:
    """By address of the peer: bytes that arrived there, and seconds that they took, over all connections so far.

    Empty where the kernel does not say. A rank that is late and reads nothing does not make its link slow: the time in
    which the peer had no room does not count.
    """
    own = set[int]()
    for pid in pids:
        own |= socket_inodes(pid)
    found: dict[str, list[float]] = {}
    with suppress(OSError, struct.error):
        for peer, inode, num_bytes, seconds in _connections():
            if inode in own:
                entry = found.setdefault(peer, [0, 0.0])
                entry[0] += num_bytes
                entry[1] += seconds
    return found


def socket_inodes(pid: int) -> set[int]:
    """Of the open sockets of a process."""
    found = set[int]()
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = str(entry.readlink())
                if target.startswith("socket:["):
                    found.add(int(target[8:-1]))
    return found


def _connections() -> Iterator[tuple[str, int, int, float]]:
    """Peer, inode, bytes and seconds of every established IPv4 connection of this machine."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        request = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 1 << (TCP_INFO - 1), 0, ESTABLISHED)
        kernel.send(HEADER.pack(HEADER.size + len(request), SOCK_DIAG_BY_FAMILY, REQUEST_AND_DUMP, 1, 0) + request)
        while True:
            answer = kernel.recv(1 << 18)
            while answer:
                length, kind, *_ = HEADER.unpack_from(answer)
                if kind == DONE:
                    return
                if kind == ERROR:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                yield from _connection(answer[HEADER.size : length])
                answer = answer[_aligned(length) :]


def _connection(message: bytes) -> Iterator[tuple[str, int, int, float]]:
    address, inode = FOUND.unpack_from(message)
    attributes = message[FOUND.size :]
    while len(attributes) >= ATTRIBUTE.size:
        length, kind = ATTRIBUTE.unpack_from(attributes)
        if kind == TCP_INFO and length >= ATTRIBUTE.size + COUNTERS.size:
            num_bytes, busy_us, full_us = COUNTERS.unpack_from(attributes, ATTRIBUTE.size)
            yield socket.inet_ntoa(address), inode, num_bytes, max(0, busy_us - full_us) / 1e6
        attributes = attributes[max(_aligned(length), ATTRIBUTE.size) :]


def _aligned(length: int) -> int:
    return -(-length // 4) * 4
