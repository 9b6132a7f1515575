"""What an exchange of gradients costs on a given wire, and which rung of the ladder to stand on.

Planner, trainer and report share this one model; numbers in, predictions out, no torch and no measurement of its own.

    compute   |--- forward ---|-------- backward --------|
    exchange                     |== bucket ==|== bucket ==|== bucket ==|== last ==|
                                                         |<----- exposed -------->|

Backward hides what is sent before its end. A bucket leaves when it is full and the one before it has arrived; the one
that is ready last (the tied embedding) hides behind nothing. What runs beside backward also slows it down.
"""

from dataclasses import dataclass, replace

from dragoman.core.run_records import PreflightRecord

ENOUGH = 0.10
"""A rung is good enough when less of the step than this is exposed wait."""
BACKWARD_SHARE = 2 / 3
"""Of the compute of a step, where it was not measured: backward multiplies twice as much as forward."""
HALF_BYTES = 1 / 2
EIGHT_BIT_BLOCK = 256
"""Numbers that share a scale of 32 bits on the wire."""
EIGHT_BITS_BYTES = (1 + 4 / EIGHT_BIT_BLOCK) / 4


@dataclass(frozen=True)
class Link:
    """What crosses between two neighbours: payload each way in a second, and the time of an empty message."""

    bytes_per_s: float
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.bytes_per_s > 0 or not self.latency_s >= 0:
            raise ValueError(f"no link: {self.bytes_per_s} bytes/s after {self.latency_s} s")


