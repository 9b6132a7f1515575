"""Pupils of one teacher that learn the same text apart, each on its share of the cores, for their mean.

All begin with the teacher's weights, so that their mean lies in the same valley, and nearer to its middle than any of
them (Wortsman et al. 2022, arXiv 2203.05482). A process a core without a word between them is also no slower than ranks
that exchange every step.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.multi30k_record.commands import cores, dragoman, side_by_side
from benchmarks.multi30k_record.spending import Spent, spent_at_once
from benchmarks.multi30k_record.teacher import teacher_in

NUM_PUPILS = 2
FURTHER = 1000
"""From seed to seed of runs on the same text: each meets its pairs in another order."""
SETTINGS = (
    *("schedule.peak=8e-3", "schedule.warmup_steps=100", "training.max_steps=1150"),
    *("training.evaluate_every_steps=0", "training.save_every_steps=100", "training.keep_last=1"),
)
"""How theirs differ from the recipe of the run that is their mean."""


def pupils_in(lessons: Path) -> list[Path]:
    """Their runs."""
    return [lessons / f"pupil{number}" for number in range(1, NUM_PUPILS + 1)]


def learned(recipe: Path, lessons: Path, seed: int, changes: Sequence[str]) -> Spent:
    """Train the pupils; those that have ended stay as they are."""
    dragoman("prepare", str(recipe))  # two runs may not prepare one corpus at once
    runs, processes = pupils_in(lessons), max(1, cores() // NUM_PUPILS)
    wanted = ["--processes", str(processes), "--start-from", str(teacher_in(lessons))]
    wanted += [word for change in (*SETTINGS, *changes) for word in ("--set", change)]
    side_by_side(
        [
            ("train", str(recipe), "--run", str(run), *wanted, "--set", f"training.seed={seed + FURTHER * number}")
            for number, run in enumerate(runs, 2)  # the teacher is the first of all
        ]
    )
    return spent_at_once(runs)
