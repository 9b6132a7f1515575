"""A run directory as training leaves it, written line by line: for tests of those who look at runs."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dragoman.core import records
from dragoman.core.config import BatchingConfig, Config, TrainingConfig
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord, EventRecord, GpuSample, NicSample, StepRecord, SystemRecord

BEGIN = datetime.now(UTC) - timedelta(minutes=10)


def stamp(second: float) -> str:
    """A time as records hold it, so many seconds after the run began."""
    return (BEGIN + timedelta(seconds=second)).isoformat(timespec="milliseconds")


def step_record(step: int, **changes: Any) -> StepRecord:
    """A step of half a second, of which a fifth is waiting for gradients."""
    record = StepRecord(
        step=step,
        time=stamp(step / 2),
        loss=8 / (1 + step / 100),
        smoothed_loss=8.5 / (1 + step / 100),
        gradient_norm=1.25,
        learning_rate=1e-3,
        target_tokens=2000,
        real_tokens=3900,
        padded_tokens=4000,
        data_wait_s=0.01,
        forward_s=0.12,
        backward_s=0.24,
        exchange_s=0.1,
        optimizer_s=0.02,
        step_s=0.5,
        wire_bytes=1_000_000,
        was_skipped=False,
    )
    return dataclasses.replace(record, **changes)


def eval_record(step: int, **changes: Any) -> EvalRecord:
    record = EvalRecord(
        step=step,
        time=stamp(step / 2),
        tokens=2000 * step,
        training_s=step / 2,
        dev_loss=4.5,
        train_loss=4.25,
        bleu=12.34,
        bleu_interval=(11.0, 13.5),
        chrf=33.3,
        bleu_signature="nrefs:1",
        chrf_signature="nrefs:1",
        num_sentences=100,
        seconds=1.0,
    )
    return dataclasses.replace(record, **changes)


def gpu_sample(index: int = 0, **changes: Any) -> GpuSample:
    """The GPU that seems busy and only waits: all the time, at a sixth of its power."""
    sample = GpuSample(
        index, "Tesla V100", 1.0, 1_200_000_000, 16_000_000_000, 42.0, 250.0, 1380.0, 1530.0, 37.0, ("power_cap",)
    )
    return dataclasses.replace(sample, **changes)


def system_record(second: float, host: str = "alpha", **changes: Any) -> SystemRecord:
    """A host that sends 100 MB/s and receives 90 MB/s over eth0, which carries its gradients."""
    counted = round(second * 1_000_000)
    record = SystemRecord(
        time=stamp(second),
        host=host,
        cpu_share=0.8,
        memory_used_bytes=3_100_000_000,
        memory_total_bytes=8_000_000_000,
        process_memory_bytes=2_000_000_000,
        disk_free_bytes=50_000_000_000,
        disk_read_bytes=1_000_000,
        disk_written_bytes=1_000_000 + counted,
        nics=(
            NicSample("lo", 500 * counted, 500 * counted, 1, 1, 0, None),
            NicSample("eth0", 100 * counted, 90 * counted, 1, 1, 0, 1000.0),
        ),
        gradient_nic="eth0",
        gpus=(),
    )
    return dataclasses.replace(record, **changes)


class WatchedRun:
    """Writes into a run directory what a training would."""

    def __init__(self, directory: Path, **training: Any) -> None:
        self.paths = RunPaths(directory)
        directory.mkdir(parents=True, exist_ok=True)
        settings = {"max_steps": 1000, "price_per_hour": 36.0, **training}
        config = Config(training=TrainingConfig(**settings), batching=BatchingConfig(tokens_per_step=2000))
        self.paths.config.write_text(to_toml(config))

    def append(self, path: Path, *lines: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in lines:
            records.append_line(path, line)

    def append_raw(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(text)

    def steps(self, first: int, last: int, rank: int = 0, **changes: Any) -> None:
        """Steps `first` to `last`, both included."""
        self.append(self.paths.steps(rank), *(step_record(step, **changes) for step in range(first, last + 1)))

    def event(self, kind: str, step: int, text: str, rank: int = 0) -> None:
        self.append(self.paths.events, EventRecord(stamp(step / 2), kind, step, rank, text))

    def evaluation(self, step: int, **changes: Any) -> None:
        self.append(self.paths.evals, eval_record(step, **changes))
        self.paths.samples(step).parent.mkdir(exist_ok=True)
        self.paths.samples(step).write_text(
            "source       A dog runs.\nreference    Ein Hund läuft.\ntranslation  Ein Hund rennt.\n\n"
            "source       Two.\nreference    Zwei.\ntranslation  \n"
        )

    def seconds(self, first: int, last: int, host: str = "alpha", **changes: Any) -> None:
        """A telemetry record a second."""
        lines = (system_record(second, host, **changes) for second in range(first, last + 1))
        self.append(self.paths.telemetry(host), *lines)

    def as_usual(self) -> "WatchedRun":
        """Two hundred steps of two ranks, two evaluations, two hosts, one with a GPU."""
        self.event("started", 0, "2 ranks on cpu")
        for rank in (0, 1):
            self.steps(1, 200, rank)
        for step in (100, 200):
            self.evaluation(step)
        self.seconds(0, 30, "alpha")
        self.seconds(0, 30, "beta", gpus=(gpu_sample(),))
        return self


def write_long(path: Path, num_steps: int) -> None:
    """A file of steps as a run of days leaves it, written fast: one record, whose step and loss change."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(records.to_json(step_record(0, loss=1.0)))
    before, between, behind = text.partition('"step": 0')[0], text.partition('"step": 0')[2], ""
    between, _, behind = between.partition('"loss": 1.0')
    with path.open("w") as file:
        for start in range(1, num_steps + 1, 10_000):
            steps = range(start, min(start + 10_000, num_steps + 1))
            file.writelines(f'{before}"step": {n}{between}"loss": {1e6 / n:.4f}{behind}\n' for n in steps)
