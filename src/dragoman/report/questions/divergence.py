"""Did it diverge, and what did that cost."""

import numpy as np

from dragoman.core.units import counted, duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Curves, Number, money
from dragoman.report.columns import Column, Evaluations, StepColumns
from dragoman.report.facts import Facts
from dragoman.report.measures import measures_of
from dragoman.report.thinning import line

WORSE = 1.5
"""Times the first loss: no model that learns gets there."""
DIVERGED_RULE = "Diverged: the loss or the gradient norm is no finite number, and no later step brings it back."


def diverged_at(facts: Facts) -> int | None:
    """The first step of a stretch of non-finite numbers that lasts to the end; None if there is no such stretch."""
    found = []
    for part, losses in _measured(facts):
        is_told = np.isfinite(losses) | part.is_non_finite
        steps, is_bad = part.step[is_told], part.is_non_finite[is_told]
        if len(is_bad) and is_bad[-1]:
            good = np.flatnonzero(~is_bad)
            found.append(int(steps[good[-1] + 1 if len(good) else 0]))
    return min(found, default=None)


def _measured(facts: Facts) -> list[tuple[StepColumns | Evaluations, Column]]:
    """Whatever has losses."""
    found: list[tuple[StepColumns | Evaluations, Column]] = []
    if facts.steps is not None:
        found.append((facts.steps, facts.steps.loss))
    if facts.evaluations is not None:
        found.append((facts.evaluations, facts.evaluations.dev_loss))
    return found


def did_it_diverge(facts: Facts) -> Answer:
    """What non-finite numbers there were, and what they cost."""
    question = "Did it diverge?"
    steps, bad_step = facts.steps, diverged_at(facts)
    if steps is None and facts.evaluations is None:
        return Answer("divergence", None, question, UNDETERMINED, "Undetermined: there are no losses.", "unknown",
                      rule=DIVERGED_RULE)  # fmt: skip
    norm_chart = _norms(facts)
    if bad_step is not None:
        last = facts.last_step or bad_step
        wasted, lost = last - bad_step + 1, ""
        step_s = measures_of(facts).step_s
        if step_s is not None:
            price = facts.settings.price_per_hour
            lost = f": {duration(wasted * step_s.value)}"
            lost += f" and {money(price * wasted * step_s.value / 3600)}" if price else ""
        sentence = (
            f"Yes: from step {bad_step:,} the loss is no finite number; the {wasted:,} steps to the end bought nothing"
            f"{lost}."
        )
        reason = " Mixed precision ran without loss scaling." if facts.settings.loss_scaling == "none" else ""
        advice = Advice(
            "Go back to a checkpoint before the divergence with a lower rate, gradient clipping or loss scaling, and "
            f"stop a run whose loss is not finite.{reason}",
            f"{wasted:,} steps saved",
            wasted / max(1, last),
        )
        number = Number("steps after the divergence", wasted, "steps", f"{wasted:,}")
        return Answer("divergence", None, question, "yes", sentence, "bad", (number,), _before(facts, bad_step, reason),
                      DIVERGED_RULE, norm_chart, (advice,))  # fmt: skip
    num_skipped = int(steps.was_skipped.sum()) if steps is not None else 0
    rolled_back = sum(event.kind == "rolled back" for event in facts.events)
    if num_skipped or rolled_back:
        were = "was" if num_skipped == 1 else "were"
        times = "once" if rolled_back == 1 else f"{rolled_back:,} times"
        back = f", and the run went back {times}" if rolled_back else ""
        skipped = counted(num_skipped, "step")
        sentence = f"No, it recovered: {skipped} without finite gradients {were} skipped{back}."
        return Answer("divergence", None, question, "recovered", sentence, "neutral", rule=DIVERGED_RULE,
                      chart=norm_chart)  # fmt: skip
    bad = [(part.step[part.is_non_finite], len(part)) for part, _ in _measured(facts) if part.is_non_finite.any()]
    if bad:
        at, num_rows = bad[0]
        sentence = (
            f"No, it recovered: {len(at):,} of {num_rows:,} recorded losses, from step {at[0]:,} to step {at[-1]:,}, "
            "are no finite numbers, and later ones are."
        )
        return Answer("divergence", None, question, "recovered", sentence, "neutral", rule=DIVERGED_RULE,
                      chart=norm_chart)  # fmt: skip
    sentence = "No: every recorded loss and gradient norm is a finite number."
    return Answer("divergence", None, question, "no", sentence, "good", rule=DIVERGED_RULE, chart=norm_chart)


def _before(facts: Facts, bad_step: int, reason: str) -> tuple[str, ...]:
    """Signs that came earlier."""
    found = [reason.strip()] if reason else []
    for part, losses in _measured(facts):
        known = np.flatnonzero(np.isfinite(losses) & (part.step < bad_step))
        worse = [place for place in known if losses[place] > WORSE * losses[known[0]]] if len(known) else []
        if worse:
            found.append(
                f"It went wrong before that: the loss was {losses[worse[0]]:.3g} at step {part.step[worse[0]]:,}, "
                f"where it had begun at {losses[known[0]]:.3g}."
            )
    return tuple(found)


def _norms(facts: Facts) -> Curves | None:
    if facts.steps is None or not np.isfinite(facts.steps.gradient_norm).any():
        return None
    norms = line("gradient norm", facts.steps.step.astype(float), facts.steps.gradient_norm)
    return Curves("Gradient norm", "step", "norm", (norms,), is_y_from_zero=True)
