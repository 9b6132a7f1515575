"""A run directory becomes facts: whole, growing, damaged, resumed, of two versions."""

import dataclasses
import json
import os
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.core import records
from dragoman.core.config import CommunicationConfig, Config, OptimizerConfig, TrainingConfig
from dragoman.core.config_text import to_toml
from dragoman.core.errors import UserError
from dragoman.core.paths import CheckpointPaths, RunPaths
from dragoman.core.run_records import (
    BucketTimes,
    EvalRecord,
    EventRecord,
    ExchangeRecord,
    GpuSample,
    NicSample,
    SentenceLosses,
    StepRecord,
    SystemRecord,
)
from dragoman.report import host_samples, record_lines
from dragoman.report.record_lines import read_steps, stays, unix_seconds
from dragoman.report.run_directory import read_run
from dragoman.theory import cost

MUONS = 0.25
"""Share of the parameters that Muon moves, in what these tests write."""


def moment(second: float) -> str:
    return f"2026-01-01T00:{int(second) // 60:02}:{second % 60:06.3f}+00:00"


def step(number: int, **changes: Any) -> StepRecord:
    record = StepRecord(number, moment(number), 2.0, 2.5, 1.0, 1e-3, 1000, 900, 1000, 0.0, 0.1, 0.2, 0.05, 0.01, 0.36,
                        500, False)  # fmt: skip
    return dataclasses.replace(record, **changes)


def evaluation(number: int, dev_loss: float | None = 3.0) -> EvalRecord:
    return EvalRecord(number, moment(number), 0, 0.4 * number, dev_loss, 2.9, 10.0, (9.0, 11.0), 30.0, "sig", "sig",
                      100, 0.1)  # fmt: skip


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    """A run of ten steps on two ranks."""
    found = RunPaths(tmp_path / "run")
    found.steps(0).parent.mkdir(parents=True)
    config = Config(training=TrainingConfig(price_per_hour=2.0, max_steps=10))
    found.config.write_text(to_toml(config))
    for rank in (0, 1):
        records.write_lines(found.steps(rank), [step(number) for number in range(1, 11)])
    records.write_lines(found.evals, [evaluation(0, 9.0), evaluation(5), evaluation(10)])
    started = EventRecord(moment(0), "started", 0, 0, "2 ranks on cpu")
    records.write_lines(found.events, [started, EventRecord(moment(11), "stopped", 10, 0, "10 steps are done")])
    return found


def test_a_whole_run_is_read(paths: RunPaths) -> None:
    facts = read_run(paths.directory)
    assert facts.steps is not None and len(facts.steps) == 10
    assert (facts.last_step, facts.settings.ranks, facts.ended) == (10, 2, "10 steps are done")
    assert facts.settings.price_per_hour == 2.0
    assert facts.steps.real_tokens[0] == 1800, "added up over ranks"
    assert facts.steps.step_s[0] == pytest.approx(0.36), "a mean over ranks"
    assert facts.training_s == pytest.approx(4.0)
    assert facts.evaluations is not None and facts.evaluations.bleu_kind == "free-running"
    assert facts.source.passed_over == ()
    assert facts.is_running is False


def test_no_run_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run"):
        read_run(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"is not a run: no config.toml and no steps; train one"):
        read_run(tmp_path)


def test_a_run_without_steps_has_none(paths: RunPaths) -> None:
    for path in paths.steps(0).parent.iterdir():
        path.unlink()
    facts = read_run(paths.directory)
    assert facts.steps is None and facts.last_step is None


def test_half_a_line_at_the_end_is_passed_over(paths: RunPaths) -> None:
    with paths.steps(0).open("a") as file:
        file.write('{"step": 11, "time": "2026-')
    assert read_run(paths.directory).last_step == 10


def test_a_record_behind_half_a_line_is_saved(paths: RunPaths) -> None:
    with paths.steps(0).open("a") as file:
        file.write('{"step": 11, "time": "20' + json.dumps(records.to_json(step(11))) + "\n")
    facts = read_run(paths.directory)
    assert facts.last_step == 11
    assert facts.source.passed_over == ("1 line of steps/rank00.jsonl could not be read",)


def test_lines_that_are_no_records_are_counted(paths: RunPaths) -> None:
    for path in (paths.steps(0), paths.evals, paths.events):
        with path.open("ab") as file:
            file.write(b"\xff\xfe not json\n[1, 2]\n")
    facts = read_run(paths.directory)
    assert facts.last_step == 10
    assert "2 lines of events.jsonl could not be read" in facts.source.passed_over
    assert len(facts.source.passed_over) == 3