@dataclass(frozen=True)
class Layout:
    """How many ranks on how many hosts."""

    num_ranks: int
    num_hosts: int

    def __post_init__(self) -> None:
        if not 1 <= self.num_hosts <= self.num_ranks:
            raise ValueError(f"{self.num_ranks} ranks cannot be on {self.num_hosts} hosts")

    @property
    def ranks_per_host(self) -> int:
        """Of the fullest host: the slowest sets the pace."""
        return -(-self.num_ranks // self.num_hosts)


@dataclass(frozen=True)
class Row:
    """The gradients that one exchange adds up, at full precision, and how they are cut."""

    num_bytes: int
    last_bucket_bytes: int
    """Ready only when backward is over; all of it where everything is one bucket."""
    num_buckets: int = 1
    """1 where only the last one is known: then the others flow as they come."""


@dataclass(frozen=True)
class Compute:
    """One step without a network."""

    step_s: float
    """Everything: all micro-batches forward and backward, and the update."""
    overlap_s: float
    """Backward of the last micro-batch, behind which an exchange can hide; 0 where nothing is sent before its end."""

    @classmethod
    def of(cls, step_s: float, num_micro_batches: int = 1) -> "Compute":
        """Where only the whole is known."""
        return cls(step_s, BACKWARD_SHARE * step_s / max(1, num_micro_batches))

    @classmethod
    def measured(cls, preflight: PreflightRecord, num_micro_batches: int = 1) -> "Compute | None":
        """As the preflight timed it; None where it timed no step."""
        if not preflight.compute_step_s:
            return None
        if preflight.last_backward_s is None:
            return cls.of(preflight.compute_step_s, num_micro_batches)
        return cls(preflight.compute_step_s, preflight.last_backward_s)


@dataclass(frozen=True)
class Codecs:
    """Seconds to pack and unpack one byte of the full-precision row on a rank; measured, or 0 where it is nothing."""

    half_s_per_byte: float = 0.0
    eight_bits_s_per_byte: float = 0.0

    def s_per_byte(self, codec: str) -> float:
        return {"none": 0.0, "half": self.half_s_per_byte, "eight_bits": self.eight_bits_s_per_byte}[codec]


@dataclass(frozen=True)
class Wire:
    """All that an exchange meets: who takes part, over which links, at which cost of packing."""

    layout: Layout
    between: Link
    """Of one host's network interface."""
    inside: Link | None = None
    """Between ranks of a host; None where that takes no time worth counting."""
    codecs: Codecs = Codecs()
    stolen_s_per_byte: float = 0.0
    """What computing loses for each byte that an exchange moves beside it: they share cores, caches, interrupts."""


@dataclass(frozen=True)
class Rung:
    """A way of exchanging gradients. A larger step or local steps mean fewer exchanges for the same tokens."""

    name: str
    explanation: str
    codec: str = "none"
    """none, half or eight_bits."""
    is_two_level: bool = False
    step_factor: int = 1
    """How many times the recipe's tokens one update takes."""
    local_steps: int = 1
    """Updates that a rank makes on its own between two exchanges."""

    @property
    def bytes_factor(self) -> float:
        """Bytes on the wire for one byte of the full-precision row."""
        return {"none": 1.0, "half": HALF_BYTES, "eight_bits": EIGHT_BITS_BYTES}[self.codec]

    @property
    def at_first(self) -> "Rung":
        """Where a run stands before larger or local steps begin: every step has an exchange of its own."""
        codec = "eight_bits" if self.local_steps > 1 else self.codec
        return replace(self, codec=codec, step_factor=1, local_steps=1)


@dataclass(frozen=True)
class Prediction:
    """One update of a rung, in the long run: with local steps, an even share of the exchange."""

    rung: Rung
    update_s: float
    compute_s: float
    exposed_s: float
    """Waiting and packing that nothing hides."""
    nic_bytes: float
    """Through one host's interface, each way; 0 within one host."""

    @property
    def exposed_share(self) -> float:
        return self.exposed_s / self.update_s if self.update_s else 0.0

    @property
    def step_s(self) -> float:
        """Time for the tokens of one step of the recipe: what rungs are compared by."""
        return self.update_s / self.rung.step_factor


@dataclass(frozen=True)
class Choice:
    """A rung, why, and what all others would do."""

    prediction: Prediction
    why: str
    predictions: tuple[Prediction, ...]

    @property
    def rung(self) -> Rung:
        return self.prediction.rung


PLAIN = Rung("plain", "32 bits, one ring over all ranks")


def ladder(layout: Layout, *, max_step_factor: int = 1, local_steps: int = 1) -> tuple[Rung, ...]:
    """The rungs that make sense, in the order in which they are tried: the safest first.

    Two levels only where a host has several ranks and there are several hosts; larger steps only as far as the recipe
    allows; local steps only where somebody asked for them.
    """
    has_levels = 1 < layout.num_hosts < layout.num_ranks
    first_inside = ", first inside each host" if has_levels else ""
    rungs = [PLAIN, Rung("half", "16 bits on the wire", "half")]
    if has_levels:
        rungs.append(Rung("two_level", "32 bits, first inside each host, then between hosts", is_two_level=True))
        rungs.append(Rung("two_level_half", "16 bits on the wire, first inside each host", "half", True))
    rungs.append(Rung("eight_bits", f"8 bits on the wire with error feedback{first_inside}", "eight_bits", has_levels))
    for factor in _doublings(max_step_factor):
        text = f"a step of {factor} times the tokens, 8 bits on the wire{first_inside}"
        rungs.append(Rung(f"larger_step_{factor}", text, "eight_bits", has_levels, step_factor=factor))
    if local_steps > 1:
        text = f"{local_steps} steps of each rank on its own, then their mean at 16 bits"
        rungs.append(Rung(f"local_steps_{local_steps}", text, "half", has_levels, local_steps=local_steps))
    return tuple(rungs)


def _doublings(most: int) -> list[int]:
    """[2, 4, 8, … most]."""
    return sorted({2**power for power in range(1, most.bit_length())} | {most} - {1})


def ring_bytes(num_bytes: float, num_ranks: int) -> float:
    """What each member sends, and as much receives, to add up a row; also what crosses each host's interface."""
    return 2 * (num_ranks - 1) / num_ranks * num_bytes


def nic_bytes(row_bytes: float, layout: Layout, rung: Rung = PLAIN) -> float:
    """Through one host's interface, each way, for a row of `row_bytes` at full precision.

    Packed rows go straight from each rank to all, so that they are packed only twice, and then around the ring: with
    several ranks a host and no second level, that is more than a ring.
    """
    num_ranks, on_host = layout.num_ranks, layout.ranks_per_host
    if layout.num_hosts == 1:
        return 0.0
    packed = rung.bytes_factor * row_bytes
    if rung.is_two_level:
        return ring_bytes(packed, layout.num_hosts)
    if rung.codec == "none":
        return ring_bytes(packed, num_ranks)
    return (on_host * (num_ranks - on_host) + num_ranks - 1) / num_ranks * packed


def exchange_s(wire: Wire, row_bytes: float, rung: Rung = PLAIN, *, num_buckets: int = 1) -> float:
    """Seconds to add up a row of `row_bytes` at full precision, without packing."""
    layout, between, inside = wire.layout, wire.between, wire.inside
    if layout.num_hosts == 1:
        return _ring_s(rung.bytes_factor * row_bytes, layout.num_ranks, inside, num_buckets)
    if rung.is_two_level:  # inside a host nothing is packed
        inside_s = _ring_s(row_bytes, layout.ranks_per_host, inside, num_buckets)
        return inside_s + _ring_s(rung.bytes_factor * row_bytes, layout.num_hosts, between, num_buckets)
    # The slowest edge sets the pace of all.
    sent, hops = nic_bytes(row_bytes, layout, rung), 2 * (layout.num_ranks - 1) * num_buckets
    return max(hops * link.latency_s + sent / link.bytes_per_s for link in (between, inside or between))


def _ring_s(wire_bytes: float, num_ranks: int, link: Link | None, num_buckets: int) -> float:
    if link is None or num_ranks == 1:
        return 0.0
    hops = 2 * (num_ranks - 1) * num_buckets
    return hops * link.latency_s + ring_bytes(wire_bytes, num_ranks) / link.bytes_per_s


def arrival_s(overlap_s: float, burden_s: float, early_s: float, num_early: int, last_s: float) -> float:
    """When the last bucket has arrived, counted from the beginning of the backward that takes `overlap_s`.

    Before it go `num_early` equal buckets that take `early_s` together and make backward `burden_s` longer. They are
    ready one after the other at an even pace: either each waits for the wire from the first one on, or the wire waits
    for each, and backward bears all but the last of them. With `num_early` 0 they flow.
    """
    one = 1 / num_early if num_early else 0.0
    return max(one * overlap_s + early_s, overlap_s + (1 - one) * burden_s + one * early_s) + last_s


def predict(rung: Rung, compute: Compute, row: Row, wire: Wire) -> Prediction:
    """One update on this rung. Packing keeps the cores that would compute, so nothing hides it."""
    whole_s = exchange_s(wire, row.num_bytes, rung, num_buckets=row.num_buckets)
    last_s = min(whole_s, exchange_s(wire, row.last_bucket_bytes, rung))
    packing_s = wire.codecs.s_per_byte(rung.codec) * row.num_bytes if wire.layout.num_ranks > 1 else 0.0
    compute_s = compute.step_s * rung.step_factor
    nic = nic_bytes(row.num_bytes, wire.layout, rung) / rung.local_steps
    if rung.local_steps > 1:  # the mean of the weights is taken between two steps: nothing hides it
        exposed_s = (whole_s + packing_s) / rung.local_steps
        return Prediction(rung, compute_s + exposed_s, compute_s, exposed_s, nic)
    last_share = row.last_bucket_bytes / row.num_bytes
    early_packing_s = (1 - last_share) * packing_s
    early_s = whole_s - last_s + early_packing_s
    burden_s = early_packing_s + (1 - last_share) * wire.stolen_s_per_byte * nic
    last_s += last_share * packing_s
    exposed_s = arrival_s(compute.overlap_s, burden_s, early_s, row.num_buckets - 1, last_s) - compute.overlap_s
    return Prediction(rung, compute_s + exposed_s, compute_s, exposed_s, nic)


def choose(
    compute: Compute, row: Row, wire: Wire, *, max_step_factor: int = 1, local_steps: int = 1, enough: float = ENOUGH
) -> Choice:
    """The first rung whose exposed wait is small enough, else the one that does most tokens in a second."""
    rungs = ladder(wire.layout, max_step_factor=max_step_factor, local_steps=local_steps)
    predictions = tuple(predict(rung, compute, row, wire) for rung in rungs)
    good = next((p for p in predictions if p.exposed_share < enough), None)
    chosen = good or min(predictions, key=lambda p: p.step_s)
    return Choice(chosen, _why(chosen, predictions[0], enough), predictions)


def _why(chosen: Prediction, plain: Prediction, enough: float) -> str:
    if chosen.rung == plain.rung:
        text = f"plain: {plain.exposed_share:.0%} of the step waits for the wire"
        return text + (f", less than {enough:.0%}" if plain.exposed_share < enough else ", and no other rung is faster")
    gain = plain.step_s / chosen.step_s
    text = (
        f"{chosen.rung.name}: {chosen.exposed_share:.0%} of the step waits for the wire instead of "
        f"{plain.exposed_share:.0%}, {gain:.1f} times the tokens a second ({chosen.rung.explanation})"
    )
    return text if chosen.exposed_share < enough else f"{text}; no rung brings it below {enough:.0%}"
