"""Did it overfit: question 3."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.report.answers import UNDETERMINED, Advice, Answer, Curves, Mark, Number, percent
from dragoman.report.columns import Evaluations
from dragoman.report.facts import Facts
from dragoman.report.questions.divergence import diverged_at
from dragoman.report.thinning import line
from dragoman.theory import statistics

OVERFIT_SHARE = 0.01
SURE_P = 0.01
OVERFIT_RULE = (
    "Overfitted only if all hold: dev loss more than 1 % above its minimum; higher on the same sentences in each of "
    "the last two evaluations (paired bootstrap, p < 0.01); and train loss, measured in eval mode on a fixed slice, "
    "still falling. A flat dev loss or a gap to the train loss is not overfitting."
)


def is_overfitted(facts: Facts) -> Answer:
    """Question 3."""
    question, evaluations = "Did it overfit?", facts.evaluations
    if evaluations is None or np.isfinite(evaluations.dev_loss).sum() < 2:
        why = "Undetermined: it takes at least two evaluations on held-out text."
        return Answer("overfit", 3, question, UNDETERMINED, why, "unknown", rule=OVERFIT_RULE)
    if bad_step := diverged_at(facts):
        sentence = f"No: training diverged at step {bad_step:,}; a model that lost what it knew has not overfitted."
        return Answer("overfit", 3, question, "no", sentence, "neutral", rule=OVERFIT_RULE,
                      chart=_dev_and_train(evaluations))  # fmt: skip
    known = np.flatnonzero(np.isfinite(evaluations.dev_loss))
    last, best = int(known[-1]), int(np.nanargmin(evaluations.dev_loss))
    above = float(evaluations.dev_loss[last] / evaluations.dev_loss[best] - 1)
    chart = _dev_and_train(evaluations)
    number = Number("dev loss above its minimum", above, "share", percent(above))
    if above <= OVERFIT_SHARE:
        place = "is at its minimum" if last == best else f"is {percent(above)} above its minimum"
        sentence = f"No: at the last evaluation dev loss {place}; overfitting needs more than 1 %."
        evidence = tuple(_gap_sentence(evaluations, last))
        return Answer("overfit", 3, question, "no", sentence, "good", (number,), evidence, OVERFIT_RULE, chart)
    doubt, evidence_list = _overfit_evidence(evaluations, known, best)
    evidence = tuple(evidence_list)
    rise = f"dev loss is {percent(above)} above its minimum of step {evaluations.step[best]:,}"
    if doubt is None:
        sentence = f"Yes: {rise}, significantly on the same sentences, while train loss still falls."
        advice = Advice(
            f"Use the checkpoint near step {evaluations.step[best]:,} and stop there next time.",
            f"dev loss lower by {percent(above / (1 + above))}",
            float(1 - evaluations.step[best] / max(1, evaluations.step[last])),
            "the file checkpoints/best names it" if facts.source.system == "Dragoman" else None,
        )
        return Answer(
            "overfit", 3, question, "yes", sentence, "bad", (number,), evidence, OVERFIT_RULE, chart, (advice,)
        )
    if doubt.is_refuted:
        sentence = f"No: {rise}, but {doubt.text}."
        return Answer("overfit", 3, question, "no", sentence, "neutral", (number,), evidence, OVERFIT_RULE, chart)
    sentence = f"Undetermined: {rise}, {doubt.text}."
    return Answer("overfit", 3, question, UNDETERMINED, sentence, "unknown", (number,), evidence, OVERFIT_RULE, chart)


@dataclass(frozen=True)
class Doubt:
    """Why a risen dev loss is not overfitting, or not known to be."""

    text: str
    is_refuted: bool = False


def _overfit_evidence(
    evaluations: Evaluations, known: npt.NDArray[np.intp], best: int
) -> tuple[Doubt | None, list[str]]:
    """What keeps this from being overfitting (None if nothing does), and what was found."""
    later = [int(place) for place in known[-2:] if place > best]
    evidence = []
    differences = [_paired(evaluations, place, best) for place in later]
    for place, difference in zip(later, differences, strict=True):
        if difference is not None:
            evidence.append(
                f"Step {evaluations.step[place]:,} against step {evaluations.step[best]:,} on the same sentences: "
                f"{difference.mean:+.4f} nats a token ({difference.low:+.4f} to {difference.high:+.4f}; "
                f"{_chance(difference.p_not_above)})."
            )
    falls = float(evaluations.train_loss[known[-1]] - evaluations.train_loss[best])
    if math.isfinite(falls):
        evidence.append(f"Train loss in eval mode changed by {falls:+.4f} nats over the same steps.")
    if math.isfinite(falls) and falls >= 0:
        return Doubt(
            "train loss rises as well: this is divergence or a bad rate, not overfitting", is_refuted=True
        ), evidence
    if len(later) < 2:
        return Doubt("seen by one evaluation only; two are needed"), evidence
    if any(difference is None for difference in differences):
        return Doubt("whether significantly is not known without losses of single sentences"), evidence
    if any(difference is not None and difference.p_not_above >= SURE_P for difference in differences):
        return Doubt("not significantly so on the same sentences in both of the last two evaluations"), evidence
    if not math.isfinite(falls):
        return Doubt(
            "and train loss in eval mode, which would tell overfitting from divergence, was not measured"
        ), evidence
    return None, evidence


def _paired(evaluations: Evaluations, later: int, earlier: int) -> statistics.PairedDifference | None:
    one = evaluations.sentences.get(int(evaluations.step[later]))
    other = evaluations.sentences.get(int(evaluations.step[earlier]))
    if one is None or other is None or one.losses.shape != other.losses.shape:
        return None
    return statistics.paired_bootstrap(one.losses, other.losses, one.tokens)


def _chance(p: float) -> str:
    """Of a thousand or so resamplings none says little about how small it is."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def _gap_sentence(evaluations: Evaluations, last: int) -> list[str]:
    gap = float(evaluations.dev_loss[last] - evaluations.train_loss[last])
    if not math.isfinite(gap) or gap <= 0:
        return []
    return [
        f"Train loss in eval mode lies {gap:.3f} nats below dev loss. A gap alone is not overfitting: the model knows "
        "its own text better as long as dev loss does not rise."
    ]


def _dev_and_train(evaluations: Evaluations) -> Curves:
    steps = evaluations.step.astype(float)
    lines = [line("dev", steps, evaluations.dev_loss)]
    if np.isfinite(evaluations.train_loss).any():
        lines.append(line("train, eval mode", steps, evaluations.train_loss))
    best = int(np.nanargmin(evaluations.dev_loss))
    mark = Mark(float(steps[best]), "lowest")
    return Curves("Loss in eval mode", "step", "nats a token", tuple(lines), (mark,))
