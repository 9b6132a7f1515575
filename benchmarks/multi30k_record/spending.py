"""What an attempt has cost, run after run, and how well its models translated val on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

Curve = tuple[tuple[float, int, float], ...]
"""(minutes, tokens, BLEU on val) of each evaluation."""


@dataclass(frozen=True)
class Spent:
    """On runs and on translating in between."""

    minutes: float = 0.0
    tokens: int = 0
    curve: Curve = ()

    def __add__(self, later: "Spent") -> "Spent":
        moved = [(self.minutes + minutes, self.tokens + tokens, bleu) for minutes, tokens, bleu in later.curve]
        return Spent(self.minutes + later.minutes, self.tokens + later.tokens, (*self.curve, *moved))


def evaluations(run: Path) -> list[EvalRecord]:
    """Of a run, in their order; the last one says what the run has cost."""
    return list(records.read_lines(RunPaths(run).evals, EvalRecord))


def spent_at_once(runs: Sequence[Path]) -> Spent:
    """By runs that were made side by side, or by one: minutes of the slowest, tokens of all, the mean of their BLEU."""
    curve = tuple(
        (max(one.training_s for one in alike) / 60, sum(one.tokens for one in alike), mean(one.bleu for one in alike))
        for alike in zip(*map(evaluations, runs), strict=True)
    )
    minutes, tokens, _ = curve[-1]
    return Spent(minutes, tokens, curve)
