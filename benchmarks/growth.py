"""What grows with what: `python -m benchmarks.growth`, some minutes on a quiet machine.

Step time and peak memory against tokens a step, model size and vocabulary, each in a process of its own; time from the
command to the first new step against steps done. Writes benchmarks/growth.json and docs/images/growth-of-*.svg.
"""

import argparse
import dataclasses
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.ground import ROOT
from benchmarks.log_chart import Panel, chart
from dragoman.core import records
from dragoman.core.config import PRESETS, ModelConfig
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import StepRecord

RESULTS = ROOT / "benchmarks" / "growth.json"
PICTURES = ROOT / "docs" / "images"
SENTENCE_PIECES = (6, 24)
"""Shortest and longest sentence, evenly: the lengths of Multi30k, about."""
WARM_UP, TIMED = 2, 5
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


@dataclass(frozen=True)
class Case:
    """A model and a step of it."""

    chart: str
    x: float
    preset: str = "small"
    tokens: int = 4_096
    pieces: int = 8_000


@dataclass(frozen=True)
class Found:
    case: Case
    step_s: float
    peak_mb: float


def cases() -> Iterator[Case]:
    for tokens in (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768):
        yield Case("tokens", tokens, tokens=tokens)
    for preset in ("tiny", "small", "base"):
        yield Case("size", 6 * multiplied(preset), preset=preset)
    for pieces in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000):
        yield Case("pieces", pieces, pieces=pieces)


def multiplied(preset: str) -> int:
    """Numbers in the matrices that a target token and its source token meet, in thousands."""
    size = PRESETS[preset]
    width, inner = size["width"], size["feed_forward"]
    encoder = size["encoder_layers"] * (4 * width * width + 2 * width * inner)
    decoder = size["decoder_layers"] * (8 * width * width + 2 * width * inner)
    return (encoder + decoder + 8_000 * width) // 1_000


def one(case: Case) -> None:
    """In a process of its own: print the median step and the peak of memory."""
    import torch

    from dragoman.model.batch import Batch, SpecialIds
    from dragoman.model.machine import prepare_cpu
    from dragoman.model.transformer import Transformer

    prepare_cpu(2)
    chance = random.Random(1)
    pairs, left = [], case.tokens
    while left > 0:
        length = min(chance.randint(*SENTENCE_PIECES), left)
        source, target = ([*(chance.randrange(3, case.pieces) for _ in range(length - 1)), 2] for _ in range(2))
        pairs.append((source, target))
        left -= length
    pairs.sort(key=lambda pair: len(pair[1]))
    model = Transformer(ModelConfig(preset=case.preset), case.pieces, case.pieces, SpecialIds(0, 1, 2))
    model.accumulate_in_place = True
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch, seconds = Batch.of(pairs, 0), []
    for step in range(WARM_UP + TIMED):
        start = time.monotonic()
        model.seed_dropout(step)
        for micro_batch in batch.split(2_048):
            (model(micro_batch).smoothed_sum / case.tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        seconds.append(time.monotonic() - start)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([statistics.median(seconds[WARM_UP:]), peak_mb]))


def measured(case: Case) -> Found:
    words = [sys.executable, "-m", "benchmarks.growth", "--one", json.dumps(dataclasses.asdict(case))]
    step_s, peak_mb = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(f"{case.chart} {case.x:,}: {step_s:.3f} s, {peak_mb:,.0f} MB", flush=True)
    return Found(case, step_s, peak_mb)


def resumed(steps: int, directory: Path) -> float:
    """Seconds from the command to its first new step, of a run that says it has done so many."""
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


def draw(found: dict[str, list[list[float]]]) -> None:
    """The pictures."""
    axes = {
        "tokens": "target tokens a step",
        "size": "FLOPs of a token's matrices, thousands",
        "pieces": "pieces of the vocabulary",
    }
    for what, column, unit in (("time", 1, "seconds of a step"), ("memory", 2, "peak memory, MB")):
        panels = [
            Panel(f"{unit}: {name}", axis, [(row[0], row[column]) for row in found[name]])
            for name, axis in axes.items()
        ]
        text = chart(f"Growth of {what} (dotted: linear)", panels)
        (PICTURES / f"growth-of-{what}.svg").write_text(text, encoding="utf-8")
    panel = Panel("seconds from the command to its first new step", "steps done", [(a, b) for a, b in found["resume"]])
    (PICTURES / "growth-of-resuming.svg").write_text(chart("Resuming", [panel]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(Case(**json.loads(options.one)))
        return
    found: dict[str, list[list[float]]] = {}
    for case in cases():
        result = measured(case)
        found.setdefault(case.chart, []).append([case.x, result.step_s, result.peak_mb])
    with tempfile.TemporaryDirectory() as name:
        found["resume"] = [[steps, resumed(steps, Path(name))] for steps in STEPS_DONE]
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
