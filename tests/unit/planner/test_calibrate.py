"""What is learned from past runs of ours."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.core import records
from dragoman.core.config import Config, ModelConfig
from dragoman.core.config_text import to_toml
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import StepRecord
from dragoman.planner import workload
from dragoman.planner.calibrate import calibrate

CONFIG = Config(model=ModelConfig(preset="tiny"))
WORK = workload.of(CONFIG, None)
PLAIN_STEP = StepRecord(
    step=1,
    time="2026-01-01T00:00:00Z",
    loss=5.0,
    smoothed_loss=5.0,
    gradient_norm=1.0,
    learning_rate=1e-3,
    target_tokens=4000,
    real_tokens=4000,
    padded_tokens=4400,
    data_wait_s=0.1,
    forward_s=0.5,
    backward_s=1.0,
    exchange_s=0.4,
    optimizer_s=0.5,
    step_s=2.5,
    wire_bytes=1_000_000,
    was_skipped=False,
)
COMPUTING_S = 2.5 - 0.1 - 0.4


def write_run(
    directory: Path, step: Callable[[int], StepRecord], *, num_steps: int = 50, num_ranks: int = 1, device: str = "x86"
) -> Path:
    paths = RunPaths(directory)
    paths.steps(0).parent.mkdir(parents=True)
    paths.config.write_text(to_toml(CONFIG))
    paths.environment.write_text(json.dumps({"device": device}))
    for rank in range(num_ranks):
        records.write_lines(paths.steps(rank), (replace(step(n), step=n) for n in range(1, num_steps + 1)))
    return directory


def test_speed_is_operations_over_the_time_spent_computing(tmp_path: Path) -> None:
    found = calibrate(write_run(tmp_path / "run", lambda _: PLAIN_STEP))
    assert found.speed.flops_per_s == pytest.approx(WORK.flops_per_token * 4000 / COMPUTING_S)
    assert found.speed.is_measured
    assert found.speed.source == f"40 steps of {tmp_path / 'run'}"
    assert found.device is None
    assert found.exchange_bytes_per_s is None


def test_ranks_share_the_tokens_of_a_step(tmp_path: Path) -> None:
    one = calibrate(write_run(tmp_path / "one", lambda _: PLAIN_STEP))
    two = calibrate(write_run(tmp_path / "two", lambda _: PLAIN_STEP, num_ranks=2))
    assert two.speed.flops_per_s == pytest.approx(one.speed.flops_per_s / 2)


def test_cold_and_skipped_steps_do_not_count_and_the_median_decides(tmp_path: Path) -> None:
    def step(number: int) -> StepRecord:
        if number <= 10:
            return replace(PLAIN_STEP, step_s=100.0)
        if number % 10 == 0:
            return replace(PLAIN_STEP, step_s=0.6, was_skipped=True)
        return replace(PLAIN_STEP, step_s=9.0) if number % 7 == 0 else PLAIN_STEP

    found = calibrate(write_run(tmp_path / "run", step))
    assert found.speed.flops_per_s == pytest.approx(WORK.flops_per_token * 4000 / COMPUTING_S)
    assert found.num_steps == 36


def test_probes_tell_of_computing_alone_and_of_the_wire(tmp_path: Path) -> None:
    def step(number: int) -> StepRecord:
        if number % 2:
            return PLAIN_STEP
        return replace(PLAIN_STEP, is_probe=True, exchange_s=0.6, skew_s=0.1, step_s=1.7)

    found = calibrate(write_run(tmp_path / "run", step, num_ranks=2))
    assert found.speed.flops_per_s == pytest.approx(WORK.flops_per_token * 2000 / (1.7 - 0.1 - 0.6))
    assert found.exchange_bytes_per_s == pytest.approx(1_000_000 / 0.5)


def test_a_gpu_is_known_by_its_driver_s_name(tmp_path: Path) -> None:
    assert calibrate(write_run(tmp_path / "run", lambda _: PLAIN_STEP, device="Tesla T4")).device == "T4"


def test_after_a_resume_the_later_record_of_a_step_counts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", lambda _: replace(PLAIN_STEP, step_s=50.0))
    for number in range(1, 51):
        records.append_line(RunPaths(run).steps(0), replace(PLAIN_STEP, step=number))
    assert calibrate(run).speed.flops_per_s == pytest.approx(WORK.flops_per_token * 4000 / COMPUTING_S)


def test_half_a_last_line_is_passed_over(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", lambda _: PLAIN_STEP)
    with RunPaths(run).steps(0).open("a") as file:
        file.write('{"step": 51, "ti')
    assert calibrate(run).num_steps == 40


def test_what_teaches_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a run: no config\.toml"):
        calibrate(tmp_path)
    short = write_run(tmp_path / "short", lambda _: PLAIN_STEP, num_steps=5)
    with pytest.raises(UserError, match="has 4 usable steps; 10 are needed to learn from it"):
        calibrate(short)
    broken = write_run(tmp_path / "broken", lambda _: PLAIN_STEP)
    RunPaths(broken).steps(0).write_text("no record\n")
    with pytest.raises(UserError, match="cannot learn from"):
        calibrate(broken)
