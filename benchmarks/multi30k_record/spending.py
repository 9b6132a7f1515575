"""What an attempt has cost before the first step of the model that counts."""

from dataclasses import dataclass
from pathlib import Path

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord


@dataclass(frozen=True)
class Spent:
    """On runs and on translating in between."""

    minutes: float = 0.0
    tokens: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.minutes + other.minutes, self.tokens + other.tokens)


def evaluations(run: Path) -> list[EvalRecord]:
    """Of a run, in their order; the last one says what the run has cost."""
    return list(records.read_lines(RunPaths(run).evals, EvalRecord))
