"""The learning rate against tables worked out by hand."""

import math

import pytest

from dragoman.core.config import ScheduleConfig
from dragoman.core.errors import UserError
from dragoman.theory.schedule import describe, dropout_share, learning_rate, num_single_steps

FIVE_RUNS = ScheduleConfig(kind="transformer", factor=2.0, warmup_steps=8_000)
INVERSE_SQRT = ScheduleConfig(kind="inverse_sqrt", peak=5e-4, warmup_steps=4_000)
COSINE = ScheduleConfig(kind="cosine", peak=1e-3, final=1e-5, warmup_steps=1_000)
STABLE = ScheduleConfig(kind="stable_decay", peak=1e-3, final=1e-4, warmup_steps=1_000)
KINDS = ("transformer", "inverse_sqrt", "cosine", "stable_decay")


def rate(step: int, config: ScheduleConfig, total_steps: int | None = None) -> float:
    return learning_rate(step, config, width=512, total_steps=total_steps)


@pytest.mark.parametrize(
    "config, total_steps, step, expected",
    [
        (FIVE_RUNS, None, 1, 1.235264e-07),
        (FIVE_RUNS, None, 4_000, 4.941059e-04),
        (FIVE_RUNS, None, 8_000, 9.882118e-04),
        (FIVE_RUNS, None, 32_000, 4.941059e-04),
        (FIVE_RUNS, None, 50_000, 3.952847e-04),
        (INVERSE_SQRT, None, 1, 1.25e-07),
        (INVERSE_SQRT, None, 4_000, 5e-4),
        (INVERSE_SQRT, None, 16_000, 2.5e-4),
        (INVERSE_SQRT, None, 400_000, 5e-5),
        (COSINE, 11_000, 500, 5e-4),
        (COSINE, 11_000, 1_000, 1e-3),
        (COSINE, 11_000, 6_000, 5.05e-4),
        (COSINE, 11_000, 8_500, 1.549821e-04),
        (COSINE, 11_000, 11_000, 1e-5),
        (COSINE, 11_000, 20_000, 1e-5),
        (STABLE, 20_000, 100, 1e-4),
        (STABLE, 20_000, 1_000, 1e-3),
        (STABLE, 20_000, 16_000, 1e-3),
        (STABLE, 20_000, 17_000, 5.5e-4),
        (STABLE, 20_000, 20_000, 1e-4),
        (STABLE, 20_000, 20_001, 1e-4),
    ],
)
def test_rates_are_those_of_the_table(
    config: ScheduleConfig, total_steps: int | None, step: int, expected: float
) -> None:
    assert rate(step, config, total_steps) == pytest.approx(expected, rel=1e-6)


def test_the_transformer_curve_is_the_formula_of_the_paper() -> None:
    for step in (1, 17, 7_999, 8_000, 8_001, 300_000):
        formula = 2.0 * 512**-0.5 * min(step**-0.5, step * 8_000**-1.5)
        assert rate(step, FIVE_RUNS) == pytest.approx(formula, rel=1e-12)


def test_the_five_runs_peak_at_9_88e_4_at_step_8000() -> None:
    assert f"{rate(8_000, FIVE_RUNS):.2e}" == "9.88e-04"
    assert max(range(1, 20_000), key=lambda step: rate(step, FIVE_RUNS)) == 8_000


def test_the_last_fifth_of_a_stable_curve_falls() -> None:
    config = ScheduleConfig(kind="stable_decay", peak=1e-3, warmup_steps=10)
    assert rate(800, config, 1_000) == 1e-3
    assert rate(850, config, 1_000) == pytest.approx(5e-4)
    assert rate(1_000, config, 1_000) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_warmup_the_first_step_has_the_peak(kind: str) -> None:
    config = ScheduleConfig(kind=kind, factor=1e-3 * math.sqrt(512), peak=1e-3, warmup_steps=0)
    assert rate(1, config, 100) == pytest.approx(1e-3)
    assert rate(100, config, 100) < 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warmup_steps, total_steps", [(0, 1), (5, 5), (5, 3), (5, 6), (50, 60)])
def test_rates_of_odd_lengths_stay_between_nothing_and_the_peak(kind: str, warmup_steps: int, total_steps: int) -> None:
    config = ScheduleConfig(kind=kind, peak=1e-3, factor=1.0, warmup_steps=warmup_steps)
    peak = rate(max(1, warmup_steps), config, total_steps)
    assert all(0 <= rate(step, config, total_steps) <= peak for step in range(1, 100))


