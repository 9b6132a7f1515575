"""What each rung costs in quality: the same tokens on every rung, several seeds, dev loss and BLEU against plain.

    python -m benchmarks.wire.quality RECIPE.toml --directory DIR [--seeds 1 2 3] [--set training.max_steps=2000]

Trains on two processes of this machine: quality does not depend on how fast bytes cross. Every finished run is one line
of DIR/runs.jsonl with its losses, scores and bytes, and its translations of the test set lie beside. Run it again and
it goes on where it stopped, also inside a run. At the end it prints the table.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.core import config_file, records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord, StepRecord
from dragoman.corpus.shards import open_corpus
from dragoman.decoding.load import load_run
from dragoman.decoding.score import Difference, compare, score, tokenizer_for
from dragoman.decoding.score import statistics as score_rows

BASELINE = "plain"
LARGER = {"larger_step_2": 2, "larger_step_4": 4, "larger_step_8": 8}
RUNGS = (BASELINE, "half", "eight_bits", *LARGER, "local_steps_4", "local_steps_16", "local_steps_64")


@dataclass(frozen=True)
class Trained:
    """One finished run."""

    rung: str
    seed: int
    tokens: int
    bytes_per_step: float
    """Sent by one rank for each step of the recipe."""
    dev_loss: float
    bleu: float
    """Of the test set, with `bleu_signature`."""
    bleu_signature: str


def settings_of(rung: str, seed: int, tokens_per_step: int) -> list[str]:
    mode = "larger_step" if rung in LARGER else rung
    largest = LARGER.get(rung, 0) * tokens_per_step
    return [f"communication.mode={mode}", f"communication.max_tokens_per_step={largest}", f"training.seed={seed}"]


def train(recipe: Path, directory: Path, rung: str, seed: int, more: Sequence[str]) -> Trained:
    """Train, or go on; then translate the test set."""
    run = directory / f"{rung}-seed{seed}"
    chosen = [*more, *settings_of(rung, seed, config_file.load(recipe, more).batching.tokens_per_step)]
    words = [word for setting in chosen for word in ("--set", setting)]
    command = [sys.executable, "-m", "dragoman.cli.main", "train", str(recipe), "--run", str(run), "--processes", "2"]
    subprocess.run([*command, *words], check=True)
    paths = RunPaths(run)
    config = config_file.load(paths.config)
    corpus = open_corpus(Path(config.corpus.directory))
    hypotheses = load_run(run, config.decoding).translate(corpus.text("test", 0))
    (directory / f"{run.name}.hypotheses").write_text("\n".join(hypotheses) + "\n", encoding="utf-8")
    (directory / "references").write_text("\n".join(corpus.text("test", 1)) + "\n", encoding="utf-8")
    result = score(hypotheses, corpus.text("test", 1), tokenizer_for(config.corpus.target_language))
    steps = {record.step: record for record in records.read_lines(paths.steps(0), StepRecord)}
    last = list(records.read_lines(paths.evals, EvalRecord))[-1]
    assert last.dev_loss is not None, f"{run} diverged"
    return Trained(
        rung, seed, last.tokens, statistics.fmean(record.wire_bytes for record in steps.values()), last.dev_loss,
        result.bleu, result.bleu_signature,
    )  # fmt: skip


def table(directory: Path, runs: Sequence[Trained]) -> str:
    """Each rung against plain: means over the seeds that both have; BLEU compared sentence by sentence."""
    lines = [
        "| rung | seeds | bytes a step | dev loss | against plain | BLEU | against plain (95 %) | p of each seed |",
        "|---|--:|--:|--:|--:|--:|---|---|",
    ]
    plain = {run.seed: run for run in runs if run.rung == BASELINE}
    for rung in RUNGS:
        own = {run.seed: run for run in runs if run.rung == rung}
        seeds = sorted(own.keys() & plain.keys())
        if not seeds:
            continue
        loss, plain_loss = (statistics.fmean(group[seed].dev_loss for seed in seeds) for group in (own, plain))
        cells = [rung, f"{len(seeds)}", f"{statistics.fmean(own[seed].bytes_per_step for seed in seeds):,.0f}"]
        cells += [f"{loss:.4f}", "", f"{statistics.fmean(own[seed].bleu for seed in seeds):.2f}", "", ""]
        if rung != BASELINE:
            differences = [against_plain(directory, rung, seed) for seed in seeds]
            low, high = (statistics.fmean(one.interval[end] for one in differences) for end in (0, 1))
            p_values = ", ".join(f"{one.p_value:.2f}" for one in differences)
            cells[4], cells[6:] = f"{loss / plain_loss - 1:+.2%}", [f"{low:+.2f} to {high:+.2f}", p_values]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def against_plain(directory: Path, rung: str, seed: int) -> Difference:
    """Paired bootstrap of BLEU on the test set."""
    references = lines_of(directory / "references")
    own, plain = (
        score_rows(lines_of(directory / f"{name}-seed{seed}.hypotheses"), references) for name in (rung, BASELINE)
    )
    return compare(own, plain).bleu


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rungs", nargs="+", default=list(RUNGS), choices=RUNGS)
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    results = options.directory / "runs.jsonl"
    runs = list(records.read_lines(results, Trained)) if results.exists() else []
    for seed in options.seeds:  # all rungs of a seed first: a study that stops early has whole comparisons
        for rung in options.rungs:
            if not any((run.rung, run.seed) == (rung, seed) for run in runs):
                runs.append(train(options.recipe, options.directory, rung, seed, options.set))
                records.append_line(results, runs[-1])
    print(table(options.directory, runs))
    (options.directory / "summary.json").write_text(json.dumps([records.to_json(run) for run in runs], indent=1))


if __name__ == "__main__":
    main()
