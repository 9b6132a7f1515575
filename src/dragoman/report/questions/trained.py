"""Is it fully trained: question 2."""

import math

import numpy as np

from dragoman.core.units import counted, duration
from dragoman.report.answers import UNDETERMINED, Advice, Answer, Curves, Mark, Number, money, percent
from dragoman.report.columns import Evaluations
from dragoman.report.facts import Facts
from dragoman.report.measures import measures_of
from dragoman.report.questions.divergence import diverged_at
from dragoman.report.questions.overfitting import is_overfitted
from dragoman.report.thinning import line
from dragoman.theory import curves

UNTRAINED_BLEU = 5.0
"""An untrained model translates nothing: a higher score at step 0 is no score of translations."""
LEANS = 2 / 3
"""A probability from which an undetermined verdict says which way it leans."""
TRAINED_RULE = (
    "The curve floor + A·(step + offset)^-α is fitted to the dev losses after the warm-up, with a block bootstrap. "
    "Converged: a fifth more steps gain less than 0.5 % with probability 0.9 or more. Improving: more than 0.5 % with "
    "probability 0.9 or more; or at the best estimate 0.5 % and at the low end of the interval 0.25 %, while the newer "
    "half surely falls, because such fits err low. Else undetermined."
)


def is_trained(facts: Facts) -> Answer:
    """Question 2."""
    question = "Is the model fully trained, and how do we know?"
    evaluations = facts.evaluations
    if bad_step := diverged_at(facts):
        sentence = f"No: training diverged at step {bad_step:,} and nothing was learned after it."
        return Answer("trained", 2, question, "diverged", sentence, "bad", rule=TRAINED_RULE, chart=_losses(facts))
    if evaluations is None or not np.isfinite(evaluations.dev_loss).any():
        why = "Undetermined: no loss was measured on held-out text; the training loss does not answer this."
        return Answer("trained", 2, question, UNDETERMINED, why, "unknown", rule=TRAINED_RULE, chart=_losses(facts))
    warmup = facts.settings.schedule.warmup_steps if facts.settings.schedule else 0
    judged = curves.judge(
        evaluations.step.tolist(), [_or_none(loss) for loss in evaluations.dev_loss.tolist()], after_step=warmup,
        now_step=facts.last_step or 0,
    )  # fmt: skip
    evidence = [
        *_loss_sentences(evaluations), *_trend(judged), *_schedule_caveat(facts), *bleu_sentences(evaluations),
    ]  # fmt: skip
    if is_overfitted(facts).verdict == "yes":
        sentence = "Past its best: dev loss has risen from its minimum while train loss still falls; see question 3."
        return Answer(
            "trained", 2, question, "past its best", sentence, "bad", evidence=tuple(evidence), rule=TRAINED_RULE,
            chart=_losses(facts),
        )  # fmt: skip
    return Answer(
        key="trained",
        number=2,
        question=question,
        verdict=judged.verdict,
        sentence=_trained_sentence(judged, facts),
        tone={"converged": "good", "improving": "neutral", "undetermined": "unknown"}[judged.verdict],  # type: ignore[arg-type]
        numbers=_trained_numbers(judged),
        evidence=tuple(evidence),
        rule=TRAINED_RULE,
        chart=_losses(facts, judged),
        advice=_trained_advice(judged, facts),
    )


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _trained_sentence(judged: curves.Judgement, facts: Facts) -> str:
    if judged.gain is None or judged.verdict == "undetermined":
        return f"{_leaning(judged)}: {judged.reason}."
    gain = judged.gain
    price = _price_of(gain.horizon_steps, facts)
    buys = (
        f"{gain.horizon_steps:,.0f} more steps{price} would lower the dev loss by {gain.loss_fall:.3f} nats "
        f"({percent(gain.share)}, between {percent(gain.share_low)} and {percent(gain.share_high)})"
    )
    if judged.verdict == "converged":
        return f"Yes, for this schedule: {buys}, less than the 0.5 % that is worth waiting for."
    if judged.trend is not None and curves.is_slow(gain, judged.trend):
        return f"No, it still improves, but slowly: {buys}, about what is worth waiting for."
    return f"No, it still improves: {buys}."


def _trend(judged: curves.Judgement) -> list[str]:
    """How the end of the curve falls, whatever becomes of it."""
    if judged.trend is None:
        return []
    slope, low, high = (
        -math.log(2) * value
        for value in (
            judged.trend.loss_per_log_step, judged.trend.loss_per_log_step_high, judged.trend.loss_per_log_step_low,
        )
    )  # fmt: skip
    return [
        f"Over the newer half, {judged.trend.num_points} evaluations, dev loss falls by {slope:.3f} nats ({low:.3f} to "
        f"{high:.3f}) for every doubling of the steps."
    ]


def _leaning(judged: curves.Judgement) -> str:
    """Which way it leans where it is not nine to one."""
    if judged.trend is not None and judged.trend.loss_per_log_step_low > 0:
        return "Undetermined, and dev loss rises"
    above = judged.gain.probability_above if judged.gain is not None else 0.5
    if above >= LEANS:
        return f"Undetermined, but probably still improving ({percent(above)} sure)"
    return f"Undetermined, but probably converged ({percent(1 - above)} sure)" if 1 - above >= LEANS else "Undetermined"


