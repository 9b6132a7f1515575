"""The learning-rate curve, explained in the run's own numbers: question 6."""

import math

import numpy as np

from dragoman.core.errors import UserError
from dragoman.core.units import counted
from dragoman.report.answers import UNDETERMINED, Answer, Curves, Mark, Number, percent
from dragoman.report.columns import Column
from dragoman.report.facts import Facts
from dragoman.report.measures import measures_of
from dragoman.report.thinning import line
from dragoman.theory import schedule

TOLERANCE = 0.01
MOST_COMPARED = 2000
QUESTION = "What does the learning-rate curve do, and why?"
RULE = "The recorded rates are compared with the formula of the settings, step by step; 1 % apart is a disagreement."


def explain_the_learning_rate(facts: Facts) -> Answer:
    """Question 6."""
    settings = facts.settings
    recorded = facts.steps is not None and bool(np.isfinite(facts.steps.learning_rate).any())
    width = settings.model.sized().width if settings.model else None
    if settings.schedule is None or (settings.schedule.kind == "transformer" and width is None):
        return _from_rates_alone(facts) if recorded else Answer(
            "rate", 6, QUESTION, UNDETERMINED, "Undetermined: neither the formula nor the rates are known.", "unknown",
            rule=RULE,
        )  # fmt: skip
    try:
        text = schedule.describe(
            settings.schedule, width=width or 1, total_steps=settings.max_steps, step=facts.last_step
        )
    except UserError as error:
        return Answer("rate", 6, QUESTION, UNDETERMINED, f"Undetermined: {error.problem}.", "unknown", rule=RULE)
    step_factor = measures_of(facts).step_factor
    num_single = schedule.num_single_steps(settings.schedule, step_factor=step_factor, total_steps=settings.max_steps)
    peak = schedule.peak_rate(settings.schedule, width=width or 1)
    peak_step = schedule.peak_at_step(settings.schedule)
    numbers = (
        Number("peak", peak, "", f"{peak:.3g}"),
        Number("peak at step", peak_step, "step", f"{peak_step:,}"),
    )
    why = (
        "The warm-up keeps the first, unreliable steps small while the optimizer learns how large gradients are; the "
        "fall lets later steps settle. It follows the step count alone: neither loss nor BLEU changes it."
    )
    if not recorded:
        return Answer("rate", 6, QUESTION, "by formula", text, "neutral", numbers,
                      (why, "No rates were recorded to compare."), RULE, _chart(facts, width or 1))  # fmt: skip
    verdict, check = _check(facts, width or 1)
    if step_factor > 1:
        text += (
            f" After step {num_single:,} {step_factor} steps make one update, and it is {step_factor} times as high, "
            "but never above the peak."
        )
    tone = "bad" if verdict == "departs from the formula" else "neutral"
    return Answer("rate", 6, QUESTION, verdict, text, tone, numbers, (check, why), RULE, _chart(facts, width or 1))  # type: ignore[arg-type]


def _formula(facts: Facts, steps: Column, width: int) -> Column:
    config, total = facts.settings.schedule, facts.settings.max_steps
    assert config is not None
    step_factor = measures_of(facts).step_factor
    num_single = schedule.num_single_steps(config, step_factor=step_factor, total_steps=total)
    factors = np.where(steps > num_single, step_factor, 1)
    rates = [
        schedule.learning_rate(max(1, int(step)), config, width=width, total_steps=total, step_factor=int(factor))
        for step, factor in zip(steps, factors, strict=True)
    ]
    return np.array(rates)


def _check(facts: Facts, width: int) -> tuple[str, str]:
    """A verdict and a sentence."""
    steps = facts.steps
    assert steps is not None
    known = np.flatnonzero(np.isfinite(steps.learning_rate) & (steps.step > 0))
    known = known[np.linspace(0, len(known) - 1, min(len(known), MOST_COMPARED)).astype(int)]
    at, recorded = steps.step[known].astype(float), steps.learning_rate[known]
    step_factor = measures_of(facts).step_factor
    wanted = _formula(facts, at, width)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(wanted > 0, recorded / wanted, np.nan)
    halved = np.round(np.log2(np.where(factors > 0, factors, np.nan)))
    cuts = sum(event.kind == "rolled back" for event in facts.events)
    is_cut = (halved < 0) & (halved >= -cuts) & (np.abs(factors / 2.0**halved - 1) <= TOLERANCE)
    is_off = ~((np.abs(factors - 1) <= TOLERANCE) | is_cut | (steps.steps_per_row > 1) & (at <= steps.steps_per_row))
    share = float(is_off.mean())
    if share <= 0.01:
        cut = f", halved by {counted(cuts, 'roll-back')}" if is_cut.any() else ""
        larger = f", times {step_factor} where {step_factor} steps make one update" if step_factor > 1 else ""
        return "follows the formula", f"The rates recorded at {len(known):,} steps follow the formula{larger}{cut}."
    first = int(at[np.argmax(is_off)])
    return "departs from the formula", (
        f"{percent(share)} of the recorded rates are more than 1 % off the formula, first at step {first:,}: "
        f"{recorded[np.argmax(is_off)]:.3g} instead of {wanted[np.argmax(is_off)]:.3g}."
    )


def _from_rates_alone(facts: Facts) -> Answer:
    """What the rates themselves say, where nobody told the formula."""
    steps = facts.steps
    assert steps is not None
    known = np.isfinite(steps.learning_rate) & (steps.step > 0)
    at, rates = steps.step[known].astype(float), steps.learning_rate[known]
    peak = int(np.argmax(rates))
    numbers = (
        Number("peak", float(rates[peak]), "", f"{rates[peak]:.3g}"),
        Number("peak at step", float(at[peak]), "step", f"{at[peak]:,.0f}"),
    )
    sentence = f"It peaks at {rates[peak]:.3g} at step {at[peak]:,.0f}, then {_fall(at[peak:], rates[peak:])}."
    if peak == 0:
        sentence = f"It starts at its peak of {rates[peak]:.3g}, then {_fall(at[peak:], rates[peak:])}."
    chart = Curves("Learning rate", "step", "rate", (line("recorded", at, rates),), is_y_from_zero=True)
    note = ("The settings do not name a formula; this is what the recorded rates show.",)
    return Answer("rate", 6, QUESTION, "from recorded rates", sentence, "neutral", numbers, note, RULE, chart)


def _fall(at: Column, rates: Column) -> str:
    if len(at) < 3 or rates[-1] >= 0.99 * rates[0]:
        return "stays there"
    is_positive = rates > 0
    slope = np.polyfit(np.log(at[is_positive]), np.log(rates[is_positive]), 1)[0]
    if math.isclose(slope, -0.5, abs_tol=0.05):
        return f"falls as 1/√step to {rates[-1]:.3g}"
    return f"falls to {rates[-1]:.3g} at step {at[-1]:,.0f}"


def _chart(facts: Facts, width: int) -> Curves | None:
    steps, config = facts.steps, facts.settings.schedule
    last = facts.last_step or facts.settings.max_steps
    if not last or config is None:
        return None
    at = np.unique(np.linspace(1, last, 200).astype(int)).astype(float)
    lines = [line("formula", at, _formula(facts, at, width), "dashed")]
    if steps is not None and np.isfinite(steps.learning_rate).any():
        lines.insert(0, line("recorded", steps.step.astype(float), steps.learning_rate))
    peak = schedule.peak_at_step(config)
    marks = (Mark(float(peak), "peak"),) if peak <= last else ()
    return Curves("Learning rate", "step", "rate", tuple(lines), marks, is_y_from_zero=True)
