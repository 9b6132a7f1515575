"""Which checkpoints are kept, and which of them is best: pure functions of steps and scores. Touches no files."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

BEST_IS_LOWEST = {"dev_loss": True, "bleu": False}
"""The scores that checkpoints are judged by."""
POINTERS = {"best": "dev_loss", "best_bleu": "bleu"}


@dataclass(frozen=True)
class Scored:
    """A checkpoint as the rotation sees it. A score that was not measured is not there."""

    step: int
    scores: Mapping[str, float]


def best_first(checkpoints: Iterable[Scored], by: str) -> list[int]:
    """The steps that have the score, the best one first; of equals the later one."""
    sign = 1 if BEST_IS_LOWEST[by] else -1
    scored = [c for c in checkpoints if math.isfinite(c.scores.get(by, math.nan))]
    return [c.step for c in sorted(scored, key=lambda c: (sign * c.scores[by], -c.step))]


def kept(checkpoints: Iterable[Scored], newest: int, keep_last: int, keep_best: int) -> set[int]:
    """What stays when `newest` has just been written: it, the last ones and the best ones by each score.

    Steps beyond `newest` are of a past that was given up, by rolling back or by falling back from a damaged one. They
    go, or the next start would take the highest step and bring that past back.
    """
    present = [c for c in checkpoints if c.step <= newest]
    last = sorted((c.step for c in present), reverse=True)[:keep_last]
    best = (step for by in BEST_IS_LOWEST for step in best_first(present, by)[:keep_best])
    return {newest, *last, *best}
