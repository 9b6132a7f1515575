"""The evaluations of a run of ours, with the sentence losses that comparisons need."""

import dataclasses
import json
import math
from pathlib import Path

import msgspec
import numpy as np

from dragoman.core.paths import RunPaths
from dragoman.report.columns import Evaluations, SentenceColumns, evaluations
from dragoman.report.record_lines import NAN, Reader, stays, unix_seconds

NEWEST = 6
"""Sentence losses are read of the best evaluation and of so many of the newest."""


class EvalLine(msgspec.Struct):
    """An evaluation as far as columns need it."""

    step: int
    time: str | None = None
    training_s: float | None = NAN
    dev_loss: float | None = NAN
    train_loss: float | None = NAN
    bleu: float | None = NAN
    bleu_interval: tuple[float, float] | None = None
    chrf: float | None = NAN
    bleu_signature: str | None = None
    num_sentences: int | None = None
    seconds: float | None = NAN


def read_evaluations(path: Path, paths: RunPaths) -> tuple[Evaluations | None, int]:
    """All evaluations (None without any), and how many lines were none."""
    reader = Reader(EvalLine)
    lines = [line for block in reader.blocks(path) for line in block]
    is_kept = stays(np.array([line.step for line in lines], dtype=np.float64))
    lines = [line for line, kept in zip(lines, is_kept, strict=True) if kept]
    if not lines:
        return None, reader.num_unread
    steps = [line.step for line in lines]
    names = ("training_s", "dev_loss", "train_loss", "bleu", "chrf", "seconds")
    found = evaluations(
        steps,
        time_s=unix_seconds([line.time for line in lines]),
        **{name: np.array([getattr(line, name) for line in lines], dtype=np.float64) for name in names},
        bleu_low=[line.bleu_interval[0] if line.bleu_interval else math.nan for line in lines],
        bleu_high=[line.bleu_interval[1] if line.bleu_interval else math.nan for line in lines],
        is_non_finite=[line.dev_loss is None for line in lines],
        bleu_kind="free-running",
        bleu_signature=lines[-1].bleu_signature,
        is_loss_smoothed=False,
        num_sentences=lines[-1].num_sentences,
    )
    wanted = set(found.step[-NEWEST:].tolist())
    if np.isfinite(found.dev_loss).any():
        wanted.add(int(found.step[np.nanargmin(found.dev_loss)]))
    sentences = {step: columns for step in sorted(wanted) if (columns := _sentences(paths.sentence_losses(step)))}
    return dataclasses.replace(found, sentences=sentences), reader.num_unread


def _sentences(path: Path) -> SentenceColumns | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        losses = np.array(value["losses"], dtype=np.float64)
        tokens = np.array(value["tokens"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return SentenceColumns(losses, tokens) if losses.ndim == 1 and losses.shape == tokens.shape else None
