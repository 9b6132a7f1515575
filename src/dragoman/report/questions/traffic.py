"""Did the wire carry what the model of the exchange says: counters of the interfaces against bytes a step."""

import math
from dataclasses import dataclass

import numpy as np

from dragoman.core.units import size
from dragoman.report.answers import UNDETERMINED, Answer, Number, percent
from dragoman.report.columns import Column, HostColumns
from dragoman.report.facts import Facts
from dragoman.report.measures import Measures, measures_of
from dragoman.theory import cost, wire

TOLERANCE = 0.2
LEAST_STEPS = 20
QUESTION = "Did the wire carry what the model of the exchange says?"
RULE = (
    "Bytes that the interface of a host sent while steps were made, over the number of those steps, against the bytes "
    "that the exchange must send. A difference of more than 20 % means another interface, or other traffic."
)


@dataclass(frozen=True)
class Traffic:
    """What was found, in a verdict of one word, in sentences, and in numbers."""

    verdict: str
    sentences: tuple[str, ...] = ()
    expected_bytes: float | None = None
    observed_bytes: float | None = None
    """A step, of the worst host."""


def traffic(measures: Measures) -> Traffic:
    """Verdicts: agrees, wrong interface, other traffic, too little, undetermined; none needed on one host."""
    facts = measures.facts
    layout, step = measures.layout, measures.step_s
    claim = facts.claims.nic_bytes_per_s
    expected = _expected(measures)
    if claim is not None and measures.sent_bytes and step is not None:
        return _of_claim(claim, expected or measures.sent_bytes, step.value)
    if layout is not None and layout.num_hosts == 1:
        return Traffic("not needed", ("All ranks share one host: gradients do not cross a network interface.",))
    if expected is None or not facts.hosts or facts.steps is None:
        return Traffic(UNDETERMINED, expected_bytes=expected)
    findings = [_of_host(name, host, facts, expected) for name, host in facts.hosts.items()]
    known = [found for found in findings if found.observed_bytes is not None]
    if not known:
        return Traffic(UNDETERMINED, expected_bytes=expected)
    worst = max(known, key=lambda found: abs(math.log((found.observed_bytes or 0) / expected + 1e-9)))
    return Traffic(
        worst.verdict, tuple(sentence for found in known for sentence in found.sentences), expected,
        worst.observed_bytes,
    )  # fmt: skip


def _expected(measures: Measures) -> float | None:
    """Bytes through one host's interface a step, each way."""
    layout, settings = measures.layout, measures.facts.settings
    if layout is not None and layout.num_hosts == 1:
        return 0.0
    if layout is not None and settings.parameters:
        for rung in wire.ladder(layout):
            if rung.name == settings.wire_rung:
                return wire.nic_bytes(cost.gradient_bytes(settings.parameters), layout, rung)
    return measures.sent_bytes


def _of_claim(claim: float, expected: float, step_s: float) -> Traffic:
    implied = expected / step_s
    observed = claim * step_s
    if abs(claim / implied - 1) <= TOLERANCE:
        text = (
            f"The {size(claim)}/s that were seen fit: {size(expected)} a step in {step_s:.3g} s make {size(implied)}/s."
        )
        return Traffic("agrees", (text,), expected, observed)
    factor = implied / claim
    how = f"{factor:.0f} times too little" if factor > 1 else f"{1 / factor:.1f} times too much"
    text = (
        f"The {size(claim)}/s that were seen are {how}: the exchange must send {size(implied)}/s. Another "
        "interface, or a moment without training."
    )
    return Traffic("wrong interface" if factor > 1 else "other traffic", (text,), expected, observed)


def _of_host(name: str, host: HostColumns, facts: Facts, expected: float) -> Traffic:
    rates = {nic: _bytes_per_step(host.time_s, columns.sent_bytes, facts) for nic, columns in host.nics.items()}
    known = {nic: rate for nic, rate in rates.items() if rate is not None}
    if not known:
        return Traffic(UNDETERMINED)
    fitting = min(known, key=lambda nic: abs(known[nic] - expected))
    named = host.gradient_nic if host.gradient_nic in known else None
    used = named or fitting
    observed = known[used]
    if abs(observed / expected - 1) <= TOLERANCE:
        text = f"On {name}, {used} sent {size(observed)} a step where the model says {size(expected)}: they agree."
        return Traffic("agrees", (text,), expected, observed)
    if used != fitting and abs(known[fitting] / expected - 1) <= TOLERANCE:
        text = (
            f"On {name} the gradients crossed {fitting} ({size(known[fitting])} a step), not {used} "
            f"({size(observed)}) as was meant."
        )
        return Traffic("wrong interface", (text,), expected, observed)
    difference = f"{size(observed)} a step where the model says {size(expected)}"
    if observed > expected:
        text = f"On {name}, {used} sent {difference}: {percent(observed / expected - 1)} more. Other traffic shares it."
        return Traffic("other traffic", (text,), expected, observed)
    text = f"On {name}, {used} sent {difference}: the gradients take another way, or steps were made without it."
    return Traffic("too little", (text,), expected, observed)


def _bytes_per_step(time_s: Column, counter: Column, facts: Facts) -> float | None:
    """Over the time in which both samples and steps are known; a counter that went back (a reboot) adds nothing."""
    steps = facts.steps
    is_known = np.isfinite(time_s) & np.isfinite(counter)
    if steps is None or is_known.sum() < 2:
        return None
    times, counts = time_s[is_known], counter[is_known]
    ends = steps.time_s[np.isfinite(steps.time_s)]
    if len(ends) < 2:
        return None
    start, end = max(times[0], ends[0]), min(times[-1], ends[-1])
    num_steps = int(((ends > start) & (ends <= end)).sum()) * steps.steps_per_row
    if num_steps < LEAST_STEPS:
        return None
    grown = np.cumsum(np.maximum(0.0, np.diff(counts, prepend=counts[0])))
    first, last = np.interp([start, end], times, grown)
    return float(last - first) / num_steps


def did_the_wire_carry_it(facts: Facts) -> Answer:
    """The check of the interfaces as an answer of its own."""
    if facts.settings.ranks == 1:
        return Answer("traffic", None, QUESTION, "not needed", "One rank exchanges nothing.", "neutral", rule=RULE)
    found = traffic(measures_of(facts))
    sentence = found.sentences[0] if found.sentences else (
        "Undetermined: no counters of network interfaces beside steps, or bytes a step unknown."
    )  # fmt: skip
    numbers = []
    for name, value in (("expected bytes a step", found.expected_bytes), ("observed", found.observed_bytes)):
        if value is not None:
            numbers.append(Number(name, value, "B", size(value)))
    tone = (
        "good" if found.verdict in ("agrees", "not needed") else "unknown" if found.verdict == UNDETERMINED else "bad"
    )
    return Answer("traffic", None, QUESTION, found.verdict, sentence, tone, tuple(numbers), found.sentences[1:], RULE)  # type: ignore[arg-type]
