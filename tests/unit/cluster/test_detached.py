"""Who trains a run: one at a time, found and stopped by its directory."""

import os
import signal
import subprocess
import sys
import time
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


def holder(directory: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(directory)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_trainer_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    process = holder(tmp_path)
    try:
        trainer = trainer_of(tmp_path)
        assert trainer is not None and trainer.pid == process.pid
        refused = pytest.raises(UserError, match=f"being trained by process {process.pid} on .*`dragoman stop")
        with refused, only_trainer(tmp_path):
            pass
    finally:
        process.kill()
        process.wait()


def test_a_trainer_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    process = holder(tmp_path)
    process.kill()
    process.wait()
    assert (tmp_path / "trainer").read_text() != ""
    assert not is_held(tmp_path)
    assert trainer_of(tmp_path) is None
    with only_trainer(tmp_path):
        trainer = trainer_of(tmp_path)
        assert trainer is not None and trainer.pid == os.getpid()


def test_stop_asks_and_waits(tmp_path: Path) -> None:
    process = holder(tmp_path)
    start = time.monotonic()
    stop(tmp_path, wait_s=10)
    assert time.monotonic() - start < 10
    assert process.wait() == 0


def test_stop_says_when_it_was_not_heard(tmp_path: Path) -> None:
    process = holder(tmp_path)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(UserError, match=f"process {process.pid} has not stopped after 0 s"):
            stop(tmp_path, wait_s=0.3)
    finally:
        process.kill()
        process.wait()


def test_nobody_to_stop_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nobody trains"):
        stop(tmp_path)
