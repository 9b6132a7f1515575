"""Intervals hold what they promise, tests find what is there and nothing else."""

import numpy as np
import pytest

from dragoman.theory import statistics

NAN = float("nan")


def noise(size: int, seed: int = 0) -> statistics.Array:
    return np.random.default_rng(seed).standard_normal(size)


def test_a_ratio_is_that_of_the_sums_and_lies_in_its_interval() -> None:
    parts, wholes = np.abs(noise(400)), 10 + np.abs(noise(400, 1))
    found = statistics.ratio(parts, wholes)
    assert found is not None
    assert found.value == pytest.approx(parts.sum() / wholes.sum())
    assert found.low < found.value < found.high


def test_unknown_values_are_left_out_of_a_ratio() -> None:
    found = statistics.ratio(np.array([1.0, NAN, 3.0]), np.array([2.0, 2.0, 6.0]))
    assert found is not None and found.value == 0.5


def test_there_is_no_ratio_of_nothing() -> None:
    assert statistics.ratio(np.array([NAN]), np.array([1.0])) is None
    assert statistics.ratio(np.array([1.0]), np.array([0.0])) is None
    assert statistics.median(np.array([NAN])) is None


def test_blocks_make_intervals_wider_where_neighbours_are_alike() -> None:
    slow_drift = np.repeat(noise(40), 20)
    blocks = statistics.median(slow_drift + 10)
    single = statistics.median(slow_drift + 10, block=1)
    assert blocks is not None and single is not None
    assert blocks.high - blocks.low > 2 * (single.high - single.low)


def test_the_interval_of_a_median_holds_the_truth_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(100):
        found = statistics.median(noise(400, seed))
        held += found is not None and found.low <= 0 <= found.high
    assert 85 <= held <= 100


def test_the_same_numbers_get_the_same_answer() -> None:
    assert statistics.median(noise(500)) == statistics.median(noise(500))


def test_what_something_takes_is_seen_by_comparing_steps_with_and_without_it() -> None:
    found = statistics.share_lost(1.0 + 0.01 * noise(400), 0.6 + 0.01 * noise(8, 1))
    assert found is not None
    assert found.low < 0.4 < found.high
    assert found.high - found.low < 0.05


def test_sentences_that_all_got_worse_are_surely_worse() -> None:
    earlier, tokens = 30 + 5 * noise(200), np.full(200, 20.0)
    found = statistics.paired_bootstrap(earlier + 1.0, earlier, tokens)
    assert found is not None
    assert found.mean == pytest.approx(0.05)
    assert found.p_not_above == 0


def test_the_same_losses_in_another_order_of_noise_are_not_surely_worse() -> None:
    earlier, tokens = 30 + 5 * noise(200), np.full(200, 20.0)
    found = statistics.paired_bootstrap(earlier + noise(200, 3), earlier, tokens)
    assert found is not None and 0.01 < found.p_not_above < 0.99


def test_one_sentence_cannot_be_compared() -> None:
    assert statistics.paired_bootstrap(np.array([1.0]), np.array([2.0]), np.array([3.0])) is None


@pytest.mark.parametrize("truth", [-1.0, -0.4, 0.0, 0.5])
def test_an_elasticity_is_found_again(truth: float) -> None:
    driver = np.exp(noise(200))
    outcome = 3 * driver**truth * np.exp(0.05 * noise(200, 1))
    found = statistics.elasticity(driver, outcome)
    assert found is not None
    assert found.low - 0.02 < truth < found.high + 0.02
    assert found.high - found.low < 0.1


def test_a_driver_that_does_not_vary_tells_no_elasticity() -> None:
    assert statistics.elasticity(np.full(50, 2.0), np.exp(noise(50))) is None
    assert statistics.elasticity(np.exp(noise(5)), np.exp(noise(5))) is None


def test_step_time_and_throughput_of_fixed_bytes_correlate_by_construction() -> None:
    seconds = 1 + 0.1 * np.abs(noise(300))
    found = statistics.correlation(seconds, 100 / seconds)
    assert found is not None and found < -0.95
    assert statistics.correlation(np.ones(10), np.arange(10.0)) is None


@pytest.mark.parametrize("length", [60, 300, 20_000])
def test_a_change_of_level_is_found_where_it_is(length: int) -> None:
    values = 1 + 0.05 * noise(length)
    place = int(0.6 * length)
    values[place:] += 1
    found = statistics.change_point(values)
    assert found is not None
    assert found.p_value < 0.01
    assert abs(found.index - place) <= max(5, length / 100)
    assert found.before == pytest.approx(1, abs=0.05)
    assert found.after == pytest.approx(2, abs=0.05)


def test_no_change_is_found_where_there_is_none() -> None:
    alarms = 0
    for seed in range(50):
        found = statistics.change_point(1 + 0.05 * noise(400, seed))
        alarms += found is not None and found.p_value < 0.01
    assert alarms <= 3


def test_single_slow_steps_are_no_change() -> None:
    values = 1 + 0.01 * noise(400)
    values[350:360:4] = 500
    found = statistics.change_point(values)
    assert found is not None and found.after < 1.1


def test_a_short_series_has_no_change() -> None:
    assert statistics.change_point(np.array([1.0, 2.0, 3.0])) is None
