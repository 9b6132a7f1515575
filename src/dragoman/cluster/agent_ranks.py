"""The ranks of one host: started together, heard, ended together; and those that an earlier agent left behind."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.cluster.flows import flows
from dragoman.cluster.local import core_variables
from dragoman.core.errors import UserError
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths

MODULES = ("dragoman.training.worker", "dragoman.training.preflight_worker")
"""All that an agent runs."""
MOST_LINE_BYTES = 65_536
STOPPING_S = 20.0
Tell = Callable[..., None]


class Ranks:
    """Worker processes that share a host and an attempt."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._listeners: list[asyncio.Task[None]] = []
        self._directory: Path | None = None

    @property
    def are_running(self) -> bool:
        return any(process.returncode is None for process in self._processes.values())

    async def start(
        self, module: str, arguments: Sequence[str], ranks: Sequence[Mapping[str, str]], directory: Path, attempt: str
    ) -> None:
        """One process for each environment in `ranks`."""
        if module not in MODULES:
            raise UserError(f"an agent does not run {module}")
        if self.are_running:
            raise UserError("the ranks of an earlier attempt are still running")
        await evict(directory)
        for old in RunPaths(directory).heartbeats.glob("rank*"):
            old.unlink()  # it would speak for a rank that is not there, or not there yet
        cores = sorted(os.sched_getaffinity(0))
        self._processes, self._directory = {}, directory
        for local_rank, variables in enumerate(ranks):
            rank = int(variables["RANK"])
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", module, *arguments,
                env={**os.environ, **core_variables(local_rank, len(ranks), cores), **variables},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                limit=MOST_LINE_BYTES,
            )  # fmt: skip
            self._processes[rank] = process
            self._listeners.append(asyncio.create_task(self._listen(rank, process, attempt)))
        remember(directory, [process.pid for process in self._processes.values()])

    def signal(self, number: int) -> None:
        for process in self._processes.values():
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(number)

    async def stop(self, grace_s: float) -> None:
        """Ask them to end, with a checkpoint; after `grace_s` make them."""
        self.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while self.are_running and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        self.signal(signal.SIGKILL)
        await asyncio.gather(*self._listeners, return_exceptions=True)
        if self._directory is not None:
            forget(self._directory)

    def signs(self) -> dict[str, list[Any]]:
        """For each living rank: seconds since it signed its heartbeat, and what it wrote there."""
        if self._directory is None:
            return {}
        signs: dict[str, list[Any]] = {}
        for rank, process in self._processes.items():
            if process.returncode is None:
                file = heartbeat(self._directory, rank)
                with contextlib.suppress(OSError):
                    signs[str(rank)] = [round(time.time() - file.stat().st_mtime, 1), file.read_text()[:60]]
        return signs

    def flows(self) -> dict[str, list[float]]:
        """What the connections of the living ranks have carried, by peer."""
        pids = [process.pid for process in self._processes.values() if process.returncode is None]
        return flows(pids) if pids else {}

    async def _listen(self, rank: int, process: asyncio.subprocess.Process, attempt: str) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # a line without end
                continue
            if not line:
                break
            self._tell("output", rank=rank, attempt=attempt, text=line.decode(errors="replace").rstrip("\n"))
        code = await process.wait()
        self._tell("exited", rank=rank, attempt=attempt, code=code)


def heartbeat(directory: Path, rank: int) -> Path:
    """The file that a living rank signs every second."""
    return RunPaths(directory).heartbeats / f"rank{rank:02}"


def _memory(directory: Path) -> Path:
    return directory / "processes.json"


def remember(directory: Path, pids: Sequence[int]) -> None:
    """Write down which processes are ours, so that a later agent can end what this one could not."""
    entries = [[pid, started] for pid in (os.getpid(), *pids) if (started := started_at(pid)) is not None]
    with contextlib.suppress(OSError):
        write_atomically(_memory(directory), json.dumps(entries))


def forget(directory: Path) -> None:
    _memory(directory).unlink(missing_ok=True)


def started_at(pid: int) -> int | None:
    """When a process began, in ticks since the machine did: with it, a number is never taken for another's."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


async def evict(directory: Path) -> None:
    """End agent and ranks that were cut off from their main machine and still hold this run."""
    try:
        entries = [(int(pid), int(started)) for pid, started in json.loads(_memory(directory).read_text())]
    except (OSError, ValueError, TypeError):
        return
    alive = [(pid, started) for pid, started in entries if pid != os.getpid() and started_at(pid) == started]
    for pid, _ in alive:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + STOPPING_S
    while any(started_at(pid) == started for pid, started in alive) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    forget(directory)
