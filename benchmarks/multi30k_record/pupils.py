"""Pupils of one teacher that learn the same text apart, each on its share of the cores, for their mean; then again.

All of a round begin with the same weights, the teacher's and then the mean of the round before, so that their mean lies
in the same valley, and nearer to its middle than any of them (Wortsman et al. 2022, arXiv 2203.05482). A process a core
without a word between them also computes more tokens a second than ranks that exchange every step.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.multi30k_record.commands import cores, dragoman, side_by_side
from benchmarks.multi30k_record.spending import Spent, evaluations
from benchmarks.multi30k_record.teacher import teacher_in

NUM_PUPILS = 2
FURTHER = 1000
"""From seed to seed of runs on the same text: each meets its pairs in another order."""
SETTINGS = (
    *("schedule.warmup_steps=100", "training.evaluate_every_steps=0"),
    *("training.save_every_steps=100", "training.keep_last=1"),
)
ROUNDS = (
    ("schedule.peak=8e-3", "training.max_steps=1225"),
    ("schedule.peak=6e-3", "training.max_steps=600"),
)
"""How theirs differ from the recipe of the run that begins with the last mean: in all rounds, and in each."""


def pupils_in(lessons: Path, number: int = len(ROUNDS)) -> list[Path]:
    """Their runs, of a round; those of the last one have the mean that counts."""
    return [lessons / f"pupil{number}.{place}" for place in range(1, NUM_PUPILS + 1)]


def learned(recipe: Path, lessons: Path, seed: int, changes: Sequence[str]) -> Spent:
    """Train the pupils, round after round; those that have ended stay as they are."""
    dragoman("prepare", str(recipe))  # two runs may not prepare one corpus at once
    spent, others = Spent(), [teacher_in(lessons)]
    for number, own in enumerate(ROUNDS, 1):
        words = ["train", str(recipe), "--processes", str(max(1, cores() // NUM_PUPILS))]
        words += [word for other in others for word in ("--start-from", str(other))]
        words += [word for change in (*SETTINGS, *own, *changes) for word in ("--set", change)]
        others = pupils_in(lessons, number)
        seeds = [seed + FURTHER * (NUM_PUPILS * number + place) for place in range(NUM_PUPILS)]
        side_by_side(
            [
                (*words, "--run", str(run), "--set", f"training.seed={one}")
                for run, one in zip(others, seeds, strict=True)
            ]
        )
        last = [evaluations(run)[-1] for run in others]
        spent += Spent(max(one.training_s for one in last) / 60, sum(one.tokens for one in last))
    return spent
