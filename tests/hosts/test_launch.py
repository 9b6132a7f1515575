"""A run on several hosts: started by one command, its records in one place, nothing left anywhere."""

import json
import os
import signal
import subprocess
import sys
import time

from dragoman.cluster.copies import KEPT_COPIES
from dragoman.core import records
from dragoman.core.run_records import PreflightRecord
from tests.hosts.ground import HOME
from tests.hosts.runs import HostsRun


def listening(two: HostsRun, host: str) -> set[str]:
    """Addresses that something on a host listens on, but for SSH."""
    lines = two.ground[host].run("ss", "-Hltn").splitlines()
    places = [line.split()[3].rsplit(":", 1) for line in lines]
    return {address for address, port in places if port != "22"}


def test_two_hosts_train_after_a_check_and_their_records_come_home(two: HostsRun) -> None:
    assert two.train() == 0, two.words()
    assert two.checkpoints()[-1] == "step_0000012"
    assert sorted(two.steps(0)) == sorted(two.steps(1)) == list(range(1, 13))
    assert {record.target_tokens for record in two.steps(0).values()} >= {two.steps(1)[3].target_tokens}
    assert "right │" not in two.words() or "Traceback" not in two.words()
    assert "✓ exchange  left–right" in two.words()
    preflight = records.from_json(PreflightRecord, json.loads((two.directory / "preflight.json").read_text()))
    assert [host.name for host in preflight.hosts] == ["left", "right"]
    assert [host.interface for host in preflight.hosts] == ["eth0", "eth0"]
    assert preflight.compute_step_s is not None
    assert {exchange.num_bytes for exchange in preflight.exchanges} == {4096, 262_144}
    assert two.ground.leftovers() == {}
    right = two.ground["right"].directory / "dragoman"
    assert not list(right.rglob("*.safetensors")), "checkpoints live on the main host"
    assert not list(right.rglob("*.partial"))
    assert [path.name for path in (right / "corpora").iterdir()]


def test_three_hosts_listen_on_private_addresses_only_and_ctrl_c_stops_all_with_a_checkpoint(three: HostsRun) -> None:
    three.max_steps = 100_000
    three.start("--skip-check")
    three.wait_for_step(3, rank=2)
    for host, address in (("left", "10.77.0.1"), ("right", "10.77.0.2"), ("third", "10.77.0.3")):
        assert listening(three, host) <= {address}
    three.ask_to_stop(signal.SIGINT)
    assert three.end() == 130, three.words()
    last = max(three.steps(0))
    assert three.checkpoints()[-1] == f"step_{last:07}"
    assert three.ground.leftovers() == {}
    assert "stopping all hosts, with a checkpoint" in three.words()


def test_a_command_machine_that_takes_no_part_has_records_and_checkpoints_at_the_end(three: HostsRun) -> None:
    three.hosts = three.ground.hosts_file(["right", "third"])
    assert three.train("--skip-check") == 0, three.words()
    assert sorted(three.steps(0)) == sorted(three.steps(1)) == list(range(1, 13))
    assert three.checkpoints()[-1] == "step_0000012"
    sums = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=three.directory / "checkpoints/step_0000012", check=False
    )
    assert sums.returncode == 0
    assert (three.directory / "checkpoints/latest").read_text().strip() == "step_0000012"
    assert three.events("stopped")


def test_detached_it_goes_on_without_us_until_it_is_told_to_stop(two: HostsRun) -> None:
    two.max_steps = 100_000
    assert two.train("--skip-check", "--detach", "--keep-copies", "1") == 0, two.words()
    assert "dragoman stop" in two.words()
    two.process = None
    ground = two.ground
    while max(two.steps(1), default=0) < 5:
        assert ground.main.processes("dragoman.cli.main train"), (two.directory / "train.log").read_text()
        time.sleep(0.1)
    (pid,) = ground.main.processes("dragoman.cli.main train")
    assert os.getsid(pid) == pid, "the end of a terminal does not reach it"
    second = ground.dragoman(
        "train", "tiny.toml", "--hosts", two.hosts, "--run", "run", "--set", "training.max_steps=100000",
        "--set", "training.evaluate_every_steps=0", stderr=subprocess.PIPE,
    )  # fmt: skip
    _, complaint = second.communicate(timeout=60)
    assert second.returncode == 2
    assert "is being trained by process" in complaint
    stopping = ground.dragoman("stop", "run", stderr=subprocess.PIPE)
    _, said = stopping.communicate(timeout=120)
    assert stopping.returncode == 0, said
    assert "run has stopped" in said
    assert ground.leftovers() == {}
    again = ground.dragoman("stop", "run", stderr=subprocess.PIPE)
    assert "nobody trains run" in again.communicate(timeout=60)[1]
    assert again.returncode == 2
    goes_on_from_its_copy(two)


def goes_on_from_its_copy(two: HostsRun) -> None:
    """The main host is lost, for all that right knows; what was copied there is enough to go on with alone."""
    last, right = two.checkpoints()[-1], two.ground["right"]
    (copy,) = (right.directory / "dragoman/runs").glob("run-*/checkpoints")
    copies = sorted(path.name for path in copy.glob("step_*"))
    assert copies[-1] == last and len(copies) <= KEPT_COPIES
    place, step = HOME / copy.parent.relative_to(right.directory), int(last.removeprefix("step_"))
    alone = right.start(
        sys.executable, "-m", "dragoman.cli.main", "train", place / "config.toml", "--run", place,
        "--set", f"training.max_steps={step + 2}", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said, _ = alone.communicate(timeout=120)
    assert alone.returncode == 0, said
    assert f"going on from step {step:,}" in said
    assert (copy / f"step_{step + 2:07}").is_dir()
