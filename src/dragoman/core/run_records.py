"""What a run writes down while it goes: one record a line in `steps/`, `telemetry/`, `evals.jsonl`, `events.jsonl`.

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
    """Plain cross-entropy, a mean over the target tokens of all ranks, in nats; None in a step in which ranks did not
    meet (larger steps, local steps): the next one in which they do has the mean of all since."""
    smoothed_loss: float | None
    gradient_norm: float | None
    learning_rate: float
    target_tokens: int
    """Of all ranks."""
    real_tokens: int
    """Source and target tokens of this rank."""
    padded_tokens: int
    """The same with the padding of its rectangles."""
    data_wait_s: float
    forward_s: float
    backward_s: float
    exchange_s: float
    """Waiting for gradients that backward could not hide."""
    optimizer_s: float
    step_s: float
    wire_bytes: int
    """Sent by this rank, and as many received."""
    was_skipped: bool
    is_probe: bool = False
    """An experiment: this step exchanged nothing before backward was done, so forward_s and backward_s are those of a
    machine without a network, and exchange_s is the whole exchange."""
    skew_s: float | None = None
    """In a probe: the part of exchange_s that was waiting for the slowest rank to arrive."""


@dataclass(frozen=True)
class BucketTimes:
    """A part of the gradients on its way; seconds after the end of backward, so that what is negative was hidden."""

    num_bytes: int
    """At full precision."""
    sent_bytes: int
    """By this rank, as it was packed."""
    ready_s: float
    """Its last gradient was there."""
    start_s: float
    """The wire was free for it."""
    end_s: float
    exposed_s: float
    """The part of its time on the wire that backward did not hide."""


@dataclass(frozen=True)
class ExchangeRecord:
    """One exchange, bucket by bucket, as one rank saw it: of each probe, and of the update that follows it."""

    step: int
    time: str
    is_probe: bool
    wait_s: float
    """After backward, until the last bucket was there."""
    skew_s: float | None
    """In a probe: the part of it that was waiting for the slowest rank to arrive."""
    buckets: tuple[BucketTimes, ...]
    """In the order in which they leave."""


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
    lost_s: float | None = None
    """Time that the event cost, where it cost some."""


@dataclass(frozen=True)
class SentenceLosses:
    """What one evaluation measured on each sentence of dev, in the order of the text: for paired comparisons."""

    step: int
    losses: tuple[float, ...]
    """Sums over the target tokens of a sentence, in nats."""
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class NicSample:
    """Counters of one network interface since the host started."""

    name: str
    sent_bytes: int
    received_bytes: int
    sent_packets: int
    received_packets: int
    errors: int
    speed_mbps: float | None
    """What the interface claims."""


@dataclass(frozen=True)
class GpuSample:
    """One GPU at one moment, as its driver says."""

    index: int
    name: str
    utilisation: float | None
    """Share of time in which any kernel ran, 0 to 1; also when it only waited."""
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    power_w: float | None
    power_cap_w: float | None
    clock_mhz: float | None
    max_clock_mhz: float | None
    temperature_c: float | None
    throttle_reasons: tuple[str, ...] | None = None
    """What keeps its clock down; None where the driver does not say."""


@dataclass(frozen=True)
class SystemRecord:
    """One host at one moment; about one a second. A sensor that is not there is None."""

    time: str
    host: str
    cpu_share: float | None
    """Of all cores, 0 to 1, since the record before."""
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    process_memory_bytes: int | None
    """Of the training processes of this host."""
    disk_free_bytes: int | None
    disk_read_bytes: int | None
    disk_written_bytes: int | None
    nics: tuple[NicSample, ...] = ()
    gradient_nic: str | None = None
    """The interface that carries the gradients, where that is known."""
    gpus: tuple[GpuSample, ...] = ()


@dataclass(frozen=True)
class TimedExchange:
    """A sum over hosts that the preflight timed: the median of several."""

    hosts: tuple[str, ...]
    num_bytes: int
    """Of the row that was summed on each rank."""
    seconds: float


@dataclass(frozen=True)
class HostRecord:
    """A machine that takes part, as the preflight found it."""

    name: str
    address: str
    interface: str | None
    claimed_mbps: float | None
    num_processes: int
    cores: int | None
    memory_bytes: int | None
    gpu: str | None
    price_per_hour: float | None


@dataclass(frozen=True)
class PreflightRecord:
    """`preflight.json`: what the machines could do before the run began."""

    version: int
    time: str
    hosts: tuple[HostRecord, ...]
    exchanges: tuple[TimedExchange, ...]
    compute_step_s: float | None
    """Seconds of a step of the recipe on one rank's share, without any exchange."""
    last_backward_s: float | None = None
    """Of those, the backward of the last micro-batch: an exchange can hide behind it."""
    stolen_s_per_byte: float | None = None
    """What steps lost for each byte that was exchanged beside them."""
