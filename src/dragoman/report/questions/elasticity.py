"""How step time relates to the network: question 11."""

import math

import numpy as np

from dragoman.report.answers import UNDETERMINED, Answer, Bar, Bars, Number, seconds
from dragoman.report.facts import Facts
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.exposure import Exposure, exposure_of
from dragoman.report.questions.network import BOTTLENECK, HARMLESS, latency_share
from dragoman.theory import cost, statistics
from dragoman.theory.statistics import Estimate

QUESTION = "How does step time relate to network use?"
RULE = (
    "d ln(step time) / d ln(bandwidth): by how many percent a step gets shorter on a link that is one percent faster. "
    "From the measured exchange and the share of it that sticks out of backward."
)
CORRELATION = (
    "With a fixed number of bytes a step, throughput is bytes divided by time: the two move against each other by "
    "construction, whatever causes what. The raw correlation{shown} therefore proves nothing."
)


def how_step_time_relates_to_the_network(facts: Facts) -> Answer:
    """Question 11."""
    measures = measures_of(facts)
    if facts.settings.ranks == 1:
        number = Number("elasticity", 0.0, "", "0", 0.0, 0.0)
        sentence = "Not at all: one rank uses no network, so no link would change its step time."
        return Answer("elasticity", 11, QUESTION, "none", sentence, "good", (number,), rule=RULE)
    shown = _raw_correlation(measures)
    exposure = exposure_of(measures)
    if exposure is None:
        why = "Undetermined: it takes the exchange time, or the step time without a network."
        return Answer("elasticity", 11, QUESTION, UNDETERMINED, why, "unknown",
                      evidence=(CORRELATION.format(shown=shown),), rule=RULE)  # fmt: skip
    found = elasticity_of(measures, exposure)
    twice = _on_twice_the_link(exposure, found)
    verdict = "strong" if found.high < -BOTTLENECK else "none" if found.low > -HARMLESS else "weak"
    if found.low < -BOTTLENECK <= found.high:
        verdict = UNDETERMINED if found.high > -HARMLESS else "weak"
    text = f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
    now = seconds(exposure.step_s)
    then = f"{seconds(twice)} instead of {now}" if seconds(twice) != now else f"{now} as before"
    sentence = (
        f"A link 1 % faster makes a step {abs(found.value):.2f} % shorter ({abs(found.high):.2f} to "
        f"{abs(found.low):.2f} %); on one twice as fast a step would take {then}."
    )
    numbers = (
        Number("elasticity", found.value, "", text, found.low, found.high),
        Number("step on a link twice as fast", twice, "s", seconds(twice)),
    )
    evidence = (*_observed_elasticity(measures), CORRELATION.format(shown=shown))
    return Answer("elasticity", 11, QUESTION, verdict, sentence, "neutral", numbers, evidence,
                  RULE, _one_step(measures))  # fmt: skip


def elasticity_of(measures: Measures, exposure: Exposure) -> Estimate:
    """Minus the part of a step that scales with bandwidth.

    Where the exchange outlasts backward, all of it is on the critical path; where only the last bucket sticks out, just
    that. Latency does not scale with bandwidth.
    """
    scales = 1 - (latency_share(measures, measures.link) if measures.link else 0.0)
    wait, step_s = exposure.wire, exposure.step_s
    whole = (exposure.whole_s or 0.0) / step_s
    settings = measures.facts.settings
    last_share = 1.0
    if settings.model and settings.parameters and settings.target_vocabulary and settings.source_vocabulary:
        rows = cost.embedding_parameters(settings.model, settings.source_vocabulary, settings.target_vocabulary)
        last_share = min(1.0, rows / settings.parameters)
    outlasts = wait.value > max(HARMLESS, 1.15 * whole * last_share)
    factor = max(1.0, whole / wait.value) if outlasts and wait.value > 0 else 1.0
    value, low, high = (-min(1.0, factor * share) * scales for share in (wait.value, wait.high, wait.low))
    return Estimate(value, low, high)


def _on_twice_the_link(exposure: Exposure, found: Estimate) -> float:
    """Half of what scales goes, but never more than sticks out."""
    saved = min(exposure.wire.value, 0.5 * abs(found.value))
    return exposure.step_s * (1 - saved)


def _raw_correlation(measures: Measures) -> str:
    steps = measures.steady
    if steps is None or not measures.sent_bytes:
        return ""
    bytes_sent = np.where(np.isfinite(steps.wire_bytes), steps.wire_bytes, measures.sent_bytes)
    found = statistics.correlation(steps.step_s, bytes_sent / steps.step_s)
    return f" of {found:.2f}" if found is not None and math.isfinite(found) else ""


def _observed_elasticity(measures: Measures) -> list[str]:
    """Where the link itself varied: step times between probes against the bandwidth that the probes saw."""
    steps = measures.steady
    if steps is None or measures.exchange is None or steps.is_probe.all():
        return []
    places = np.flatnonzero(steps.is_probe)
    waits = steps.exchange_s[places] - np.nan_to_num(steps.skew_s[places])
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = steps.wire_bytes[places] / waits
    around = np.array([np.median(steps.step_s[place + 1 : place + 11]) if place + 1 < len(steps) else np.nan
                       for place in places])  # fmt: skip
    is_usable = np.isfinite(rates) & (rates > 0) & np.isfinite(around)
    if is_usable.sum() < statistics.LEAST_WINDOWS or np.std(np.log(rates[is_usable])) < 0.05:
        return []
    found = statistics.elasticity(rates[is_usable], around[is_usable])
    if found is None:
        return []
    return [
        f"Where the link itself varied, over {int(is_usable.sum())} probes, the steps after each changed with an "
        f"elasticity of {found.value:.2f} ({found.low:.2f} to {found.high:.2f})."
    ]


def _one_step(measures: Measures) -> Bars | None:
    found = measures.exchange
    if found is None:
        return None
    hidden = max(0.0, found.whole_s - found.wire.value * found.step_s)
    parts = (
        ("computing", found.compute_s),
        ("waiting for the wire", found.wire.value * found.step_s),
        ("waiting for slower ranks", found.skew.value * found.step_s),
    )
    text = f"{seconds(found.step_s)}; {seconds(hidden)} more of the exchange are hidden behind computing"
    return Bars("One step", "s", (Bar("step", parts, text),))
