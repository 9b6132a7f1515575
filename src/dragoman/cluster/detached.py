"""A training that goes on without a terminal: started, found and stopped by its run directory.

Whoever trains a run holds a lock on its file `trainer`, with his process number in it: the command that starts its
ranks, or the main rank where torchrun or srun do. The kernel frees the lock however he ends, so a file that was left
behind misleads nobody.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import UserError

START_S = 30.0
STOP_S = 180.0
LOG = "train.log"
TAIL_BYTES = 2_000


@dataclass(frozen=True)
class Trainer:
    """Who trains a run."""

    pid: int
    host: str


def _file(directory: Path) -> Path:
    return directory / "trainer"


@contextmanager
def only_trainer(directory: Path) -> Iterator[None]:
    """Hold a run while training it. UserError if somebody does already."""
    with _file(directory).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            trainer = trainer_of(directory)
            who = f"process {trainer.pid} on {trainer.host}" if trainer else "another process"
            raise UserError(f"{directory} is being trained by {who}", f"`dragoman stop {directory}` stops it") from None
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        file.flush()
        os.set_inheritable(file.fileno(), True)  # a command that becomes a rank (exec) holds the run on
        try:
            yield
        finally:
            file.truncate(0)


def trainer_of(directory: Path) -> Trainer | None:
    """Who trains a run now; None if nobody does."""
    if not is_held(directory):
        return None
    try:
        found = json.loads(_file(directory).read_text())
        return Trainer(int(found["pid"]), str(found["host"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_held(directory: Path) -> bool:
    with suppress(FileNotFoundError), _file(directory).open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def start(arguments: Sequence[str], directory: Path) -> int:
    """Run `dragoman arguments…` on its own, its words in a file; returns when it trains, or with its exit code."""
    log = directory / LOG
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "dragoman.cli.main", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,  # the terminal's end is not its end
        )
    deadline = time.monotonic() + START_S
    while process.poll() is None and not is_held(directory) and time.monotonic() < deadline:
        time.sleep(0.1)
    if process.poll():
        raise UserError(f"it did not start: {log.read_bytes()[-TAIL_BYTES:].decode(errors='replace').strip()}")
    print(
        f"dragoman: training in process {process.pid}; its words go to {log}\n"
        f"  `dragoman watch {directory}` shows it, `dragoman stop {directory}` stops it",
        file=sys.stderr,
    )
    return 0


def _runs(pid: int) -> bool:
    """A process that has ended, and that nobody has asked about yet, has no command line any more."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def stop(directory: Path, wait_s: float = STOP_S) -> None:
    """Ask whoever trains a run to stop with a checkpoint, and wait until he has. UserError if nobody does."""
    trainer = trainer_of(directory)
    if trainer is None:
        raise UserError(f"nobody trains {directory}", "`dragoman watch` shows how it stands")
    if trainer.host != socket.gethostname():
        raise UserError(f"{directory} is being trained on {trainer.host}", "run `dragoman stop` there")
    os.kill(trainer.pid, signal.SIGTERM)
    deadline = time.monotonic() + wait_s
    while is_held(directory) or _runs(trainer.pid):
        if time.monotonic() > deadline:
            raise UserError(f"process {trainer.pid} has not stopped after {wait_s:.0f} s", f"`kill -9 {trainer.pid}`")
        time.sleep(0.1)
