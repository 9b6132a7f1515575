"""What the sensors say, and that a sensor that fails gives None and nothing worse."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from dragoman.telemetry import samplers


def test_this_host_is_measured(tmp_path: Path) -> None:
    first, memory = samplers.cpu_seconds(), samplers.memory()
    sum(range(2_000_000))
    share = samplers.cpu_share(first, samplers.cpu_seconds())
    assert share is None or 0 <= share <= 1
    assert memory is not None and 0 < memory[0] < memory[1]
    own = samplers.memory_of(samplers.training_processes())
    assert own is not None and own > 10_000_000
    assert (samplers.disk_free_bytes(tmp_path) or 0) > 0
    assert "lo" in {nic.name for nic in samplers.nics()}


def test_the_share_of_the_cpu_is_what_was_busy_between_two_readings() -> None:
    assert samplers.cpu_share((10.0, 100.0), (13.0, 104.0)) == 0.75
    assert samplers.cpu_share(None, (13.0, 104.0)) is None
    assert samplers.cpu_share((13.0, 104.0), (13.0, 104.0)) is None
    assert samplers.cpu_share((20.0, 104.0), (10.0, 50.0)) is None


def test_waiting_for_a_disk_is_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"user": 3.0, "system": 1.0, "idle": 4.0, "iowait": 2.0, "guest": 1.0, "guest_nice": 0.0}
    stand_in(monkeypatch, cpu_times=lambda: types.SimpleNamespace(_asdict=lambda: times))
    assert samplers.cpu_seconds() == (4.0, 10.0)


def stand_in(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    monkeypatch.setitem(sys.modules, "psutil", types.SimpleNamespace(**functions))


def nothing_works(*_: object, **__: object) -> None:
    raise PermissionError("not in this container")


@pytest.mark.parametrize("is_missing", [True, False])
def test_sensors_that_are_missing_or_refuse_give_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_missing: bool
) -> None:
    if is_missing:
        monkeypatch.setitem(sys.modules, "psutil", None)
    else:
        names = ("cpu_times", "virtual_memory", "Process", "disk_io_counters", "net_io_counters", "net_if_addrs")
        stand_in(monkeypatch, **dict.fromkeys(names, nothing_works))
    assert samplers.cpu_seconds() is samplers.memory() is samplers.disk_traffic() is None
    assert samplers.training_processes() == []
    assert samplers.memory_of([]) is None
    assert samplers.nics() == ()
    assert samplers.disk_free_bytes(tmp_path / "nowhere") is None
    assert samplers.gradient_nic({"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, [], "gloo") is None


def test_a_host_without_disks_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, disk_io_counters=lambda: None)
    assert samplers.disk_traffic() is None


def test_a_rank_that_has_ended_is_left_out_of_the_sum() -> None:
    alive = types.SimpleNamespace(memory_info=lambda: types.SimpleNamespace(rss=7))
    assert samplers.memory_of([alive, types.SimpleNamespace(memory_info=nothing_works), alive]) == 14


def test_ranks_are_the_siblings_with_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def process(*command: str) -> Any:
        return types.SimpleNamespace(cmdline=lambda: list(command))

    own, other, shell = process("python", "worker"), process("python", "worker"), process("sh")
    ended = types.SimpleNamespace(cmdline=nothing_works)
    own.parent = lambda: types.SimpleNamespace(children=lambda: [shell, own, ended, other])
    stand_in(monkeypatch, Process=lambda: own)
    assert samplers.training_processes() == [own, other]
    own.parent = lambda: None
    assert samplers.training_processes() == [own]


@pytest.mark.parametrize("text, speed", [("1000\n", 1000.0), ("-1\n", None), ("0\n", None), ("fast\n", None)])
def test_the_speed_is_what_the_interface_claims(tmp_path: Path, text: str, speed: float | None) -> None:
    (tmp_path / "eth0").mkdir()
    (tmp_path / "eth0" / "speed").write_text(text)
    assert samplers.claimed_mbps("eth0", tmp_path) == speed
    assert samplers.claimed_mbps("eth1", tmp_path) is None


NICS = ["lo", "eth0", "eth1", "docker0"]


@pytest.mark.parametrize(
    "backend, wish, found",
    [
        ("gloo", "eth0", "eth0"),
        ("gloo", "lo", "lo"),
        ("gloo", "eth", None),
        ("gloo", "eth0,eth1", None),
        ("nccl", "=eth0", "eth0"),
        ("nccl", "eth1", "eth1"),
        ("nccl", "eth", None),
        ("nccl", "docker", "docker0"),
        ("nccl", "^eth0,docker", "eth1"),
        ("nccl", "^=eth0,eth1", "docker0"),
        ("nccl", "^docker", None),
        ("nccl", "ib0", None),
    ],
)
def test_the_interface_that_the_environment_names(backend: str, wish: str, found: str | None) -> None:
    environment = {"WORLD_SIZE": "4", f"{backend.upper()}_SOCKET_IFNAME": wish}
    assert samplers.gradient_nic(environment, NICS, backend) == found


def test_the_variable_of_the_other_backend_does_not_count() -> None:
    assert samplers.gradient_nic({"WORLD_SIZE": "4", "GLOO_SOCKET_IFNAME": "eth0"}, NICS, "nccl") is None


@pytest.mark.parametrize("world", [{}, {"WORLD_SIZE": "1"}, {"SLURM_NTASKS": "1"}])
def test_one_rank_alone_exchanges_nothing(world: dict[str, str]) -> None:
    assert samplers.gradient_nic({**world, "GLOO_SOCKET_IFNAME": "lo"}, NICS, "gloo") is None


def test_without_a_name_it_is_the_interface_that_leads_to_rank_0() -> None:
    assert samplers.gradient_nic({"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, NICS, "gloo") == "lo"
    assert samplers.gradient_nic({"WORLD_SIZE": "2", "MASTER_ADDR": "::1"}, NICS, "gloo") in ("lo", None)
    assert samplers.gradient_nic({"WORLD_SIZE": "2", "MASTER_ADDR": "no such host!"}, NICS, "gloo") is None
    assert samplers.gradient_nic({"WORLD_SIZE": "2"}, NICS, "gloo") is None
