"""How long it took, and a step: questions 1 and 10; waiting for input and padding, which follow."""

import numpy as np

from dragoman.core.units import duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Curves, Mark, Number, percent, seconds
from dragoman.report.facts import Facts
from dragoman.report.measures import LEAST_STEPS, Measures, measures_of
from dragoman.report.thinning import line
from dragoman.theory import statistics

INPUT_BOUND = 0.10
PADDED = 0.20
CLAIM_TOLERANCE = 0.1
MUCH_EVALUATION = 0.10
"""Of the time; a twentieth is enough to see how a run goes."""
PAUSE_S = 600.0
"""A longer silence between two signs of life is a pause, not training."""
DURATION_RULE = (
    "Time in training is added up over all sessions, evaluations and checkpoints included, from clocks that cannot "
    "jump; time on the wall is from the first sign of life to the last."
)
STEP_RULE = (
    "The median of single steps, the first ten left out, with a block-bootstrap interval; the spread is from the 5th "
    "to the 95th percentile."
)
INPUT_RULE = (
    "Input-bound: ranks wait for their next batch in more than 10 % of the time, at the low end of the interval."
)
PADDING_RULE = "Padding-bound: more than 20 % of the tokens that are computed are padding."


def how_long_did_it_take(facts: Facts) -> Answer:
    """Question 1."""
    question = "How long did training take?"
    took, on_wall = facts.training_s, _on_wall(facts)
    step = measures_of(facts).step_s
    if took is None and on_wall is None and facts.claims.total_s is None:
        why = "Undetermined: nothing says when it began, when it ended or how long a step took."
        return Answer("duration", 1, question, UNDETERMINED, why, "unknown", rule=DURATION_RULE)
    evidence = [*_claimed_duration(facts), *_pauses(facts)]
    numbers = []
    if took is not None:
        numbers.append(Number("time in training", took, "s", duration(took)))
    if on_wall is not None:
        numbers.append(Number("time on the wall", on_wall, "s", duration(on_wall)))
        if took is not None and on_wall > 1.05 * took + 60:
            evidence.append(f"From the first sign of life to the last {duration(on_wall)} went by on the wall.")
    measuring = _evaluation_share(facts)
    if measuring is not None and took is not None:
        in_words = f"{duration(measuring * took)}, {percent(measuring)}"
        numbers.append(Number("of it in evaluations", measuring * took, "s", in_words))
    if facts.last_step:
        numbers.append(Number("steps", facts.last_step, "steps", f"{facts.last_step:,}"))
    state = _state(facts)
    if state:
        evidence.append(state)
    main = took if took is not None else on_wall
    if main is None:
        return Answer("duration", 1, question, UNDETERMINED, evidence[0] if evidence else "", "unknown",
                      rule=DURATION_RULE)  # fmt: skip
    per_step = f" at {seconds(step.value)} a step" if step else ""
    steps = f" for {facts.last_step:,} steps{per_step}" if facts.last_step else ""
    verdict = "running" if facts.is_running else "known"
    so_far = " so far" if facts.is_running else ""
    sentence, advice = f"{duration(main)}{so_far}{steps}.", _fewer_evaluations(measuring, facts)
    return Answer("duration", 1, question, verdict, sentence, "neutral", tuple(numbers), tuple(evidence),
                  DURATION_RULE, advice=advice, shown=duration(main))  # fmt: skip


def _evaluation_share(facts: Facts) -> float | None:
    """Of the time in training; None where evaluations say nothing of their time."""
    if facts.evaluations is None or not facts.training_s:
        return None
    known = facts.evaluations.seconds[np.isfinite(facts.evaluations.seconds)]
    return min(1.0, float(known.sum()) / facts.training_s) if len(known) else None


def _fewer_evaluations(share: float | None, facts: Facts) -> tuple[Advice, ...]:
    if share is None or share <= MUCH_EVALUATION:
        return ()
    gain = f"evaluations took {percent(share)} of the time"
    text = "Evaluate less often, or on fewer held-out sentences."
    unit = "steps" if facts.settings.evaluate_every_steps else "minutes"  # no steps are set where the clock decides
    return (Advice(text, gain, share - MUCH_EVALUATION / 2, f"training.evaluate_every_{unit}"),)