def test_records_of_another_version_are_read_as_far_as_they_go(paths: RunPaths) -> None:
    old = {"step": 11, "time": moment(11), "loss": 2.0, "step_s": 0.4}
    new = {**records.to_json(step(12)), "colour": "blue", "nested": {"a": [1]}}
    with paths.steps(0).open("a") as file:
        file.write(json.dumps(old) + "\n" + json.dumps(new) + "\n")
    facts = read_run(paths.directory)
    assert facts.last_step == 12
    columns = facts.ranks[0]
    assert np.isnan(columns.exchange_s[10]) and columns.exchange_s[11] == 0.05
    assert not columns.is_non_finite[10], "a norm that was not written is unknown, not bad"


def test_null_and_nan_are_no_finite_numbers(paths: RunPaths) -> None:
    with paths.steps(0).open("a") as file:
        file.write(json.dumps(records.to_json(step(11, loss=float("nan"), was_skipped=True))) + "\n")
        file.write(json.dumps({**records.to_json(step(12, was_skipped=True)), "gradient_norm": float("inf")}) + "\n")
    columns = read_run(paths.directory).ranks[0]
    assert columns.is_non_finite.tolist() == [False] * 10 + [True, True]


@pytest.mark.parametrize(
    ("rung", "optimizer", "expected"),
    [
        ("plain", OptimizerConfig(kind="adamw"), 12.0),
        ("plain", OptimizerConfig(kind="adamw", average_decay=0.99), 16.0),
        ("eight_bits", OptimizerConfig(kind="adamw"), 12.0 + 2 * 2),
        ("local_steps_16", OptimizerConfig(kind="adamw"), 12.0 + 2 * 2 + 2 * 8 + 4),
        ("plain", OptimizerConfig(kind="muon"), 12.0 - 4 * MUONS),
        ("local_steps_16", OptimizerConfig(), 12.0 - 4 * MUONS + 2 * 2 + 2 * (8 - 4 * MUONS) + 4),
    ],
)
def test_what_a_checkpoint_holds_depends_on_rung_and_optimizer(
    paths: RunPaths, rung: str, optimizer: OptimizerConfig, expected: float
) -> None:
    config = Config(communication=CommunicationConfig(mode=rung), optimizer=optimizer)
    paths.config.write_text(to_toml(config))
    write_header(paths.checkpoint(10), {"all": {"shape": [4 * cost.muon_parameters(config.model)]}})
    assert read_run(paths.directory).settings.checkpoint_bytes_per_parameter == expected


def test_what_a_checkpoint_with_muon_holds_is_unknown_without_the_number_of_parameters(paths: RunPaths) -> None:
    paths.config.write_text(to_toml(Config(optimizer=OptimizerConfig(kind="muon"))))
    assert read_run(paths.directory).settings.checkpoint_bytes_per_parameter is None


def test_steps_in_which_ranks_did_not_meet_are_not_bad(paths: RunPaths) -> None:
    unknown: dict[str, Any] = {"loss": None, "smoothed_loss": None, "gradient_norm": None}
    records.append_line(paths.steps(0), step(11, **unknown, optimizer_s=0.0, wire_bytes=0))
    records.append_line(paths.steps(0), step(12, loss=None, smoothed_loss=None, wire_bytes=0))
    records.append_line(paths.steps(0), step(13, **unknown, was_skipped=True))
    columns = read_run(paths.directory).ranks[0]
    assert columns.is_non_finite.tolist() == [False] * 12 + [True]


def test_times_below_zero_are_unknown(paths: RunPaths) -> None:
    records.append_line(paths.steps(0), step(11, step_s=-3600.0))
    assert np.isnan(read_run(paths.directory).ranks[0].step_s[10])


def test_after_a_resume_the_later_record_counts_and_the_rest_was_lost(paths: RunPaths) -> None:
    for number in range(8, 10):
        records.append_line(paths.steps(0), step(number, loss=1.5, time=moment(60 + number)))
    records.append_line(paths.events, EventRecord(moment(60), "resumed", 7, 0, "going on"))
    facts = read_run(paths.directory)
    assert facts.last_step == 9, "step 10 was lost and not yet done again"
    assert facts.ranks[0].loss.tolist() == [2.0] * 7 + [1.5, 1.5]
    assert facts.redone_steps == 3
    assert facts.redone_s == pytest.approx(3 * 0.36)


def test_ranks_that_did_not_come_back_leave_nothing_behind(paths: RunPaths) -> None:
    for number in range(8, 13):
        records.append_line(paths.steps(0), step(number, time=moment(60 + number)))
    records.append_line(paths.events, EventRecord(moment(60), "resumed", 7, 0, "going on with 1 rank"))
    facts = read_run(paths.directory)
    assert facts.ranks[1].step.tolist() == list(range(1, 8))
    assert facts.steps is not None and facts.steps.real_tokens.tolist() == [1800.0] * 7 + [900.0] * 5


