"""A link that gets worse is found from forty steps on, with its step; healthy runs raise no alarm."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from dragoman.report.columns import Column, StepColumns
from dragoman.report.measures import measures_of
from dragoman.report.questions.degradation import degradation
from tests.unit.report.made_up import rank_steps, run

SEEDS = range(20)
NOISE = 0.15
"""Of one exchange: a link that others use as well."""


def drifting(num_steps: int, seed: int, share: float) -> Column:
    """Noise whose neighbours are alike, as a machine makes it that has other things to do now and then."""
    random = np.random.default_rng(seed)
    noise, now = np.empty(num_steps), 0.0
    for place in range(num_steps):
        now = 0.8 * now + 0.6 * random.standard_normal()
        noise[place] = now
    return np.exp(share * noise)


def two_ranks(num_steps: int, seed: int, after: int = 0, factor: float = 1.0) -> list[StepColumns]:
    """An exchange of 60 ms behind 300 ms of computing; in the last `after` steps it takes `factor` times as long."""
    worse = np.where(np.arange(num_steps) >= num_steps - after, factor, 1.0)
    wait = 0.06 * worse * drifting(num_steps, seed, NOISE)
    return [rank_steps(num_steps, wait_s=wait, probe_wait_s=0.06, seed=seed + rank) for rank in (0, 100)]


def found_in(*members: StepColumns, **more: Any) -> int | None:
    change = degradation(measures_of(run(*members, **more)))
    return change.index if change is not None else None


@pytest.mark.parametrize("num_steps", [100, 500, 3000])
def test_forty_steps_of_a_worse_link_are_enough(num_steps: int) -> None:
    found = [found_in(*two_ranks(num_steps + 40, seed, after=40, factor=3.0)) for seed in SEEDS]
    assert sum(step is not None for step in found) >= 19
    assert all(abs(step - num_steps) <= 15 for step in found if step is not None)


@pytest.mark.parametrize("num_steps", [60, 140, 1000, 4000])
def test_healthy_links_raise_no_alarm(num_steps: int) -> None:
    assert [found_in(*two_ranks(num_steps, seed)) for seed in SEEDS] == [None] * len(SEEDS)


@pytest.mark.parametrize("num_steps", [140, 1000])
def test_a_rank_that_gets_slow_half_way_is_no_worse_link(num_steps: int) -> None:
    """The fast rank waits longer, the slow one does not: it waits for the wire alone."""
    for seed in SEEDS:
        fast, slow = two_ranks(num_steps, seed)
        late = np.where(np.arange(num_steps) >= num_steps // 2, 0.3, 0.0)
        fast = dataclasses.replace(fast, exchange_s=fast.exchange_s + late, step_s=fast.step_s + late)
        slow = dataclasses.replace(slow, backward_s=slow.backward_s + late, step_s=slow.step_s + late)
        assert found_in(fast, slow) is None


def test_single_slow_exchanges_and_the_last_few_steps_are_no_change() -> None:
    for seed in SEEDS:
        members = two_ranks(400, seed)
        spikes = np.where(np.random.default_rng(seed).random(400) < 0.1, 10.0, 1.0)
        assert found_in(*(dataclasses.replace(one, exchange_s=one.exchange_s * spikes) for one in members)) is None
        assert found_in(*two_ranks(400, seed, after=10, factor=5.0)) is None


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_a_worse_link_is_found_where_ranks_meet_in_every_sixteenth_step(factor: float) -> None:
    meets = np.arange(1, 3201) % 16 == 0
    for seed in SEEDS:
        members = [
            dataclasses.replace(
                one,
                exchange_s=np.where(meets, one.exchange_s, 0.0),
                wire_bytes=np.where(meets, one.wire_bytes, 0.0),
                is_probe=np.zeros(3200, dtype=bool),
            )
            for one in two_ranks(3200, seed, after=1600, factor=factor)
        ]
        step = found_in(*members, settings={"wire_rung": "local_steps_16"})
        assert (step is not None) == (factor > 1)
        assert step is None or abs(step - 1600) <= 64
