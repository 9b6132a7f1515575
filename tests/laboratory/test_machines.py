"""Runs on machines that are not here, written by the simulator: is every verdict right, and no alarm false?

Records are synthesised: this machine has neither GPUs nor a second host. Each case draws its sizes at random within
what makes its truth beyond doubt, ten times.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dragoman.report.answers import Answer
from dragoman.report.run_directory import read_run
from tests.laboratory.asking import answers
from tests.laboratory.conditions import Conditions, like
from tests.laboratory.simulator import simulate

SEEDS = range(10)
PROBES = (50, 200, 0)
"""Steps between probes: enough of them, as many as a short run really has, none."""
Random = np.random.Generator
HEALTHY: dict[str, set[str]] = {
    "overfit": {"no"},
    "busy": {"busy"},
    "network": {"no", "slightly"},
    "elasticity": {"none", "weak"},
    "divergence": {"no"},
    "input": {"no"},
    "padding": {"little"},
    "straggler": {"no"},
    "traffic": {"agrees"},
    "failures": {"none"},
}
"""What each question must answer where nothing is wrong."""


def asked(directory: Path, conditions: Conditions, seed: int) -> dict[str, Answer]:
    return answers(read_run(simulate(directory / "run", conditions, seed)), but=("trained",))


def wrong(found: dict[str, Answer], expected: dict[str, set[str]]) -> dict[str, str]:
    """Verdicts that are not among those expected, with what they say."""
    return {
        key: f"{found[key].verdict}: {found[key].sentence}"
        for key in expected
        if found[key].verdict not in expected[key]
    }


def healthy(random: Random) -> Conditions:
    return like(compute_s=float(random.uniform(0.4, 1.0)), num_hosts=int(random.integers(2, 5)))


def one_host(random: Random) -> Conditions:
    return like(num_hosts=1, ranks_per_host=int(random.integers(2, 9)), compute_s=float(random.uniform(0.2, 1.0)))


def network_bound(random: Random) -> Conditions:
    return like(link_bytes_per_s=float(random.uniform(1e8, 2.6e8)), compute_s=float(random.uniform(0.3, 0.7)))


def busy_network(random: Random) -> Conditions:
    """Hundreds of megabytes a second cross the link, behind a long backward."""
    return like(link_bytes_per_s=1.15e9, compute_s=float(random.uniform(2.5, 3.5)))


def latency_bound(random: Random) -> Conditions:
    return like(
        parameters=int(random.integers(300_000, 700_000)),
        compute_s=float(random.uniform(0.015, 0.03)),
        latency_s=float(random.uniform(3e-3, 6e-3)),
        num_buckets=4,
    )


def slow_rank(random: Random) -> Conditions:
    return like(slow_rank=int(random.integers(0, 4)), slow_factor=float(random.uniform(1.3, 2.0)))


def input_bound(random: Random) -> Conditions:
    return like(data_wait_s=float(random.uniform(0.2, 0.8)))


def padding_bound(random: Random) -> Conditions:
    return like(padding_share=float(random.uniform(0.3, 0.6)))


def wrong_interface(random: Random) -> Conditions:
    return like(carries_over="eth1", compute_s=float(random.uniform(0.4, 1.0)))


def degraded(random: Random) -> Conditions:
    return like(
        link_bytes_per_s=1.15e9,
        compute_s=float(random.uniform(0.3, 0.6)),
        num_steps=480,
        degrades_at_step=int(random.integers(200, 280)),
        degrades_by=float(random.uniform(3, 8)),
    )


CASES: dict[str, tuple[Callable[[Random], Conditions], dict[str, set[str]]]] = {
    "healthy": (healthy, {}),
    "one host": (one_host, {"traffic": {"not needed"}, "network": {"no"}}),
    "network-bound": (
        network_bound,
        {"network": {"bandwidth-bound"}, "busy": {"lost to exposed communication"}, "elasticity": {"strong"}},
    ),
    "compute-bound with a busy network": (busy_network, {}),
    "latency-bound": (latency_bound, {"network": {"latency-bound"}, "busy": {"lost to exposed communication"}}),
    "one slow rank": (slow_rank, {"network": {"straggler", "no", "slightly"}, "busy": {"lost to slower ranks"}}),
    "input-bound": (input_bound, {"input": {"yes"}, "busy": {"lost to waiting for input"}}),
    "padding-bound": (padding_bound, {"padding": {"much"}, "busy": {"lost to padding"}}),
    "wrong interface": (wrong_interface, {"traffic": {"wrong interface"}}),
    "a link that degraded half-way": (
        degraded,
        {
            "network": {"degraded"},
            "busy": {"lost to exposed communication"},
            "elasticity": {"strong", "weak", "undetermined"},
        },
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_the_truth_is_found_and_nothing_else(case: str, seed: int, tmp_path: Path) -> None:
    draw, changes = CASES[case]
    conditions = replace(draw(np.random.default_rng([seed, 7])), probe_every=PROBES[seed % len(PROBES)])
    expected = {**HEALTHY, **changes}
    if conditions.slow_rank is not None:
        expected["straggler"] = {f"rank {conditions.slow_rank}"}
    found = asked(tmp_path, conditions, seed)
    assert wrong(found, expected) == {}, conditions


def test_gpus_that_read_100_percent_at_a_sixth_of_their_power_are_not_busy(tmp_path: Path) -> None:
    conditions = like(link_bytes_per_s=1.2e8, compute_s=0.15, gpu_busy=1.0)
    busy = asked(tmp_path, conditions, seed=1)["busy"]
    assert busy.verdict == "lost to exposed communication"
    told = " ".join(busy.evidence)
    assert "Utilisation reads 100 %" in told
    assert "kernels that spin while they wait, not work" in told


def test_gpus_that_read_the_same_and_compute_are_busy(tmp_path: Path) -> None:
    busy = asked(tmp_path, like(gpu_busy=1.0), seed=1)["busy"]
    assert busy.verdict == "busy"
    assert "spin" not in " ".join(busy.evidence)


def test_where_the_link_degraded_is_told(tmp_path: Path) -> None:
    conditions = like(num_steps=480, link_bytes_per_s=1.15e9, compute_s=0.4, degrades_at_step=240, degrades_by=5.0)
    found = asked(tmp_path, conditions, seed=3)["network"]
    step = int(found.sentence.split("from step ")[1].split(" ")[0].replace(",", ""))
    assert abs(step - 240) <= 50, "probes come every 50 steps"


def test_without_probes_and_preflight_a_slow_link_is_still_seen(tmp_path: Path) -> None:
    conditions = like(link_bytes_per_s=2e8, probe_every=0, has_preflight=False)
    found = asked(tmp_path, conditions, seed=4)["network"]
    assert found.verdict in ("network-bound", "bandwidth-bound")


def test_a_link_that_gave_less_than_the_preflight_measured_is_told(tmp_path: Path) -> None:
    conditions = like(link_bytes_per_s=2e8, preflight_bytes_per_s=1.15e9)
    assert asked(tmp_path, conditions, seed=5)["network"].verdict == "slower than measured"
