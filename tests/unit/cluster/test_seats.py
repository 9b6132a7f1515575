"""Which ranks sit where, and at which address."""

import pytest

from dragoman.cluster.hosts import Host
from dragoman.cluster.machine import Interface, Machine, interfaces, route_to, this_machine
from dragoman.cluster.seats import Seat, find_interface, host_of, is_private, rank_variables
from dragoman.cluster.ssh import Problem

LO = Interface("lo", "127.0.0.1", None)
ETH = Interface("eth0", "10.0.0.1", 10_000.0)
DOCKER = Interface("docker0", "172.17.0.1", None)
PUBLIC = Interface("eth1", "93.184.216.34", 1_000.0)


def machine(*found: Interface, **others: object) -> Machine:
    values: dict[str, object] = {
        "hostname": "h", "time": 0.0, "dragoman": "1", "source": "s", "python": "3.11.7", "torch": "2.13.0+cpu",
        "directory": "/home/me/dragoman", "cores": 8, "memory_bytes": 10**10, "disk_free_bytes": 10**11, "num_gpus": 0,
    }  # fmt: skip
    return Machine(**{**values, **others, "interfaces": found})  # type: ignore[arg-type]


def seat(name: str, address: str, processes: int) -> Seat:
    return Seat(name, address, "eth0", None, processes, "/run")


def test_ranks_of_a_host_are_neighbours_and_know_where_to_meet() -> None:
    left, right = rank_variables([seat("left", "10.0.0.1", 2), seat("right", "10.0.0.2", 1)], 40_001, "secret")
    assert [(v["RANK"], v["LOCAL_RANK"], v["DRAGOMAN_BIND"]) for v in (*left, *right)] == [
        ("0", "0", "10.0.0.1"),
        ("1", "1", "10.0.0.1"),
        ("2", "0", "10.0.0.2"),
    ]
    for variables in (*left, *right):
        assert (variables["WORLD_SIZE"], variables["MASTER_ADDR"], variables["MASTER_PORT"]) == (
            "3",
            "10.0.0.1",
            "40001",
        )
        assert (variables["GLOO_SOCKET_IFNAME"], variables["NCCL_SOCKET_IFNAME"]) == ("eth0", "=eth0")
        assert (variables["DRAGOMAN_MEETING"], variables["DRAGOMAN_TIMEOUT_S"]) == ("secret", "300")
    assert (left[0]["DRAGOMAN_HOST"], right[0]["DRAGOMAN_HOST"]) == ("left", "right")


def test_a_rank_is_found_on_its_host() -> None:
    seats = [seat("left", "10.0.0.1", 2), seat("right", "10.0.0.2", 1)]
    assert [host_of(rank, seats) for rank in range(3)] == ["left", "left", "right"]
    with pytest.raises(ValueError):
        host_of(3, seats)


def test_the_address_that_ssh_uses_is_taken_where_the_host_has_it() -> None:
    assert find_interface(Host(), machine(LO, DOCKER, ETH, PUBLIC), "10.0.0.1") == ETH


def test_behind_a_public_address_the_only_private_one_is_taken() -> None:
    assert find_interface(Host(), machine(LO, DOCKER, ETH), "203.0.113.9") == ETH


def test_where_there_are_several_somebody_must_say() -> None:
    other = Interface("eth2", "192.168.1.5", None)
    found = find_interface(Host(), machine(LO, ETH, other), None)
    assert isinstance(found, Problem)
    assert found.fix == "set private_address; it has 10.0.0.1 (eth0), 192.168.1.5 (eth2)"
    assert find_interface(Host(private_address="192.168.1.5"), machine(LO, ETH, other), None) == other


def test_an_address_that_the_host_does_not_have_is_told() -> None:
    found = find_interface(Host(private_address="10.9.9.9"), machine(LO, ETH), "10.0.0.1")
    assert isinstance(found, Problem) and "none of its interfaces has" in found.text


def test_private_is_what_the_internet_cannot_reach() -> None:
    assert all(map(is_private, ("10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1", "169.254.1.1", "127.0.0.1")))
    assert not any(map(is_private, ("93.184.216.34", "8.8.8.8")))


def test_this_machine_says_what_it_is(tmp_path: object) -> None:
    from pathlib import Path

    found = this_machine(Path(str(tmp_path)) / "not" / "there")
    assert found.cores >= 1 and found.num_processes >= 1
    assert found.disk_free_bytes is not None and found.disk_free_bytes > 0
    assert found.memory_bytes is not None and found.memory_bytes > 0
    assert any(one.address == "127.0.0.1" and one.name == "lo" for one in interfaces())
    assert route_to("127.0.0.1") == "127.0.0.1"
