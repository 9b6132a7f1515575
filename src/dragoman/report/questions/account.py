"""What it cost, what went wrong and was survived, and what had been foretold."""

from collections import Counter

from dragoman.core.units import duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Bar, Bars, Number, money, seconds
from dragoman.report.facts import Facts
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.busy import lost_shares
from dragoman.report.questions.ladder import implied_link
from dragoman.theory import cost, wire

COST_RULE = "Price of all machines an hour × hours in training; what was lost is that share of it."
FAILURE_RULE = "From the run's events, and from steps that were done twice."
PREDICTION_RULE = "What the plan or the model of a step says, beside what was measured; 10 % is a good prediction."
COLLECTIVE = ("resumed", "rolled back", "skipped", "passed over")
"""Every rank writes these down; the main one's are counted."""
TROUBLE = (*COLLECTIVE, "save", "broken", "recovered", "host lost", "host back", "silence", "stuck", "stalled", "link")
GOOD = 0.10


def what_did_it_cost(facts: Facts) -> Answer:
    """Money."""
    question, price, took = "What did it cost?", facts.settings.price_per_hour, facts.training_s
    if not price or not took:
        why = "Undetermined: no price an hour is set." if not price else "Undetermined: how long it took is unknown."
        fix = " Set training.price_per_hour to see it." if not price and facts.source.system == "Dragoman" else ""
        return Answer("cost", None, question, UNDETERMINED, why + fix, "unknown", rule=COST_RULE)
    spent = price * took / 3600
    lost = lost_shares(measures_of(facts)) or {}
    wasted = min(1.0, sum(lost.values()))
    numbers = (
        Number("spent", spent, "money", money(spent)),
        Number("spent on waiting and padding", spent * wasted, "money", money(spent * wasted)),
    )
    tail = f"; {money(spent * wasted)} of it went into waiting and padding" if wasted > 0.01 else ""
    sentence = f"{money(spent)}: {duration(took)} at {price:g} an hour{tail}."
    evidence = tuple(f"{money(spent * share)}: {name}." for name, share in lost.items() if share > 0.01)
    return Answer("cost", None, question, "known", sentence, "neutral", numbers, evidence, COST_RULE,
                  shown=money(spent))  # fmt: skip


def what_went_wrong(facts: Facts) -> Answer:
    """Failures survived, and the time they cost."""
    question = "Which failures did it survive, and what did they cost?"
    if not facts.events and facts.redone_steps is None:
        why = "Undetermined: no events were recorded."
        return Answer("failures", None, question, UNDETERMINED, why, "unknown", rule=FAILURE_RULE)
    troubles = [
        event for event in facts.events if event.kind in TROUBLE and (event.rank == 0 or event.kind not in COLLECTIVE)
    ]
    kinds = Counter(event.kind for event in troubles)
    told_s = sum(event.lost_s for event in facts.events if event.lost_s)
    lost_s = told_s + (facts.redone_s or 0.0)
    is_crashed = facts.source.system == "Dragoman" and facts.ended is None and not facts.is_running and facts.steps
    numbers = (
        Number("time lost", lost_s, "s", duration(lost_s)),
        Number("steps done again", facts.redone_steps, "steps", f"{facts.redone_steps or 0:,}"),
        Number("resumes", kinds["resumed"], "", f"{kinds['resumed']}"),
    )
    evidence = tuple(f"Step {event.step:,}: {event.kind}: {event.text}" for event in troubles[:20])
    if len(troubles) > 20:
        evidence += (f"and {len(troubles) - 20:,} more.",)
    if not troubles and not facts.redone_steps and not is_crashed:
        return Answer("failures", None, question, "none", "None: it ran through.", "good", numbers, (), FAILURE_RULE)
    names = ", ".join(f"{number} × {kind}" for kind, number in kinds.items()) or "none recorded"
    redone = f"; {facts.redone_steps:,} steps were done again" if facts.redone_steps else ""
    end = " The last session ended without a word: killed, or crashed." if is_crashed else ""
    sentence = f"{names}{redone}; {duration(lost_s)} lost.{end}"
    share = lost_s / facts.training_s if facts.training_s else 0.0
    advice: tuple[Advice, ...] = ()
    if share > 0.02:
        advice = (Advice("Save checkpoints more often.", f"up to {duration(lost_s)} of lost work", share,
                         "training.save_every_minutes"),)  # fmt: skip
    verdict = "crashed" if is_crashed else "survived"
    return Answer("failures", None, question, verdict, sentence, "bad" if is_crashed else "neutral", numbers, evidence,
                  FAILURE_RULE, advice=advice)  # fmt: skip


def was_it_foretold(facts: Facts) -> Answer:
    """Predicted beside observed."""
    question = "Was it as predicted?"
    measures = measures_of(facts)
    observed = measures.step_s
    predicted, source = _predicted_step(facts, measures)
    if observed is None or predicted is None:
        why = "Undetermined: there was no plan and no preflight to predict from."
        return Answer("prediction", None, question, UNDETERMINED, why, "unknown", rule=PREDICTION_RULE)
    off = observed.value / predicted - 1
    bars = [Bar("predicted", (("step", predicted),), seconds(predicted)),
            Bar("observed", (("step", observed.value),), seconds(observed.value))]  # fmt: skip
    number = Number("observed over predicted", off, "share", f"{100 * off:+.0f} %")
    verdict = "as predicted" if abs(off) <= GOOD else "slower" if off > 0 else "faster"
    sentence = f"A step took {seconds(observed.value)} where {source} says {seconds(predicted)} ({100 * off:+.0f} %)."
    evidence = []
    plan = facts.prediction
    if plan is not None and plan.hours and facts.training_s:
        evidence.append(f"Planned: {plan.hours:.3g} h to the end; in training so far: {facts.training_s / 3600:.3g} h.")
    return Answer("prediction", None, question, verdict, sentence, "good" if verdict == "as predicted" else "neutral",
                  (number,), tuple(evidence), PREDICTION_RULE, Bars("One step", "s", tuple(bars)))  # fmt: skip


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
