"""A real Slurm of one machine, made for the test: jobs are submitted, run, and stopped in time."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.tiny_run import make_recipe

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
pytestmark = pytest.mark.skipif(bool(missing) or os.geteuid() != 0, reason=f"no Slurm here: {' '.join(missing)}")

SETTINGS = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
SlurmctldPort={first}
SlurmdPort={second}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find it."""
    place = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (place / name).mkdir()
    (place / "munge.key").write_bytes(os.urandom(128))
    (place / "munge.key").chmod(0o400)
    first, second = free_ports()
    settings = place / "slurm.conf"
    settings.write_text(SETTINGS.format(host=socket.gethostname(), place=place, first=first, second=second))
    environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(settings), "OMP_WAIT_POLICY": "passive"}
    munge = [f"--key-file={place}/munge.key", f"--socket={place}/munge.socket", f"--pid-file={place}/munge.pid",
             f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed", "--force", "--foreground"]  # fmt: skip
    commands = [["munged", *munge], ["slurmctld", "-D"], ["slurmd", "-D"]]
    with (place / "words").open("w") as words:
        processes = []
        for command in commands:
            processes.append(subprocess.Popen(command, env=environment, stdout=words, stderr=words))
            time.sleep(1)
        try:
            yield environment
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait(20)


def wait_for(environment: dict[str, str], job: str, log: Path) -> str:
    """The state in which a job ended."""
    deadline = time.monotonic() + 120
    while True:
        shown = subprocess.run(
            ["scontrol", "show", "job", job], env=environment, capture_output=True, text=True, check=True
        ).stdout
        state = shown.split("JobState=")[1].split()[0]
        if state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING"):
            return state
        assert time.monotonic() < deadline, f"{shown}\n{log.read_text() if log.exists() else ''}"
        time.sleep(0.3)


def test_a_job_of_two_ranks_is_submitted_and_trains(slurm: dict[str, str], tmp_path: Path) -> None:
    recipe, run = make_recipe(tmp_path), tmp_path / "run"
    command = [sys.executable, "-m", "dragoman.cli.main", "train", str(recipe), "--run", str(run)]
    chosen = ["--slurm=--ntasks=2 --time=5"]
    done = subprocess.run([*command, *chosen], env=slurm, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("dragoman: Submitted batch job ")
    job = done.stdout.split("job ")[1].split(";")[0]
    log = run / f"slurm-{job}.log"
    assert wait_for(slurm, job, log) == "COMPLETED", log.read_text()
    assert (run / "checkpoints/step_0000012").is_dir()
    assert len((run / "steps/rank01.jsonl").read_text().splitlines()) == 12


@pytest.mark.slow
def test_inside_an_allocation_it_starts_at_once(slurm: dict[str, str], tmp_path: Path) -> None:
    recipe, run = make_recipe(tmp_path), tmp_path / "run"
    train = [sys.executable, "-m", "dragoman.cli.main", "train", str(recipe), "--run", str(run), "--slurm"]
    done = subprocess.run(
        ["salloc", "--quiet", "--ntasks=2", *train], env=slurm, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert len((run / "steps/rank01.jsonl").read_text().splitlines()) == 12


def test_what_sbatch_refuses_is_told(slurm: dict[str, str], tmp_path: Path) -> None:
    recipe = make_recipe(tmp_path)
    command = [sys.executable, "-m", "dragoman.cli.main", "train", str(recipe), "--run", str(tmp_path / "run")]
    chosen = ["--slurm=--partition=nosuch"]
    done = subprocess.run([*command, *chosen], env=slurm, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "sbatch refused" in done.stderr and "nosuch" in done.stderr