@pytest.mark.parametrize("kind", ["cosine", "stable_decay"])
@pytest.mark.parametrize("total_steps", [None, 0])
def test_a_fall_to_an_end_that_is_not_set_names_the_setting(kind: str, total_steps: int | None) -> None:
    config = ScheduleConfig(kind=kind)
    expected = f'schedule.kind = "{kind}" must know the last step; set training.max_steps, or'
    for call in (rate, lambda _, config, total: describe(config, width=512, total_steps=total)):
        with pytest.raises(UserError) as caught:
            call(1, config, total_steps)
        assert str(caught.value).startswith(expected)


@pytest.mark.parametrize(
    "config, total_steps, step, expected",
    [
        (
            FIVE_RUNS,
            50_000,
            50_000,
            "The learning rate rises in a straight line to its peak of 0.000988 at step 8,000, then falls as 1/√step: "
            "2 · 512^-0.5 · min(step^-0.5, step · 8,000^-1.5). Step 50,000 is after the peak, at 0.000395, "
            "40% of the peak.",
        ),
        (
            INVERSE_SQRT,
            None,
            1_000,
            "The learning rate rises in a straight line to its peak of 0.0005 at step 4,000, then falls as 1/√step: "
            "peak · √(4,000/step). Step 1,000 is during the warm-up, at 0.000125, 25% of the peak.",
        ),
        (
            COSINE,
            11_000,
            None,
            "The learning rate rises in a straight line to its peak of 0.001 at step 1,000, then falls along half "
            "a cosine to 1e-05 at step 11,000.",
        ),
        (
            STABLE,
            20_000,
            3_000,
            "The learning rate rises in a straight line to its peak of 0.001 at step 1,000, then stays there until "
            "step 16,000 and falls as 1 - √((step - 16,000) / 4,000) to 0.0001 at step 20,000. "
            "Step 3,000 is at the peak, at 0.001.",
        ),
        (
            ScheduleConfig(kind="inverse_sqrt", peak=1e-3, warmup_steps=0),
            None,
            None,
            "The learning rate starts at its peak of 0.001, then falls as 1/√step: peak · √(1/step).",
        ),
        (
            INVERSE_SQRT,
            2_000,
            None,
            "The learning rate rises in a straight line to its peak of 0.0005 at step 4,000, then falls as 1/√step: "
            "peak · √(4,000/step); with 2,000 steps the run ends before the peak.",
        ),
    ],
)
def test_the_description_names_formula_peak_and_place(
    config: ScheduleConfig, total_steps: int | None, step: int | None, expected: str
) -> None:
    assert describe(config, width=512, total_steps=total_steps, step=step) == expected


@pytest.mark.parametrize(
    "config, total_steps, step_factor, expected",
    [
        (FIVE_RUNS, None, 4, 32_000),
        (INVERSE_SQRT, None, 2, 8_000),
        (COSINE, 11_000, 4, 6_036),
        (STABLE, 20_000, 4, 17_236),
        (ScheduleConfig(kind="cosine", peak=1e-3, final=9e-4, warmup_steps=1_000), 11_000, 4, 11_000),
        (COSINE, 11_000, 1, 0),
    ],
)
def test_larger_steps_begin_where_the_rate_is_a_root_below_the_peak(
    config: ScheduleConfig, total_steps: int | None, step_factor: int, expected: int
) -> None:
    num_single = num_single_steps(config, step_factor=step_factor, total_steps=total_steps)
    assert num_single == expected
    if num_single not in (0, total_steps):
        low = (1 + 1e-9) * rate(config.warmup_steps, config, total_steps) / math.sqrt(step_factor)
        assert rate(num_single, config, total_steps) <= low < rate(num_single - step_factor, config, total_steps)


def test_a_larger_step_goes_as_far_as_its_steps_but_never_above_the_peak() -> None:
    rates = [
        learning_rate(step, COSINE, width=512, total_steps=11_000, step_factor=4) for step in (6_036, 8_500, 10_000)
    ]
    assert rates == pytest.approx([1e-3, 4 * 1.549821e-04, 4 * rate(10_000, COSINE, 11_000)])
    assert learning_rate(8_000, FIVE_RUNS, width=512) == pytest.approx(9.882118e-04)


@pytest.mark.parametrize(("step", "share"), [(1, 0.2525), (100, 0.5), (200, 0.75), (300, 1.0), (301, 1.0)])
def test_dropout_rises_evenly_to_all_of_it_at_the_last_step(step: int, share: float) -> None:
    assert dropout_share(step, ScheduleConfig(dropout_start=0.25), 300) == pytest.approx(share)


def test_dropout_is_whole_where_nothing_else_is_set_or_no_last_step_is_known() -> None:
    assert dropout_share(1, ScheduleConfig(), 300) == 1.0
    assert dropout_share(1, ScheduleConfig(dropout_start=0.25), None) == 1.0
