"""What had been foretold, beside what came."""

from collections.abc import Iterator

from dragoman.core.units import duration, size
from dragoman.report.answers import UNDETERMINED, Answer, Bar, Bars, Number, money, percent, seconds
from dragoman.report.facts import Facts, Prediction
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.exposure import exposure_of
from dragoman.report.questions.ladder import implied_link
from dragoman.theory import cost, wire

QUESTION = "Was it as predicted?"
RULE = "What the plan or the model of a step says, beside what was measured; 10 % is a good prediction."
GOOD = 0.10


def was_it_foretold(facts: Facts) -> Answer:
    """Predicted beside observed."""
    measures = measures_of(facts)
    observed = measures.step_s
    predicted, source = _predicted_step(facts, measures)
    if observed is None or predicted is None:
        why = "Undetermined: there was no plan and no preflight to predict from."
        return Answer("prediction", None, QUESTION, UNDETERMINED, why, "unknown", rule=RULE)
    off = observed.value / predicted - 1
    bars = [Bar("predicted", (("step", predicted),), seconds(predicted)),
            Bar("observed", (("step", observed.value),), seconds(observed.value))]  # fmt: skip
    number = Number("observed over predicted", off, "share", f"{100 * off:+.0f} %")
    verdict = "as predicted" if abs(off) <= GOOD else "slower" if off > 0 else "faster"
    sentence = f"A step took {seconds(observed.value)} where {source} says {seconds(predicted)} ({100 * off:+.0f} %)."
    evidence = tuple(_beside(facts, facts.prediction, measures)) if facts.prediction is not None else ()
    return Answer("prediction", None, QUESTION, verdict, sentence, "good" if verdict == "as predicted" else "neutral",
                  (number,), evidence, RULE, Bars("One step", "s", tuple(bars)))  # fmt: skip


def _beside(facts: Facts, plan: Prediction, measures: Measures) -> Iterator[str]:
    """Every number of the plan that the run can be held against."""
    if plan.machines:
        yield f"Planned for {plan.machines}."
    if plan.step_range_s and measures.step_s:
        low, high = plan.step_range_s
        inside = "inside" if low <= measures.step_s.value <= high else "outside"
        yield f"The plan's range for a step is {seconds(low)} to {seconds(high)}; the observed step lies {inside}."
    if plan.tokens_per_s and measures.tokens_per_s:
        yield f"Target tokens a second: {plan.tokens_per_s:,.0f} planned, {measures.tokens_per_s:,.0f} observed."
    exposure = exposure_of(measures)
    if plan.exposed_share is not None and exposure is not None:
        yield f"Waiting for the wire: {percent(plan.exposed_share)} planned, {percent(exposure.wire.value)} observed."
    if plan.hours and plan.num_steps and facts.training_s and facts.last_step:
        planned_s = 3600 * plan.hours * facts.last_step / plan.num_steps
        yield (
            f"{facts.last_step:,} steps: {duration(planned_s)} planned, {duration(facts.training_s)} in training, "
            f"evaluations and checkpoints included; planned to step {plan.num_steps:,}: {duration(3600 * plan.hours)}."
        )
        price = facts.settings.price_per_hour
        if plan.cost and price:
            spent = price * facts.training_s / 3600
            yield f"Cost of these: {money(plan.cost * facts.last_step / plan.num_steps)} planned, {money(spent)} spent."
    on_disk = next((found.bytes for found in reversed(facts.checkpoints) if found.bytes), None)
    if plan.checkpoint_bytes and on_disk:
        yield f"A checkpoint: {size(plan.checkpoint_bytes)} planned, {size(on_disk)} on disk."


def _predicted_step(facts: Facts, measures: Measures) -> tuple[float | None, str]:
    if facts.prediction is not None and facts.prediction.step_s:
        return facts.prediction.step_s, "the plan"
    known, layout, settings = facts.compute_step, measures.layout, facts.settings
    if facts.preflight is None or known is None or layout is None or not settings.parameters:
        return None, ""
    link = measures.link or (implied_link(measures) if layout.num_ranks == 1 else None)
    if layout.num_ranks == 1:
        return known.seconds, "the preflight"
    if link is None:
        return None, ""
    factor = (settings.wire_bytes_per_parameter or cost.FLOAT_BYTES) / cost.FLOAT_BYTES
    num_bytes = int(cost.gradient_bytes(settings.parameters) * factor)
    inside = link if layout.num_hosts == 1 else None
    found = wire.predict(wire.PLAIN, wire.Compute(known.seconds, 0.0), wire.Row(num_bytes, num_bytes),
                         wire.Wire(layout, link, inside))  # fmt: skip
    return found.step_s, "the model of a step, fed by the preflight,"
