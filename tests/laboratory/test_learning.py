"""Was it trained, did it overfit, did it diverge: asked of runs that were really trained here."""

import math
from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from dragoman.report.run_directory import read_run
from tests.laboratory.asking import answers
from tests.laboratory.real_runs import RealRun, drawn_words, few_phrases

pytestmark = pytest.mark.timeout(600)


def asked(directory: Path) -> dict[str, Answer]:
    return answers(read_run(directory))


@pytest.fixture(scope="module")
def overfitting(tmp_path_factory: pytest.TempPathFactory) -> RealRun:
    """300 steps on 275 pairs."""
    place = tmp_path_factory.mktemp("overfitting")
    run = RealRun(few_phrases(place), place / "run")
    assert run.train() == 0
    return run


@pytest.fixture(scope="module")
def at_the_floor(tmp_path_factory: pytest.TempPathFactory) -> RealRun:
    """400 steps on words that nobody can foretell."""
    place = tmp_path_factory.mktemp("floor")
    run = RealRun(drawn_words(place), place / "run")
    assert run.train() == 0
    return run


def test_a_run_that_learned_its_text_by_heart_overfitted(overfitting: RealRun) -> None:
    found = asked(overfitting.directory)
    assert found["overfit"].verdict == "yes"
    assert found["trained"].verdict == "past its best"
    assert found["divergence"].verdict == "no"
    assert found["failures"].verdict == "none"


def best_step(run: RealRun) -> int:
    evaluations = read_run(run.directory).evaluations
    assert evaluations is not None
    return int(evaluations.step[evaluations.dev_loss.argmin()])


def test_a_train_loss_far_below_is_not_overfitting_while_dev_loss_falls(overfitting: RealRun, tmp_path: Path) -> None:
    facts = read_run(overfitting.as_it_stood(tmp_path / "run", best_step(overfitting)))
    assert facts.evaluations is not None
    gap = facts.evaluations.dev_loss[-1] - facts.evaluations.train_loss[-1]
    assert gap > 0.5, "the truth of this run: train loss lies far below"
    assert answers(facts)["overfit"].verdict == "no"


def test_half_way_down_it_still_improves(overfitting: RealRun, tmp_path: Path) -> None:
    found = asked(overfitting.as_it_stood(tmp_path / "run", 125))
    assert found["trained"].verdict == "improving"
    assert found["overfit"].verdict == "no"


def test_three_evaluations_are_too_few_to_tell(overfitting: RealRun, tmp_path: Path) -> None:
    found = asked(overfitting.as_it_stood(tmp_path / "run", 75))
    assert found["trained"].verdict == "undetermined"
    assert "evaluations after the warm-up say too little" in found["trained"].sentence


def test_a_run_at_the_floor_of_its_data_is_converged(at_the_floor: RealRun) -> None:
    facts = read_run(at_the_floor.directory)
    assert facts.evaluations is not None
    floor = 6 / 7 * math.log(5)
    assert facts.evaluations.dev_loss[-1] == pytest.approx(floor, rel=0.01), "the truth of this run"
    found = answers(facts)
    assert found["trained"].verdict == "converged"
    assert found["overfit"].verdict == "no"


def test_the_same_run_at_its_beginning_is_not(at_the_floor: RealRun, tmp_path: Path) -> None:
    assert asked(at_the_floor.as_it_stood(tmp_path / "run", 75))["trained"].verdict == "undetermined"


def test_a_rate_beyond_all_measure_makes_it_diverge(at_the_floor: RealRun, tmp_path: Path) -> None:
    run = RealRun(at_the_floor.recipe, tmp_path / "run")
    assert run.train("schedule.peak=1e15", "optimizer.clip_norm=0") != 0
    found = asked(run.directory)
    assert found["divergence"].verdict == "yes"
    assert found["trained"].verdict == "diverged"
    assert found["overfit"].verdict != "yes"


def test_a_run_that_was_killed_goes_on_and_tells_what_that_cost(at_the_floor: RealRun, tmp_path: Path) -> None:
    run = RealRun(at_the_floor.recipe, tmp_path / "run")
    run.kill_after_checkpoint(25, "training.max_steps=4000")
    facts = read_run(run.directory)
    assert facts.ended is None, "a killed run had no time to say so"
    assert run.train("training.max_steps=75") == 0
    found = asked(run.directory)
    assert found["failures"].verdict not in ("none", "crashed", "undetermined")
    assert found["failures"].value("resumes") == 1
    assert found["failures"].value("time lost") is not None
    assert found["divergence"].verdict == "no"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(10))
def test_overfitting_and_convergence_are_found_whatever_the_seed(
    overfitting: RealRun, at_the_floor: RealRun, seed: int, tmp_path: Path
) -> None:
    for fixture, key, verdict in ((overfitting, "overfit", "yes"), (at_the_floor, "trained", "converged")):
        run = RealRun(fixture.recipe, tmp_path / key)
        assert run.train(f"training.seed={seed + 100}") == 0
        assert asked(run.directory)[key].verdict == verdict
