"""The tiny run, prepared once."""

from pathlib import Path

import pytest

from tests.training.tiny_run import TinyRun, make_recipe


@pytest.fixture(scope="session")
def tiny_recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_recipe(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny_run(tiny_recipe: Path, tmp_path: Path) -> TinyRun:
    return TinyRun(tiny_recipe, tmp_path / "run")


@pytest.fixture(scope="session")
def whole_run(tiny_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """Twelve steps by one process, undisturbed."""
    run = TinyRun(tiny_recipe, tmp_path_factory.mktemp("whole") / "run")
    done = run.train()
    assert done.returncode == 0, done.stderr
    return run


@pytest.fixture(scope="session")
def whole_run_of_two(tiny_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """Twelve steps by two processes, undisturbed."""
    run = TinyRun(tiny_recipe, tmp_path_factory.mktemp("whole2") / "run")
    done = run.train(processes=2)
    assert done.returncode == 0, done.stderr
    return run