def _on_wall(facts: Facts) -> float | None:
    if facts.started_s is None or facts.ended_s is None or facts.ended_s <= facts.started_s:
        return None
    return facts.ended_s - facts.started_s


def _state(facts: Facts) -> str:
    if facts.is_running:
        return "It is still running."
    if facts.ended:
        return (
            f"It ended because {facts.ended}." if facts.source.system == "Dragoman" else f"The log says: {facts.ended}."
        )
    if facts.source.system == "Dragoman" and facts.steps is not None:
        return "It did not say why it ended: it was killed, or crashed."
    return ""


def _claimed_duration(facts: Facts) -> list[str]:
    """What a person said against what the steps took."""
    claimed, steps = facts.claims.total_s, facts.last_step or facts.claims.steps
    known = facts.training_s
    floor = facts.compute_step.seconds if facts.compute_step else None
    if claimed is None or not steps:
        return []
    if known is not None and abs(claimed / known - 1) > CLAIM_TOLERANCE:
        return [f"The {duration(claimed)} that were told do not fit the {duration(known)} that the records add up to."]
    if floor is not None and claimed / steps < floor:
        least = duration(steps * floor)
        return [
            f"{duration(claimed)} for {steps:,} steps is impossible: {claimed / steps:.2f} s a step, where computing "
            f"alone takes {floor:.2f} s; it must have been at least {least}."
        ]
    return [f"{duration(claimed)} for {steps:,} steps was told: {claimed / steps:.2f} s a step, evaluations included."]


def _pauses(facts: Facts) -> list[str]:
    steps = facts.steps
    if steps is None or steps.steps_per_row > 1:
        return []
    gaps, known = np.diff(steps.time_s), steps.step_s[np.isfinite(steps.step_s)]
    lost = gaps[np.isfinite(gaps) & (gaps > PAUSE_S + 20 * (np.median(known) if len(known) else 0.0))]
    found = []
    if len(lost):
        found.append(f"{len(lost)} pauses of together {duration(float(lost.sum()))} lie between steps.")
    if (gaps < -1).any():
        found.append("The clock jumped back; durations are added up from steps and are not affected.")
    return found


def how_long_did_a_step_take(facts: Facts) -> Answer:
    """Question 10."""
    question = "How long did a step take?"
    measures = measures_of(facts)
    step, steady = measures.step_s, measures.steady
    evidence = _claimed_step(facts, step.value if step else None)
    if step is None:
        why = evidence[0] if evidence else "Undetermined: no step was timed."
        return Answer("step", 10, question, UNDETERMINED, why, "unknown", rule=STEP_RULE)
    text = f"{seconds(step.value)} ({seconds(step.low)} to {seconds(step.high)})"
    numbers = [Number("median step", step.value, "s", text, step.low, step.high)]
    spread = ""
    if steady is not None and len(steady) >= LEAST_STEPS:
        low, high = np.quantile(steady.step_s, [0.05, 0.95])
        spread = f"; nine in ten took between {seconds(float(low))} and {seconds(float(high))}"
        numbers.append(Number("mean step", float(steady.step_s.mean()), "s", seconds(float(steady.step_s.mean()))))
    if measures.tokens_per_s:
        numbers.append(Number("target tokens a second", measures.tokens_per_s, "1/s", f"{measures.tokens_per_s:,.0f}"))
    if steady is None:
        evidence.append("Only the mean over the whole run is known.")
    elif steady.steps_per_row > 1:
        evidence.append(f"The log has one time for every {steady.steps_per_row:,} steps.")
    sentence = (
        f"{seconds(step.value)}, the median{spread}." if steady is not None else f"{seconds(step.value)} on average."
    )
    return Answer("step", 10, question, "known", sentence, "neutral", tuple(numbers), tuple(evidence), STEP_RULE,
                  _step_chart(measures), shown=seconds(step.value))  # fmt: skip


