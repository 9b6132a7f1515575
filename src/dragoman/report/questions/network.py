"""Was the network the bottleneck, and what would another link change: questions 5 and 11."""

import numpy as np

from dragoman.core.units import size
from dragoman.report.answers import (
    UNDETERMINED,
    Advice,
    Answer,
    Curves,
    Mark,
    Number,
    Tone,
    lost_to,
    percent,
    seconds,
    share_number,
)
from dragoman.report.facts import Bucket, Facts
from dragoman.report.foreign.links import wire_sentence
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.degradation import degradation
from dragoman.report.questions.exposure import Exposure, exposure_of
from dragoman.report.questions.ladder import is_step_too_small, ladder_bars, ladder_predictions
from dragoman.report.questions.stragglers import UNEVEN, straggler_of
from dragoman.report.questions.traffic import traffic
from dragoman.report.thinning import line
from dragoman.theory import wire
from dragoman.theory.statistics import Change

BOTTLENECK, HARMLESS = 0.15, 0.05
"""Exposed shares from which the network is the bottleneck, and below which it is not."""
FULL_LINK, IDLE_LINK = 0.7, 0.5
"""Achieved over measured bandwidth: from here on the link is full; below here something else slows the exchange."""
RULE = (
    "By intervention, not by correlation: steps that exchange while they compute are compared with probe steps that do "
    "not; waiting for slower ranks is taken off. Yes: more than 15 % of a step is exposed wait, at the low end of the "
    "95 % interval. No: less than 5 % at the high end. Slightly: in between. Bandwidth-bound: the exchange runs at "
    "70 % or more of what the preflight measured. Small batches: a link of 100 Gb/s would leave 30 % or more. "
    "Degraded: from some step on, 40 steps or more before the end, an exchange takes lastingly 1.5 times as long."
)
QUESTION = "Was the network the bottleneck?"


def was_the_network_the_bottleneck(facts: Facts) -> Answer:
    """Question 5."""
    measures = measures_of(facts)
    if facts.settings.ranks == 1:
        sentence = "No: one rank trains alone and exchanges nothing."
        return Answer("network", 5, QUESTION, "no", sentence, "good", rule=RULE)
    exposure, crossing = exposure_of(measures), traffic(measures)
    evidence = [*_physics(measures), *crossing.sentences]
    if exposure is None:
        why = "Undetermined: neither the wait for gradients nor the step time without a network is known."
        return Answer("network", 5, QUESTION, UNDETERMINED, why, "unknown", evidence=tuple(evidence), rule=RULE)
    change = degradation(measures)
    verdict, kind = _verdict(exposure), _kind(measures, exposure, change)
    evidence = [*_exposure_sentences(exposure, change, measures), *evidence]
    rungs = ladder_predictions(measures, exposure.compute_s) if verdict != "no" else ()
    return Answer(
        key="network",
        number=5,
        question=QUESTION,
        verdict=kind if verdict == "yes" or kind in ("degraded", "straggler", "uneven") else verdict,
        sentence=_sentence(verdict, kind, exposure, change, measures),
        tone=_tone(verdict, kind),
        numbers=(share_number("exposed wait for the wire", exposure.wire), *_numbers(measures, exposure)),
        evidence=tuple(evidence),
        rule=RULE,
        chart=ladder_bars(rungs, exposure.step_s) or _exchange_chart(measures, change),
        advice=_advice(verdict, kind, exposure, rungs, measures),
    )


def _tone(verdict: str, kind: str) -> Tone:
    if verdict == "yes" or kind in ("degraded", "straggler", "uneven"):
        return "bad"
    tones: dict[str, Tone] = {"no": "good", "slightly": "neutral"}
    return tones.get(verdict, "unknown")


def _verdict(exposure: Exposure) -> str:
    if exposure.wire.low > BOTTLENECK:
        return "yes"
    if exposure.wire.high < HARMLESS:
        return "no"
    return "slightly" if exposure.wire.high < BOTTLENECK else UNDETERMINED


def _kind(measures: Measures, exposure: Exposure, change: Change | None) -> str:
    """What the waiting is: for a slow rank, a link that degraded, bandwidth, latency; or simply the network."""
    if is_skewed(exposure):
        return "straggler" if straggler_of(measures) is not None else "uneven"
    if change is not None:
        return "degraded"
    if is_step_too_small(measures, exposure.compute_s):
        return "small batches"
    achieved, link = _achieved(measures, exposure), measures.link
    if achieved is None or link is None:
        return "network-bound"
    if latency_share(measures, link) > 0.5:
        return "latency-bound"
    reached = achieved / link.bytes_per_s
    return (
        "bandwidth-bound"
        if reached >= FULL_LINK
        else "slower than measured"
        if reached < IDLE_LINK
        else "network-bound"
    )


