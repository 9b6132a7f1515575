"""Writes a whole run directory from conditions that are known: machines that this one is not, such as GPUs.

Follows the physics of `theory.wire` with noise drawn from a seed: ranks compute, the slowest is waited for, the ring
moves its bytes at the rate of the link, backward hides what it can, probe steps hide nothing. The truth is in
`Conditions`; verdicts must find it.
"""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.core import records
from dragoman.core.config import BatchingConfig, Config, ModelConfig, ScheduleConfig, TrainingConfig
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EventRecord, HostRecord, PreflightRecord, StepRecord, TimedExchange
from dragoman.theory import wire
from tests.laboratory.conditions import Conditions
from tests.laboratory.simulated_hosts import Column, stamp, write_telemetry
from tests.laboratory.simulated_learning import NUM_EVALUATIONS, write_evaluations

FORWARD_SHARE = 1 / 3
FIRST_PROBE = 10
LAST_BUCKET_SHARE = 0.276
"""The tied embedding of base."""


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
    computing_s = float(np.median([one.forward_s.mean() + one.backward_s.mean() for one in times]))
    write_telemetry(paths, conditions, ends, computing_s, random)
    write_evaluations(paths, ends, random)
    started = EventRecord(stamp(0), "started", 0, 0, f"{conditions.num_ranks} ranks")
    stopped = EventRecord(stamp(float(ends[-1])), "stopped", conditions.num_steps, 0, "max_steps reached")
    records.write_lines(paths.events, [started, stopped])
    return directory


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
            max_steps=c.num_steps, evaluate_every_steps=c.num_steps // NUM_EVALUATIONS, price_per_hour=c.price_per_hour
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
