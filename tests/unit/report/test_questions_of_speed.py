"""Time, busy machines, input, padding, stragglers: questions 1, 4 and 10."""

import dataclasses

import numpy as np
import pytest

from dragoman.report.columns import GpuColumns, HostColumns, StepColumns
from dragoman.report.facts import Claims, ComputeStep, CorpusFacts, Device, Facts, Source
from dragoman.report.measures import measures_of
from dragoman.report.questions import answer_all
from dragoman.report.questions.busy import lost_shares, were_the_machines_busy
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.speed import (
    did_it_wait_for_input,
    how_long_did_a_step_take,
    how_long_did_it_take,
    how_much_was_padding,
)
from dragoman.report.questions.stragglers import was_a_rank_slow
from dragoman.report.summary import summarise
from tests.unit.report.made_up import MODEL, curve, rank_steps, run

NOTHING = Facts(Source("x", "Dragoman"))


def gpu_host(utilisation: float, power_w: float, throttled: dict[str, float] | None = None) -> HostColumns:
    unknown = np.full(50, np.nan)
    gpu = GpuColumns(
        name="V100",
        utilisation=np.full(50, utilisation),
        power_w=np.full(50, power_w),
        power_cap_w=np.full(50, 250.0),
        memory_used_bytes=unknown,
        memory_total_bytes=unknown,
        clock_mhz=unknown,
        max_clock_mhz=unknown,
        temperature_c=unknown,
        throttled=throttled or {},
    )
    return HostColumns(unknown, unknown, unknown, unknown, unknown, unknown, gpus={0: gpu})


def test_the_time_in_training_is_told_with_steps_and_end() -> None:
    found = how_long_did_it_take(run(training_s=7384.0, started_s=0.0, ended_s=36_000.0))
    assert found.sentence == "2 h 3 min for 400 steps at 0.304 s a step."
    assert "From the first sign of life to the last 10 h 0 min went by on the wall." in found.evidence
    assert "It ended because its steps are done." in found.evidence


@pytest.mark.parametrize(
    "seconds, told, advised", [(2.0, "8.0 s, 8.0 %", ()), (5.0, "20.0 s, 20 %", ("evaluations took 20 % of the time",))]
)
def test_time_in_evaluations_is_told_and_much_of_it_is_advised_against(
    seconds: float, told: str, advised: tuple[str, ...]
) -> None:
    measured = dataclasses.replace(curve(np.array([4.0, 3.0, 2.5, 2.4])), seconds=np.full(4, seconds))
    answer = how_long_did_it_take(run(evaluations=measured, training_s=100.0))
    assert [number.text for number in answer.numbers if number.name == "of it in evaluations"] == [told]
    assert tuple(advice.gain for advice in answer.advice) == advised


@pytest.mark.parametrize(
    "every_steps, setting", [(500, "training.evaluate_every_steps"), (None, "training.evaluate_every_minutes")]
)
def test_fewer_evaluations_are_asked_for_by_the_setting_that_decides(every_steps: int | None, setting: str) -> None:
    measured = dataclasses.replace(curve(np.array([4.0, 3.0, 2.5, 2.4])), seconds=np.full(4, 5.0))
    facts = run(evaluations=measured, training_s=100.0)
    facts = dataclasses.replace(facts, settings=dataclasses.replace(facts.settings, evaluate_every_steps=every_steps))
    assert [advice.command for advice in how_long_did_it_take(facts).advice] == [setting]


def test_a_running_and_a_crashed_run_say_so() -> None:
    assert how_long_did_it_take(run(is_running=True, ended=None)).verdict == "running"
    crashed = how_long_did_it_take(run(ended=None))
    assert "It did not say why it ended: it was killed, or crashed." in crashed.evidence


def test_of_nothing_nothing_is_known() -> None:
    for question in (how_long_did_it_take, how_long_did_a_step_take, did_it_wait_for_input, how_much_was_padding,
                     was_a_rank_slow, were_the_machines_busy):  # fmt: skip
        assert question(NOTHING).verdict == "undetermined", question


