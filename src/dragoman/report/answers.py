"""What an answer is: a verdict with its numbers, its evidence, the rule that was used, a picture and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.core.units import duration
from dragoman.report.facts import Facts
from dragoman.theory.statistics import Estimate

Tone = Literal["good", "bad", "neutral", "unknown"]
UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Number:
    """A number with its unit, as a machine and as a person reads it."""

    name: str
    value: float | None
    unit: str
    text: str
    low: float | None = None
    """Ends of the 95 % interval, unless `interval` says otherwise."""
    high: float | None = None
    interval: str = "95 %"


@dataclass(frozen=True)
class Line:
    """One curve; x and y are equally long, y may hold None where there is nothing."""

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    kind: Literal["line", "points", "dashed"] = "line"


@dataclass(frozen=True)
class Mark:
    """Something at one x."""

    x: float
    label: str


@dataclass(frozen=True)
class Curves:
    """Curves over one axis."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    is_y_from_zero: bool = False
    y_unit: str = ""


@dataclass(frozen=True)
class Bar:
    """One bar, or one bar of several stacked parts: (name, value)."""

    label: str
    parts: tuple[tuple[str, float], ...]
    text: str


@dataclass(frozen=True)
class Bars:
    """Horizontal bars."""

    title: str
    unit: str
    bars: tuple[Bar, ...]


Chart = Curves | Bars


@dataclass(frozen=True)
class Advice:
    """Something to do next, and what it would bring."""

    text: str
    gain: str
    """What it would bring, in numbers where they are known."""
    saves_share: float
    """Of the run's time, for ranking; beside 1 for what spoils the whole result, 0 where no time is saved."""
    command: str | None = None


@dataclass(frozen=True)
class Answer:
    """One question, answered."""

    key: str
    """A stable name for machines."""
    number: int | None
    """1 to 11 for the eleven questions; None for those that follow."""
    question: str
    verdict: str
    """A word or two, from a fixed set for each question; "undetermined" where the data do not say."""
    sentence: str
    tone: Tone = "neutral"
    numbers: tuple[Number, ...] = ()
    evidence: tuple[str, ...] = ()
    rule: str = ""
    chart: Chart | None = None
    advice: tuple[Advice, ...] = ()
    shown: str = ""
    """What a list of answers shows where the verdict is only that the number is known."""

    def value(self, name: str) -> float | None:
        """The number of that name; None where it is unknown."""
        return next((number.value for number in self.numbers if number.name == name), None)


def percent(share: float) -> str:
    """0.1234 -> '12 %'; 0.0123 -> '1.2 %'."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 or value == 0 else f"{value:.1f} %"


def seconds(value: float) -> str:
    """Three figures: 1.941 -> '1.94 s'; 0.0123 -> '12.3 ms'; 34.893 -> '34.9 s'."""
    if 0 < abs(value) < 0.0995:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if abs(value) < 999.5 else f"{value:,.0f} s"


def money(value: float) -> str:
    """Two decimals, or none where they say nothing."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.2f}"


def lost_to(share: float, facts: Facts) -> str:
    """What a share of the run is in hours and money: ' (39 h 30 min, 482.40)'; nothing where neither is known."""
    if not facts.training_s:
        return ""
    price = facts.settings.price_per_hour
    cost = f", {money(price * share * facts.training_s / 3600)} in money" if price else ""
    return f" ({duration(share * facts.training_s)}{cost})"


def share_number(name: str, estimate: Estimate) -> Number:
    """A share with its interval."""
    text = f"{percent(estimate.value)} ({percent(estimate.low)} to {percent(estimate.high)})"
    return Number(name, estimate.value, "share", text, estimate.low, estimate.high)


def undetermined(key: str, number: int | None, question: str, why: str, rule: str, **more: Sequence[str]) -> Answer:
    """The data do not say, and why."""
    return Answer(
        key, number, question, UNDETERMINED, why, "unknown", rule=rule, evidence=tuple(more.get("evidence", ()))
    )
