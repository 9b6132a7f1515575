"""Verdicts on loss curves: a public run, synthetic curves with known ends, and data that no curve fits."""

import time
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.theory import curves
from dragoman.theory.curves import Gain, Judgement, PowerLaw, Verdict, fit_curve, gain, judge, verdict
from dragoman.theory.log_slope import Slope

Curve = Callable[[curves.Array], curves.Array]

WORKED_STEPS = [32_000, 40_000, 44_000, 48_000, 50_000]
WORKED_LOSSES = [1.6649, 1.6454, 1.6434, 1.6338, 1.6273]
WMT16_LOSSES = [
    *(2.4410, 2.0132, 1.8367, 1.7575, 1.7108, 1.6785, 1.6490, 1.6403, 1.6206, 1.6183, 1.6059, 1.5905, 1.5896),
    *(1.5825, 1.5816, 1.5734, 1.5694, 1.5717, 1.5597, 1.5638, 1.5575, 1.5506, 1.5587, 1.5517, 1.5429, 1.5469),
]
"""Every 4,000 steps, run r01 of the sixteen public ones: warm-up 8,000, loss still falling at the end."""

EUROPARL_STEPS = [209, 414, 672, 911, 1_119, 1_321, 1_526, 1_767, 1_977]
EUROPARL_LOSSES = [5.413, 4.214, 3.639, 3.318, 3.134, 2.984, 2.864, 2.759, 2.688]
"""An hour of `recipes/europarl_en_de.toml`."""

NOISE_LOSS = 0.004
"""Of one evaluation: what the losses of that run scatter around a smooth curve."""
SEEDS = range(10)
CONVERGED: dict[str, Curve] = {
    "flat": lambda t: 1.5 + 0 * t,
    "power law": lambda t: 1.5 + 8 * (t + 1_000) ** -0.5,
    "exponential": lambda t: 1.5 + 0.5 * np.exp(-t / 15_000),
}
"""The next fifth buys at most 0.14 %."""
IMPROVING: dict[str, Curve] = {
    "power law": lambda t: 1.2 + 12 * (t + 1_000) ** -0.3,
    "two power laws": lambda t: 1.0 + 8_000 / (t + 1_000) + 3 * t**-0.15,
    "logarithm": lambda t: 2.4 - 0.075 * np.log(t) + 3_000 / (t + 500),
}
"""The next fifth buys 1.2 to 1.7 %; only the first is of the family that is fitted."""


def evenly(num_points: int, last_step: int = 100_000) -> curves.Array:
    return np.linspace(last_step / num_points, last_step, num_points)


def judged(curve: Curve, steps: curves.Array, seed: int, correlation: float = 0.0) -> Judgement:
    """The verdict on a curve with noise, each point's correlated with its neighbour's."""
    noise = np.random.default_rng(seed).normal(0, NOISE_LOSS, len(steps))
    for i in range(1, len(noise)):
        noise[i] = correlation * noise[i - 1] + np.sqrt(1 - correlation**2) * noise[i]
    return judge(list(steps), list(curve(steps) + noise), after_step=4_000)


def share_of(wanted: Verdict, kinds: dict[str, Curve], num_points: int, correlation: float = 0.0) -> float:
    steps = evenly(num_points)
    found = [judged(curve, steps, seed, correlation).verdict for curve in kinds.values() for seed in SEEDS]
    return found.count(wanted) / len(found)


# The worked example and a whole public run


def test_five_evaluations_of_a_public_run_are_improving_by_their_slope() -> None:
    found = judge(WORKED_STEPS, WORKED_LOSSES)
    assert isinstance(found.fit, Slope)
    # From first to last it falls by 0.084 for each factor e; least squares over all five gives 0.079.
    assert found.fit.loss_per_log_step == pytest.approx(-0.0792, abs=1e-4)
    assert found.fit.loss_per_log_step_low < -0.084 < found.fit.loss_per_log_step_high < -0.045
    assert found.gain is not None
    assert found.gain.horizon_steps == 10_000
    assert found.gain.loss_fall == pytest.approx(0.015, abs=0.001)
    assert found.gain.share == pytest.approx(0.009, abs=0.0005)
    assert found.verdict == "improving"
    assert found.reason == ("10,000 more steps would lower the loss by 0.9% (0.7% to 1.1%); worth it from 0.5%")


def test_a_public_run_that_went_on_falling_is_never_called_converged() -> None:
    steps = [4_000 * (i + 1) for i in range(len(WMT16_LOSSES))]
    found = [judge(steps[:n], WMT16_LOSSES[:n], after_step=8_000).verdict for n in range(3, len(steps) + 1)]
    assert "converged" not in found
    assert found[5:].count("improving") >= len(found[5:]) - 1  # from 32,000 steps on; near 80,000 it cannot tell


