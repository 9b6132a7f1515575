"""How fast each link between two hosts carries gradients, from what agents say of their connections; which has slowed.

An agent tells with each beat how many bytes have arrived at each peer so far, and the seconds that they took. The
difference of two beats is a rate: of one direction of one link.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from dragoman.cluster.pace import LATE_STEPS, Pace, Turn
from dragoman.cluster.seats import Seat
from dragoman.core.units import size

LEAST_BUSY_S = 0.05
"""Between two beats, with less on the wire than this a rate says nothing."""
KEPT_SAMPLES = 200
SETTLED_S = 6.0
"""Then every agent has told of two beats, with nothing between them but the slow link."""
SLOWER = 0.5
"""A direction at less than this share of its earlier rate has become slow."""


@dataclass(frozen=True)
class Flow:
    """One direction of a link."""

    source: str
    target: str


@dataclass(frozen=True)
class Sample:
    """What one direction did between two beats; times by this machine's clock."""

    start: float
    end: float
    bytes_per_s: float


@dataclass(frozen=True)
class Slowed:
    """A direction that lost speed."""

    flow: Flow
    before: float
    after: float
    """Bytes a second."""


@dataclass
class Rates:
    """Of all links of an attempt."""

    seats: Sequence[Seat]
    _last: dict[Flow, tuple[float, float, float]] = field(default_factory=dict)
    _samples: "dict[Flow, deque[Sample]]" = field(default_factory=dict)

    def take(self, host: str, counters: Mapping[str, Sequence[float]], now: float) -> None:
        """What a host's connections have carried so far, by address of the peer."""
        names = {seat.address: seat.host for seat in self.seats if seat.host != host}
        for address, (num_bytes, busy_s) in counters.items():
            if address not in names:
                continue  # another rank of the same host
            flow = Flow(host, names[address])
            start, bytes_before, busy_before = self._last.get(flow, (now, num_bytes, busy_s))
            self._last[flow] = (now, num_bytes, busy_s)
            if busy_s - busy_before > LEAST_BUSY_S and num_bytes >= bytes_before:  # else a connection has ended
                rate = (num_bytes - bytes_before) / (busy_s - busy_before)
                self._samples.setdefault(flow, deque(maxlen=KEPT_SAMPLES)).append(Sample(start, now, rate))

    def slowed(self, began: float, known: float) -> list[Slowed]:
        """Directions that were faster before `began` than they are since `known`, the worst first."""
        found = []
        for flow, samples in self._samples.items():
            before = [one.bytes_per_s for one in samples if one.end <= began]
            after = [one.bytes_per_s for one in samples if one.start >= known]
            if before and after and median(after) < SLOWER * median(before):
                found.append(Slowed(flow, median(before), median(after)))
        return sorted(found, key=lambda one: one.after / one.before)

    def named(self, slowed: Sequence[Slowed]) -> str:
        """Which link it is, and its rates: of a pair of hosts, or of the one host that all slow directions share."""
        if not slowed:
            return f"a link between {' and '.join(seat.host for seat in self.seats)}"
        worst = slowed[0]
        hosts = {seat.host: f"{seat.host} ({seat.interface})" for seat in self.seats}
        pairs = {frozenset((one.flow.source, one.flow.target)) for one in slowed}
        shared = frozenset.intersection(*pairs)
        if len(pairs) > 1 and len(shared) == 1:
            name = f"the link of {hosts[next(iter(shared))]}"
        else:
            name = f"the link from {hosts[worst.flow.source]} to {hosts[worst.flow.target]}"
        return f"{name}, {size(worst.after)}/s instead of {size(worst.before)}/s,"


class LinkNews:
    """What there is to say of the links: steps tell that one has slowed, connections which."""

    def __init__(self, pace: Pace, seats: Sequence[Seat]) -> None:
        self._pace, self._rates = pace, Rates(seats)
        self._untold: tuple[Turn, float] | None = None

    def take(self, host: str, counters: Mapping[str, Sequence[float]], now: float) -> None:
        self._rates.take(host, counters, now)

    def sentences(self, now: float) -> list[str]:
        found = []
        for turn in self._pace.news():
            found += self._told()
            if turn.is_slow:
                self._untold = (turn, now)
            else:
                found.append(f"gradients cross as fast as before: {turn.exchange_s:.2f} s an exchange")
        if self._untold and now - self._untold[1] > SETTLED_S:
            found += self._told()
        return found

    def _told(self) -> list[str]:
        """The sentence that waited for beats from after the turn."""
        if self._untold is None:
            return []
        (turn, known), self._untold = self._untold, None
        link = self._rates.named(self._rates.slowed(began=known - LATE_STEPS * turn.exchange_s, known=known))
        times = turn.exchange_s / max(turn.usual_s, 1e-6)
        return [
            f"{link} has become slow: exchanging gradients takes {turn.exchange_s:.2f} s, {times:.0f} times the "
            f"{turn.usual_s:.2f} s of before; training goes on"
        ]
