"""What a run writes down while it goes: one record a line in `steps/`, `evals.jsonl` and `events.jsonl`.

Append-only. After a resume a step may be there twice: the later line is the one that counts. What is unknown, or no
finite number, is None.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class StepRecord:
    """One update, as one rank saw it."""

    step: int
    time: str
    """UTC."""
    loss: float | None
    """Plain cross-entropy, a mean over the target tokens of all ranks, in nats."""
    smoothed_loss: float | None
    gradient_norm: float | None
    learning_rate: float
    target_tokens: int
    """Of all ranks."""
    padding: float
    """Share of this rank's rectangles that held no token."""
    data_wait_s: float
    compute_s: float
    exchange_s: float
    optimizer_s: float
    step_s: float
    wire_bytes: int
    was_skipped: bool


@dataclass(frozen=True)
class EvalRecord:
    """One evaluation. Losses are plain cross-entropy a target token, in eval mode."""

    step: int
    time: str
    tokens: int
    training_s: float
    dev_loss: float | None
    train_loss: float | None
    """On a fixed slice of the training data."""
    bleu: float
    bleu_interval: tuple[float, float]
    chrf: float
    bleu_signature: str
    chrf_signature: str
    num_sentences: int
    seconds: float


@dataclass(frozen=True)
class EventRecord:
    """Something that happened: a start, a resume, a checkpoint, a skipped step, a stop."""

    time: str
    kind: str
    step: int
    rank: int
    text: str
