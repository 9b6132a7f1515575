"""Two ranks that really train together on this machine, one thing slowed down: is it found, and only it?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from dragoman.report.run_directory import read_run
from tests.laboratory.asking import answers
from tests.laboratory.hindered import VARIABLE
from tests.laboratory.real_runs import drawn_words

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


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn_words(tmp_path_factory.mktemp("hindered"))


def asked_of(recipe: Path, directory: Path, hindrance: str) -> dict[str, Answer]:
    """Forty steps of two ranks, hindered."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: hindrance}
    environment |= {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
    settings = ["training.max_steps=40", "training.evaluate_every_steps=0", "training.save_every_steps=0"]
    command = [sys.executable, "-c", PROGRAM, str(recipe), str(directory), *settings]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    return answers(read_run(directory), but=("trained",))


def test_a_slow_wire_is_the_bottleneck(recipe: Path, tmp_path: Path) -> None:
    found = asked_of(recipe, tmp_path / "run", "wire 0.4")
    assert found["network"].verdict in ("network-bound", "latency-bound", "bandwidth-bound")
    assert found["busy"].verdict == "lost to exposed communication"
    assert found["input"].verdict == "no"
    assert found["straggler"].verdict == "no"


def test_a_slow_rank_is_named_and_the_wire_is_not_blamed(recipe: Path, tmp_path: Path) -> None:
    found = asked_of(recipe, tmp_path / "run", "last_rank 0.4")
    assert found["straggler"].verdict == "rank 1"
    assert found["busy"].verdict == "lost to slower ranks"
    assert found["network"].verdict in ("straggler", "no", "slightly")
    assert found["input"].verdict == "no"


def test_slow_batches_are_waited_for(recipe: Path, tmp_path: Path) -> None:
    found = asked_of(recipe, tmp_path / "run", "batches 0.4")
    assert found["input"].verdict == "yes"
    assert found["busy"].verdict == "lost to waiting for input"
    assert found["network"].verdict not in ("network-bound", "latency-bound", "bandwidth-bound")
    assert found["straggler"].verdict == "no", "waiting for its batches does not make a rank slow"
