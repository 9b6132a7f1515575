"""Writes a whole run directory from conditions that are known: machines that this one is not, such as GPUs.

Follows the physics of `theory.wire` with noise drawn from a seed: ranks compute, the slowest is waited for, the ring
moves its bytes at the rate of the link, backward hides what it can, probe steps hide nothing. Interfaces count the
bytes, GPUs read busy and draw power by what they really do. The truth is in `Conditions`; verdicts must find it.
"""

import dataclasses
import json
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.core import records
from dragoman.core.config import BatchingConfig, Config, ModelConfig, ScheduleConfig, TrainingConfig
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import (
    EvalRecord,
    EventRecord,
    GpuSample,
    HostRecord,
    NicSample,
    PreflightRecord,
    SentenceLosses,
    StepRecord,
    SystemRecord,
    TimedExchange,
)
from dragoman.theory import wire

Column = npt.NDArray[np.float64]

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
FORWARD_SHARE = 1 / 3
FIRST_PROBE = 10
SAMPLE_EVERY_S = 2.0
FLOAT_BYTES = 4
LAST_BUCKET_SHARE = 0.276
"""The tied embedding of base."""
IDLE_POWER_SHARE = 0.16
"""Of the cap: kernels that only wait, at a reading of 100 %."""


@dataclass(frozen=True)
class Conditions:
    """The truth about a run."""

    num_steps: int = 260
    num_hosts: int = 2
    ranks_per_host: int = 2
    parameters: int = 60_880_896
    compute_s: float = 0.5
    """Forward and backward of a rank, without noise."""
    noise: float = 0.02
    """Of each time, relative."""
    link_bytes_per_s: float = 11.5e9
    latency_s: float = 50e-6
    num_buckets: int = 10
    hides_exchange: bool = True
    slow_rank: int | None = None
    slow_factor: float = 1.0
    data_wait_s: float = 0.002
    padding_share: float = 0.05
    degrades_at_step: int | None = None
    degrades_by: float = 1.0
    carries_over: str = "eth0"
    """The interface that really carries the gradients."""
    meant_for: str = "eth0"
    """The interface that was meant to."""
    other_traffic_bytes_per_s: float = 20_000.0
    gpu: str | None = "Tesla V100-PCIE-16GB"
    gpu_busy: float = 0.98
    power_cap_w: float = 250.0
    has_preflight: bool = True
    preflight_bytes_per_s: float | None = None
    """What the preflight measured; the link's own rate if None."""
    probe_every: int = 50
    """Steps between probes; 0 is never. Training has one every 200, more than these short runs can hold."""
    tokens_per_step: int = 25_000
    price_per_hour: float = 12.24

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.ranks_per_host

    @property
    def row_bytes(self) -> int:
        return self.parameters * FLOAT_BYTES

    def exchange_s(self, step: int) -> float:
        """The whole ring at a step, without noise."""
        rate = self.link_bytes_per_s
        if self.degrades_at_step is not None and step >= self.degrades_at_step:
            rate /= self.degrades_by
        between = wire.Link(rate, self.latency_s)
        ground = wire.Wire(wire.Layout(self.num_ranks, self.num_hosts), between)
        return wire.exchange_s(ground, self.row_bytes, num_buckets=self.num_buckets)


@dataclass(frozen=True)
class _Times:
    """One step: [rank] columns and what all share."""

    data_wait_s: Column
    forward_s: Column
    backward_s: Column
    exchange_s: Column
    skew_s: Column
    step_s: float
    is_probe: bool


def simulate(directory: Path, conditions: Conditions, seed: int = 0) -> Path:
    """A run directory that has seen these conditions."""
    random = np.random.default_rng([seed, 1])
    paths = RunPaths(directory)
    directory.mkdir(parents=True)
    _write_settings(paths, conditions)
    times = [_step(conditions, step, random) for step in range(1, conditions.num_steps + 1)]
    ends = np.cumsum([one.step_s for one in times])
    for rank in range(conditions.num_ranks):
        paths.steps(rank).parent.mkdir(exist_ok=True)
        lines = (_record(conditions, i + 1, rank, one, float(ends[i]), random) for i, one in enumerate(times))
        records.write_lines(paths.steps(rank), lines)
    _write_telemetry(paths, conditions, times, ends, random)
    _write_evaluations(paths, conditions, ends, random)
    started = EventRecord(stamp(0), "started", 0, 0, f"{conditions.num_ranks} ranks")
    stopped = EventRecord(stamp(float(ends[-1])), "stopped", conditions.num_steps, 0, "max_steps reached")
    records.write_lines(paths.events, [started, stopped])
    return directory


def stamp(second: float) -> str:
    return (BEGIN + timedelta(seconds=second)).isoformat(timespec="milliseconds")


