"""What is known about a run, whoever made it: plain frozen records that any source can fill.

Readers of run directories and of foreign logs make `Facts`; the questions take nothing else. Everything is optional:
what a source does not say is None, or NaN inside a column. Nothing here is guessed, and nothing here is judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dragoman.core.config import ModelConfig, ScheduleConfig
from dragoman.core.run_records import EventRecord, PreflightRecord
from dragoman.report.columns import Evaluations, HostColumns, StepColumns


@dataclass(frozen=True)
class Source:
    """What was read."""

    name: str
    """What the run is called: the directory's or the file's name."""
    system: str
    """Who trained: "Dragoman", "OpenSeq2Seq", "Marian", "fairseq", "TensorBoard"."""
    files: tuple[str, ...] = ()
    """The files that were read."""
    passed_over: tuple[str, ...] = ()
    """Sentences: what could not be read and was left out."""
    assumptions: tuple[str, ...] = ()
    """Sentences: what is taken for true though the source does not say it."""
    remarks: tuple[str, ...] = ()
    """Sentences: what is odd about it."""


@dataclass(frozen=True)
class Settings:
    """What a person set, or what follows from it."""

    model: ModelConfig | None = None
    """Sizes written out."""
    source_vocabulary: int | None = None
    """Pieces."""
    target_vocabulary: int | None = None
    written_pieces: int | None = None
    """Of the target vocabulary, those that logits are computed for; None: all."""
    parameters: int | None = None
    """Trainable numbers."""
    tokens_per_step: int | None = None
    """Target tokens of one update, over all ranks."""
    pairs_per_step: int | None = None
    """Sentence pairs of one update, over all ranks; for systems that count pairs."""
    max_pieces: int | None = None
    """Longest side of a pair, in pieces."""
    cuts_long_pairs: bool | None = None
    """Whether a longer side is cut where it is too long (each side on its own), instead of dropping the pair."""
    ranks: int | None = None
    hosts: int | None = None
    """Machines."""
    loss_scaling: str | None = None
    """How half precision keeps small gradients, in the source's words; "none" where it does not."""
    device: str | None = None
    """The GPU or CPU, as its driver or the log calls it."""
    is_gpu: bool | None = None
    schedule: ScheduleConfig | None = None
    """The learning rate, where it is one of the kinds that Dragoman knows."""
    label_smoothing: float | None = None
    precision: str | None = None
    """fp32, bf16, fp16 or mixed."""
    wire_bytes_per_parameter: float | None = None
    """What an exchange carries for each parameter: 4 at full precision, 2 at half."""
    wire_rung: str | None = None
    """How gradients crossed the wire: the name of a rung of the ladder (`theory.wire`), such as "plain"."""
    checkpoint_bytes_per_parameter: float | None = None
    """12 for weights and two moments in 32 bits; 14 with half-precision weights beside them."""
    checkpoint_every_steps: int | None = None
    checkpoint_every_minutes: float | None = None
    evaluate_every_steps: int | None = None
    max_steps: int | None = None
    max_hours: float | None = None
    price_per_hour: float | None = None
    """Of all machines together, in whatever money the person counts."""


@dataclass(frozen=True)
class CorpusFile:
    """One file of training text."""

    name: str
    bytes: int | None
    """Of text, not of the compressed file."""
    lines: int | None


@dataclass(frozen=True)
class CorpusFacts:
    """What was trained on."""

    languages: str | None = None
    files: tuple[CorpusFile, ...] = ()
    pairs_read: int | None = None
    train_pairs: int | None = None
    """Pairs that are trained on, after cleaning and holding out."""
    dev_pairs: int | None = None
    source_tokens: int | None = None
    """Of the training split, ends of sentences included."""
    target_tokens: int | None = None
    vocabularies: Mapping[str, int] = field(default_factory=dict)
    """Pieces by side."""
    dropped: Mapping[str, int] | None = None
    """Pairs by rule; None where nobody counted."""
    is_cleaned: bool | None = None