def test_clocks_that_jump_are_told_and_change_no_duration() -> None:
    times = 1.7e9 + 0.3 * np.arange(400.0)
    times[200:] -= 3600
    jumped, smooth = run(rank_steps(time_s=times)), run(rank_steps())
    assert how_long_did_it_take(jumped).value("time in training") == how_long_did_it_take(smooth).value(
        "time in training"
    )
    assert any("clock jumped back" in sentence for sentence in how_long_did_it_take(jumped).evidence)


@pytest.mark.parametrize(
    "claims, sentence",
    [
        (Claims(steps=44_000, total_s=6780.0), "1 h 53 min for 44,000 steps is impossible: 0.15 s a step"),
        (Claims(steps=50_000, total_s=81_450.0), "22 h 37 min for 50,000 steps was told: 1.63 s a step"),
    ],
)
def test_a_claimed_duration_is_judged_by_what_computing_takes(claims: Claims, sentence: str) -> None:
    facts = Facts(Source("x", "OpenSeq2Seq"), claims=claims, compute_step=ComputeStep(0.61, "a plot"))
    assert sentence in how_long_did_it_take(facts).sentence


def test_the_median_step_comes_with_interval_spread_and_tokens() -> None:
    found = how_long_did_a_step_take(run())
    assert found.sentence == "0.304 s, the median; nine in ten took between 0.301 s and 0.307 s."
    assert found.value("target tokens a second") == pytest.approx(4096 / 0.304, rel=0.01)


@pytest.mark.parametrize(
    "claims, floor, told",
    [
        (Claims(step_s=0.59), 0.61, "“0.59” is steps per second read upside down; a step took 1.69 s"),
        (Claims(step_s=116.76, steps=100_000, total_s=194_600.0), None, "1.95 s is meant, minutes for seconds"),
        (Claims(step_s=0.835, steps=1000, total_s=1190.0), None, "read upside down; a step took 1.20 s"),
        (Claims(step_s=5.0, steps=1000, total_s=1000.0), None, "The 5 s that were told do not fit 1 s."),
    ],
)
def test_a_claimed_step_is_read_the_right_way_round(claims: Claims, floor: float | None, told: str) -> None:
    compute = ComputeStep(floor, "a plot") if floor else None
    found = how_long_did_a_step_take(Facts(Source("x", "OpenSeq2Seq"), claims=claims, compute_step=compute))
    assert told in found.sentence


def test_a_run_that_computes_is_busy() -> None:
    found = were_the_machines_busy(run())
    assert found.verdict == "busy"
    assert found.sentence.startswith("Yes: 94 % of a step computed real tokens")


@pytest.mark.parametrize(
    "conditions, cause",
    [
        ({"data_wait_s": 0.2}, "lost to waiting for input"),
        ({"wait_s": 0.3}, "lost to exposed communication"),
        ({"padding": 0.5}, "lost to padding"),
    ],
)
def test_the_largest_loss_is_named(conditions: dict[str, float], cause: str) -> None:
    members = (rank_steps(seed=0, **conditions), rank_steps(seed=7, **conditions))  # type: ignore[arg-type]
    assert were_the_machines_busy(run(*members)).verdict == cause


def test_waiting_for_a_slow_rank_is_named_as_such() -> None:
    fast, slow = rank_steps(wait_s=0.003, skew_s=0.3), rank_steps(compute_s=0.6, wait_s=0.003, seed=7)
    assert were_the_machines_busy(run(fast, slow)).verdict == "lost to slower ranks"


def taking_turns(seed: int, late: int) -> StepColumns:
    """Of two ranks one is late in each block of ten steps, now this one, now the other; probes know."""
    base = rank_steps(seed=seed, wait_s=0.003)
    is_late = np.arange(400) // 10 % 2 == late
    more = np.where(is_late, 0.15, 0.0)
    return dataclasses.replace(
        base,
        forward_s=base.forward_s + more,
        exchange_s=base.exchange_s + 0.15 - more,
        step_s=base.step_s + 0.15,
        skew_s=np.where(base.is_probe, 0.15 - more, np.nan),
    )