def _step(c: Conditions, step: int, random: np.random.Generator) -> _Times:
    """Ranks compute, meet, and go on together."""

    def jitter(size: int) -> Column:
        return np.exp(c.noise * random.standard_normal(size))

    slow = np.ones(c.num_ranks)
    if c.slow_rank is not None:
        slow[c.slow_rank] = c.slow_factor
    compute = c.compute_s * slow * jitter(c.num_ranks)
    wait = c.data_wait_s * jitter(c.num_ranks)
    forward, backward = FORWARD_SHARE * compute, (1 - FORWARD_SHARE) * compute
    whole = c.exchange_s(step) * float(jitter(1)[0])
    is_probe = c.probe_every > 0 and step % c.probe_every == FIRST_PROBE
    arrival = wait + compute
    slowest = float(arrival.max())
    skew = slowest - arrival
    if is_probe or not c.hides_exchange:
        wire_s = whole
    else:
        hidden = min(whole, float(backward[int(arrival.argmax())]))
        wire_s = max(whole - hidden, LAST_BUCKET_SHARE * whole)
    return _Times(wait, forward, backward, skew + wire_s, skew, slowest + wire_s + 0.01, is_probe)


def _record(c: Conditions, step: int, rank: int, times: _Times, end: float, random: np.random.Generator) -> StepRecord:
    real = round(2 * c.tokens_per_step / c.num_ranks)
    return StepRecord(
        step=step,
        time=stamp(end),
        loss=2 + 7 * step**-0.4 + 0.02 * float(random.standard_normal()),
        smoothed_loss=2.4 + 7 * step**-0.4,
        gradient_norm=float(np.exp(0.1 * random.standard_normal())),
        learning_rate=1e-3 * min(step / 100, (100 / step) ** 0.5),
        target_tokens=c.tokens_per_step,
        real_tokens=real,
        padded_tokens=round(real / (1 - c.padding_share)),
        data_wait_s=float(times.data_wait_s[rank]),
        forward_s=float(times.forward_s[rank]),
        backward_s=float(times.backward_s[rank]),
        exchange_s=float(times.exchange_s[rank]),
        optimizer_s=0.01,
        step_s=times.step_s,
        wire_bytes=round(wire.ring_bytes(c.row_bytes, c.num_ranks)),
        was_skipped=False,
        is_probe=times.is_probe,
        skew_s=float(times.skew_s[rank]) if times.is_probe else None,
    )