def _achieved(measures: Measures, exposure: Exposure) -> float | None:
    """Bytes a second through the wire while gradients are exchanged."""
    if not exposure.whole_s or measures.exchange_bytes is None:
        return None
    return measures.exchange_bytes / exposure.whole_s


def is_skewed(exposure: Exposure) -> bool:
    """Whether ranks wait for one another rather than for the wire."""
    skew = exposure.skew
    return skew is not None and skew.low > exposure.wire.high and skew.value > UNEVEN


def latency_share(measures: Measures, link: wire.Link) -> float:
    """Of an exchange on the measured link: the part that empty messages would take as well."""
    ranks = measures.facts.settings.ranks
    if not ranks or not measures.exchange_bytes:
        return 0.0
    latency_s = 2 * (ranks - 1) * link.latency_s
    return latency_s / (latency_s + measures.exchange_bytes / link.bytes_per_s)


def _physics(measures: Measures) -> list[str]:
    """Bytes a step and the rate that the step time implies."""
    sent, step = measures.sent_bytes, measures.step_s
    ranks = measures.facts.settings.ranks
    if not sent or step is None or not ranks:
        return []
    whole = f" of {size(measures.row_bytes)} of gradients" if measures.row_bytes else ""
    known = measures.facts.compute_step
    link = wire_sentence(sent, step.value, known.seconds if known else None) if measures.exchange is None else None
    return [
        f"Each of {ranks} ranks sends {size(sent)} a step{whole} and receives as much: at {seconds(step.value)} a step "
        f"that is {size(sent / step.value)}/s each way, averaged over the whole step.",
        *([link] if link else []),
    ]


def _exposure_sentences(exposure: Exposure, change: Change | None, measures: Measures) -> list[str]:
    skew = f"; waiting for slower ranks {percent(exposure.skew.value)}" if exposure.skew is not None else ""
    found = [
        f"Waiting for the wire takes {percent(exposure.wire.value)} of a step ({percent(exposure.wire.low)} to "
        f"{percent(exposure.wire.high)}), from {exposure.basis}{skew}."
    ]
    achieved, link = _achieved(measures, exposure), measures.link
    if achieved is not None and link is not None:
        found.append(
            f"An exchange runs at {size(achieved)}/s; the preflight measured {size(link.bytes_per_s)}/s and "
            f"{seconds(link.latency_s)} a hop."
        )
    elif achieved is not None:
        found.append(f"An exchange runs at {size(achieved)}/s; no preflight says what the link could do.")
    found += _bucket_sentences(measures.facts.buckets)
    if change is not None and change.after > change.before:
        found.append(
            f"From step {change.index:,} on, waiting for gradients took {seconds(change.after)} a step instead of "
            f"{seconds(change.before)} (p = {change.p_value:.3f})."
        )
    return found


def _bucket_sentences(buckets: tuple[Bucket, ...]) -> list[str]:
    """What backward hid, and what it could not."""
    exposed_s = sum(bucket.exposed_s for bucket in buckets)
    if len(buckets) < 2 or exposed_s <= 0:
        return []
    num_hidden, last = sum(bucket.end_s <= 0 for bucket in buckets), buckets[-1]
    return [
        f"Backward hides {num_hidden} of {len(buckets)} buckets of gradients; the last one, {size(last.num_bytes)} "
        f"that nothing can hide, makes {percent(last.exposed_s / exposed_s)} of the wait."
    ]


