"""The shape of a Slurm job, and where its ranks meet."""

from pathlib import Path

import pytest

from dragoman.cluster import slurm
from dragoman.core.errors import UserError

JOB = {"SLURM_JOB_ID": "70123", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NODELIST": "gpu[1-2]"}
ADDRESSES = {"gpu1": "10.0.0.1", "gpu2": "10.0.0.2"}


def test_the_script_asks_for_a_warning_and_goes_on_after_a_stop() -> None:
    text = slurm.script(["train", "/r/a b.toml"], Path("/runs/x"), ["--nodes=2", "--comment=a b"])
    lines = text.splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "#SBATCH --signal=TERM@120" in lines
    assert "#SBATCH --requeue" in lines
    assert "#SBATCH --output=/runs/x/slurm-%j.log" in lines
    assert lines[-3:-1] == ["#SBATCH --nodes=2", "#SBATCH '--comment=a b'"]
    assert lines[-1].startswith("exec srun --kill-on-bad-exit=1 ")
    assert lines[-1].endswith("-m dragoman.cli.main train '/r/a b.toml'")


@pytest.mark.parametrize("text", ["rm -rf /", "--nodes=2\n#SBATCH x", "-- x", "--a '"])
def test_what_is_no_option_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        slurm.checked_options(text)
    assert slurm.checked_options("--nodes=2 --comment='a b'") == ["--nodes=2", "--comment=a b"]


def meeting(**others: str) -> dict[str, str]:
    routes = {"10.0.0.1": "10.0.0.2", "10.0.0.2": "10.0.0.1"}
    return slurm.meeting_variables({**JOB, **others}, lambda _: ["gpu1", "gpu2"], ADDRESSES.get, routes.get)


def test_ranks_of_two_machines_agree_on_the_place() -> None:
    first, second = meeting(SLURM_NODEID="0"), meeting(SLURM_NODEID="1")
    assert first["MASTER_ADDR"] == second["MASTER_ADDR"] == "10.0.0.1"
    assert first["MASTER_PORT"] == second["MASTER_PORT"] == "30123"
    assert (first["DRAGOMAN_BIND"], second["DRAGOMAN_BIND"]) == ("10.0.0.1", "10.0.0.2")
    assert first["DRAGOMAN_MEETING"] == second["DRAGOMAN_MEETING"] == "70123-0-0"


def test_ranks_of_one_machine_meet_on_loopback() -> None:
    found = slurm.meeting_variables(JOB, lambda _: ["gpu1"])
    assert found["MASTER_ADDR"] == found["DRAGOMAN_BIND"] == "127.0.0.1"


def test_a_machine_without_an_address_is_named() -> None:
    with pytest.raises(UserError, match="the machine gpu1 has no IPv4 address"):
        slurm.meeting_variables({**JOB, "SLURM_NODEID": "1"}, lambda _: ["gpu1", "gpu2"], lambda _: None)


def test_a_rank_is_told_from_a_shell_with_machines() -> None:
    shell = {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "4"}
    assert (slurm.is_rank(JOB), slurm.is_rank(shell), slurm.is_rank({})) == (True, False, False)
    assert (slurm.is_inside_allocation(JOB), slurm.is_inside_allocation(shell)) == (False, True)