def test_a_run_that_crashed_or_runs_does_not_say_why_it_ended(paths: RunPaths) -> None:
    records.append_line(paths.events, EventRecord(moment(60), "resumed", 7, 0, "going on"))
    paths.heartbeats.mkdir()
    (paths.heartbeats / "rank00").touch()
    facts = read_run(paths.directory)
    assert facts.ended is None and facts.is_running is True
    old = time.time() - 60
    os.utime(paths.heartbeats / "rank00", (old, old))
    assert read_run(paths.directory).is_running is False


def test_broken_files_are_told_and_the_rest_is_read(paths: RunPaths) -> None:
    paths.config.write_text("this is = = not TOML")
    paths.preflight.write_text("{")
    paths.environment.write_text("[]")
    facts = read_run(paths.directory)
    assert facts.last_step == 10 and facts.settings.model is None
    told = " ".join(facts.source.passed_over)
    assert "config.toml cannot be read" in told and "preflight.json could not be read" in told
    assert "environment.json could not be read" in told


def write_header(place: CheckpointPaths, tensors: dict[str, Any]) -> None:
    place.directory.mkdir(parents=True)
    header = json.dumps({"__metadata__": {}, **tensors}).encode()
    place.model.write_bytes(struct.pack("<Q", len(header)) + header)


def test_checkpoints_and_parameters_are_read_from_disk(paths: RunPaths) -> None:
    place = paths.checkpoint(10)
    write_header(place, {"a": {"shape": [3, 4]}, "b": {"shape": [5]}, "written_pieces": {"shape": [7]}})
    place.state.write_text(json.dumps({"rung": "half"}))
    (paths.checkpoints / "step_0000011").mkdir()
    (paths.checkpoint(11).model).write_bytes(b"\xff" * 20)
    facts = read_run(paths.directory)
    assert (facts.settings.parameters, facts.settings.written_pieces) == (17, 7)
    assert (facts.settings.wire_rung, facts.settings.wire_bytes_per_parameter) == ("half", 2.0)
    assert [one.step for one in facts.checkpoints] == [10, 11]
    assert facts.checkpoints[0].bytes == place.model.stat().st_size + place.state.stat().st_size


def test_the_corpus_may_be_gone(paths: RunPaths) -> None:
    text = paths.config.read_text().replace('directory = ""', 'directory = "/nowhere/corpus"', 1)
    paths.config.write_text(text)
    facts = read_run(paths.directory)
    assert facts.corpus is None
    assert any("the corpus is unknown: /nowhere/corpus is not a prepared corpus" in s for s in facts.source.passed_over)


def test_sentence_losses_of_the_best_and_the_newest_evaluations_are_read(paths: RunPaths) -> None:
    for number in (5, 10):
        path = paths.sentence_losses(number)
        path.parent.mkdir(exist_ok=True)
        path.write_text(records.dumps(SentenceLosses(number, (1.0, 2.0), (3, 4))))
    paths.sentence_losses(10).write_text('{"losses": [1, 2], "tokens": [3]}')
    evaluations = read_run(paths.directory).evaluations
    assert evaluations is not None and sorted(evaluations.sentences) == [5]


def test_buckets_are_told_by_the_medians_of_the_last_kind_and_probes_are_left_out(paths: RunPaths) -> None:
    def exchange(number: int, *ends: float, is_probe: bool = False) -> ExchangeRecord:
        buckets = [BucketTimes(100 * place, 50, -1.0, -1.0, end, max(0.0, end)) for place, end in enumerate(ends, 1)]
        return ExchangeRecord(number, moment(number), is_probe, 0.5, None, tuple(buckets))

    path = paths.exchanges(0)
    path.parent.mkdir()
    lines = [exchange(1, 9.0), exchange(2, -0.4, 0.2), exchange(3, 7.0, 8.0, is_probe=True), exchange(4, -0.2, 0.4)]
    records.write_lines(path, lines)
    first, last = read_run(paths.directory).buckets
    assert (first.num_bytes, last.num_bytes) == (100, 200)
    assert (first.end_s, first.exposed_s) == pytest.approx((-0.3, 0.0))
    assert (last.end_s, last.exposed_s) == pytest.approx((0.3, 0.3))
    with path.open("a") as file:
        file.write('{"buckets": [{"num_bytes"\n')
    damaged = read_run(paths.directory)
    assert len(damaged.buckets) == 2
    assert any("exchanges/rank00.jsonl" in sentence for sentence in damaged.source.passed_over)


