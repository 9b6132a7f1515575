"""Seconds from `dragoman train` to its first new step, against the steps that the run says it has done."""

import json
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import StepRecord

STEPS_DONE = (10, 1_000, 30_000, 300_000, 1_000_000)
RECIPE = """
[corpus]
directory = "{directory}/corpus"
[[corpus.texts]]
dataset = "phrasebook"
[vocabulary]
size = 2048
[model]
preset = "tiny"
[training]
max_steps = 2
evaluate_every_steps = 0
"""


def measured() -> list[list[float]]:
    """Rows (steps done, seconds)."""
    with tempfile.TemporaryDirectory() as name:
        return [[steps, resumed(steps, Path(name))] for steps in STEPS_DONE]


def resumed(steps: int, directory: Path) -> float:
    """Of one run."""
    run, recipe = directory / f"run-{steps}", directory / "recipe.toml"
    recipe.write_text(RECIPE.format(directory=directory), encoding="utf-8")
    train(recipe, run)
    pretend(RunPaths(run), steps)
    start = time.time()
    train(recipe, run, f"training.max_steps={steps + 1}")
    *_, last = records.read_lines(RunPaths(run).steps(0), StepRecord)
    assert last.step == steps + 1, last
    seconds = datetime.fromisoformat(last.time).timestamp() - start
    print(f"resume after {steps:,} steps: {seconds:.1f} s", flush=True)
    return seconds


def train(recipe: Path, run: Path, *settings: str) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "dragoman", "train", str(recipe), "--run", str(run), "--processes", "1", *words]
    subprocess.run(command, check=True, capture_output=True)


def pretend(paths: RunPaths, steps: int) -> None:
    """Make a run of two steps look like one of many: its step records and its newest checkpoint."""
    from dragoman.checkpoints import reading, writing

    loaded = reading.newest(paths.checkpoints)
    assert loaded is not None
    state = loaded.state | {"state": loaded.state["state"] | {"step": steps}}
    place = paths.checkpoint(steps).directory
    writing.write(place, loaded.model, loaded.optimizer, json.dumps(state))
    *_, last = records.read_lines(paths.steps(0), StepRecord)
    line = records.to_json(last)
    with paths.steps(0).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line | {"step": step}) + "\n" for step in range(last.step + 1, steps + 1))
