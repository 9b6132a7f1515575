"""What keeps a run from being lost."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from dragoman.training.guards import STALLED, FiniteGuard, silent_ranks
from dragoman.training.step import is_out_of_memory, random_seed

STUCK = """
import sys, time
from pathlib import Path
from dragoman.training.guards import Watchdog

watchdog = Watchdog(Path(sys.argv[1]), 1, stall_s=1.0, silent_s=4.0, world_size=2)
if sys.argv[2] == "left alone":
    (Path(sys.argv[1]) / "rank00").touch()
    with watchdog.waiting():
        time.sleep(60)
if sys.argv[2] == "waiting":
    with watchdog.waiting():
        time.sleep(4)
    watchdog.close()
else:
    def going_nowhere():
        time.sleep(60)
    going_nowhere()
"""


def _run(directory: Path, what: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", STUCK, str(directory), what]
    return subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)


def test_a_rank_that_does_not_move_is_named_with_its_stack(tmp_path: Path) -> None:
    done = _run(tmp_path, "stuck")
    assert done.returncode == STALLED
    assert "rank 1 has not moved for 1 s" in done.stderr
    assert "going_nowhere" in done.stderr


def test_a_rank_that_waits_for_others_is_not_stuck(tmp_path: Path) -> None:
    assert _run(tmp_path, "waiting").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_rank_that_waits_for_one_that_no_longer_signs_names_it_and_ends(tmp_path: Path) -> None:
    done = _run(tmp_path, "left alone")
    assert done.returncode == STALLED
    assert (
        "rank 1 waits for rank 0, silent for 4 s: stopped or dead; the run ends here, the same command" in done.stderr
    )


PAUSED = """
import sys, time
from pathlib import Path
from dragoman.training import guards

guards.PAUSE_S = 2.5
watchdog = guards.Watchdog(Path(sys.argv[1]), 0, stall_s=3.5, silent_s=3.5, world_size=2)
other = Path(sys.argv[1]) / "rank01"
until = time.monotonic() + 7.5
if sys.argv[2] == "waiting":
    other.touch()
    with watchdog.waiting():
        print("here", flush=True)
        while time.monotonic() < until - 2.5:
            time.sleep(0.1)
        other.touch()  # the other rank wakes up a little later
        time.sleep(2.5)
else:
    print("here", flush=True)
    while time.monotonic() < until:
        time.sleep(0.1)
watchdog.close()
"""


@pytest.mark.parametrize("what", ["working", "waiting"])
def test_a_run_that_was_paused_goes_on(tmp_path: Path, what: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSED, str(tmp_path), what], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(4.5)  # longer than it may stand still or hear nothing of others
    process.send_signal(signal.SIGCONT)
    _, talk = process.communicate(timeout=30)
    assert process.returncode == 0, talk


def test_a_rank_that_has_not_signed_is_the_one_that_is_waited_for(tmp_path: Path) -> None:
    import os

    for name in ("rank00", "rank01"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "rank01", (time.time() - 60, time.time() - 60))
    assert silent_ranks(tmp_path, world_size=3) == [1]
    assert silent_ranks(tmp_path, world_size=1) == []  # a file that a larger world has left behind


def test_three_bad_steps_in_a_row_roll_back_and_single_ones_do_not() -> None:
    guard = FiniteGuard()
    assert [guard.sees(good) for good in (False, False, True, False, False, False)] == [False] * 5 + [True]


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"), True),
        (MemoryError(), True),
        (RuntimeError("shapes do not match"), False),
    ],
)
def test_only_memory_errors_make_smaller_pieces(error: BaseException, is_memory: bool) -> None:
    assert is_out_of_memory(error) == is_memory


def test_seeds_differ_by_every_number_and_never_change() -> None:
    assert random_seed(1, 2, 3, 4) == 2930429999423258495
    assert len({random_seed(1, step, rank) for step in range(50) for rank in range(4)}) == 200