def _claimed_step(facts: Facts, known: float | None) -> list[str]:
    """What a person said, read the right way round."""
    claimed = facts.claims.step_s
    if not claimed:
        return []
    if known is None and facts.claims.total_s and facts.claims.steps:
        known = facts.claims.total_s / facts.claims.steps
    floor = facts.compute_step.seconds if facts.compute_step else None
    is_impossible = floor is not None and claimed < floor
    if known is not None and abs(claimed / known - 1) <= CLAIM_TOLERANCE:
        return []
    if (known is not None and abs(1 / claimed / known - 1) <= CLAIM_TOLERANCE) or (
        is_impossible and floor is not None and 1 / claimed > floor
    ):
        why = f": computing alone takes {floor:.2f} s" if is_impossible else ""
        return [f"“{claimed:g}” is steps per second read upside down; a step took {1 / claimed:.2f} s{why}."]
    if known is not None and abs(claimed / 60 / known - 1) <= CLAIM_TOLERANCE:
        return [f"{duration(claimed)} was told; {claimed / 60:.3g} s is meant, minutes for seconds."]
    if known is not None:
        return [f"The {seconds(claimed)} that were told do not fit {seconds(known)}."]
    return [f"{seconds(claimed)} were told, and nothing was recorded to check it."]


def _step_chart(measures: Measures) -> Curves | None:
    steps = measures.steady
    if steps is None:
        return None
    x = steps.step.astype(float)
    lines = [line("step", x, steps.step_s)]
    marks = tuple(Mark(float(e.step), e.kind) for e in measures.facts.events if e.kind in ("resumed", "rolled back"))
    return Curves("Time of a step", "step", "seconds", tuple(lines), marks[:12], is_y_from_zero=True)


def did_it_wait_for_input(facts: Facts) -> Answer:
    """Waiting for batches."""
    question, steps = "Did it wait for input?", measures_of(facts).steady
    found = None if steps is None else statistics.ratio(steps.data_wait_s, steps.step_s)
    if found is None:
        why = "Undetermined: waiting for batches was not recorded."
        return Answer("input", None, question, UNDETERMINED, why, "unknown", rule=INPUT_RULE)
    text = f"{percent(found.value)} ({percent(found.low)} to {percent(found.high)})"
    number = Number("waiting for batches", found.value, "share", text, found.low, found.high)
    if found.low > INPUT_BOUND:
        advice = Advice(
            "Feed it faster: put the corpus on a local disk, or leave a core free for reading.",
            f"{percent(found.value)} of the time",
            found.value,
        )
        sentence = f"Yes: {percent(found.value)} of the time went into waiting for the next batch."
        return Answer("input", None, question, "yes", sentence, "bad", (number,), (), INPUT_RULE, advice=(advice,))
    verdict = "no" if found.high < INPUT_BOUND else UNDETERMINED
    word = "No" if verdict == "no" else "Undetermined"
    sentence = f"{word}: {percent(found.value)} of the time was waiting for the next batch."
    return Answer("input", None, question, verdict, sentence, "good" if verdict == "no" else "unknown", (number,), (),
                  INPUT_RULE)  # fmt: skip


def how_much_was_padding(facts: Facts) -> Answer:
    """Tokens that were computed for nothing."""
    question, steps = "How much was padding?", facts.steps
    if steps is None or not np.nansum(steps.padded_tokens) > 0:
        why = "Undetermined: padded tokens were not recorded."
        return Answer("padding", None, question, UNDETERMINED, why, "unknown", rule=PADDING_RULE)
    share = float(1 - np.nansum(steps.real_tokens) / np.nansum(steps.padded_tokens))
    number = Number("padding", share, "share", percent(share))
    if share > PADDED:
        advice = Advice(
            "Make rectangles of sentences of similar length, or allow more tokens a micro-batch.",
            f"up to {percent(share)} of the computing",
            share,
            "batching.tokens_per_micro_batch",
        )
        sentence = f"Much: {percent(share)} of the computed tokens were padding."
        return Answer("padding", None, question, "much", sentence, "bad", (number,), (), PADDING_RULE, advice=(advice,))
    sentence = f"Little: {percent(share)} of the computed tokens were padding."
    return Answer("padding", None, question, "little", sentence, "good", (number,), (), PADDING_RULE)
