"""When a run ends, and how long it says it still takes."""

import pytest

from dragoman.core.config import TrainingConfig
from dragoman.training import limits
from dragoman.training.state import TrainState


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        ({"max_steps": 100}, 100),
        ({"max_steps": 100, "max_tokens": 10_001}, 11),
        ({"max_steps": 0, "max_epochs": 2.5}, 75),
        ({"max_steps": 0, "max_hours": 1.0}, None),
    ],
)
def test_the_first_limit_that_can_be_counted_is_the_last_step(settings: dict[str, float], end: int | None) -> None:
    assert limits.last_step(TrainingConfig(**settings), steps_per_epoch=30, tokens_per_step=1_000) == end  # type: ignore[arg-type]


def test_the_time_left_is_told_by_the_steps_of_this_session_alone() -> None:
    config = TrainingConfig(max_steps=100)
    began = TrainState(step=0, training_s=60.0)  # a first evaluation of a minute
    assert limits.seconds_left(config, began, TrainState(step=1, training_s=61.0), 100) == pytest.approx(99)
    resumed = TrainState(step=50, training_s=5_000.0)  # on a slower machine
    assert limits.seconds_left(config, resumed, TrainState(step=60, training_s=5_010.0), 100) == pytest.approx(40)


def test_a_clock_or_a_purse_may_end_a_run_before_its_steps() -> None:
    began, state = TrainState(), TrainState(step=10, training_s=3_000.0)
    assert limits.seconds_left(TrainingConfig(max_hours=1.0), began, state, 1_000) == pytest.approx(600)
    purse = TrainingConfig(max_cost=2.0, price_per_hour=2.0)
    assert limits.seconds_left(purse, began, state, 1_000) == pytest.approx(600)
    assert limits.seconds_left(TrainingConfig(), began, state, None) is None
    assert limits.seconds_left(TrainingConfig(max_hours=0.5), began, state, None) == 0.0


def test_time_and_money_that_are_used_up_are_named() -> None:
    assert limits.is_time_up(TrainingConfig(max_hours=1.0), 3_599.0) is None
    assert limits.is_time_up(TrainingConfig(max_hours=1.0), 3_600.0) == "its time of 1 h 0 min is over"
    purse = TrainingConfig(max_cost=2.0, price_per_hour=2.0)
    assert limits.is_time_up(purse, 3_599.0) is None
    assert limits.is_time_up(purse, 3_600.0) == "2 is spent"
