"""What every rung of the ladder would make of a step, by the model that planner and trainer use too."""

from dragoman.report.answers import Bar, Bars, percent, seconds
from dragoman.report.measures import Measures
from dragoman.theory import cost, wire

LARGEST_STEP = 4
LOCAL_STEPS = 16


def ladder_predictions(measures: Measures, compute_s: float) -> tuple[wire.Prediction, ...]:
    """Empty where layout, model or link are unknown."""
    facts, settings = measures.facts, measures.facts.settings
    layout, link = measures.layout, measures.link or implied_link(measures)
    if layout is None or link is None or not settings.parameters or layout.num_ranks < 2:
        return ()
    num_bytes = cost.gradient_bytes(settings.parameters)
    last = num_bytes
    if settings.model and settings.source_vocabulary and settings.target_vocabulary:
        rows = cost.embedding_parameters(settings.model, settings.source_vocabulary, settings.target_vocabulary)
        last = min(num_bytes, cost.gradient_bytes(rows))
    hides = facts.source.system != "Dragoman" or bool(facts.steps is not None and not facts.steps.is_probe.all())
    compute = wire.Compute.of(compute_s) if hides else wire.Compute(compute_s, 0.0)
    inside = link if layout.num_hosts == 1 else None
    line = wire.Wire(layout, link, inside)
    row = wire.Row(num_bytes, last)
    rungs = wire.ladder(layout, max_step_factor=LARGEST_STEP, local_steps=LOCAL_STEPS)
    return tuple(wire.predict(rung, compute, row, line) for rung in rungs)


def implied_link(measures: Measures) -> wire.Link | None:
    """The rate that the run's own exchanges ran at; without records, what the step time leaves for them."""
    sent, step = measures.sent_bytes, measures.step_s
    if not sent:
        return None
    if measures.exchange is not None and measures.exchange.whole_s > 0:
        return wire.Link(sent / measures.exchange.whole_s)
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
