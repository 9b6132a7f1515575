"""Ranks that really train together on this machine, one thing slowed down: is it found, and only it?"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from dragoman.report.run_directory import read_run
from tests.laboratory.asking import answers
from tests.laboratory.hindered import VARIABLE
from tests.laboratory.real_runs import RealRun, drawn_words, uneven_words

pytestmark = pytest.mark.timeout(600)
ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import sys
from pathlib import Path
from dragoman.cli.train import prepare_run
from dragoman.cluster.local import run_workers
from dragoman.core import config_file
recipe, directory = Path(sys.argv[1]), Path(sys.argv[2])
prepare_run(config_file.load(recipe, sys.argv[3:]), directory, is_main=True)
sys.exit(run_workers("tests.laboratory.hindered", [str(directory)], 2, directory))
"""
WIRE_IS_TO_BLAME = ("network-bound", "latency-bound", "bandwidth-bound", "degraded", "slower than measured")
UNTROUBLED = ("training.evaluate_every_steps=0", "training.save_every_steps=0")
MUCH_TO_COMPUTE = ("model.width=64", "model.feed_forward=256", "batching.tokens_per_step=2048")
NEIGHBOURS = 3
"""Beside a rank on its core: it gets a quarter of it."""


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_words(tmp_path_factory.mktemp("hindered"))


def asked_of(recipe: Path, directory: Path, hindrance: str, *settings: str) -> dict[str, Answer]:
    """Some steps of two ranks, hindered."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: hindrance}
    environment |= {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(recipe), str(directory), *UNTROUBLED]
    command += settings or ("training.max_steps=30",)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    return answers(read_run(directory), but=("trained",))


def asked_until_no_rank_is_late(recipe: Path, directory: Path, hindrance: str) -> dict[str, Answer]:
    """Once more at most: other work on this machine may take a rank's core, and then that rank is late indeed."""
    first = asked_of(recipe, directory / "run", hindrance)
    return first if first["straggler"].verdict == "no" else asked_of(recipe, directory / "again", hindrance)


def test_a_slow_wire_is_the_bottleneck(recipe: Path, tmp_path: Path) -> None:
    found = asked_until_no_rank_is_late(recipe, tmp_path, "wire 0.3")
    assert found["network"].verdict in WIRE_IS_TO_BLAME
    assert found["busy"].verdict == "lost to exposed communication"
    assert found["input"].verdict == "no"
    assert found["straggler"].verdict == "no"


def test_a_slow_rank_is_named_and_the_wire_is_not_blamed(recipe: Path, tmp_path: Path) -> None:
    found = asked_of(recipe, tmp_path / "run", "last_rank 0.3")
    assert found["straggler"].verdict == "rank 1"
    assert found["busy"].verdict == "lost to slower ranks"
    assert found["network"].verdict in ("straggler", "no", "slightly")
    assert found["input"].verdict == "no"


@contextmanager
def neighbours_on(core: int) -> Iterator[None]:
    """Programs that want all of a core."""
    command = ["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(command) for _ in range(NEIGHBOURS)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="each of two ranks needs a core")
def test_a_rank_that_shares_its_core_is_named(recipe: Path, tmp_path: Path) -> None:
    """Rank 1 is pinned to the later half of the cores; the other half stays quiet."""
    cores = sorted(os.sched_getaffinity(0))
    with neighbours_on(cores[len(cores) // 2]):
        settings = (
            "training.max_steps=60",
            "model.width=64",
            "model.feed_forward=256",
            "batching.tokens_per_step=2048",
        )
        found = asked_of(recipe, tmp_path / "run", "", *settings)
    assert found["straggler"].verdict == "rank 1", found["straggler"].sentence
    assert found["busy"].verdict == "lost to slower ranks"
    assert found["network"].verdict not in WIRE_IS_TO_BLAME, found["network"].sentence
    assert found["input"].verdict == "no"


def test_slow_batches_are_waited_for(recipe: Path, tmp_path: Path) -> None:
    found = asked_until_no_rank_is_late(recipe, tmp_path, "batches 0.3")
    assert found["input"].verdict == "yes"
    assert found["busy"].verdict == "lost to waiting for input"
    assert found["network"].verdict not in WIRE_IS_TO_BLAME
    assert found["straggler"].verdict == "no", "waiting for its batches does not make a rank slow"


def test_pairs_that_make_no_rectangle_are_padded_much_and_larger_steps_of_them_little(tmp_path: Path) -> None:
    recipe = uneven_words(tmp_path)
    few, many = RealRun(recipe, tmp_path / "few"), RealRun(recipe, tmp_path / "many")
    assert few.train("training.max_steps=60", "batching.tokens_per_step=64", *UNTROUBLED) == 0
    found = answers(read_run(few.directory), but=("trained",))
    assert found["padding"].verdict == "much"
    assert found["busy"].verdict == "lost to padding"
    assert (found["input"].verdict, found["network"].verdict, found["straggler"].verdict) == ("no", "no", "no")
    assert many.train("training.max_steps=30", "batching.tokens_per_step=1024", *UNTROUBLED) == 0
    assert answers(read_run(many.directory), but=("trained",))["padding"].verdict == "little"
