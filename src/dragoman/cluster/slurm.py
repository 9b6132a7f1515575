"""Slurm: the job script for a run, and how the ranks of a job step find each other.

Slurm starts the ranks itself, on machines that share a file system, as its users expect. Inside an allocation the run
starts at once; elsewhere a job is submitted.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dragoman.cluster.hosts import resolved
from dragoman.cluster.machine import route_to
from dragoman.core.errors import UserError
from dragoman.core.files import write_atomically

WARNING_S = 120
"""Before its time is up, a job is asked to stop: time for a step and a checkpoint."""
FIRST_PORT, NUM_PORTS = 20_000, 20_000


def script(arguments: Sequence[str], directory: Path, options: Sequence[str]) -> str:
    """A job that runs `dragoman arguments…` as one rank a task. Given again after a stop, it goes on."""
    own = [
        f"--job-name=dragoman-{directory.name}",
        f"--output={directory.absolute()}/slurm-%j.log",
        "--open-mode=append",
        f"--signal=TERM@{WARNING_S}",
        "--requeue",
    ]
    lines = [f"#SBATCH {shlex.quote(option)}" for option in (*own, *options)]
    return "\n".join(["#!/bin/sh", *lines, f"exec {shlex.join(step(arguments))}", ""])


def step(arguments: Sequence[str]) -> list[str]:
    """The command that starts the ranks inside an allocation."""
    return ["srun", "--kill-on-bad-exit=1", sys.executable, "-m", "dragoman.cli.main", *arguments]


def checked_options(text: str) -> list[str]:
    """Options for sbatch, as a person writes them in one word. UserError for what is none."""
    if "\n" in text or "\r" in text:
        raise UserError("--slurm takes options in one line")
    try:
        options = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--slurm {text!r}: {error}") from None
    for option in options:
        if not option.startswith("--") or option == "--":
            raise UserError(f"--slurm: {option!r} is no option of sbatch", "write them as --nodes=2 --time=8:00:00")
    return options


def submit(arguments: Sequence[str], directory: Path, options: Sequence[str]) -> str:
    """Write the job script into the run directory and submit it; what sbatch says."""
    if shutil.which("sbatch") is None:
        raise UserError("there is no sbatch here", "run this on a machine of a Slurm cluster, or use --hosts")
    path = directory / "slurm.sh"
    write_atomically(path, script(arguments, directory, options))
    done = subprocess.run(["sbatch", str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"sbatch refused {path}: {done.stderr.strip()}")
    return done.stdout.strip()


def is_inside_allocation(environment: Mapping[str, str] = os.environ) -> bool:
    """A shell of salloc or a job script: machines are there, ranks are not."""
    return "SLURM_JOB_ID" in environment and "SLURM_STEP_ID" not in environment


def is_rank(environment: Mapping[str, str] = os.environ) -> bool:
    """srun has started this process as one of several."""
    return "SLURM_STEP_ID" in environment and int(environment.get("SLURM_NTASKS", "1")) > 1


def host_names(node_list: str) -> list[str]:
    """Slurm's 'node[1-3]' in full."""
    done = subprocess.run(["scontrol", "show", "hostnames", node_list], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"scontrol cannot name the machines of {node_list}: {done.stderr.strip()}")
    return done.stdout.split()


def meeting_variables(
    environment: Mapping[str, str],
    names: Callable[[str], list[str]] = host_names,
    address_of: Callable[[str], str | None] = resolved,
    way_to: Callable[[str], str | None] = route_to,
) -> dict[str, str]:
    """Where the ranks of a job step meet: the same on all of them, and bound to one address."""
    nodes = names(environment.get("SLURM_STEP_NODELIST") or environment["SLURM_JOB_NODELIST"])
    number = int(environment["SLURM_JOB_ID"])
    meeting = "-".join(environment.get(name, "0") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"))
    if len(nodes) == 1:
        main = own = "127.0.0.1"
    elif environment.get("SLURM_NODEID") == "0":
        # Its own name may mean loopback to a machine; the way to another one shows the address that others know.
        main = own = _known(way_to(_known(address_of(nodes[1]), nodes[1])), nodes[1])
    else:
        main = _known(address_of(nodes[0]), nodes[0])
        own = _known(way_to(main), nodes[0])
    return {
        "MASTER_ADDR": main,
        "MASTER_PORT": str(FIRST_PORT + number % NUM_PORTS),
        "DRAGOMAN_BIND": own,
        "DRAGOMAN_MEETING": meeting,
    }


def _known(address: str | None, node: str) -> str:
    if address is None:
        raise UserError(f"the machine {node} has no IPv4 address that is known here")
    return address
