"""Who sits where: which ranks a host runs, at which private address, through which interface. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from dragoman.cluster.hosts import Host
from dragoman.cluster.machine import Interface, Machine
from dragoman.cluster.ssh import Problem

COLLECTIVE_TIMEOUT_S = 300
"""A rank that waits longer than this for the others gives up. Hosts and ranks that are gone are noticed long before."""


@dataclass(frozen=True)
class Seat:
    """A host's part in one attempt."""

    host: str
    address: str
    """Private, literal IPv4: where the other hosts reach it."""
    interface: str
    claimed_mbps: float | None
    num_processes: int
    directory: str
    """Its run directory, in full."""


def find_interface(host: Host, machine: Machine, resolved: str | None) -> Interface | Problem:
    """The interface that the other hosts reach it at."""
    candidates = [one for one in machine.interfaces if not IPv4Address(one.address).is_loopback]
    wanted = host.private_address or resolved
    for one in candidates:
        if one.address == wanted:
            return one
    shown = ", ".join(f"{one.address} ({one.name})" for one in candidates) or "none"
    if host.private_address:
        return Problem(
            f"none of its interfaces has the private_address {host.private_address}", f"its addresses are {shown}"
        )
    inner = [one for one in candidates if is_private(one.address) and not one.name.startswith(VIRTUAL)]
    if len(inner) == 1:
        return inner[0]
    return Problem("it is not clear at which address the others reach it", f"set private_address; it has {shown}")


VIRTUAL = ("docker", "br-", "veth", "virbr", "cni", "flannel", "podman")
"""Interfaces that lead to containers of the same machine, never to another host."""


def is_private(address: str) -> bool:
    """Not to be reached from the internet. (100.64/10, carrier-grade and VPN addresses, is not either.)"""
    return not IPv4Address(address).is_global


def rank_variables(seats: Sequence[Seat], port: int, meeting: str) -> list[list[dict[str, str]]]:
    """The environment of every rank of every seat. Ranks are numbered seat by seat, so that neighbours share a host."""
    size = sum(seat.num_processes for seat in seats)
    main = seats[0]
    variables: list[list[dict[str, str]]] = []
    rank = 0
    for seat in seats:
        own = []
        for local_rank in range(seat.num_processes):
            own.append(
                {
                    "RANK": str(rank),
                    "WORLD_SIZE": str(size),
                    "LOCAL_RANK": str(local_rank),
                    "LOCAL_WORLD_SIZE": str(seat.num_processes),
                    "MASTER_ADDR": main.address,
                    "MASTER_PORT": str(port),
                    "DRAGOMAN_BIND": seat.address,
                    "DRAGOMAN_MEETING": meeting,
                    "DRAGOMAN_HOST": seat.host,
                    "DRAGOMAN_TIMEOUT_S": str(COLLECTIVE_TIMEOUT_S),
                    "GLOO_SOCKET_IFNAME": seat.interface,
                    "NCCL_SOCKET_IFNAME": f"={seat.interface}",
                    "NCCL_SOCKET_FAMILY": "AF_INET",
                    "NCCL_IB_DISABLE": "1",
                    "TORCH_CPP_LOG_LEVEL": "ERROR",  # it complains of addresses without names
                }
            )
            rank += 1
        variables.append(own)
    return variables


def host_of(rank: int, seats: Sequence[Seat]) -> str:
    """The name of the host that runs a rank."""
    for seat in seats:
        if rank < seat.num_processes:
            return seat.host
        rank -= seat.num_processes
    raise ValueError(f"there is no rank {rank}")
