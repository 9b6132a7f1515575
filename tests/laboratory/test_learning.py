"""Was it trained, did it overfit, did it diverge: asked of runs that were really trained here."""

import math
from pathlib import Path
from typing import Any

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
    found = asked(overfitting.as_it_stood(tmp_path / "run", 100))
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


def events_of(directory: Path) -> Any:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reading.EventAccumulator(str(directory))
    events.Reload()
    return events


def test_tensorboard_shows_all_of_a_run(at_the_floor: RealRun) -> None:
    place = at_the_floor.directory / "tensorboard"
    events = events_of(place)
    wanted = {
        *("train/loss", "train/smoothed_loss", "eval/dev_loss", "eval/train_loss", "eval/bleu", "eval/chrf"),
        *("train/learning_rate", "train/gradient_norm", "speed/tokens_per_s", "speed/step_s", "speed/data_wait_share"),
        *("speed/forward_s", "speed/backward_s", "speed/exchange_share", "speed/optimizer_s"),
        *("speed/padding_share", "speed/wire_mb"),
    }
    assert wanted <= set(events.Tags()["scalars"])
    assert {"samples", "recipe"} <= set(events.Tags()["tensors"])
    assert "_hparams_/session_start_info" in events.PluginTagToContent("hparams")
    told = events.Tensors("samples")[-1].tensor_proto.string_val[0].decode()
    assert "source       " in told
    assert "translation  " in told
    [host] = place.glob("host-*")
    charted = set(events_of(host).Tags()["scalars"])
    assert {"system/memory_share", "system/training_memory_gb", "system/disk_free_gb"} <= charted


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
@pytest.mark.parametrize("seed", range(100, 110))
def test_learning_by_heart_is_told_at_every_stage_whatever_the_seed(
    overfitting: RealRun, seed: int, tmp_path: Path
) -> None:
    run = RealRun(overfitting.recipe, tmp_path / "run")
    assert run.train(f"training.seed={seed}") == 0
    stages = {"too short": 75, "improving": 100, "at its best": best_step(run)}
    found = {name: asked(run.as_it_stood(tmp_path / name, step)) for name, step in stages.items()}
    found["by heart"] = asked(run.directory)
    verdicts = {name: (answers["trained"].verdict, answers["overfit"].verdict) for name, answers in found.items()}
    assert verdicts["too short"] == ("undetermined", "no")
    assert verdicts["improving"] == ("improving", "no")
    assert verdicts["at its best"][1] == "no"
    assert verdicts["at its best"][0] != "past its best"
    assert verdicts["by heart"] == ("past its best", "yes")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(100, 110))
def test_a_run_at_its_floor_is_converged_and_nothing_else_whatever_the_seed(
    at_the_floor: RealRun, seed: int, tmp_path: Path
) -> None:
    run = RealRun(at_the_floor.recipe, tmp_path / "run")
    assert run.train(f"training.seed={seed}") == 0
    found = {key: answer.verdict for key, answer in asked(run.directory).items()}
    assert (found["trained"], found["overfit"], found["divergence"]) == ("converged", "no", "no")
