"""The network as bottleneck, elasticity and the bytes on the wire: questions 5 and 11."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from dragoman.report.answers import Bars
from dragoman.report.columns import HostColumns, NicColumns, step_columns
from dragoman.report.facts import Bucket, Claims, ComputeStep, Facts, Settings, Source
from dragoman.report.questions.elasticity import how_step_time_relates_to_the_network
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.traffic import did_the_wire_carry_it
from dragoman.theory import wire
from tests.unit.report.made_up import PARAMETERS, preflight, rank_steps, run

SENT = wire.ring_bytes(4 * PARAMETERS, 2)


def both(**conditions: Any) -> Facts:
    more = {name: conditions.pop(name) for name in ("preflight", "hosts", "settings", "buckets") if name in conditions}
    return run(rank_steps(seed=0, **conditions), rank_steps(seed=7, **conditions), **more)


def test_one_rank_has_no_network() -> None:
    found = was_the_network_the_bottleneck(run(rank_steps()))
    assert (found.verdict, found.sentence) == ("no", "No: one rank trains alone and exchanges nothing.")
    assert how_step_time_relates_to_the_network(run(rank_steps())).value("elasticity") == 0


def test_a_small_wait_is_no_bottleneck_however_busy_the_link() -> None:
    found = was_the_network_the_bottleneck(both(wait_s=0.003, probe_wait_s=0.2, preflight=preflight(SENT / 0.2)))
    assert found.verdict == "no"
    assert "too little to matter however busy the link was" in found.sentence
    assert how_step_time_relates_to_the_network(both(wait_s=0.003, probe_wait_s=0.2)).verdict == "none"


def test_a_full_link_is_bandwidth_bound_with_the_step_time_of_every_rung() -> None:
    found = was_the_network_the_bottleneck(both(wait_s=0.3, preflight=preflight(SENT / 0.3)))
    assert found.verdict == "bandwidth-bound"
    assert found.sentence.startswith(
        "Yes: 50 % of every step waited for the wire (2 min 0 s); the link was full. Without"
    )
    assert found.value("exposed wait for the wire") == pytest.approx(0.5, abs=0.01)
    assert found.value("achieved rate during exchange") == pytest.approx(SENT / 0.3, rel=0.02)
    assert isinstance(found.chart, Bars)
    assert [bar.label for bar in found.chart.bars][:4] == ["as it ran", "plain", "half", "eight bits"]
    assert found.advice[0].command is not None and found.advice[0].command.startswith('communication.mode = "')


def test_a_link_of_many_small_messages_is_latency_bound() -> None:
    small = both(wait_s=0.3, preflight=preflight(1e12, latency_s=0.15))
    assert was_the_network_the_bottleneck(small).verdict == "latency-bound"
    elastic = how_step_time_relates_to_the_network(small).value("elasticity")
    assert elastic is not None and elastic > -0.02, "more bandwidth does not help against latency"


def test_far_below_the_measured_rate_is_something_else_than_bandwidth() -> None:
    assert was_the_network_the_bottleneck(both(wait_s=0.3, preflight=preflight(SENT / 0.03))).verdict == (
        "slower than measured"
    )


def test_without_a_preflight_it_is_only_known_that_the_network_was_slow() -> None:
    found = was_the_network_the_bottleneck(both(wait_s=0.3))
    assert found.verdict == "network-bound"
    assert any("no preflight says what the link could do" in sentence for sentence in found.evidence)


def test_waiting_for_a_slow_rank_is_not_the_network() -> None:
    fast, slow = rank_steps(wait_s=0.003, skew_s=0.3, seed=0), rank_steps(compute_s=0.6, wait_s=0.003, seed=7)
    found = was_the_network_the_bottleneck(run(fast, slow))
    assert found.verdict == "straggler"
    assert found.sentence.startswith("No: ranks wait for the slowest of them (2")


@pytest.mark.parametrize("share, verdict", [(0.08, "slightly"), (0.02, "no"), (0.2, "network-bound")])
def test_the_thresholds_are_where_the_rule_says(share: float, verdict: str) -> None:
    assert was_the_network_the_bottleneck(both(wait_s=0.301 * share / (1 - share))).verdict == verdict


def test_a_noisy_wait_leaves_it_undetermined() -> None:
    random = np.random.default_rng(0)
    wait = np.repeat(random.choice([0.0, 0.6], size=20, p=[0.8, 0.2]), 20)
    found = was_the_network_the_bottleneck(both(wait_s=wait, probe_wait_s=0.06, is_probe=np.zeros(400)))
    assert found.verdict in ("undetermined", "network-bound", "degraded")


def test_a_link_that_degraded_half_way_is_told_with_its_step() -> None:
    wait = np.where(np.arange(400) < 240, 0.02, 0.2)
    found = was_the_network_the_bottleneck(both(wait_s=wait, is_probe=np.zeros(400)))
    assert found.verdict == "degraded"
    assert found.sentence.startswith(
        "The link degraded: from step 239 on, waiting for gradients took 10.0 times as long"
    )
    assert found.tone == "bad"


def test_a_machine_that_is_slower_at_everything_is_no_degraded_link() -> None:
    slow = np.where(np.arange(400) < 200, 1.0, 2.0)
    base = rank_steps(wait_s=0.05, is_probe=np.zeros(400))
    changed = {name: getattr(base, name) * slow for name in ("forward_s", "backward_s", "exchange_s", "step_s")}
    found = was_the_network_the_bottleneck(run(*(dataclasses.replace(base, **changed) for _ in range(2))))
    assert found.verdict != "degraded"


def test_one_host_has_no_link_to_degrade() -> None:
    wait = np.where(np.arange(400) < 240, 0.02, 0.2)
    found = was_the_network_the_bottleneck(both(wait_s=wait, is_probe=np.zeros(400), settings={"hosts": 1}))
    assert found.verdict != "degraded"


def foreign(step_s: float, compute_s: float | None, **more: Any) -> Facts:
    steps = step_columns(np.arange(100, 2001, 100), steps_per_row=100, step_s=np.full(20, step_s))
    compute = ComputeStep(compute_s, "a plot") if compute_s else None
    settings = Settings(
        parameters=60_880_896, ranks=4, hosts=2, wire_bytes_per_parameter=4.0, **more.pop("settings", {})
    )
    return Facts(Source("log", "OpenSeq2Seq"), settings, steps, last_step=2000, training_s=2000 * step_s,
                 compute_step=compute, **more)  # fmt: skip


def test_physics_decides_where_nothing_was_recorded() -> None:
    found = was_the_network_the_bottleneck(foreign(1.941, 0.61))
    assert found.verdict == "network-bound"
    assert found.sentence.startswith("Yes: 69 % of every step waited for the wire (44 min 22 s)")
    assert found.value("bytes a step and rank, each way") == 365_285_376
    assert any("365.3 MB a step of 243.5 MB of gradients" in sentence for sentence in found.evidence)
    assert found.value("implied rate") == pytest.approx(188.2e6, rel=0.001)
    assert found.value("waiting for slower ranks") is None, "unknown, not zero"


def test_hours_and_money_are_told() -> None:
    found = was_the_network_the_bottleneck(foreign(34.893, 0.61, settings={"price_per_hour": 10.0}))
    assert "98 % of every step waited for the wire (19 h 2 min, 190.46 in money)" in found.sentence


def test_without_the_compute_time_the_least_rate_is_still_told() -> None:
    found = was_the_network_the_bottleneck(foreign(1.941, None))
    assert found.verdict == "undetermined"
    assert any("or more, so a link of" in sentence for sentence in found.evidence)


def test_a_compute_bound_log_is_no_bottleneck() -> None:
    assert was_the_network_the_bottleneck(foreign(0.62, 0.61)).verdict in ("no", "undetermined", "slightly")


def test_elasticity_has_an_interval_and_says_why_correlation_proves_nothing() -> None:
    found = how_step_time_relates_to_the_network(both(wait_s=0.3, preflight=preflight(SENT / 0.3)))
    assert found.verdict == "strong"
    elastic = next(number for number in found.numbers if number.name == "elasticity")
    assert elastic.value == pytest.approx(-0.5, abs=0.02)
    assert elastic.low is not None and elastic.high is not None and elastic.low < -0.5 < elastic.high + 0.02
    assert "on one twice as fast a step would take 0.45" in found.sentence
    assert any(
        "the two move against each other by construction, whatever causes what. The raw correlation of -" in sentence
        and sentence.endswith("therefore proves nothing.")
        for sentence in found.evidence
    )


def test_the_buckets_that_backward_hides_are_counted() -> None:
    buckets = (Bucket(4_000_000, -0.1, 0.0), Bucket(4_000_000, 0.1, 0.1), Bucket(8_000_000, 0.4, 0.3))
    found = was_the_network_the_bottleneck(both(wait_s=0.4, buckets=buckets))
    assert (
        "Backward hides 1 of 3 buckets of gradients; the last one, 8.0 MB that nothing can hide, makes 75 % of the "
        "wait." in found.evidence
    )
    alone = was_the_network_the_bottleneck(both(wait_s=0.4, buckets=buckets[:1]))
    assert not any("buckets" in sentence for sentence in alone.evidence)


def test_an_exchange_that_outlasts_backward_counts_whole() -> None:
    hidden_half = both(wait_s=0.3, probe_wait_s=0.5)
    elastic = how_step_time_relates_to_the_network(hidden_half).value("elasticity")
    assert elastic == pytest.approx(-0.5 / 0.601, abs=0.03)


def test_a_link_that_varied_gives_an_observed_elasticity() -> None:
    wait = np.repeat(0.3 * np.exp(0.3 * np.random.default_rng(1).standard_normal(20)), 20)
    base = rank_steps(wait_s=wait, is_probe=np.arange(1, 401) % 20 == 1)
    moved: dict[str, Any] = {"exchange_s": wait, "step_s": base.forward_s + base.backward_s + wait + 0.001}
    found = how_step_time_relates_to_the_network(run(*(dataclasses.replace(base, **moved) for _ in range(2))))
    assert any(sentence.startswith("Where the link itself varied, over 19 probes") for sentence in found.evidence)


def host(sent_a_step: dict[str, float], gradient_nic: str | None) -> HostColumns:
    time_s = 1.7e9 + np.arange(0.0, 210.0, 2.0)
    unknown = np.full(len(time_s), np.nan)
    nics = {name: NicColumns(2 * each * np.arange(0.0, 210.0, 2.0), unknown) for name, each in sent_a_step.items()}
    return HostColumns(time_s, unknown, unknown, unknown, unknown, unknown, nics, gradient_nic)


@pytest.mark.parametrize(
    "carried, meant, verdict",
    [
        ({"eth0": SENT, "eth1": 100.0}, "eth0", "agrees"),
        ({"eth0": 100.0, "eth1": SENT}, "eth0", "wrong interface"),
        ({"eth0": 100.0, "eth1": SENT}, None, "agrees"),
        ({"eth0": 2 * SENT}, "eth0", "other traffic"),
        ({"eth0": SENT / 60}, "eth0", "too little"),
    ],
)
def test_counters_of_interfaces_are_held_against_the_model(
    carried: dict[str, float], meant: str | None, verdict: str
) -> None:
    found = did_the_wire_carry_it(both(hosts={"a": host(carried, meant)}))
    assert found.verdict == verdict, found.sentence


def test_a_claimed_rate_is_judged_by_physics() -> None:
    impossible = did_the_wire_carry_it(foreign(1.629, 0.61, claims=Claims(nic_bytes_per_s=3.5e6)))
    assert impossible.verdict == "wrong interface"
    assert "64 times too little" in impossible.sentence
    fits = did_the_wire_carry_it(foreign(1.629, 0.61, claims=Claims(nic_bytes_per_s=219_153.9 * 1024)))
    assert fits.verdict == "agrees"


def test_one_host_needs_no_counters_and_no_counters_mean_undetermined() -> None:
    assert did_the_wire_carry_it(both(settings={"hosts": 1})).verdict == "not needed"
    assert did_the_wire_carry_it(both()).verdict == "undetermined"
    assert did_the_wire_carry_it(run(rank_steps())).verdict == "not needed"


def test_a_while_with_one_rank_changes_neither_bytes_nor_method() -> None:
    alone = np.arange(1, 401) > 300
    members = [rank_steps(seed=seed, wire_bytes=np.where(alone, 0.0, 1e6)) for seed in (0, 7)]
    found = was_the_network_the_bottleneck(run(*members))
    assert found.value("bytes a step and rank, each way") == 1e6
    assert "probes" in found.evidence[0]


@pytest.mark.parametrize("num_single", [0, 240])
def test_ranks_that_meet_in_every_fourth_step_only_are_judged_by_sums(num_single: int) -> None:
    step = np.arange(1, 401)
    meets = (step <= num_single) | (step % 4 == 0)
    share = float(meets[10:].mean())
    sent = np.where(meets, 1e6, 0.0)
    members = [
        rank_steps(
            wait_s=np.where(meets, 0.4, 0.0), probe_wait_s=0.4, is_probe=step <= num_single, wire_bytes=sent, seed=seed
        )
        for seed in (0, 7)
    ]
    found = was_the_network_the_bottleneck(run(*members, settings={"wire_rung": "larger_step_4"}))
    assert found.value("exposed wait for the wire") == pytest.approx(0.4 * share / (0.301 + 0.4 * share), abs=0.01)
    assert found.value("bytes a step and rank, each way") == pytest.approx(1e6 * share, rel=0.05)
    assert found.value("achieved rate during exchange") == pytest.approx(1e6 / 0.4, rel=0.05)
