"""What a run costs beside its steps, and one process against two: `python -m benchmarks.arrangement`.

Trains `small` on Multi30k as a user would, in turns with one and with two processes, and reads the run directories:
tokens a second, start to first step, waiting for data, and what an evaluation and a checkpoint cost at the default
intervals.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.ground import shared_data
from dragoman.core import records
from dragoman.core.config import TrainingConfig
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord, StepRecord

RECIPE = """
[corpus]
directory = {corpus}
[[corpus.texts]]
source = {source}
target = {target}
[held_out]
dev_source = {dev_source}
dev_target = {dev_target}
[vocabulary]
size = 8000
[model]
preset = "small"
[training]
max_steps = {steps}
evaluate_every_steps = {steps}
"""
WARM_UP_STEPS = 5


@dataclass(frozen=True)
class Measured:
    """One run."""

    tokens_per_s: float
    first_step_s: float
    data_wait: float
    """Share of step time."""
    pauses: float
    """Share of a run that evaluations and checkpoints take at the default intervals."""


def main() -> None:
    """Measure in turns and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    found: dict[int, list[Measured]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        recipe = write_recipe(directory, arguments.steps)
        subprocess.run([sys.executable, "-m", "dragoman", "prepare", str(recipe)], check=True, capture_output=True)
        for number in range(arguments.rounds):
            for processes in (1, 2) if number % 2 == 0 else (2, 1):
                found[processes].append(measure(recipe, directory / f"run-{number}-{processes}", processes))
    print(
        "| processes | tok/s: median (min–max) | start to first step s | waiting for data | evaluations, checkpoints |"
    )
    print("|---|---|---|---|---|")
    for processes, runs in found.items():
        rates = [run.tokens_per_s for run in runs]
        rest = [
            statistics.median(getattr(run, name) for run in runs) for name in ("first_step_s", "data_wait", "pauses")
        ]
        print(
            f"| {processes} | {statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f}) | {rest[0]:.1f} |"
            f" {rest[1]:.2%} | {rest[2]:.1%} |"
        )
    ratios = [two.tokens_per_s / one.tokens_per_s for one, two in zip(found[1], found[2], strict=True)]
    print(f"\nTwo processes against one: {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})")


def write_recipe(directory: Path, steps: int) -> Path:
    data = shared_data() / "multi30k"
    places = {
        "corpus": directory / "corpus",
        "source": data / "train.en.gz",
        "target": data / "train.de.gz",
        "dev_source": data / "val.en.gz",
        "dev_target": data / "val.de.gz",
    }
    recipe = directory / "recipe.toml"
    recipe.write_text(RECIPE.format(steps=steps, **{name: json.dumps(str(place)) for name, place in places.items()}))
    return recipe


def measure(recipe: Path, directory: Path, processes: int) -> Measured:
    words = ["train", str(recipe), "--run", str(directory), "--processes", str(processes)]
    start = time.time()
    subprocess.run([sys.executable, "-m", "dragoman", *words], check=True, capture_output=True)
    paths, defaults = RunPaths(directory), TrainingConfig()
    steps = list(records.read_lines(paths.steps(0), StepRecord))
    evaluations = list(records.read_lines(paths.evals, EvalRecord))
    # The evaluation before step 1 is work that was asked for; it is taken out of the time to the first step.
    first_step_s = datetime.fromisoformat(steps[0].time).timestamp() - start - evaluations[0].seconds
    warm = steps[WARM_UP_STEPS:]
    step_s = statistics.median(step.step_s for step in warm)
    pause_s = evaluations[-1].seconds + _saving_s(paths)
    return Measured(
        tokens_per_s=sum(step.target_tokens for step in warm) / sum(step.step_s for step in warm),
        first_step_s=first_step_s,
        data_wait=sum(step.data_wait_s for step in warm) / sum(step.step_s for step in warm),
        pauses=pause_s / (pause_s + defaults.evaluate_every_steps * step_s),
    )


def _saving_s(paths: RunPaths) -> float:
    """Time that the writer of checkpoints took; most of it beside the training, so this is an upper bound."""
    events = [json.loads(line) for line in paths.events.read_text().splitlines()]
    saved = [event["text"] for event in events if event["kind"] == "saved"]
    return max((float(text.split()[-2]) for text in saved), default=0.0)


if __name__ == "__main__":
    main()