def test_ranks_that_take_turns_at_being_late_are_uneven_in_every_answer() -> None:
    facts = run(taking_turns(0, late=0), taking_turns(7, late=1))
    straggler, network = was_a_rank_slow(facts), was_the_network_the_bottleneck(facts)
    assert straggler.verdict == "no"
    assert straggler.sentence.endswith("Ranks waited 17 % of a step for one another, now for one, now for another.")
    assert were_the_machines_busy(facts).verdict == "lost to uneven ranks"
    assert network.verdict == "uneven"
    assert network.sentence == (
        "No: ranks wait for one another, now for one and now for another (17 % of a step), not for the wire (0.6 %)."
    )
    assert summarise(facts, answer_all(facts)).sentence.endswith("17 % of every step ranks waited for one another.")


def test_a_slow_rank_is_blamed_by_all_answers_or_by_none() -> None:
    for slow_s in (0.30, 0.32, 0.36, 0.42, 0.6):
        late = slow_s - 0.3
        facts = run(rank_steps(skew_s=late), rank_steps(compute_s=slow_s, seed=7))
        is_named = was_a_rank_slow(facts).verdict == "rank 1"
        assert ("slower ranks" in (lost_shares(measures_of(facts)) or {})) == is_named
        assert is_named or was_the_network_the_bottleneck(facts).verdict != "straggler"


def test_steps_that_mostly_update_the_weights_are_small_batches() -> None:
    members = [rank_steps(seed=seed, optimizer_s=np.full(400, 0.1), compute_s=0.2) for seed in (0, 7)]
    members = [dataclasses.replace(one, step_s=one.step_s + 0.1) for one in members]
    found = were_the_machines_busy(run(*members))
    assert found.verdict == "lost to small batches"
    assert found.advice[0].gain == "twice the tokens a step save 16 % of the time"


def test_a_step_too_small_for_any_link_is_not_blamed_on_the_network() -> None:
    """Four milliseconds of computing for 244 MB of gradients: 100 Gb/s would be waited for, too."""
    ranks = [rank_steps(compute_s=0.004, wait_s=0.3, seed=seed) for seed in (0, 7)]
    large = {"parameters": 60_880_896}
    network = was_the_network_the_bottleneck(run(*ranks, settings=large))
    assert network.verdict == "small batches"
    assert "even a link of 100 Gb/s would be waited for" in network.sentence
    assert network.advice[0].command == "batching.tokens_per_step"
    assert were_the_machines_busy(run(*ranks, settings=large)).verdict == "lost to small batches"
    usual = [rank_steps(compute_s=0.6, wait_s=1.3, seed=seed) for seed in (0, 7)]
    assert was_the_network_the_bottleneck(run(*usual, settings=large)).verdict == "network-bound"


def test_utilisation_alone_proves_nothing() -> None:
    facts = Facts(Source("x", "OpenSeq2Seq"), claims=Claims(gpu_utilisation=1.0))
    found = were_the_machines_busy(facts)
    assert found.verdict == "undetermined"
    assert found.sentence == "Undetermined: utilisation alone proves nothing, and nothing else is known."


def test_full_utilisation_at_a_sixth_of_the_power_is_spinning() -> None:
    claimed = Facts(
        Source("x", "OpenSeq2Seq"), claims=Claims(gpu_utilisation=1.0, gpu_power_w=42.0, gpu_power_cap_w=250)
    )
    found = were_the_machines_busy(claimed)
    assert found.verdict == "waiting"
    assert found.sentence == ("No: the GPUs read 100 % at 42 W of 250 W: kernels that spin while they wait, not work.")
    measured = run(rank_steps(wait_s=0.5), rank_steps(wait_s=0.5, seed=7), hosts={"a": gpu_host(1.0, 42.0)})
    answer = were_the_machines_busy(measured)
    assert answer.verdict == "lost to exposed communication"
    assert any("spin while they wait" in sentence for sentence in answer.evidence)


