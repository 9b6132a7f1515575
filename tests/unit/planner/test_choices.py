"""Whole plans: parts that add up, sentences with numbers, and what changes would buy."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core import config_file, records
from dragoman.core.config import ModelConfig
from dragoman.core.errors import UserError
from dragoman.planner import workload
from dragoman.planner.choices import Plan, plan
from dragoman.planner.estimate import Estimate, Speed, compute_parts, estimate, precision_of, speed_of
from dragoman.planner.machines import parse
from dragoman.planner.workload import Workload
from dragoman.theory import cost, wire

RECIPE = Path(__file__).resolve().parents[3] / "recipes" / "wmt16_en_de_base.toml"
WORK = workload.of(config_file.load(RECIPE), None, 50_000)
FIVE_RUNS = "2 hosts x 2 V100, 1 Gb/s, $3.06/h"


def rows_of(found: Plan) -> dict[str, Estimate]:
    return {row.name: row for row in found.choices}


# The work


def test_the_work_of_a_recipe_is_counted() -> None:
    assert WORK.num_parameters == 60_880_896
    assert WORK.gradient_bytes == 243_523_584
    assert WORK.checkpoint_bytes == 730_570_752
    assert WORK.row.last_bucket_bytes == 67_108_864
    assert WORK.row.last_bucket_bytes / WORK.row.num_bytes == pytest.approx(0.276, abs=0.001)
    assert WORK.micro_batches(1) == 4 and WORK.micro_batches(4) == 1
    assert WORK.assumptions == (
        "the corpus is not prepared: 32,768 pieces as in the recipe, 30 pieces a sentence assumed",
    )


def test_steps_come_from_the_limits_of_the_recipe() -> None:
    def steps(*overrides: str) -> int:
        return workload.of(config_file.load(RECIPE, overrides), None).num_steps

    assert steps() == 300_000
    assert steps("training.max_tokens=50_000_000") == 2_000
    assert steps("training.max_steps=0", "training.max_tokens=50_000_001") == 2_001
    with pytest.raises(UserError, match="nobody knows when it ends; name one with --steps"):
        steps("training.max_steps=0")
    with pytest.raises(UserError, match="--steps 0 makes no sense"):
        workload.of(config_file.load(RECIPE), None, 0)


def test_larger_steps_keep_the_tokens() -> None:
    larger = WORK.with_larger_step(4)
    assert larger.tokens_per_step * larger.num_steps == WORK.tokens_per_step * WORK.num_steps


# The estimate


def test_the_parts_of_a_step_add_up() -> None:
    for row in plan(WORK, parse(FIVE_RUNS)).choices:
        parts = row.parts
        if not row.changes_recipe:
            whole = parts.forward_s + parts.backward_s + parts.optimizer_s + parts.exposed_s
            assert parts.update_s == pytest.approx(whole)
            assert row.step_s == parts.update_s
        assert row.tokens_per_s == pytest.approx(25_000 / row.step_s)
        if not row.changes_recipe:
            assert row.hours == pytest.approx(row.step_s * 50_000 / 3600)

        low, high = row.step_range_s
        assert low <= row.step_s <= high


def test_larger_and_local_steps_save_time_only_after_the_first_steps() -> None:
    rows = {row.name: row for row in plan(WORK, parse(FIVE_RUNS)).choices}
    for rung, before, num_single, num_updates in (
        ("larger_step_4", "eight_bits", 32_000, 32_000 + 18_000 / 4),
        ("local_steps_16", "eight_bits", 16_000, 50_000),
    ):
        row, single = (next(row for row in rows.values() if row.rung == name) for name in (rung, before))
        assert row.num_updates == num_updates
        hours = (num_single * single.step_s + (50_000 - num_single) * row.step_s) / 3600
        assert row.hours == pytest.approx(hours)


def test_compute_is_operations_over_speed() -> None:
    machines = parse("1 host x 4 V100")
    speed = speed_of(WORK, machines)
    assert speed.flops_per_s == pytest.approx(0.20 * 112e12)
    forward_s, backward_s, optimizer_s, compute = compute_parts(WORK, machines, speed.flops_per_s)
    assert forward_s + backward_s == pytest.approx(WORK.flops_per_token * 6250 / 22.4e12)
    assert backward_s == pytest.approx(2 * forward_s)
    assert optimizer_s == pytest.approx(28 * 60_880_896 / 900e9)
    assert compute.step_s == pytest.approx(forward_s + backward_s + optimizer_s)
    assert WORK.flops_per_token == pytest.approx(0.365e9, rel=0.06)  # six times the parameters, and attention


def test_muon_keeps_fewer_moments() -> None:
    narrow = workload.of(config_file.load(RECIPE, ["optimizer.kind=auto", "model.width=256"]), None)
    assert narrow.has_muon and not WORK.has_muon
    without = replace(narrow, has_muon=False)
    assert without.checkpoint_bytes - narrow.checkpoint_bytes == 4 * cost.muon_parameters(narrow.model)


def test_a_gpu_with_nearly_nothing_to_do_waits_for_its_host() -> None:
    few = replace(WORK, tokens_per_step=64)
    forward_s, backward_s, *_ = compute_parts(few, parse("1 A100"), 1e15)
    assert forward_s + backward_s == pytest.approx(3 * (20 * 6 + 32 * 6 + 20) * 10e-6)


def test_auto_precision_is_what_the_gpu_has() -> None:
    assert precision_of(WORK, parse("1 V100")) == "fp16"
    assert precision_of(WORK, parse("1 A100")) == "bf16"
    assert precision_of(WORK, parse("1 CPU")) == "fp32"
    assert precision_of(replace(WORK, precision="fp32"), parse("1 A100")) == "fp32"


def test_what_was_measured_comes_before_the_catalogue() -> None:
    machines = parse("1 host x 2 V100")
    learned = Speed(3e12, 2e12, 4e12, "200 steps of runs/x", is_measured=True)
    assert speed_of(WORK, machines, learned) is learned
    timed = speed_of(WORK, replace(machines, compute_step_s=2.0), learned)
    assert timed.flops_per_s == pytest.approx(WORK.flops_per_token * 12_500 / 2.0)
    assert timed.source == "the step that the preflight timed"


def test_an_unmeasured_cpu_is_unknown_not_guessed() -> None:
    with pytest.raises(UserError, match="how fast a CPU computes is in no catalogue; learn it from a run"):
        plan(WORK, parse("2 hosts x 1 CPU, 1 Gb/s"))


# The plan


def test_on_the_machines_of_the_five_runs_one_host_is_better() -> None:
    found = plan(WORK, parse(FIVE_RUNS))
    rows = rows_of(found)
    assert found.now.rung == "eight_bits"
    assert found.fastest_here == "one host"
    assert found.advice[0] == "use one host: 0.217 s a step alone, 0.6 s together"
    assert found.advice[1] == "the wire is the bottleneck: with plain exchange 97% of each step would be waiting"
    assert found.advice[2] == (
        "if the recipe allowed steps of 4 times the tokens, the same tokens would take 6 h 28 min instead of 8 h 20 min"
    )
    assert rows["plain"].nic_bytes == pytest.approx(365.3e6, rel=1e-3)
    assert rows["plain"].step_s == pytest.approx(3.15, abs=0.01)
    assert rows["one host"].cost == pytest.approx(rows["one host"].hours * 3.06)
    assert found.now.cost == pytest.approx(found.now.hours * 6.12)


def test_a_fast_link_makes_the_second_host_worth_having() -> None:
    found = plan(WORK, parse("2 hosts x 2 V100, 25 Gb/s, $3.06/h"))
    assert not [text for text in found.advice if text.startswith("use one host")]
    assert "one host is cheaper: $9.12 in 2 h 58 min, instead of $10.02" not in found.advice
    assert rows_of(found)["one host"].step_s > found.now.step_s


def test_a_rung_can_make_the_second_host_worth_having() -> None:
    found = plan(WORK, parse("2 hosts x 2 V100, 5 Gb/s"))
    assert found.advice[0] == (
        "with plain exchange one host would be faster (0.217 s a step) than all together (0.676 s); "
        "eight_bits makes the others worth having (0.18 s)"
    )


def test_the_table_has_every_kind_of_change_and_names_the_best() -> None:
    found = plan(WORK, parse(FIVE_RUNS))
    rows = rows_of(found)
    ladder = [rung.name for rung in wire.ladder(parse(FIVE_RUNS).layout)]
    wanted = {*ladder, "larger_step_4", "local_steps_16", "accumulate_4", "one host", "10 Gb/s link", "A100 instead"}
    assert wanted <= set(rows) and "100 Mb/s link" not in rows and "V100 instead" not in rows
    assert "rent 1 x p3.8xlarge" in rows and "rent 1 x g4dn.2xlarge" not in rows  # the same as g4dn.xlarge, but dearer
    same_recipe = [row for row in found.choices if not row.changes_recipe]
    assert rows[found.fastest].step_s == min(row.step_s for row in same_recipe)
    assert found.cheapest is not None
    assert rows[found.cheapest].cost == min(row.cost for row in same_recipe if row.cost is not None)
    assert rows["A100 instead"].cost is None  # nobody said what it costs


def test_without_a_price_only_machines_for_rent_have_a_cost() -> None:
    found = plan(WORK, parse("1 host x 2 V100"))
    assert found.now.cost is None
    assert found.cheapest is not None and found.cheapest.startswith("rent ")


def test_a_batch_that_does_not_fit_is_foreseen_with_the_setting_that_mends_it() -> None:
    wide = replace(WORK, tokens_per_step=200_000, tokens_per_micro_batch=50_000)
    found = plan(wide, parse("2 V100"))
    assert found.memory is not None and found.memory.fits is False
    assert "it will run out of memory; logits alone need 6.55 GB" in found.advice[0]
    assert found.advice[0].endswith(f"set batching.tokens_per_micro_batch = {found.memory.largest_tokens}")


def test_what_is_assumed_is_said() -> None:
    assumed = plan(WORK, parse(FIVE_RUNS)).assumptions
    assert assumed[1:] == (
        "speed is a prior, not a measurement; `dragoman check` or a past run (--learn-from) replaces it",
        "memory is a formula that no GPU has confirmed",
        "the link is payload of the port; `dragoman check` measures it",
    )


def test_a_plan_survives_being_written_down() -> None:
    found = plan(WORK, parse(FIVE_RUNS))
    assert records.from_json(Plan, records.to_json(found)) == found


def test_the_recipe_may_name_its_rung_or_allow_larger_steps() -> None:
    machines = parse(FIVE_RUNS)
    half = plan(replace(WORK, communication="half"), machines)
    assert half.now.rung == "half" and half.why == "half: the recipe says so"
    larger = plan(replace(WORK, max_step_factor=4), machines)
    assert larger.now.rung == "larger_step_4" and larger.now.num_updates == 32_000 + 18_000 / 4
    named = plan(replace(WORK, communication="larger_step", max_step_factor=2), machines)
    assert named.now.rung == "larger_step_2"
    assert plan(replace(WORK, communication="local_steps_64"), machines).now.rung == "local_steps_64"
    alone = plan(replace(WORK, communication="half"), parse("4 V100"))
    assert alone.now.rung == "plain" and alone.why == "plain: all ranks are on one machine"
    with pytest.raises(UserError, match=r"communication\.mode = two_level cannot be had on 2 hosts x 1 V100"):
        plan(replace(WORK, communication="two_level"), parse("2 hosts x 1 V100, 1 Gb/s"))


def test_the_settings_of_the_recipe_reach_the_plan() -> None:
    config = config_file.load(RECIPE, ["communication.mode=half", "communication.max_tokens_per_step=60000"])
    found = workload.of(config, None)
    assert (found.communication, found.max_step_factor) == ("half", 2)


# Laws

WORKS = st.builds(
    Workload,
    st.sampled_from(["small", "base", "big"]).map(lambda preset: ModelConfig(preset=preset).sized()),
    st.just(8_000),
    st.just(8_000),
    st.floats(5, 60),
    st.floats(5, 60),
    st.integers(1_000, 1_000_000),
    st.integers(512, 16_384),
    st.integers(1, 1_000_000),
    st.just("auto"),
)


@given(WORKS, st.integers(2, 32), st.integers(1, 8), st.floats(0.01, 100), st.floats(1, 50))
def test_a_faster_link_or_gpu_never_makes_training_slower(
    work: Workload, hosts: int, gpus: int, gigabits: float, factor: float
) -> None:
    slow, fast = (parse(f"{hosts} hosts x {gpus} V100, {rate:.4f} Gb/s") for rate in (gigabits, gigabits * factor))
    speed = speed_of(work, slow)
    for rung in wire.ladder(slow.layout):
        before = estimate("", work, slow, speed, rung)
        assert estimate("", work, fast, speed, rung).step_s <= before.step_s * (1 + 1e-9)
        faster = replace(speed, flops_per_s=factor * speed.flops_per_s)
        assert estimate("", work, slow, faster, rung).step_s <= before.step_s * (1 + 1e-9)
        assert before.step_s >= compute_parts(work, slow, speed.flops_per_s)[3].step_s * (1 - 1e-9)