@dataclass(frozen=True)
class CheckpointFile:
    """One file of a checkpoint on disk."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint on disk."""

    step: int
    files: tuple[CheckpointFile, ...] = ()

    @property
    def bytes(self) -> int | None:
        """None where no sizes are known."""
        return sum(file.bytes for file in self.files) if self.files else None


@dataclass(frozen=True)
class Claims:
    """What a person or a screen said without a record to check it: judged by physics, never taken as measured."""

    steps: int | None = None
    total_s: float | None = None
    step_s: float | None = None
    nic_bytes_per_s: float | None = None
    """Sent by one host."""
    gpu_utilisation: float | None = None
    gpu_power_w: float | None = None
    gpu_power_cap_w: float | None = None
    checkpoint_bytes: int | None = None


@dataclass(frozen=True)
class Device:
    """What the accelerator could do, with where that number comes from."""

    name: str
    peak_flops: float
    """A second, at the run's precision."""
    source: str


@dataclass(frozen=True)
class ComputeStep:
    """What a step takes without any network, where that is known from elsewhere."""

    seconds: float
    source: str
    """Where the number comes from, as a phrase: "the preflight", "OpenSeq2Seq's own plot for four V100"."""
    unsure: float = 0.15
    """By what share it may be off, where it was not measured on this run."""


@dataclass(frozen=True)
class Prediction:
    """What was foretold before the run began."""

    step_s: float | None = None
    step_range_s: tuple[float, float] | None = None
    hours: float | None = None
    """To its last step."""
    num_steps: int | None = None
    cost: float | None = None
    tokens_per_s: float | None = None
    exposed_share: float | None = None
    """Of a step: waiting for the wire."""
    checkpoint_bytes: int | None = None
    machines: str | None = None


@dataclass(frozen=True)
class Bucket:
    """A part of the gradients on its way, as a rule: medians."""

    num_bytes: int
    """At full precision."""
    end_s: float
    """When it had arrived, after the end of backward; negative where backward hid all of it."""
    exposed_s: float


@dataclass(frozen=True, eq=False)  # compared by identity, so that what follows from facts can be kept beside them
class Facts:
    """All that is known about one run."""

    source: Source
    settings: Settings = field(default_factory=Settings)
    steps: StepColumns | None = None
    """Merged over ranks: losses, rates and target tokens of the main rank, real and padded tokens added up, times and
    wire bytes as means over the ranks, `was_skipped` and `is_probe` where any rank says so."""
    ranks: Mapping[int, StepColumns] = field(default_factory=dict)
    """By rank; empty where the source does not tell ranks apart."""
    evaluations: Evaluations | None = None
    events: tuple[EventRecord, ...] = ()
    """In order of the file; kinds of Dragoman: started, resumed, saved, skipped, rolled back, stopped …"""
    hosts: Mapping[str, HostColumns] = field(default_factory=dict)
    """System samples by host name."""
    buckets: tuple[Bucket, ...] = ()
    """Of the gradients, in the order in which they leave; empty where nobody timed them."""
    preflight: PreflightRecord | None = None
    corpus: CorpusFacts | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    """In order of steps: those that are on disk now, or that the log says were written."""
    started_s: float | None = None
    """Seconds since 1970, UTC."""
    ended_s: float | None = None
    """The last sign of life."""
    training_s: float | None = None
    """Time spent in all sessions, pauses between them left out."""
    last_step: int | None = None
    """The newest step that was done."""
    redone_steps: int | None = None
    """Steps that were done, lost by a crash or a roll-back, and done again (or not yet)."""
    redone_s: float | None = None
    """What those had taken."""
    is_running: bool | None = None
    ended: str | None = None
    """Why it ended, in its own words; None where it never said so."""
    claims: Claims = field(default_factory=Claims)
    device: Device | None = None
    compute_step: ComputeStep | None = None
    prediction: Prediction | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
