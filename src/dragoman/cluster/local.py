"""Worker processes on this machine, started together and ended together.

The ranks meet through a file in the run directory and talk over the loopback interface: no port is open to anyone else,
which torchrun's own store cannot promise. Each rank gets its share of the cores. If one ends badly the others are told
to stop, and after a while made to.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

GRACE_S = 60.0  # to finish a step and write a checkpoint
POLL_S = 0.05


def run_workers(module: str, arguments: Sequence[str], num_processes: int, store_directory: Path) -> int:
    """Run `python -m module arguments…` once for each rank; the exit code of the first that failed, else 0."""
    cores = sorted(os.sched_getaffinity(0))
    store = store_directory / f".meeting-{secrets.token_hex(8)}"
    command = [sys.executable, "-m", module, *arguments]
    workers = [
        subprocess.Popen(command, env={**os.environ, **worker_variables(rank, num_processes, cores, store)})
        for rank in range(num_processes)
    ]
    passed_on: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        passed_on.append(number)
        for worker in workers:
            worker.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = _wait(workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
        for number, action in before.items():
            signal.signal(number, action)
        store.unlink(missing_ok=True)
    return 128 + passed_on[0] if passed_on and code == 0 else code


def worker_variables(rank: int, num_processes: int, cores: Sequence[int], store: Path) -> dict[str, str]:
    """The environment of one rank: who it is, where the others are, and which cores are its own."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(num_processes),
        "DRAGOMAN_STORE": str(store),
        "GLOO_SOCKET_IFNAME": "lo",
        **core_variables(rank, num_processes, cores),
    }


def core_variables(local_rank: int, num_processes: int, cores: Sequence[int]) -> dict[str, str]:
    """Which cores of a host belong to one of its ranks."""
    own = cores[local_rank * len(cores) // num_processes : (local_rank + 1) * len(cores) // num_processes] or cores
    return {
        "OMP_NUM_THREADS": str(len(own)),
        "MKL_NUM_THREADS": str(len(own)),
        # Pinned threads that wait actively bring 15 % on cores of their own (docs/JOURNAL.md).
        "GOMP_CPU_AFFINITY": " ".join(map(str, own)),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "active"),
    }


def _wait(workers: Sequence["subprocess.Popen[bytes]"]) -> int:
    """Until all have ended; after the first bad end the others are given GRACE_S."""
    first_failure: int | None = None
    deadline = float("inf")
    while any(worker.poll() is None for worker in workers):
        failed = [worker.returncode for worker in workers if worker.poll() not in (None, 0)]
        if failed and first_failure is None:
            first_failure = failed[0]
            deadline = time.monotonic() + GRACE_S
            for worker in workers:
                if worker.poll() is None:
                    worker.terminate()
        if time.monotonic() > deadline:
            return _exit_code(first_failure or 1)
        time.sleep(POLL_S)
    codes = [worker.returncode for worker in workers if worker.returncode]
    return _exit_code(first_failure if first_failure is not None else codes[0] if codes else 0)


def _exit_code(code: int) -> int:
    """A shell's view of a process that a signal ended."""
    return 128 - code if code < 0 else code
