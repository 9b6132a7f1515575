"""A run on several hosts that was killed ends where an undisturbed one ends: to the byte, also over two levels."""

from pathlib import Path

import pytest

from tests.hosts.runs import HostsRun, kill

FILES = ("model.safetensors", "optimizer.safetensors")


def weights(run: HostsRun) -> list[bytes]:
    place: Path = run.directory / "checkpoints" / f"step_{run.max_steps:07}"
    return [(place / file).read_bytes() for file in FILES]


@pytest.mark.parametrize(
    "mode", ["eight_bits", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("two_level", "two_level_half"))]
)
def test_two_hosts_of_two_ranks_killed_at_once_go_on_to_the_same_bytes(two: HostsRun, mode: str) -> None:
    two.hosts = two.ground.hosts_file(left="processes = 2\n", right="processes = 2\n")
    options = ("--skip-check", "--set", f"communication.mode={mode}")
    two.name, two.max_steps = "killed", 40
    whole = HostsRun(two.ground, two.hosts, two.max_steps, name="whole")
    assert whole.train(*options) == 0, whole.words()
    assert f"gradients cross the wire as {mode}: the recipe says so" in whole.words()
    two.start(*options)
    two.wait_for(lambda: "step_0000004" in two.checkpoints(), "a checkpoint")
    for host in two.ground.hosts:
        kill(host.processes(r"dragoman\.(cluster|training|cli)"))
    two.end()
    assert two.checkpoints()[-1] < "step_0000040", "it was killed in time"
    assert two.train(*options) == 0, two.words()
    assert two.events("resumed"), two.words()
    assert weights(two) == weights(whole)