def test_the_gain_foreseen_halfway_is_the_gain_that_came() -> None:
    steps = [4_000 * (i + 1) for i in range(len(WMT16_LOSSES))]
    fit = fit_curve(steps[:13], WMT16_LOSSES[:13], after_step=8_000)
    assert fit is not None
    found = gain(fit, 52_000, 52_000)
    assert found is not None
    assert found.loss_fall_low < 1.5896 - 1.5469 < found.loss_fall_high


@pytest.mark.parametrize("num_points", [6, 7])
def test_few_evaluations_foresee_what_comes_because_curves_bend(num_points: int) -> None:
    found = judge(EUROPARL_STEPS[:num_points], EUROPARL_LOSSES[:num_points]).gain
    assert found is not None
    then = np.interp(np.log(1.2 * EUROPARL_STEPS[num_points - 1]), np.log(EUROPARL_STEPS), EUROPARL_LOSSES)
    assert found.loss_fall == pytest.approx(EUROPARL_LOSSES[num_points - 1] - then, rel=0.15)


# Simulation: how often is the verdict wrong?


@pytest.mark.parametrize("num_points, correlation", [(6, 0.0), (7, 0.0), (12, 0.0), (25, 0.5), (100, 0.0)])
def test_improving_curves_are_never_called_converged_and_mostly_improving(num_points: int, correlation: float) -> None:
    assert share_of("converged", IMPROVING, num_points, correlation) == 0
    assert share_of("improving", IMPROVING, num_points, correlation) >= 0.9


@pytest.mark.parametrize("num_points, correlation", [(6, 0.0), (7, 0.0), (12, 0.0), (25, 0.5), (100, 0.0)])
def test_converged_curves_are_never_called_improving_and_mostly_converged(num_points: int, correlation: float) -> None:
    assert share_of("improving", CONVERGED, num_points, correlation) == 0
    assert share_of("converged", CONVERGED, num_points, correlation) >= 0.9


def test_short_curves_are_undetermined_or_right() -> None:
    for num_points in (4, 5, 8):
        assert share_of("converged", IMPROVING, num_points) == 0
    assert share_of("undetermined", IMPROVING, 3) == 1


@pytest.mark.parametrize(
    "num_points, kind, least",
    [
        (6, "power law", 0.85),
        (6, "two power laws", 0.55),
        (6, "logarithm", 0.55),
        (50, "power law", 0.8),
        (50, "two power laws", 0.7),
        (50, "logarithm", 0.7),
    ],
)
def test_intervals_hold_the_true_gain_nearly_as_often_as_they_say(num_points: int, kind: str, least: float) -> None:
    """0.9 is promised; measured 0.88 to 0.9 for the family that is fitted; outside of it 0.8, and 0.6 of few points."""
    curve, steps = IMPROVING[kind], evenly(num_points)
    now, then = (float(curve(np.array([step]))[0]) for step in (100_000, 120_000))
    found = [judged(curve, steps, seed).gain for seed in range(50)]
    held = [g is not None and g.loss_fall_low <= now - then <= g.loss_fall_high for g in found]
    assert np.mean(held) >= least


def test_the_parameters_of_a_clean_power_law_are_found() -> None:
    steps = evenly(60)
    fit = fit_curve(list(steps), list(1.3 + 15 * (steps + 5_000) ** -0.4))
    assert isinstance(fit, PowerLaw)
    assert fit.loss_at(200_000) == pytest.approx(1.3 + 15 * 205_000**-0.4, abs=1e-3)
    assert fit.floor_loss == pytest.approx(1.3, abs=0.02)
    assert fit.exponent == pytest.approx(0.4, abs=0.05)
    assert (fit.num_points, fit.last_step) == (46, 100_000)


def test_one_spike_does_not_move_the_curve() -> None:
    steps = evenly(40)
    losses = IMPROVING["power law"](steps) + np.random.default_rng(1).normal(0, NOISE_LOSS, 40)
    calm = judge(list(steps), list(losses))
    losses[30] += 1.0
    spiked = judge(list(steps), list(losses))
    assert calm.gain is not None
    assert spiked.gain is not None
    assert spiked.verdict == calm.verdict == "improving"
    assert spiked.gain.share == pytest.approx(calm.gain.share, rel=0.15)


def test_points_with_large_standard_errors_count_little() -> None:
    steps = evenly(40)
    losses, errors = IMPROVING["power law"](steps), np.full(40, 0.002)
    losses[20:30] += 0.05
    errors[20:30] = 0.2
    fit = fit_curve(list(steps), list(losses), list(errors))
    assert fit is not None
    assert fit.loss_at(100_000) == pytest.approx(losses[-1], abs=2e-3)


def test_the_same_losses_get_the_same_answer() -> None:
    steps = evenly(25)
    assert judged(IMPROVING["power law"], steps, 1) == judged(IMPROVING["power law"], steps, 1)


def test_three_hundred_evaluations_are_judged_in_half_a_second() -> None:
    steps = evenly(300)
    started_s = time.process_time()
    judged(IMPROVING["power law"], steps, 1)
    assert time.process_time() - started_s < 0.5


# Curves that the power law cannot describe


