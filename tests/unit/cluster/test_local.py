"""Workers of one machine: their environment, and that they end together."""

import os
import time
from pathlib import Path

from dragoman.cluster.local import run_workers, worker_variables

WORKER = """
import os, pathlib, signal, sys, time
rank, what, told = int(os.environ["RANK"]), sys.argv[1], pathlib.Path(sys.argv[2])
ready = told.with_name("ready")
if what == "fine":
    sys.exit(0)
if rank == {"first fails": 0, "killed": 1}[what]:
    while not ready.exists():  # until the other can hear
        time.sleep(0.01)
    sys.exit(3) if what == "first fails" else os.kill(os.getpid(), signal.SIGKILL)
signal.signal(signal.SIGTERM, lambda *_: (told.touch(), sys.exit(0)))
ready.touch()
time.sleep(60)
"""


def run(what: str, directory: Path, num_processes: int = 2) -> tuple[int, bool]:
    """The exit code, and whether the others were told to stop."""
    (directory / "the_worker.py").write_text(WORKER)
    told = directory / "told"
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(directory)
    try:
        code = run_workers("the_worker", [what, str(told)], num_processes, directory)
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return code, told.exists()


def test_all_is_well_when_all_end_well(tmp_path: Path) -> None:
    assert run("fine", tmp_path) == (0, False)


def test_the_first_failure_is_the_code_and_the_others_are_told_to_stop(tmp_path: Path) -> None:
    start = time.monotonic()
    assert run("first fails", tmp_path) == (3, True)
    assert time.monotonic() - start < 20


def test_a_killed_worker_gives_the_code_that_a_shell_gives(tmp_path: Path) -> None:
    assert run("killed", tmp_path) == (137, True)


def test_the_meeting_place_is_gone_afterwards(tmp_path: Path) -> None:
    run("fine", tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".meeting")] == []


def test_ranks_share_the_cores_and_meet_in_a_file_over_loopback() -> None:
    first, second = (worker_variables(rank, 2, [0, 1, 2, 3], Path("/run/meeting")) for rank in range(2))
    assert (first["GOMP_CPU_AFFINITY"], second["GOMP_CPU_AFFINITY"]) == ("0 1", "2 3")
    assert (first["OMP_NUM_THREADS"], first["WORLD_SIZE"], second["RANK"]) == ("2", "2", "1")
    assert (first["DRAGOMAN_STORE"], first["GLOO_SOCKET_IFNAME"]) == ("/run/meeting", "lo")


def test_more_ranks_than_cores_still_have_one() -> None:
    assert worker_variables(2, 3, [0, 1], Path("m"))["OMP_NUM_THREADS"] == "1"
    assert worker_variables(0, 3, [0, 1], Path("m"))["GOMP_CPU_AFFINITY"] == "0 1"
