"""What a person sees of a run at one moment, as plain data: the terminal and the page show the same."""

from dataclasses import dataclass

from dragoman.core.run_records import GpuSample, SystemRecord
from dragoman.telemetry.rates import NicRate


@dataclass(frozen=True)
class Status:
    """`kind` is waiting, running, stopped or silent; `sentence` says it to a person."""

    kind: str
    sentence: str


@dataclass(frozen=True)
class Progress:
    """How far the run is. None is not known."""

    step: int | None
    last_step: int | None
    training_s: float | None
    left_s: float | None
    cost: float | None

    @property
    def share(self) -> float | None:
        return min(1.0, self.step / self.last_step) if self.step is not None and self.last_step else None


@dataclass(frozen=True)
class Pace:
    """The last steps of the main rank."""

    loss: float | None
    gradient_norm: float | None
    learning_rate: float | None
    tokens_per_s: float | None
    step_s: float | None


PARTS = ("data_wait_s", "forward_s", "backward_s", "exchange_s", "optimizer_s")
"""What a step's time is made of, in order."""


@dataclass(frozen=True)
class RankView:
    """Where the time of one rank's last steps went: medians in seconds; None where records do not say."""

    rank: int
    step: int | None
    step_s: float | None
    parts: dict[str, float | None]
    padding_share: float | None


@dataclass(frozen=True)
class EvalView:
    """The last evaluation."""

    step: int
    dev_loss: float | None
    train_loss: float | None
    bleu: float | None
    bleu_interval: tuple[float, float] | None
    chrf: float | None


@dataclass(frozen=True)
class HostView:
    """A machine as it was last seen. `nic` is the interface that carries the gradients, else the busiest."""

    name: str
    age_s: float | None
    cpu_share: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    process_memory_bytes: int | None
    disk_free_bytes: int | None
    nic: NicRate | None
    carries_gradients: bool
    gpus: tuple[GpuSample, ...]

    @classmethod
    def of(cls, record: SystemRecord, nic: NicRate | None, age_s: float | None) -> "HostView":
        return cls(
            name=record.host,
            age_s=age_s,
            cpu_share=record.cpu_share,
            memory_used_bytes=record.memory_used_bytes,
            memory_total_bytes=record.memory_total_bytes,
            process_memory_bytes=record.process_memory_bytes,
            disk_free_bytes=record.disk_free_bytes,
            nic=nic,
            carries_gradients=nic is not None and nic.name == record.gradient_nic,
            gpus=record.gpus,
        )


@dataclass(frozen=True)
class EventView:
    time: str
    kind: str
    step: int | None
    text: str


@dataclass(frozen=True)
class SampleView:
    """A sentence of dev, what a person made of it, and what the model makes of it."""

    step: int
    source: str
    reference: str
    translation: str


@dataclass(frozen=True)
class View:
    """All of it."""

    name: str
    status: Status
    progress: Progress
    pace: Pace
    evaluation: EvalView | None
    account: str | None
    """The report of a run that is over, where there is one."""
    ranks: tuple[RankView, ...]
    hosts: tuple[HostView, ...]
    events: tuple[EventView, ...]
    samples: tuple[SampleView, ...]
    notes: tuple[str, ...]
    """What could not be read."""
