"""Numbers over time as numpy columns: steps, evaluations, hosts. NaN is unknown.

Columns of one record are equally long. Make steps and evaluations with `step_columns` and `evaluations`, which put
rows into order, keep the later of two with one step, and fill what is not given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]
"""One number a row; NaN where it is unknown or was not finite."""
Flags = npt.NDArray[np.bool_]
BleuKind = Literal["free-running", "teacher-forced"]


@dataclass(frozen=True)
class StepColumns:
    """One row a step, in order of steps, each step once (the later record counts). All columns are equally long.

    Make it with `step_columns(step=…, loss=…)`, which fills what is not given with NaN.
    """

    step: npt.NDArray[np.int64]
    time_s: Column
    """When the step ended, seconds since 1970, UTC."""
    loss: Column
    """Plain cross-entropy a target token, in nats; for a foreign source whatever it calls training loss."""
    smoothed_loss: Column
    gradient_norm: Column
    learning_rate: Column
    target_tokens: Column
    """Of all ranks."""
    real_tokens: Column
    """Source and target tokens of this rank; of all ranks in the merged columns."""
    padded_tokens: Column
    """The same with padding."""
    data_wait_s: Column
    forward_s: Column
    backward_s: Column
    exchange_s: Column
    """Waiting for gradients that backward could not hide; in a probe step the whole exchange."""
    optimizer_s: Column
    step_s: Column
    """Seconds of one step, also where a row stands for many."""
    wire_bytes: Column
    """Sent by this rank, and as many received."""
    skew_s: Column
    """In a probe: the part of exchange_s that was waiting for the slowest rank to arrive."""
    was_skipped: Flags
    is_probe: Flags
    is_non_finite: Flags
    """The loss or the norm was recorded, and was no finite number: not the same as unknown."""
    steps_per_row: int = 1
    """100 for a log that prints every hundredth step; step_s and loss are then means or single looks."""

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True)
class SentenceColumns:
    """One evaluation, sentence by sentence, in the order of the text."""

    losses: Column
    """Sums over the target tokens of a sentence, in nats."""
    tokens: Column


@dataclass(frozen=True)
class Evaluations:
    """One row an evaluation, in order of steps, each step once. Make it with `evaluations(step=…, dev_loss=…)`."""

    step: npt.NDArray[np.int64]
    time_s: Column
    training_s: Column
    """Seconds of training up to here, over all sessions."""
    dev_loss: Column
    """In nats a target token; see `is_loss_smoothed`."""
    train_loss: Column
    """In eval mode, on a fixed slice of the training data; never the running loss of training."""
    bleu: Column
    """0 to 100."""
    bleu_low: Column
    """Ends of the 95 % interval."""
    bleu_high: Column
    chrf: Column
    seconds: Column
    """What the evaluation itself took."""
    is_non_finite: Flags
    """The dev loss was measured, and was no finite number."""
    bleu_kind: BleuKind | None = None
    """Free-running translations, or arg-max under teacher forcing, which is no BLEU."""
    bleu_signature: str | None = None
    is_loss_smoothed: bool | None = None
    """True where dev_loss contains label smoothing."""
    num_sentences: int | None = None
    sentences: Mapping[int, SentenceColumns] = field(default_factory=dict)
    """By step."""

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True)
class NicColumns:
    """One network interface of a host over time."""

    sent_bytes: Column
    """Counters since the host started."""
    received_bytes: Column
    speed_mbps: float | None = None
    """What it claims."""


@dataclass(frozen=True)
class GpuColumns:
    """One GPU of a host over time."""

    name: str | None
    utilisation: Column
    """0 to 1: share of time in which any kernel ran, also one that only waited."""
    power_w: Column
    power_cap_w: Column
    memory_used_bytes: Column
    memory_total_bytes: Column
    clock_mhz: Column
    max_clock_mhz: Column
    temperature_c: Column
    throttled: Mapping[str, float] | None = None
    """Share of samples in which each reason was given; None where the driver never said."""


@dataclass(frozen=True)
class HostColumns:
    """One host over time, about one row a second."""

    time_s: Column
    cpu_share: Column
    memory_used_bytes: Column
    memory_total_bytes: Column
    process_memory_bytes: Column
    disk_free_bytes: Column
    nics: Mapping[str, NicColumns] = field(default_factory=dict)
    gradient_nic: str | None = None
    """The interface that carries the gradients, where that is known."""
    gpus: Mapping[int, GpuColumns] = field(default_factory=dict)


FLAGS = ("was_skipped", "is_probe", "is_non_finite")


def step_columns(step: npt.ArrayLike, *, steps_per_row: int = 1, **columns: npt.ArrayLike) -> StepColumns:
    """Columns from what is known; rows may come in any order, and of a step that comes twice the later row counts."""
    steps = np.asarray(step, dtype=np.int64)
    order = last_of_each(steps)
    filled: dict[str, Any] = {}
    for name in (one.name for one in fields(StepColumns) if one.name not in ("step", "steps_per_row")):
        if name in FLAGS:
            filled[name] = as_flags(columns.pop(name, None), len(steps))[order]
        else:
            filled[name] = as_column(columns.pop(name, None), len(steps))[order]
    if columns:
        raise TypeError(f"StepColumns has no {', '.join(columns)}")
    return StepColumns(step=steps[order], steps_per_row=steps_per_row, **filled)


def evaluations(step: npt.ArrayLike, **known: Any) -> Evaluations:
    """Evaluations from what is known; rows may come in any order, and the later of two with one step counts."""
    steps = np.asarray(step, dtype=np.int64)
    order = last_of_each(steps)
    names = ("time_s", "training_s", "dev_loss", "train_loss", "bleu", "bleu_low", "bleu_high", "chrf", "seconds")
    columns: dict[str, Any] = {name: as_column(known.pop(name, None), len(steps))[order] for name in names}
    columns["is_non_finite"] = as_flags(known.pop("is_non_finite", None), len(steps))[order]
    return Evaluations(step=steps[order], **columns, **known)


def as_column(values: Any, num_rows: int) -> Column:
    """Numbers as a column: None and infinities become NaN, and no values at all a column of NaN."""
    if values is None:
        return np.full(num_rows, np.nan)
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (num_rows,):
        raise ValueError(f"a column of {num_rows} rows cannot have the shape {column.shape}")
    is_finite = np.isfinite(column)
    return column if is_finite.all() else np.where(is_finite, column, np.nan)


def as_flags(values: Any, num_rows: int) -> Flags:
    """True where a value is true; unknown is false."""
    flags: Flags = np.nan_to_num(as_column(values, num_rows)) != 0
    return flags


def last_of_each(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Where to find each step, in order of steps; of equal ones the last."""
    if len(steps) < 2 or bool(np.all(np.diff(steps) > 0)):
        return np.arange(len(steps))
    _, first_from_end = np.unique(steps[::-1], return_index=True)
    places: npt.NDArray[np.intp] = len(steps) - 1 - first_from_end
    return places