def _price_of(steps: float, facts: Facts) -> str:
    """(12 h, 37 money), as far as it is known."""
    step_s = measures_of(facts).step_s
    if step_s is None:
        return ""
    took = steps * step_s.value
    price = facts.settings.price_per_hour
    return f" ({duration(took)}" + (f", costing {money(price * took / 3600)})" if price else ")")


def _trained_numbers(judged: curves.Judgement) -> tuple[Number, ...]:
    gain = judged.gain
    if gain is None:
        return ()
    interval = f"{percent(gain.share)} ({percent(gain.share_low)} to {percent(gain.share_high)})"
    return (
        Number("gain of a fifth more steps", gain.share, "share", interval, gain.share_low, gain.share_high, "90 %"),
        Number(
            "probability that it is above 0.5 %",
            gain.probability_above,
            "share",
            percent(gain.probability_above),
        ),
    )


def _trained_advice(judged: curves.Judgement, facts: Facts) -> tuple[Advice, ...]:
    gain = judged.gain
    if gain is None or judged.verdict == "converged" or gain.share_high < gain.threshold_share:
        return ()
    steps = int(gain.now_step + gain.horizon_steps)
    text = f"Train on to step {steps:,}{_price_of(gain.horizon_steps, facts)}."
    if judged.verdict == "undetermined":
        text = f"Decide by its price whether to train on to step {steps:,}{_price_of(gain.horizon_steps, facts)}."
    command = f"set {_limit_for(steps, facts)} and train the same run again" if _is_ours(facts) else None
    return (
        Advice(
            text,
            f"dev loss lower by {percent(gain.share_low)} to {percent(gain.share_high)}",
            min(0.1, gain.share),
            command,
        ),
    )


def _limit_for(steps: int, facts: Facts) -> str:
    """The setting that lets a run go on to a step: hours where hours end it, with as many evaluations as so far."""
    if facts.settings.max_hours and not facts.settings.max_steps and facts.training_s and facts.last_step:
        hours = steps * facts.training_s / facts.last_step / 3600
        return f"training.max_hours = {math.ceil(hours * 10) / 10:g}"
    return f"training.max_steps = {steps}"


def _is_ours(facts: Facts) -> bool:
    return facts.source.system == "Dragoman"


def _loss_sentences(evaluations: Evaluations) -> list[str]:
    is_known = np.flatnonzero(np.isfinite(evaluations.dev_loss))
    first, last = is_known[0], is_known[-1]
    best = int(np.nanargmin(evaluations.dev_loss))
    smoothed = " (label smoothing included)" if evaluations.is_loss_smoothed else ""
    return [
        f"{counted(len(is_known), 'evaluation')}{smoothed}: dev loss {evaluations.dev_loss[first]:.3f} at step "
        f"{evaluations.step[first]:,}, {evaluations.dev_loss[last]:.4f} at step {evaluations.step[last]:,}, lowest "
        f"{evaluations.dev_loss[best]:.4f} at step {evaluations.step[best]:,}."
    ]


def _schedule_caveat(facts: Facts) -> list[str]:
    if facts.settings.schedule is None and facts.source.system != "Dragoman":
        return []
    return ["A plateau is one of this learning-rate schedule: a lower rate may end it."]


def bleu_sentences(evaluations: Evaluations) -> list[str]:
    """What the BLEU curve is worth."""
    bleu = evaluations.bleu
    is_known = np.flatnonzero(np.isfinite(bleu))
    if not len(is_known):
        return []
    first, last = is_known[0], is_known[-1]
    is_untrained = evaluations.step[first] <= 1
    if evaluations.bleu_kind == "teacher-forced" or (is_untrained and bleu[first] > UNTRAINED_BLEU):
        shown = f"; it reads {bleu[first] / 100:.4f} at step {evaluations.step[first]:,}, untrained" * bool(
            is_untrained
        )
        return [
            f"The “BLEU” curve is teacher-forced: each word is predicted behind the right ones{shown}. It is not BLEU "
            "and is left out of the verdict."
        ]
    interval = ""
    if math.isfinite(evaluations.bleu_low[last]):
        interval = f" ({evaluations.bleu_low[last]:.1f} to {evaluations.bleu_high[last]:.1f})"
    kind = "Free-running " if evaluations.bleu_kind == "free-running" else "Of unknown kind, "
    return [f"{kind}BLEU {bleu[last]:.1f}{interval} at step {evaluations.step[last]:,}."]


def _losses(facts: Facts, judged: curves.Judgement | None = None) -> Curves | None:
    lines = []
    if facts.steps is not None and np.isfinite(facts.steps.loss).any():
        lines.append(line("train, running", facts.steps.step.astype(float), facts.steps.loss, smooth=True))
    evaluations, marks = facts.evaluations, []
    if evaluations is not None and np.isfinite(evaluations.dev_loss).any():
        lines.append(line("dev", evaluations.step.astype(float), evaluations.dev_loss))
        best = int(np.nanargmin(evaluations.dev_loss))
        marks.append(Mark(float(evaluations.step[best]), "lowest"))
        if judged is not None and judged.fit is not None and judged.gain is not None:
            ahead = np.linspace(judged.fit.last_step, judged.gain.now_step + judged.gain.horizon_steps, 12)
            lines.append(line("fitted, ahead", ahead, np.array([judged.fit.loss_at(x) for x in ahead]), "dashed"))
    if bad_step := diverged_at(facts):
        marks.append(Mark(float(bad_step), "diverged"))
    return Curves("Loss", "step", "nats a token", tuple(lines), tuple(marks)) if lines else None
