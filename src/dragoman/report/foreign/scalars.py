"""Named curves, as TensorBoard keeps them, become a transcript.

Takes curves by the name of their tag (with the name of the run in front, where there is one) and decides by their
names what they are. A tag that no rule knows is passed over; where several could be the same thing, the plainest name
wins and a remark says so.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dragoman.report.columns import Column
from dragoman.report.foreign.transcript import ForeignEvaluation, Point, Settings, Transcript

SYSTEM = "TensorBoard"
LN2 = math.log(2)
PAUSE_S = 1800.0
"""A longer silence between two points is a pause, unless steps are that slow."""
PAUSE_STEPS = 20
"""And longer than so many times what the steps between them should take."""


@dataclass(frozen=True)
class Curve:
    """One tag: equally long columns, in the order in which they were written."""

    time_s: Column
    step: Column
    value: Column


HELD_OUT = re.compile(r"(?:^|_)(?:eval|evaluation|val|valid|validation|dev|test)(?:_|\d|$)")


def _words(tag: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", tag.lower()).strip("_")


def _is_loss(tag: str) -> bool:
    return "loss" in tag and "scale" not in tag


KINDS: dict[str, Callable[[str], bool]] = {
    "learning_rate": lambda tag: "learning_rate" in tag or tag.split("_")[-1] == "lr",
    "gradient_norm": lambda tag: ("grad" in tag and "norm" in tag) or "gnorm" in tag,
    "steps_per_s": lambda tag: bool(re.search(r"(global_)?steps?_(per_)?s(ec)?$|(^|_)ups$", tag)),
    "step_s": lambda tag: bool(re.search(r"time_per_step|sec(onds)?_per_step|step_(time|seconds|s)$", tag)),
    "tokens_per_s": lambda tag: bool(re.search(r"(tokens|words)_(per_)?s(ec)?$|(^|_)wps$", tag)),
    "bleu": lambda tag: "bleu" in tag or "blue" in tag,
    "dev_loss": lambda tag: _is_loss(tag) and bool(HELD_OUT.search(tag)),
    "train_loss": lambda tag: _is_loss(tag) and not HELD_OUT.search(tag),
}
"""What a tag may be, first match first; its name is in small letters with one underscore between words."""
PLAIN_NAMES = ("train_loss", "training_loss", "loss", "eval_loss", "dev_loss", "valid_loss", "val_loss")


def transcript(curves: Mapping[str, Curve]) -> Transcript:
    """Everything that the tags tell."""
    chosen, remarks = _choose(curves)
    unit = LN2 if _is_of_fairseq(curves) else 1.0
    if unit != 1.0:
        remarks.append("the folders train_inner and valid are fairseq's, whose losses are bits; they were made nats")
    points = tuple(_points(chosen, unit))
    evaluations = tuple(_evaluations(chosen, unit))
    duration_s, pauses = duration([p.time_s for p in points], [p.step for p in points])
    if pauses:
        remarks.append(f"{pauses} long {'silence' if pauses == 1 else 'silences'} between points taken as pauses")
    return Transcript(
        system=SYSTEM,
        points=points,
        evaluations=evaluations,
        settings=Settings(),
        duration_s=duration_s,
        remarks=tuple(remarks),
    )


def _is_of_fairseq(curves: Mapping[str, Curve]) -> bool:
    return any(re.search(r"(?:^|/)train_inner/", tag) for tag in curves)


def _choose(curves: Mapping[str, Curve]) -> tuple[dict[str, Curve], list[str]]:
    """One curve for each kind."""
    tags: dict[str, list[str]] = {}
    for tag in curves:
        kind = next((kind for kind, fits in KINDS.items() if fits(_words(tag))), None)
        if kind is not None and len(curves[tag].step):
            tags.setdefault(kind, []).append(tag)
    remarks = [
        f"{len(found)} tags could be {kind}; {min(found, key=_preference)} was taken"
        for kind, found in tags.items()
        if len(found) > 1
    ]
    return {kind: curves[min(found, key=_preference)] for kind, found in tags.items()}, remarks


def _preference(tag: str) -> tuple[bool, bool, bool, int, str]:
    """Plain cross-entropy first, then what is logged most often, then the plainest name."""
    words = _words(tag)
    return ("nll" not in words, "train_inner" not in words, words not in PLAIN_NAMES, len(words), tag)


def _points(chosen: Mapping[str, Curve], unit: float) -> Iterator[Point]:
    """Steps of the loss, or of whatever was logged where there is none; other curves are joined by step."""
    names = ("train_loss", "steps_per_s", "step_s", "learning_rate", "gradient_norm", "tokens_per_s")
    by_step = {name: _by_step(chosen[name]) for name in names if name in chosen}
    times: dict[int, float] = {}
    for name in names:
        if name in chosen:
            curve = chosen[name]
            times.update(zip(curve.step.astype(int).tolist(), curve.time_s.tolist(), strict=True))
    clock = _seconds_by_clock(times) if not {"steps_per_s", "step_s"} & set(by_step) else {}
    for step in sorted(times):
        per_s = by_step.get("steps_per_s", {}).get(step)
        step_s = by_step.get("step_s", {}).get(step, clock.get(step))
        loss = by_step.get("train_loss", {}).get(step)
        yield Point(
            step=step,
            loss=None if loss is None else loss * unit,
            step_s=1 / per_s if per_s else step_s,
            learning_rate=by_step.get("learning_rate", {}).get(step),
            gradient_norm=by_step.get("gradient_norm", {}).get(step),
            tokens_per_s=by_step.get("tokens_per_s", {}).get(step),
            time_s=times[step],
        )


def _by_step(curve: Curve) -> dict[int, float]:
    return dict(zip(curve.step.astype(int).tolist(), curve.value.tolist(), strict=True))


def _seconds_by_clock(times: Mapping[int, float]) -> dict[int, float]:
    """Seconds a step from the clock, where it runs forward."""
    steps = sorted(times)
    pairs = itertools.pairwise(steps)
    found = {b: (times[b] - times[a]) / (b - a) for a, b in pairs}
    return {step: seconds for step, seconds in found.items() if seconds > 0}


def _evaluations(chosen: Mapping[str, Curve], unit: float) -> Iterator[ForeignEvaluation]:
    losses = _by_step(chosen["dev_loss"]) if "dev_loss" in chosen else {}
    scores = _by_step(chosen["bleu"]) if "bleu" in chosen else {}
    scale = bleu_scale(list(scores.values()))
    for step in sorted(losses | scores):
        loss, score = losses.get(step), scores.get(step)
        yield ForeignEvaluation(
            step, loss=None if loss is None else loss * unit, bleu=None if score is None else scale * score
        )


def bleu_scale(scores: list[float]) -> float:
    """100 where all scores lie between 0 and 1, as some systems write them."""
    known = [score for score in scores if math.isfinite(score)]
    return 100.0 if known and max(known) <= 1.0 else 1.0


def duration(times: list[float | None], steps: list[int]) -> tuple[float | None, int]:
    """Seconds from the first to the last point without long silences, and how many of those there were."""
    known = [(step, time) for step, time in zip(steps, times, strict=True) if time is not None and math.isfinite(time)]
    if len(known) < 2:
        return None, 0
    step, time = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
    gaps, lengths = np.diff(time), np.diff(step)
    forward = (gaps > 0) & (lengths > 0)
    if not forward.any():
        return None, 0
    expected = np.median(gaps[forward] / lengths[forward]) * lengths
    is_pause = forward & (gaps > PAUSE_S) & (gaps > PAUSE_STEPS * expected)
    return float(np.sum(gaps[forward & ~is_pause])), int(is_pause.sum())
