"""What it cost, and what went wrong and was survived."""

from collections import Counter

from dragoman.core.units import duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Number, money
from dragoman.report.facts import Facts
from dragoman.report.measures import measures_of
from dragoman.report.questions.busy import lost_shares

COST_RULE = "Price of all machines an hour × hours in training; what was lost is that share of it."
FAILURE_RULE = "From the run's events, and from steps that were done twice."
COLLECTIVE = ("resumed", "rolled back", "skipped", "passed over")
"""Every rank writes these down; the main one's are counted."""
TROUBLE = (*COLLECTIVE, "save", "broken", "recovered", "host lost", "host back", "silence", "stuck", "stalled", "link")


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
        is_whole = bool(facts.ended or facts.is_running or facts.source.system == "Dragoman")
        sentence = "None: it ran through." if is_whole else "None that the log tells of; it does not tell its end."
        return Answer("failures", None, question, "none", sentence, "good" if is_whole else "neutral", numbers, (),
                      FAILURE_RULE)  # fmt: skip
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
