"""Grounds for the tests of many hosts, and the corpus that they train on, prepared once."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hosts.ground import Ground, ground, what_is_missing
from tests.hosts.runs import HostsRun, bring_recipe
from tests.training.tiny_run import make_recipe

MISSING = what_is_missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.hosts)
            if MISSING:
                item.add_marker(pytest.mark.skip(reason=f"hosts cannot be made here: {MISSING}"))


@pytest.fixture(scope="session", autouse=True)
def frozen_source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hosts run a copy of the source, so that somebody who edits it meanwhile does not make them differ."""
    project, copy = Path(__file__).resolve().parent.parent.parent, tmp_path_factory.mktemp("project")
    shutil.copytree(project / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(project / name, copy / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(copy / "src"))
        yield


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tiny")
    make_recipe(directory)
    return directory / "corpus"


@pytest.fixture
def make_ground(tiny_corpus: Path, tmp_path: Path) -> Iterator[Callable[..., Ground]]:
    with ExitStack() as stack:

        def make(*names: str) -> Ground:
            made = stack.enter_context(ground(tmp_path / "ground", names))
            bring_recipe(made, tiny_corpus)
            return made

        yield make


@pytest.fixture
def two(make_ground: Callable[..., Ground]) -> HostsRun:
    """A run on the hosts left and right; left gives the commands."""
    made = make_ground("left", "right")
    return HostsRun(made, made.hosts_file())


@pytest.fixture
def three(make_ground: Callable[..., Ground]) -> HostsRun:
    made = make_ground("left", "right", "third")
    return HostsRun(made, made.hosts_file())
