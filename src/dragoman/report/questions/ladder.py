"""What every rung of the ladder would make of a step, by the model that planner and trainer use too."""

from dragoman.report.answers import Bar, Bars, percent, seconds
from dragoman.report.facts import Settings
from dragoman.report.measures import Measures
from dragoman.theory import cost, wire

LARGEST_STEP = 4
LOCAL_STEPS = 16
FAST_LINK = wire.Link(12.5e9, 20e-6)
"""100 Gb/s: about the fastest that can be rented by the hour."""
TOO_SMALL = 0.30
"""Of a step: more waiting than this on such a link."""


def ladder_predictions(measures: Measures, compute_s: float) -> tuple[wire.Prediction, ...]:
    """Empty where layout, model or link are unknown."""
    facts, settings = measures.facts, measures.facts.settings
    layout, link = measures.layout, measures.link or implied_link(measures)
    if layout is None or link is None or not settings.parameters or layout.num_ranks < 2:
        return ()
    hides = facts.source.system != "Dragoman" or bool(facts.steps is not None and not facts.steps.is_probe.all())
    compute = wire.Compute.of(compute_s) if hides else wire.Compute(compute_s, 0.0)
    inside = link if layout.num_hosts == 1 else None
    line = wire.Wire(layout, link, inside)
    row = _row(settings)
    rungs = wire.ladder(layout, max_step_factor=LARGEST_STEP, local_steps=LOCAL_STEPS)
    return tuple(wire.predict(rung, compute, row, line) for rung in rungs)


def _row(settings: Settings) -> wire.Row:
    """The gradients; the tied embedding is ready last."""
    num_bytes = cost.gradient_bytes(settings.parameters or 0)
    if settings.model and settings.source_vocabulary and settings.target_vocabulary:
        rows = cost.embedding_parameters(settings.model, settings.source_vocabulary, settings.target_vocabulary)
        return wire.Row(num_bytes, min(num_bytes, cost.gradient_bytes(rows)))
    return wire.Row(num_bytes, num_bytes)


def is_step_too_small(measures: Measures, compute_s: float) -> bool:
    """Whether even a link of 100 Gb/s would be waited for: then not the link is too slow, but the step too small."""
    layout, settings = measures.layout, measures.facts.settings
    if layout is None or layout.num_ranks < 2 or not settings.parameters:
        return False
    line = wire.Wire(layout, FAST_LINK, FAST_LINK if layout.num_hosts == 1 else None)
    found = wire.predict(wire.PLAIN, wire.Compute.of(compute_s), _row(settings), line)
    return found.exposed_share > TOO_SMALL


def implied_link(measures: Measures) -> wire.Link | None:
    """The rate that the run's own exchanges ran at; without records, what the step time leaves for them."""
    sent, step = measures.sent_bytes, measures.step_s
    if not sent:
        return None
    if measures.exchange is not None and measures.exchange.whole_s > 0:
        return wire.Link((measures.exchange_bytes or sent) / measures.exchange.whole_s)
    known = measures.facts.compute_step
    if known is None or step is None or step.value <= known.seconds:
        return None
    hidden_s = wire.Compute.of(known.seconds).overlap_s
    return wire.Link(sent / (step.value - known.seconds + hidden_s))


def ladder_bars(rungs: tuple[wire.Prediction, ...], now_s: float) -> Bars | None:
    """Predicted step times beside the measured one."""
    if not rungs:
        return None
    bars = [Bar("as it ran", (("measured", now_s),), f"{seconds(now_s)} measured")]
    for found in rungs:
        parts = (("computing", found.compute_s / found.rung.step_factor),
                 ("waiting", found.exposed_s / found.rung.step_factor))  # fmt: skip
        text = f"{seconds(found.step_s)}, {percent(found.exposed_share)} waiting"
        bars.append(Bar(found.rung.name.replace("_", " "), parts, text))
    return Bars("Predicted time for the tokens of one step, by how gradients cross the wire", "s", tuple(bars))
