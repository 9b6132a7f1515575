"""What the record's attempts are, on disk a line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.core import records

GOAL = 41.02
GOAL_TOKENS = 8_000 * 8_192
"""At most so many made the published score."""
ATTEMPTS = Path(__file__).with_name("attempts.jsonl")


@dataclass(frozen=True)
class Attempt:
    """One training from nothing, and one look at the test set."""

    time: str
    name: str
    recipe: str
    seed: int
    settings: tuple[str, ...]
    """Changes of the recipe."""
    machine: str
    cores: int
    """Of the machine, that trained."""
    precision: str
    minutes: float
    """Of all its runs and sessions, teacher's too: steps, evaluations on val, checkpoints, translating in between."""
    steps: int
    """Of the model that is scored."""
    tokens: int
    """Target tokens trained on, teacher's too."""
    averaged: int
    length_penalty: float
    val_bleu: float
    test_bleu: float
    signature: str
    """Of both."""
    curve: tuple[tuple[float, int, float], ...]
    """(minutes of training, tokens, BLEU on val) of each evaluation on the way."""
    curve_signature: str


def load(path: Path) -> list[Attempt]:
    """Those that have looked at the test set; none where there is no file."""
    return list(records.read_lines(path, Attempt)) if path.exists() else []


def by_name(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    """Names in the order of their first attempts, seeds in theirs."""
    names = dict.fromkeys(one.name for one in attempts)
    return {name: sorted((one for one in attempts if one.name == name), key=lambda one: one.seed) for name in names}
