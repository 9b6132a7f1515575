"""Work shared among processes: the same results, in order, and an end that takes everyone along."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.corpus.workers import Workers


def square(number: int) -> int:
    time.sleep(0.01 * (number % 3 == 0))
    return number * number


def refuse(number: int) -> int:
    raise UserError(f"{number} is refused", "take another") if number == 3 else OSError(28, "No space left on device")


def die(_number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


@pytest.mark.parametrize("processes", [0, 1, 3])
def test_results_come_in_the_order_of_the_arguments(processes: int) -> None:
    with Workers(processes) as workers:
        assert list(workers.map(square, range(20))) == [number * number for number in range(20)]
        assert list(workers.map(square, [])) == []


def test_only_a_few_arguments_are_taken_ahead() -> None:
    taken: list[int] = []

    def arguments() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with Workers(1) as workers:
        results = workers.map(square, arguments())
        for _ in range(3):
            next(results)
        assert len(taken) <= 6


@pytest.mark.parametrize("processes", [0, 1])
def test_an_error_of_the_work_comes_back_whole(processes: int) -> None:
    with pytest.raises(UserError) as refused, Workers(processes) as workers:
        list(workers.map(refuse, [3]))
    assert (refused.value.problem, refused.value.fix) == ("3 is refused", "take another")
    with pytest.raises(OSError, match="No space left") as full, Workers(processes) as workers:
        list(workers.map(refuse, [1]))
    assert full.value.errno == 28


def test_a_killed_process_is_told_in_a_sentence() -> None:
    with pytest.raises(UserError, match="a process that shared the work was killed"), Workers(1) as workers:
        list(workers.map(die, range(3)))


DRIVER = """
import os, time
from dragoman.corpus.workers import Workers

def work(number):
    os.write(1, f"{os.getpid()}\\n".encode())  # one write, or lines of two processes could mix
    time.sleep(60)

if __name__ == "__main__":
    with Workers(2) as workers:
        list(workers.map(work, range(2)))
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    parent = subprocess.Popen([sys.executable, driver], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    children = [int(parent.stdout.readline()) for _ in range(2)]
    parent.kill()
    parent.wait()
    assert parent.stdout.read() == ""  # comes to its end when nobody holds the other end any more
    assert not any(is_running(child) for child in children)
    parent.stdout.close()


def is_running(process: int) -> bool:
    """Whether it still does anything; in a container nobody may come to collect the dead."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
