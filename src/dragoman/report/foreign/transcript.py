"""What a log of another system says, in one shape for all systems, before anything is concluded from it.

Losses are nats a target token. A number that the log does not give is None; one that it gives as no finite number is
NaN or infinite here, because that is what it says.
"""

from dataclasses import dataclass, field

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.report.columns import BleuKind


@dataclass(frozen=True)
class Point:
    """One line of progress."""

    step: int
    loss: float | None = None
    """Plain cross-entropy."""
    smoothed_loss: float | None = None
    step_s: float | None = None
    """Seconds a step, a mean since the point before."""
    learning_rate: float | None = None
    gradient_norm: float | None = None
    tokens_per_s: float | None = None
    """Target tokens of all ranks."""
    time_s: float | None = None
    """Unix seconds, where the log has a clock; its time zone is not known."""


@dataclass(frozen=True)
class ForeignEvaluation:
    """One evaluation on held-out text."""

    step: int
    loss: float | None = None
    smoothed_loss: float | None = None
    bleu: float | None = None
    """0 to 100."""
    time_s: float | None = None


@dataclass(frozen=True)
class ForeignEvent:
    """A start, a restart, a checkpoint, an error."""

    kind: str
    text: str
    step: int | None = None


@dataclass(frozen=True)
class Sample:
    """A sentence that the log shows."""

    step: int | None
    source: str | None
    target: str | None
    prediction: str | None


@dataclass(frozen=True)
class Settings:
    """What the log's own dump of its configuration says."""

    model: ModelConfig | None = None
    num_parameters: int | None = None
    parameters_basis: str | None = None
    """Where the number comes from: printed in the log, or computed from the printed sizes."""
    source_vocabulary: int | None = None
    target_vocabulary: int | None = None
    num_ranks: int | None = None
    num_hosts: int | None = None
    """At least so many."""
    hosts_basis: str | None = None
    devices: tuple[str, ...] = ()
    """A name for each device that the log names."""
    pairs_per_rank: int | None = None
    tokens_per_rank: int | None = None
    """Most tokens of a rank in one forward pass."""
    tokens_per_step: float | None = None
    """Target tokens of a step over all ranks, a median where the log counts them."""
    forward_passes_per_step: int | None = None
    max_pieces: int | None = None
    precision: str | None = None
    loss_scaling: str | None = None
    label_smoothing: float | None = None
    schedule: ScheduleConfig | None = None
    max_steps: int | None = None
    save_every_steps: int | None = None
    evaluate_every_steps: int | None = None
    log_every_steps: int | None = None
    train_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transcript:
    """All that was read."""

    system: str
    points: tuple[Point, ...]
    """In the order of the log; of a step that comes twice the later one counts."""
    evaluations: tuple[ForeignEvaluation, ...] = ()
    settings: Settings = field(default_factory=Settings)
    events: tuple[ForeignEvent, ...] = ()
    samples: tuple[Sample, ...] = ()
    bleu_kind: BleuKind | None = None
    duration_s: float | None = None
    """From the first to the last line of progress, evaluations included, pauses between sessions left out."""
    is_finished: bool | None = None
    """Whether the log says that training came to its end; None where it would not say so."""
    remarks: tuple[str, ...] = ()
    """Sentences on what was assumed and what is odd."""
