"""Five write-ups of one exercise, their numbers typed in as claims: judged by physics, not by what was written."""

from dataclasses import replace

import pytest

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.report.answers import Answer
from dragoman.report.facts import Claims, ComputeStep, Facts, Settings, Source
from dragoman.report.foreign.known_speeds import compute_step
from dragoman.report.foreign.transcript import Settings as LogSettings
from dragoman.report.questions.busy import were_the_machines_busy
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.schedule import explain_the_learning_rate
from dragoman.report.questions.sizes import how_big_is_a_checkpoint
from dragoman.report.questions.speed import how_long_did_a_step_take, how_long_did_it_take

MIXED = Settings(
    model=ModelConfig(preset="base").sized(),
    source_vocabulary=32_768,
    target_vocabulary=32_768,
    parameters=60_880_896,
    pairs_per_step=1024,
    max_pieces=56,
    ranks=4,
    hosts=2,
    schedule=ScheduleConfig(kind="transformer", factor=2.0, warmup_steps=8000),
    precision="mixed",
    wire_bytes_per_parameter=4,
    checkpoint_bytes_per_parameter=14,
    checkpoint_every_steps=299_998,
)
V100 = ComputeStep(0.61, "OpenSeq2Seq's own plot for four V100 joined by NVLink")
SOURCE = Source("write-up", "OpenSeq2Seq")


def write_up(
    steps: int | None = None, step_s: float | None = None, compute: ComputeStep | None = V100, **claims: float
) -> Facts:
    total_s = claims.pop("total_s", None)
    known = Claims(steps=steps, step_s=step_s, total_s=total_s, **claims)  # type: ignore[arg-type]
    return Facts(source=SOURCE, settings=MIXED, claims=known, compute_step=compute, last_step=steps)


def measured(step_s: float, steps: int, **more: float) -> Facts:
    """A write-up whose step time was read from a log."""
    facts = write_up(steps, step_s, **more)  # type: ignore[arg-type]
    return replace(facts, training_s=step_s * steps)


def said(answer: Answer) -> str:
    return " ".join((answer.sentence, *answer.evidence))


@pytest.mark.parametrize("step_s, steps", [(1.629, 50_000), (1.694, 51_000), (1.946, 100_000)])
def test_the_network_was_the_bottleneck_though_they_wrote_it_was_not(step_s: float, steps: int) -> None:
    answer = was_the_network_the_bottleneck(measured(step_s, steps))
    assert answer.verdict == "network-bound"
    assert "365.3 MB" in said(answer)


def test_p100s_waited_as_well() -> None:
    said_settings = LogSettings(devices=("Tesla P100-PCIE-16GB",) * 4, pairs_per_rank=128, precision="fp32")
    compute = compute_step("OpenSeq2Seq", said_settings)
    assert compute is not None and 0.6 < compute.seconds < 0.8
    answer = was_the_network_the_bottleneck(replace(measured(1.8, 103_500), compute_step=compute))
    assert answer.verdict == "network-bound"


def test_hardware_that_was_not_named_leaves_it_open_and_says_what_the_link_must_have_been() -> None:
    answer = was_the_network_the_bottleneck(replace(measured(1.946, 100_000), compute_step=None))
    assert answer.verdict == "undetermined"
    assert "187.7 MB/s" in said(answer)


def test_the_rate_that_was_seen_in_run_000_fits_the_ring() -> None:
    """219,153.9 KiB/s in nmon."""
    answer = was_the_network_the_bottleneck(measured(1.629, 50_000, nic_bytes_per_s=219_153.9 * 1024))
    assert "fit" in said(answer)


def test_three_and_a_half_megabytes_a_second_are_impossible() -> None:
    text = said(was_the_network_the_bottleneck(measured(1.946, 100_000, nic_bytes_per_s=3.5e6)))
    assert "times too little" in text
    assert "Another interface, or a moment without training" in text


def test_100_percent_at_42_of_250_watts_is_waiting() -> None:
    facts = measured(1.629, 50_000, gpu_utilisation=1.0, gpu_power_w=42.0, gpu_power_cap_w=250.0)
    answer = were_the_machines_busy(facts)
    assert answer.verdict == "lost to exposed communication"
    assert "42 W of 250 W" in said(answer)


def test_100_percent_alone_proves_nothing() -> None:
    facts = replace(write_up(gpu_utilisation=1.0, compute=None))
    answer = were_the_machines_busy(facts)
    assert answer.verdict == "undetermined"
    assert "utilisation alone proves nothing" in said(answer)


@pytest.mark.parametrize("num_bytes, per_parameter", [(730_570_752, 12), (852_332_544, 14)])
def test_checkpoints_of_697_mib_and_of_852_mb_are_12_and_14_bytes_a_parameter(
    num_bytes: int, per_parameter: int
) -> None:
    settings = replace(MIXED, checkpoint_bytes_per_parameter=per_parameter)
    facts = Facts(source=SOURCE, settings=settings, claims=Claims(checkpoint_bytes=num_bytes))
    answer = how_big_is_a_checkpoint(facts)
    assert answer.verdict != "undetermined"
    assert f"{num_bytes / 1e6:.1f} MB" in said(answer)


def test_0_59_seconds_are_steps_a_second_read_upside_down() -> None:
    text = said(how_long_did_a_step_take(write_up(44_012, 0.59)))
    assert "1.69" in text


def test_1_h_53_min_for_44_000_steps_is_impossible() -> None:
    answer = how_long_did_it_take(write_up(44_012, 0.59, total_s=113 * 60.0))
    assert answer.tone == "bad" or "impossible" in said(answer)


def test_the_learning_rate_is_a_formula_with_its_peak() -> None:
    text = said(explain_the_learning_rate(measured(1.946, 100_000)))
    assert "0.000988" in text or "9.88e-04" in text or "9.88e-4" in text
    assert "8,000" in text
