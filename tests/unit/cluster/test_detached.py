"""Who trains a run: one at a time, found and stopped by its directory."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.cluster.detached import is_held, only_trainer, stop, trainer_of
from dragoman.core.errors import UserError

HOLDER = """
import pathlib, signal, sys, time
from dragoman.cluster.detached import only_trainer
with only_trainer(pathlib.Path(sys.argv[1])):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(directory: Path, program: str = HOLDER) -> "Iterator[subprocess.Popen[str]]":
    """A process that holds a run; ended afterwards if it has not been."""
    command = [sys.executable, "-c", program, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_second_trainer_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        trainer = trainer_of(tmp_path)
        assert trainer is not None and trainer.pid == process.pid
        refused = pytest.raises(UserError, match=f"being trained by process {process.pid} on .*`dragoman stop")
        with refused, only_trainer(tmp_path):
            pass


def test_a_trainer_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
    assert (tmp_path / "trainer").read_text() != ""
    assert not is_held(tmp_path)
    assert trainer_of(tmp_path) is None
    with only_trainer(tmp_path):
        trainer = trainer_of(tmp_path)
        assert trainer is not None and trainer.pid == os.getpid()


BECOMES_ANOTHER = """
import os, pathlib, sys
from dragoman.cluster.detached import only_trainer
with only_trainer(pathlib.Path(sys.argv[1])):
    os.execvp("sh", ["sh", "-c", "echo held; exec sleep 60"])
"""


def test_a_command_that_becomes_a_rank_holds_the_run_until_the_rank_ends(tmp_path: Path) -> None:
    with holder(tmp_path, BECOMES_ANOTHER) as process:
        trainer = trainer_of(tmp_path)
        assert trainer is not None and trainer.pid == process.pid
    assert not is_held(tmp_path)


def test_stop_asks_and_waits(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        stop(tmp_path, wait_s=60)
        assert process.wait() == 0


def test_stop_says_when_it_was_not_heard(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(UserError, match=f"process {process.pid} has not stopped after 0 s"):
            stop(tmp_path, wait_s=0.3)


def test_nobody_to_stop_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody trains"):
        stop(tmp_path)