def test_lowered_clocks_are_told() -> None:
    found = were_the_machines_busy(
        run(hosts={"a": gpu_host(1.0, 240.0, {"hw_thermal_slowdown": 0.6, "gpu_idle": 0.5})})
    )
    assert found.verdict == "throttled"
    assert "hw_thermal_slowdown" in found.sentence
    assert not any("gpu_idle" in sentence for sentence in found.evidence)


@pytest.mark.parametrize("reason", ["application_clocks", "display_clocks", "sync_boost"])
def test_clocks_that_somebody_chose_are_no_throttling(reason: str) -> None:
    assert were_the_machines_busy(run(hosts={"a": gpu_host(1.0, 240.0, {reason: 1.0})})).verdict == "busy"


def test_work_is_held_against_the_device_where_its_peak_is_known() -> None:
    corpus = CorpusFacts(train_pairs=1000, source_tokens=20_000, target_tokens=20_000)
    known = were_the_machines_busy(run(corpus=corpus, device=Device("V100", 112e12, "datasheet")))
    share, flops = known.value("of the device's peak"), known.value("useful work of a rank")
    assert share is not None and flops is not None and share == pytest.approx(flops / 112e12)
    assert were_the_machines_busy(run(corpus=corpus)).value("of the device's peak") is None


def test_work_on_a_processor_is_told_without_the_gradient_that_is_only_drawn() -> None:
    corpus = CorpusFacts(train_pairs=1000, source_tokens=20_000, target_tokens=20_000)
    whole, drawn = (were_the_machines_busy(run(corpus=corpus, settings={"is_gpu": is_gpu})) for is_gpu in (True, False))
    work, least = (found.value("useful work of a rank") for found in (whole, drawn))
    assert work is not None and least is not None
    tokens_per_s = drawn.value("target tokens a second")
    assert tokens_per_s is not None
    gradient_of_logits = 4 * MODEL.width * 2048
    assert work - least == pytest.approx(tokens_per_s / 2 * gradient_of_logits)  # of either of the two ranks
    assert f"at least {least / 1e9:,.0f} GFLOP/s a rank" in drawn.sentence
    assert "at least" not in whole.sentence


def test_waiting_for_input_is_seen() -> None:
    found = did_it_wait_for_input(run(rank_steps(data_wait_s=0.1)))
    assert (found.verdict, found.sentence) == (
        "yes", "Yes: 25 % of the time went into waiting for the next batch."
    )  # fmt: skip
    assert did_it_wait_for_input(run()).verdict == "no"


def test_padding_is_counted() -> None:
    assert (
        how_much_was_padding(run(rank_steps(padding=0.4))).sentence == "Much: 40 % of the computed tokens were padding."
    )
    assert how_much_was_padding(run()).verdict == "little"


def test_a_rank_that_is_always_late_is_named() -> None:
    ranks = [rank_steps(seed=seed, wait_s=0.05) for seed in (0, 7, 14, 21)]
    ranks[2] = rank_steps(seed=14, compute_s=0.4)
    found = was_a_rank_slow(run(*ranks))
    assert found.verdict == "rank 2"
    assert found.sentence.startswith("Yes: rank 2 computed 33 % longer than the others, in 100 % of the windows")


def test_a_rank_that_is_late_now_and_then_is_no_straggler() -> None:
    late = rank_steps(seed=7)
    slow = np.where(np.arange(400) % 100 < 10, 3.0, 1.0)
    late = dataclasses.replace(late, forward_s=late.forward_s * slow, backward_s=late.backward_s * slow)
    assert was_a_rank_slow(run(rank_steps(), late)).verdict == "no"
    assert was_a_rank_slow(run(rank_steps())).sentence == "No: there is one rank."


def test_a_rank_that_only_waits_longer_for_its_batches_is_no_straggler() -> None:
    assert was_a_rank_slow(run(rank_steps(data_wait_s=0.3), rank_steps(data_wait_s=0.4, seed=7))).verdict == "no"
