"""Facts made up for a test: a healthy run of two ranks, changed where the test wants it."""

import dataclasses
from typing import Any

import numpy as np

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.core.run_records import HostRecord, PreflightRecord, TimedExchange
from dragoman.report import merging
from dragoman.report.columns import Column, Evaluations, SentenceColumns, StepColumns, evaluations, step_columns
from dragoman.report.facts import Facts, Settings, Source
from dragoman.theory import cost, wire

MODEL = ModelConfig(preset="tiny").sized()
PARAMETERS = cost.parameters(MODEL, 2048, 2048)
SETTINGS = Settings(
    model=MODEL, source_vocabulary=2048, target_vocabulary=2048, parameters=PARAMETERS, tokens_per_step=4096, ranks=2,
    hosts=2, schedule=ScheduleConfig(kind="inverse_sqrt", peak=1e-3, warmup_steps=100), wire_rung="plain",
    wire_bytes_per_parameter=4.0, checkpoint_bytes_per_parameter=12.0, max_steps=1000,
)  # fmt: skip


def noise(size: int, seed: int, share: float = 0.01) -> Column:
    return np.exp(share * np.random.default_rng(seed).standard_normal(size))


def rank_steps(
    num_steps: int = 400, *, compute_s: float = 0.3, wait_s: float | Column = 0.003, probe_wait_s: float | None = None,
    skew_s: float = 0.0, data_wait_s: float = 0.0, padding: float = 0.05, seed: int = 0, **columns: Any,
) -> StepColumns:  # fmt: skip
    """One rank: every 20th step is a probe, in which `probe_wait_s` of exchange stick out."""
    step = np.arange(1, num_steps + 1)
    is_probe = step % 20 == 0
    whole = probe_wait_s if probe_wait_s is not None else float(np.median(wait_s))
    exchange = np.where(is_probe, whole, wait_s) * noise(num_steps, seed) + skew_s
    forward, backward = compute_s / 3 * noise(num_steps, seed + 1), compute_s * 2 / 3 * noise(num_steps, seed + 2)
    given: dict[str, Any] = {
        "time_s": 1.7e9 + 0.5 * step,
        "loss": 2 + 5 / np.sqrt(step),
        "gradient_norm": np.ones(num_steps),
        "learning_rate": 1e-3 * np.minimum(step / 100, np.sqrt(100 / step)),
        "target_tokens": np.full(num_steps, 4096),
        "real_tokens": np.full(num_steps, 4000),
        "padded_tokens": np.full(num_steps, 4000 / (1 - padding)),
        "data_wait_s": np.full(num_steps, data_wait_s),
        "forward_s": forward,
        "backward_s": backward,
        "exchange_s": exchange,
        "optimizer_s": np.full(num_steps, 0.001),
        "step_s": data_wait_s + forward + backward + exchange + 0.001,
        "wire_bytes": np.full(num_steps, wire.ring_bytes(4 * PARAMETERS, 2)),
        "is_probe": is_probe,
        "skew_s": np.where(is_probe, skew_s, np.nan),
        **columns,
    }
    return step_columns(step, **given)


def preflight(bytes_per_s: float, latency_s: float = 0.0) -> PreflightRecord:
    """Two hosts, with a link of that rate."""
    hosts = tuple(HostRecord(name, "10.0.0.1", "eth0", 1000.0, 1, 8, None, None, 1.5) for name in ("a", "b"))
    sizes = (4096, 10**6, 10**7)
    timed = tuple(TimedExchange(("a", "b"), n, 2 * latency_s + wire.ring_bytes(n, 2) / bytes_per_s) for n in sizes)
    return PreflightRecord(1, "2026-01-01T00:00:00+00:00", hosts, timed, 0.3)


def run(*ranks: StepColumns, settings: dict[str, Any] | None = None, **more: Any) -> Facts:
    """Facts of these ranks, or of two healthy ones."""
    members = ranks or (rank_steps(seed=0), rank_steps(seed=7))
    changed = dataclasses.replace(SETTINGS, ranks=len(members), hosts=min(2, len(members)))
    merged = merging.merged(dict(enumerate(members)))
    assert merged is not None
    given: dict[str, Any] = {
        "steps": merged,
        "ranks": dict(enumerate(members)),
        "last_step": int(merged.step[-1]),
        "training_s": float(np.nansum(merged.step_s)),
        "ended": "its steps are done",
        "is_running": False,
        "redone_steps": 0,
        "redone_s": 0.0,
        **more,
    }
    return Facts(Source("made up", "Dragoman"), dataclasses.replace(changed, **(settings or {})), **given)


def curve(dev: Column, train: Column | None = None, *, every: int = 100, sentences: bool = True) -> Evaluations:
    """Evaluations with the losses of 300 sentences each, which differ between evaluations by little noise."""
    steps = every * np.arange(1, len(dev) + 1)
    random = np.random.default_rng(3)
    tokens = random.integers(5, 30, 300).astype(float)
    hardness = random.standard_normal(300)
    hardness -= (hardness @ tokens) / tokens.sum()
    each = {
        int(step): SentenceColumns((loss + hardness + 0.05 * random.standard_normal(300)) * tokens, tokens)
        for step, loss in zip(steps, dev, strict=True)
    }
    return evaluations(
        steps, dev_loss=dev, train_loss=train, bleu=np.linspace(1, 30, len(dev)), bleu_low=np.linspace(0, 29, len(dev)),
        bleu_high=np.linspace(2, 31, len(dev)), bleu_kind="free-running", is_loss_smoothed=False,
        sentences=each if sentences else {},
    )  # fmt: skip