def _write_settings(paths: RunPaths, c: Conditions) -> None:
    config = Config(
        model=ModelConfig(preset="base").sized(),
        batching=BatchingConfig(tokens_per_step=c.tokens_per_step, tokens_per_micro_batch=8192),
        schedule=ScheduleConfig(kind="inverse_sqrt", peak=1e-3, warmup_steps=100),
        training=TrainingConfig(
            max_steps=c.num_steps, evaluate_every_steps=max(1, c.num_steps // 10), price_per_hour=c.price_per_hour
        ),
    )
    paths.config.write_text(to_toml(config), encoding="utf-8")
    environment = {"world_size": c.num_ranks, "device": c.gpu, "device_type": "cuda" if c.gpu else "cpu"}
    paths.environment.write_text(json.dumps(environment))
    _write_header_of_weights(paths, c)
    if c.has_preflight:
        paths.preflight.write_text(records.dumps(_preflight(c)))


def _write_header_of_weights(paths: RunPaths, c: Conditions) -> None:
    """What a reader needs to count parameters: a safetensors header without its numbers."""
    place = paths.checkpoint(c.num_steps)
    place.directory.mkdir(parents=True)
    header = json.dumps({"weights": {"dtype": "F32", "shape": [c.parameters], "data_offsets": [0, 0]}}).encode()
    place.model.write_bytes(struct.pack("<Q", len(header)) + header)


def _preflight(c: Conditions) -> PreflightRecord:
    """Sums of small and large rows over all hosts, timed before the run."""
    names = tuple(f"host{number}" for number in range(c.num_hosts))
    rate = c.preflight_bytes_per_s or c.link_bytes_per_s
    exchanges = tuple(
        TimedExchange(names, size, 2 * (c.num_hosts - 1) * c.latency_s + wire.ring_bytes(size, c.num_hosts) / rate)
        for size in (4_096, 262_144, 16_777_216, 67_108_864)
    )
    hosts = tuple(
        HostRecord(name, f"10.0.0.{place + 1}", c.meant_for, 1000.0, c.ranks_per_host, 16, 64 * 10**9, c.gpu, None)
        for place, name in enumerate(names)
    )
    return PreflightRecord(1, stamp(-60), hosts, exchanges if c.num_hosts > 1 else (), c.compute_s)


def _write_telemetry(
    paths: RunPaths, c: Conditions, times: list[_Times], ends: Column, random: np.random.Generator
) -> None:
    """A record every other second; counters grow with the steps done, power with the share of computing."""
    sent_a_step = wire.nic_bytes(c.row_bytes, wire.Layout(c.num_ranks, c.num_hosts))
    seconds = np.arange(0.0, float(ends[-1]) + SAMPLE_EVERY_S, SAMPLE_EVERY_S)
    done = np.interp(seconds, np.concatenate([[0.0], ends]), np.arange(len(ends) + 1))
    busy = float(
        np.median([one.forward_s.mean() + one.backward_s.mean() for one in times])
        / np.median(ends / np.arange(1, len(ends) + 1))
    )
    power = c.power_cap_w * (IDLE_POWER_SHARE + (0.95 - IDLE_POWER_SHARE) * min(1.0, busy))
    for number in range(c.num_hosts):
        host = f"host{number}"
        paths.telemetry(host).parent.mkdir(exist_ok=True)
        lines = []
        for second, steps in zip(seconds.tolist(), done.tolist(), strict=True):
            counters = {"lo": 1_000.0 * second, "eth0": 0.0, "eth1": 0.0}
            for name in ("eth0", "eth1"):
                counters[name] += c.other_traffic_bytes_per_s * second
            counters[c.carries_over] += sent_a_step * steps
            nics = tuple(
                NicSample(n, round(v), round(v), round(v / 1448), round(v / 1448), 0, 1000.0)
                for n, v in counters.items()
            )
            gpus = (
                tuple(
                    _gpu(c, index, power * float(np.exp(0.03 * random.standard_normal())))
                    for index in range(c.ranks_per_host)
                )
                if c.gpu
                else ()
            )
            lines.append(
                SystemRecord(
                    stamp(second),
                    host,
                    0.3,
                    8 * 10**9,
                    64 * 10**9,
                    4 * 10**9,
                    10**12,
                    10**9,
                    10**9,
                    nics,
                    c.meant_for,
                    gpus,
                )
            )
        records.write_lines(paths.telemetry(host), lines)


def _gpu(c: Conditions, index: int, power_w: float) -> GpuSample:
    assert c.gpu is not None
    return GpuSample(index, c.gpu, c.gpu_busy, 12 * 10**9, 16 * 10**9, power_w, c.power_cap_w, 1380.0, 1380.0, 50.0, ())


def _write_evaluations(paths: RunPaths, c: Conditions, ends: Column, random: np.random.Generator) -> None:
    """A healthy curve, still falling."""
    every = max(1, c.num_steps // 10)
    learning = Learning(tuple(range(every, c.num_steps + 1, every)))
    write_evaluations(paths, learning, random, lambda step: float(ends[step - 1]))


@dataclass(frozen=True)
class Learning:
    """The truth about a loss curve: dev and train loss by step."""

    steps: tuple[int, ...]
    floor: float = 2.0
    amplitude: float = 7.0
    exponent: float = 0.4
    rise_from: int | None = None
    """From this step on dev loss rises by `rise_a_step`."""
    rise_a_step: float = 0.0
    gap: float = 0.1
    """How far train loss lies below dev loss at the end; it grows with the steps."""
    noise: float = 0.003
    num_sentences: int = 200

    def dev(self, step: int) -> float:
        risen = self.rise_a_step * max(0, step - self.rise_from) if self.rise_from is not None else 0.0
        return float(self.floor + self.amplitude * step**-self.exponent + risen)

    def train(self, step: int) -> float:
        return float(self.floor + self.amplitude * step**-self.exponent - self.gap * step / self.steps[-1])


def write_evaluations(paths: RunPaths, truth: Learning, random: np.random.Generator, second_of: "object") -> None:
    """Evaluations and the losses of their sentences: a sentence is as hard at every step, plus a little noise."""
    assert callable(second_of)
    tokens = random.integers(5, 40, truth.num_sentences)
    hardness = 0.5 * random.standard_normal(truth.num_sentences)
    hardness -= float((hardness * tokens).sum() / tokens.sum())
    lines = []
    for step in truth.steps:
        each = truth.dev(step) + hardness + 0.05 * random.standard_normal(truth.num_sentences)
        each += truth.noise * float(random.standard_normal())
        losses = each * tokens
        dev = float(losses.sum() / tokens.sum())
        lines.append(_evaluation(step, dev, truth.train(step), float(second_of(step)), truth.num_sentences))
        path = paths.sentence_losses(step)
        path.parent.mkdir(exist_ok=True)
        sentences = SentenceLosses(step, tuple(round(float(x), 4) for x in losses), tuple(int(n) for n in tokens))
        path.write_text(records.dumps(sentences))
    records.write_lines(paths.evals, lines)


def _evaluation(step: int, dev: float, train: float, second: float, num_sentences: int) -> EvalRecord:
    bleu = max(0.1, 40 * (1 - dev / 9))
    return EvalRecord(step, stamp(second), 25_000 * step, second, dev, train, bleu, (bleu - 1, bleu + 1), bleu + 20,
                      "nrefs:1", "nrefs:1", num_sentences, 1.0)  # fmt: skip


def with_learning(directory: Path, truth: Learning, seed: int) -> Path:
    """Replaces the evaluations of a simulated run."""
    random = np.random.default_rng([seed, 2])
    write_evaluations(RunPaths(directory), truth, random, float)
    return directory


HEALTHY = Conditions()
"""Four GPUs on two hosts joined by 100 Gb/s: nothing waits for long."""


def like(healthy: Conditions = HEALTHY, **changes: object) -> Conditions:
    """Healthy but for what is said."""
    return dataclasses.replace(healthy, **changes)  # type: ignore[arg-type]
