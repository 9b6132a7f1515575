"""Minutes on this machine to BLEU 41.02 on Multi30k, which fairseq's Transformer-tiny reached on two GPUs.

    python -m benchmarks.multi30k_record [fast|published] [--seed 1] [--name WORDS] [--set a.b=c]

Trains on train, chooses between the best checkpoint and means of the last few on val, and then looks at the test set,
once: an attempt that has looked is a line of attempts.jsonl and is not made again. BLEU is sacreBLEU's
without tokenising, on the lower-cased, tokenised text of the published run. An attempt that is stopped goes on when it
is started again, and its minutes add up.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.ground import CACHE, shared_data
from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

GOAL = 41.02
HERE = Path(__file__).parent
ATTEMPTS = HERE / "attempts.jsonl"
NUM_PIECES = 8000
AVERAGED = (1, 3, 5)
"""Means of so many last checkpoints are tried on val; 1 is the best by dev loss."""


@dataclass(frozen=True)
class Attempt:
    """One training from nothing, and one look at the test set."""

    time: str
    name: str
    seed: int
    settings: tuple[str, ...]
    minutes: float
    """From the command to its end: steps, evaluations and checkpoints."""
    steps: int
    tokens: int
    averaged: int
    val_bleu: float
    test_bleu: float
    signature: str
    curve: tuple[tuple[float, float], ...]
    """(minutes of training, BLEU on val) of each evaluation on the way."""


def dragoman(*words: str) -> str:
    command = [sys.executable, "-m", "dragoman.cli.main", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def bleu(run: Path, part: str, averaged: int) -> tuple[float, str]:
    """Of val or of the test set, on the words as they are."""
    data = shared_data() / "multi30k"
    files = [str(data / f"{part}.lc.norm.tok.{language}.gz") for language in ("en", "de")]
    words = ("--source", files[0], "--reference", files[1], "--average", str(averaged), "--tokenize", "none", "--json")
    found = json.loads(dragoman("evaluate", str(run), *words))
    return found["bleu"], found["bleu_signature"]


def attempt(name: str, recipe: str, seed: int, settings: list[str]) -> Attempt:
    directory = CACHE / "multi30k_record"
    run = directory / f"{name}-seed{seed}"
    run.parent.mkdir(parents=True, exist_ok=True)
    text = (HERE / f"{recipe}.toml").read_text(encoding="utf-8")
    places = {"cache": directory, "data": shared_data() / "multi30k", "size": NUM_PIECES}
    filled = directory / f"{run.name}.toml"
    filled.write_text(text.format(**places), encoding="utf-8")
    chosen = [word for setting in (*settings, f"training.seed={seed}") for word in ("--set", setting)]
    dragoman("train", str(filled), "--run", str(run), *chosen)
    evals = list(records.read_lines(RunPaths(run).evals, EvalRecord))
    on_val = {count: bleu(run, "val", count)[0] for count in AVERAGED}
    averaged = max(on_val, key=lambda count: on_val[count])
    test_bleu, signature = bleu(run, "test_2016_flickr", averaged)
    return Attempt(
        datetime.now(UTC).isoformat(timespec="seconds"), name, seed, tuple(settings), minutes_of(evals[-1], evals),
        evals[-1].step, evals[-1].tokens, averaged, on_val[averaged], test_bleu, signature,
        tuple((round(minutes_of(one, evals), 2), one.bleu) for one in evals),
    )  # fmt: skip


def minutes_of(one: EvalRecord, evals: list[EvalRecord]) -> float:
    """Of steps and of all evaluations until this one was done."""
    return (one.training_s + sum(other.seconds for other in evals if other.step <= one.step)) / 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="fast", choices=("fast", "published"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="", help="what the attempt is called; the recipe's name if left out")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c")
    options = parser.parse_args()
    name = options.name or options.recipe
    done = list(records.read_lines(ATTEMPTS, Attempt)) if ATTEMPTS.exists() else []
    if any((one.name, one.seed) == (name, options.seed) for one in done):
        raise SystemExit(f"attempt {name} with seed {options.seed} has looked at the test set; give another --name")
    result = attempt(name, options.recipe, options.seed, options.set)
    records.append_line(ATTEMPTS, result)
    print(
        f"{name}, seed {options.seed}: BLEU {result.test_bleu:.2f} after {result.minutes:.1f} minutes and "
        f"{result.tokens:,} tokens ({result.val_bleu:.2f} on val, mean of {result.averaged}); the goal is {GOAL}"
    )


if __name__ == "__main__":
    main()