def test_a_loss_that_rises_is_neither_converged_nor_improving() -> None:
    steps = evenly(40)
    overfit = judged(lambda t: 1.5 + 0.3 * np.exp(-t / 10_000) + 0.2 * (t / 100_000) ** 2, steps, 1)
    assert overfit.verdict == "undetermined"
    assert "above the curve of those before" in overfit.reason


def test_a_loss_that_drops_when_the_rate_falls_is_undetermined() -> None:
    steps = evenly(40)
    found = judged(lambda t: np.where(t > 85_000, 1.42, 1.5), steps, 1)
    assert found.verdict == "undetermined"
    assert "below the curve of those before" in found.reason


# Irregular input


@pytest.mark.parametrize(
    "steps, losses, reason",
    [
        ([], [], "0 evaluations after the warm-up say too little; 4 are needed"),
        ([0, 1, 2, 3], [9.0, 3.0, 2.0, 1.5], "3 evaluations after the warm-up say too little; 4 are needed"),
        ([1, 2, 3, 4, 5], [3.0, 2.0, 1.5, 1.4, float("nan")], "the last loss is not a finite number"),
        ([1, 2, 3, 4, 5], [3.0, 2.0, 1.5, 1.4, None], "the last loss is not a finite number"),
        ([1, 2, 3, 4, 5], [2.0] * 5, "the loss is the same at every evaluation"),
        (range(1, 21), [2.0] * 20, "the loss is the same at every evaluation"),
        ([1, 2, 3, 4, 5], [-3.0, -2.0, -1.5, -1.0, -1.1], "no curve fits these losses"),
    ],
)
def test_what_says_too_little_is_undetermined_with_a_reason(
    steps: list[float], losses: list[float | None], reason: str
) -> None:
    found = judge(steps, losses)
    assert (found.verdict, found.reason, found.gain) == ("undetermined", reason, None)


def test_order_repeats_and_gaps_do_not_matter() -> None:
    steps = [*WORKED_STEPS[::-1], 32_000, 36_000, 41_000]
    losses = [*WORKED_LOSSES[::-1], 1.6649, float("nan"), float("inf")]
    assert judge(steps, losses) == judge(WORKED_STEPS, WORKED_LOSSES)


def test_fewer_than_four_evaluations_have_no_curve() -> None:
    assert fit_curve([1, 2, 3], [3.0, 2.0, 1.0]) is None


numbers = st.floats(width=32) | st.sampled_from([0.0, 1.5, 1e300, -1e300, 1e-300]) | st.integers(0, 10)


@given(st.lists(st.tuples(numbers, numbers | st.none(), numbers | st.none()), max_size=14))
def test_nothing_that_is_measured_makes_it_raise(rows: list[tuple[float, float | None, float | None]]) -> None:
    steps, losses, errors = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge(steps, losses, errors).verdict in ("converged", "improving", "undetermined")


@pytest.mark.parametrize(
    "below, above, expected",
    [(0.9, 0.1, "converged"), (0.1, 0.9, "improving"), (0.89, 0.11, "undetermined"), (0.11, 0.89, "undetermined")],
)
def test_a_verdict_needs_nine_to_one(below: float, above: float, expected: str) -> None:
    found = Gain(100, 20, 1.5, 0.01, 0.0, 0.02, 0.007, 0.0, 0.014, 0.005, above, below)
    assert verdict(found, falling()) == expected


def falling(high: float = -0.01) -> Slope:
    return Slope(-0.05, -0.09, high, 1.5, 100, 13, 0.004, np.zeros(1))


@pytest.mark.parametrize(
    "share, low, high_slope, expected",
    [
        (0.0054, 0.0040, -0.01, "improving"),
        (0.0054, 0.0024, -0.01, "undetermined"),  # it might buy less than half of what is worth waiting for
        (0.0049, 0.0040, -0.01, "undetermined"),  # the best estimate is below what is worth waiting for
        (0.0054, 0.0040, 0.001, "undetermined"),  # the newer half may be flat
    ],
)
def test_a_slow_curve_improves_if_it_surely_falls(share: float, low: float, high_slope: float, expected: str) -> None:
    found = Gain(100, 20, 1.5, 1.5 * share, 1.5 * low, 0.02, share, low, 0.014, 0.005, 0.74, 0.26)
    assert verdict(found, falling(high_slope)) == expected


@pytest.mark.parametrize("amplitude, wanted, at_most", [(17.15, "improving", 0.1), (42.0, "converged", 0.0)])
def test_curves_near_the_threshold_are_seldom_misjudged(amplitude: float, wanted: Verdict, at_most: float) -> None:
    """The next fifth buys 0.3 % of the first and 0.7 % of the second, where 0.5 % is the threshold."""
    kind: dict[str, Curve] = {"near": lambda t: 1.5 + amplitude * (t + 1_000) ** -0.5}
    for num_points in (12, 25, 100):
        assert share_of(wanted, kind, num_points) <= at_most