def test_samples_of_hosts_become_columns(paths: RunPaths) -> None:
    nic = NicSample("eth0", 100, 50, 1, 1, 0, 1000.0)
    gpu = GpuSample(0, "V100", 1.0, None, None, 42.0, 250.0, None, None, None, ("hw_slowdown",))
    host = SystemRecord(moment(1), "a", 0.5, None, 10, None, 5, None, None, (nic,), "eth0", (gpu,))
    path = paths.telemetry("a")
    path.parent.mkdir()
    records.write_lines(path, [host, dataclasses.replace(host, cpu_share=None, gpus=(), nics=())])
    found = read_run(paths.directory).hosts["a"]
    assert found.cpu_share[0] == 0.5 and np.isnan(found.cpu_share[1])
    assert found.gradient_nic == "eth0" and found.nics["eth0"].sent_bytes[0] == 100
    assert found.gpus[0].power_w[0] == 42.0 and found.gpus[0].throttled == {"hw_slowdown": 1.0}


def test_what_holds_a_gpu_back_counts_where_its_driver_says_something(paths: RunPaths) -> None:
    told = [("power_cap",), (), None, None]
    silent = GpuSample(0, "V100", 1.0, None, None, None, None, None, None, None)
    host = SystemRecord(moment(1), "a", None, None, None, None, None, None, None)
    path = paths.telemetry("a")
    path.parent.mkdir()
    samples = [
        (dataclasses.replace(silent, throttle_reasons=one), dataclasses.replace(silent, index=1)) for one in told
    ]
    records.write_lines(path, [dataclasses.replace(host, gpus=both) for both in samples])
    first, second = read_run(paths.directory).hosts["a"].gpus.values()
    assert first.throttled == {"power_cap": 0.5}
    assert second.throttled is None


def test_of_many_samples_some_are_read_and_tell_the_same(paths: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_samples, "MOST_SAMPLES", 100)
    path = paths.telemetry("a")
    path.parent.mkdir()
    gpus = (GpuSample(0, "V100", 1.0, None, None, 42.0, 250.0, None, None, None, ("hw_slowdown",)),)
    lines = [SystemRecord(moment(second % 3000), "a", 0.5, None, 10, None, 5, None, None,
                          (NicSample("eth0", 100 * second, 0, 0, 0, 0, 1000.0),), "eth0", gpus)
             for second in range(1000)]  # fmt: skip
    records.write_lines(path, lines)
    found = read_run(paths.directory).hosts["a"]
    assert 100 <= len(found.time_s) <= 150
    assert np.median(found.gpus[0].power_w) == 42.0 and found.gpus[0].throttled == {"hw_slowdown": 1.0}
    assert np.diff(found.nics["eth0"].sent_bytes).min() > 0


def test_samples_are_read_in_time_that_grows_with_their_number(paths: RunPaths) -> None:
    path = paths.telemetry("a")
    path.parent.mkdir()
    gpus = tuple(GpuSample(index, "V100", 1.0, 1, 2, 42.0, 250.0, 1.0, 2.0, 60.0) for index in range(4))
    one = SystemRecord(moment(1), "a", 0.5, None, 10, None, 5, None, None, (), "eth0", gpus)
    path.write_text((json.dumps(records.to_json(one)) + "\n") * 15_000)
    start = time.process_time()
    found, _ = host_samples.read_host(path)
    assert found is not None and len(found.time_s) == 15_000
    assert time.process_time() - start < 4.0, "a table for each sample would take half a minute"


def test_ranks_are_read_by_several_processes_as_by_one(paths: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [paths.steps(rank) for rank in range(3)]
    for rank, file in enumerate(files):
        records.write_lines(file, [step(number, loss=float(rank + number)) for number in range(1, 20)])
    alone = record_lines.read_all_steps(files)
    monkeypatch.setattr(record_lines, "WORTH_PROCESSES_BYTES", 0)
    shared = record_lines.read_all_steps(files, num_processes=2)
    assert [found.columns.loss.tolist() for found in shared] == [found.columns.loss.tolist() for found in alone]


def test_rows_behind_which_the_run_goes_back_are_void() -> None:
    assert stays(np.array([1.0, 2, 3, 2, 3, 4, 4])).tolist() == [True, False, False, True, True, False, True]
    assert stays(np.array([])).tolist() == []


def test_times_are_seconds_and_nonsense_is_unknown() -> None:
    assert unix_seconds(["1970-01-01T00:00:01.500+00:00", "1970-01-01T00:00:02Z"]).tolist() == [1.5, 2.0]
    found = unix_seconds(["1970-01-01T01:00:00+01:00", "yesterday", None])
    assert found[0] == 0 and np.isnan(found[1:]).all()


@pytest.mark.slow
def test_a_long_run_is_read_at_once(tmp_path: Path) -> None:
    lines = "".join(json.dumps(records.to_json(step(number, time=moment(number % 3000)))) + "\n"
                    for number in range(1, 300_001))  # fmt: skip
    path = tmp_path / "rank00.jsonl"
    path.write_text(lines)
    start = time.process_time()
    found = read_steps(path)
    assert len(found.columns) == 300_000
    assert time.process_time() - start < 2.5, "eight such ranks must be read in 20 s"
