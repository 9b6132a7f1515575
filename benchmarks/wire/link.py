"""Two hosts and a cable: network namespaces joined by a veth pair whose rate `tc tbf` sets. Needs root."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("dragoman-wire-a", "dragoman-wire-b")
ADDRESSES = ("10.78.0.1", "10.78.0.2")
INTERFACE = "wire0"
BURST = "128kb"
PORT = 29_500


def call(*words: str, check: bool = True) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")


@contextmanager
def two_hosts() -> Iterator[None]:
    """The namespaces and their cable; both are gone afterwards."""
    if os.geteuid() != 0:
        raise SystemExit("namespaces need root")
    _remove()
    try:
        for name in NAMES:
            call("ip", "netns", "add", name)
        first, second = NAMES
        call("ip", "link", "add", INTERFACE, "netns", first, "type", "veth", "peer", "name", INTERFACE, "netns", second)
        for name, address in zip(NAMES, ADDRESSES, strict=True):
            call("ip", "-n", name, "address", "add", f"{address}/24", "dev", INTERFACE)
            for interface in ("lo", INTERFACE):
                call("ip", "-n", name, "link", "set", interface, "up")
        yield
    finally:
        _remove()


def _remove() -> None:
    for name in NAMES:
        call("ip", "netns", "delete", name, check=False)


def set_rate(mbit: float | None) -> None:
    """Of the cable, each way; None takes the limit away."""
    for name in NAMES:
        call("tc", "-n", name, "qdisc", "delete", "dev", INTERFACE, "root", check=False)
        if mbit is not None:
            shape = ("tbf", "rate", f"{mbit:.3f}mbit", "burst", BURST, "latency", "400ms")
            call("tc", "-n", name, "qdisc", "replace", "dev", INTERFACE, "root", *shape)


def start(rank: int, module: str, *words: str) -> "subprocess.Popen[str]":
    """A rank on its host and its core; it reads orders and writes answers."""
    cores = sorted(os.sched_getaffinity(0))
    variables = {
        "RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": ADDRESSES[0], "MASTER_PORT": str(PORT),
        "DRAGOMAN_BIND": ADDRESSES[rank], "GLOO_SOCKET_IFNAME": INTERFACE, "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }  # fmt: skip
    command = ["ip", "netns", "exec", NAMES[rank], "taskset", "-c", str(cores[rank % len(cores)])]
    return subprocess.Popen(
        [*command, sys.executable, "-m", module, *words],
        env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
