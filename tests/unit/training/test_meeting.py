"""Ranks that meet over TCP listen on one private address, and say so when they do not meet."""

import os
import shutil
import socket
import subprocess
import sys

import pytest

from dragoman.core.errors import UserError
from dragoman.training import meeting

RANK = """
import subprocess, sys
from dragoman.training.world import joined
with joined() as world:
    total = world.sums(world.rank + 1.0)[0]
    own = world.from_main(b"from the main rank" if world.is_main else b"")
    if world.is_main:
        print(subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True).stdout)
    world.any(False)
    print("sum", total, own.decode())
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(rank: int, size: int, port: int, **more: str) -> "subprocess.Popen[str]":
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("DRAGOMAN_", "GLOO_"))},
        "RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "DRAGOMAN_BIND": "127.0.0.1", **more,
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", RANK], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_ranks_meet_and_nothing_listens_on_other_addresses() -> None:
    port = free_port()
    ranks = [start(rank, 2, port, DRAGOMAN_MEETING="a1b2") for rank in range(2)]
    pids = {rank.pid for rank in ranks}
    outputs = [rank.communicate(timeout=60) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], outputs
    assert all("sum 3.0 from the main rank" in output for output, _ in outputs)
    if not shutil.which("ss"):
        pytest.skip("ss, of iproute2, is not installed: who listens was not seen")
    lines = [line.split() for line in outputs[0][0].splitlines() if any(f"pid={pid}," in line for pid in pids)]
    listening = [line[3] for line in lines]
    assert f"127.0.0.1:{port}" in listening
    assert len(listening) >= 3, "the store and a port of gloo's for each rank"
    assert all(address.startswith("127.0.0.1:") for address in listening), listening


def test_a_rank_without_the_others_gives_up_and_says_where_it_waited() -> None:
    port = free_port()
    rank = start(1, 2, port, DRAGOMAN_TIMEOUT_S="1")
    _, errors = rank.communicate(timeout=60)
    assert rank.returncode == 1
    assert f"rank 1 of 2 did not meet the others at 127.0.0.1:{port}" in errors


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(meeting.MeetingError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            meeting.listening_on("127.0.0.1", port)


@pytest.mark.parametrize("address", ["0.0.0.0", "224.0.0.1"])
def test_an_address_that_means_all_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="would listen on every address"):
        meeting.private(address)


@pytest.mark.parametrize("address", ["", "localhost", "::1", "10.0.0"])
def test_only_literal_ipv4_addresses_are_taken(address: str) -> None:
    with pytest.raises(UserError, match="is not an IPv4 address"):
        meeting.private(address)


def test_the_interface_of_an_address_is_found() -> None:
    assert meeting.interface_of("127.0.0.1") == "lo"
    with pytest.raises(UserError, match=r"no interface of this machine has the address 203\.0\.113\.7"):
        meeting.interface_of("203.0.113.7")


@pytest.mark.parametrize("wanted", ["soon", "0", "-3", "nan"])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_TIMEOUT_S", wanted)
    with pytest.raises(UserError, match="is no number of seconds"):
        meeting.timeout()


def test_the_timeout_is_minutes_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRAGOMAN_TIMEOUT_S", raising=False)
    assert meeting.timeout().total_seconds() == 180
    monkeypatch.setenv("DRAGOMAN_TIMEOUT_S", "75")
    assert meeting.timeout().total_seconds() == 75
