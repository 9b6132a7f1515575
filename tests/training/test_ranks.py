"""However many ranks and micro-batches share a step, it is the same step."""

from pathlib import Path

import pytest

from dragoman.cluster.local import run_workers
from dragoman.core import config_file
from dragoman.core.config_text import to_toml
from tests.training.tiny_run import TinyRun

STILL = (
    *("model.dropout=0.0", "training.max_steps=3", "training.evaluate_every_steps=0"),
    "training.precision=fp32",  # in bf16 other shares of a step round differently
)


def _norms(run: TinyRun) -> list[float]:
    return [record.gradient_norm or 0.0 for record in run.steps().values()]


@pytest.fixture(scope="module")
def one(tiny_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyRun:
    """One rank, one micro-batch a step."""
    run = TinyRun(tiny_recipe, tmp_path_factory.mktemp("one") / "run")
    assert run.train(*STILL, "batching.tokens_per_micro_batch=4096").returncode == 0
    return run


def test_gradients_do_not_depend_on_micro_batches_or_ranks(tiny_run: TinyRun, one: TinyRun) -> None:
    small, two = (TinyRun(tiny_run.recipe, tiny_run.directory.with_name(name)) for name in ("small", "two"))
    assert small.train(*STILL, "batching.tokens_per_micro_batch=64").returncode == 0
    assert two.train(*STILL, processes=2).returncode == 0
    assert _norms(small) == pytest.approx(_norms(one), rel=1e-5)
    assert _norms(two) == pytest.approx(_norms(one), rel=1e-5)
    tokens = [record.target_tokens for record in one.steps().values()]
    assert tokens == [record.target_tokens for record in two.steps().values()]


def test_three_ranks_make_the_same_steps(tiny_run: TinyRun, one: TinyRun) -> None:
    """More ranks than cores are refused to a user, so the launcher is called directly."""
    three = tiny_run.directory
    three.mkdir()
    (three / "config.toml").write_text(to_toml(config_file.load(tiny_run.recipe, STILL)))
    for side in ("source", "target"):
        model = (one.directory / f"vocab.{side}.model").read_bytes()
        (three / f"vocab.{side}.model").write_bytes(model)
    assert run_workers("dragoman.training.worker", [str(three)], 3, three) == 0
    assert _norms(tiny_run) == pytest.approx(_norms(one), rel=1e-5)


def test_two_ranks_write_two_step_files_and_agree(whole_run_of_two: TinyRun) -> None:
    first, second = whole_run_of_two.steps(0), whole_run_of_two.steps(1)
    assert list(first) == list(second) == list(range(1, 13))
    assert [record.loss for record in first.values()] == [record.loss for record in second.values()]
    assert all(record.wire_bytes > 0 for record in first.values())


def test_a_run_goes_on_with_other_ranks_and_the_same_pairs(tiny_run: TinyRun, whole_run: TinyRun) -> None:
    assert tiny_run.train("training.max_steps=6").returncode == 0
    assert tiny_run.train(processes=2).returncode == 0
    steps, expected = tiny_run.steps(), whole_run.steps()
    assert {step: record.target_tokens for step, record in steps.items()} == {
        step: record.target_tokens for step, record in expected.items()
    }
    assert set(tiny_run.steps(rank=1)) == set(range(7, 13))
    own = [tiny_run.steps(rank)[9].real_tokens for rank in (0, 1)]
    assert sum(own) == expected[9].real_tokens  # divided, not repeated