def _sentence(verdict: str, kind: str, exposure: Exposure, change: Change | None, measures: Measures) -> str:
    share = f"{percent(exposure.wire.value)} of every step waited for the wire"
    if kind == "degraded" and change is not None:
        factor, waited = change.after / change.before, _waited(measures)
        return (
            f"The link degraded: from step {change.index:,} on, waiting for gradients took {factor:.1f} times as long; "
            f"{percent(waited)} of the time of the run was such waiting."
        )
    if kind in ("straggler", "uneven") and exposure.skew is not None:
        whom = "the slowest of them" if kind == "straggler" else "one another, now for one and now for another"
        return (
            f"No: ranks wait for {whom} ({percent(exposure.skew.value)} of a step), not for the wire "
            f"({percent(exposure.wire.value)})."
        )
    if verdict == "no":
        return f"No: {share}, too little to matter however busy the link was."
    if verdict == "slightly":
        return f"Slightly: {share}."
    if verdict == UNDETERMINED:
        return f"Undetermined: between {percent(exposure.wire.low)} and {percent(exposure.wire.high)} of a step waits."
    why = {
        "bandwidth-bound": "the link was full",
        "latency-bound": "many small messages, not bytes, took the time",
        "slower than measured": "the exchange ran far below what the preflight measured",
        "network-bound": "the link set the pace",
        "small batches": "steps are so small that even a link of 100 Gb/s would be waited for",
    }[kind]
    lost = lost_to(exposure.wire.value, measures.facts)
    return f"Yes: {share}{lost}; {why}. Without the wait a step would take {seconds(exposure.compute_s)}."


def _waited(measures: Measures) -> float:
    """Of all the time of the run: medians hide a change half-way."""
    steps = measures.steady
    return float(np.nansum(steps.exchange_s) / np.nansum(steps.step_s)) if steps is not None else 0.0


def _numbers(measures: Measures, exposure: Exposure) -> tuple[Number, ...]:
    numbers = [share_number("waiting for slower ranks", exposure.skew)] if exposure.skew is not None else []
    if measures.sent_bytes:
        numbers.append(Number("bytes a step and rank, each way", measures.sent_bytes, "B", size(measures.sent_bytes)))
        implied = measures.sent_bytes / exposure.step_s
        numbers.append(Number("implied rate", implied, "B/s", f"{size(implied)}/s"))
    if achieved := _achieved(measures, exposure):
        numbers.append(Number("achieved rate during exchange", achieved, "B/s", f"{size(achieved)}/s"))
    if measures.link:
        available = measures.link.bytes_per_s
        numbers.append(Number("rate that the preflight measured", available, "B/s", f"{size(available)}/s"))
    numbers.append(Number("step without exchange", exposure.compute_s, "s", seconds(exposure.compute_s)))
    return tuple(numbers)


def _advice(
    verdict: str, kind: str, exposure: Exposure, rungs: tuple[wire.Prediction, ...], measures: Measures
) -> tuple[Advice, ...]:
    share = exposure.wire.value
    if kind == "degraded":
        share = _waited(measures)
        text = "Look at the link: cables, neighbours on the same host, limits of the provider."
        return (Advice(text, f"up to {percent(share)} of the time", share),)
    if verdict != "yes":
        return ()
    if kind == "small batches":
        text = "Take more tokens a step: an exchange costs the same however many there are."
        return (Advice(text, f"twice the tokens a step save {percent(share / 2)} of the time", share / 2,
                       "batching.tokens_per_step"),)  # fmt: skip
    # Rungs that change the recipe (larger steps, local steps) are for the person to choose.
    same = [found for found in rungs if found.rung.step_factor == 1 and found.rung.local_steps == 1]
    better = [found for found in same if found.step_s < 0.95 * exposure.step_s]
    if better:
        best = next((rung for rung in better if rung.exposed_share < wire.ENOUGH), min(better, key=lambda r: r.step_s))
        saved = 1 - best.step_s / exposure.step_s
        text = f"Send less: {best.rung.name.replace('_', ' ')} ({best.rung.explanation})."
        gain = f"{seconds(best.step_s)} instead of {seconds(exposure.step_s)} a step, {percent(saved)} less time"
        return (Advice(text, gain, saved, f'communication.mode = "{best.rung.name}"'),)
    text = "Send less (half precision or 8 bits on the wire, larger steps), or rent a faster link or one larger host."
    return (Advice(text, f"up to {percent(share)} of the time", share),)


def _exchange_chart(measures: Measures, change: Change | None) -> Curves | None:
    steps = measures.steady
    if steps is None or not np.isfinite(steps.exchange_s).any():
        return None
    x = steps.step.astype(float)
    lines = (
        line("step", x, steps.step_s, smooth=True),
        line("waiting for gradients", x, steps.exchange_s, smooth=True),
    )
    marks = (Mark(float(change.index), "degraded"),) if change else ()
    return Curves("Time of a step, and waiting in it", "step", "seconds", lines, marks, is_y_from_zero=True)
