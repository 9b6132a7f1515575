"""Minutes on this machine to BLEU 41.02 on Multi30k, which fairseq's Transformer-tiny reached on two GPUs.

    python -m benchmarks.multi30k_record [fast|published] [--seed 1] [--name WORD] [--set a.b=c]
    python -m benchmarks.multi30k_record --page

Trains on train, for `fast` with what a teacher makes of it and from the mean of its pupils, and then looks at the test
set, once: an attempt that has looked is a line of attempts.jsonl and is not made again. BLEU is sacreBLEU's without
tokenising, on the lower-cased, tokenised text of the published run. An attempt that is stopped goes on when it is
started again, and its minutes add up. Each attempt ends with the measured part of docs/RECORD.md and its chart written
anew; --page writes them without an attempt.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.ground import machine
from benchmarks.multi30k_record.attempts import ATTEMPTS, GOAL, Attempt, load
from benchmarks.multi30k_record.commands import DIRECTORY, cores, data_file, dragoman, filled
from benchmarks.multi30k_record.page import publish
from benchmarks.multi30k_record.pupils import learned, pupils_in
from benchmarks.multi30k_record.spending import Spent, evaluations, spent_at_once
from benchmarks.multi30k_record.teacher import taught
from dragoman.core import config_file, records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord
from dragoman.training.precision import precision_for

LENGTH_PENALTY = 0.8
"""Of the search, as in the published run."""


@dataclass(frozen=True)
class Plan:
    """What a recipe does not say."""

    averaged: int = 1
    """The mean of so many last checkpoints is scored; 1: the best by dev loss."""
    patience_steps: int = 0
    """A training ends where so many steps made the dev loss no better than before; 0: at its last step."""
    has_teacher: bool = False


PLANS = {"fast": Plan(has_teacher=True), "published": Plan(averaged=10, patience_steps=500)}


def bleu(run: Path, part: str, averaged: int) -> tuple[float, str]:
    """Of val or of the test set, on the words as they are, with the signature."""
    files = [str(data_file(part, language)) for language in ("en", "de")]
    words = ("--source", files[0], "--reference", files[1], "--average", str(averaged), "--tokenize", "none", "--json")
    searched = ("--set", f"decoding.length_penalty={LENGTH_PENALTY}")
    found = json.loads(dragoman("evaluate", str(run), *words, *searched))
    return found["bleu"], found["bleu_signature"]


def train(
    recipe: Path, run: Path, changes: Sequence[str], patience_steps: int, others: Sequence[Path] = ()
) -> list[EvalRecord]:
    """To the end, or as far as patience goes: so many steps, look, so many more. Gives the evaluations."""
    settings = [word for change in changes for word in ("--set", change)]
    settings += [word for other in others for word in ("--start-from", str(other))]
    last = config_file.load(recipe, changes).training.max_steps
    for limit in range(patience_steps, last, patience_steps) if patience_steps else ():
        evals = _train_until(limit, recipe, run, settings)
        losses = [one.dev_loss for one in evals if one.dev_loss is not None]
        if losses[-1] > min(losses):
            return evals
    return _train_until(last, recipe, run, settings)


def _train_until(limit: int, recipe: Path, run: Path, settings: Sequence[str]) -> list[EvalRecord]:
    # A process for each core: two with a thread each take a quarter less time than one with two threads.
    words = ("--processes", str(cores()), *settings, "--set", f"training.max_steps={limit}")
    dragoman("train", str(recipe), "--run", str(run), *words)
    return evaluations(run)


def attempt(name: str, recipe: str, seed: int, settings: Sequence[str]) -> Attempt:
    plan, run = PLANS[recipe], DIRECTORY / f"{name}-seed{seed}"
    lessons = run.with_name(f"{run.name}-lessons")
    written = filled(recipe, run.with_name(f"{run.name}.toml"), lessons=lessons)
    spent, others = Spent(), []
    if plan.has_teacher:
        spent = taught(lessons, seed) + learned(written, lessons, seed, settings)
        others = pupils_in(lessons)
    evals = train(written, run, [*settings, f"training.seed={seed}"], plan.patience_steps, others)
    spent += spent_at_once([run])
    wanted = config_file.load(RunPaths(run).config).training.precision
    val_bleu, _ = bleu(run, "val", plan.averaged)
    test_bleu, signature = bleu(run, "test_2016_flickr", plan.averaged)
    return Attempt(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        name=name,
        recipe=recipe,
        seed=seed,
        settings=tuple(settings),
        machine=machine(),
        cores=cores(),
        precision=precision_for(wanted, torch.device("cpu")).name,
        minutes=spent.minutes,
        steps=evals[-1].step,
        tokens=spent.tokens,
        averaged=plan.averaged,
        length_penalty=LENGTH_PENALTY,
        val_bleu=val_bleu,
        test_bleu=test_bleu,
        signature=signature,
        curve=tuple((round(minutes, 2), tokens, score) for minutes, tokens, score in spent.curve),
        curve_signature=evals[-1].bleu_signature,
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="fast", choices=tuple(PLANS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="", help="what the attempt is called; the recipe's name if left out")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c")
    parser.add_argument("--page", action="store_true", help="only write the page of the attempts that there are")
    options = parser.parse_args(words)
    done = load(ATTEMPTS)
    if options.page:
        publish(done)
        return
    name = options.name or options.recipe
    if any((one.name, one.seed) == (name, options.seed) for one in done):
        raise SystemExit(f"attempt {name} with seed {options.seed} has looked at the test set; give another --name")
    result = attempt(name, options.recipe, options.seed, options.set)
    records.append_line(ATTEMPTS, result)
    publish(load(ATTEMPTS))
    print(
        f"{name}, seed {options.seed}: BLEU {result.test_bleu:.2f} after {result.minutes:.1f} minutes and "
        f"{result.tokens:,} tokens ({result.val_bleu:.2f} on val, mean of {result.averaged}, "
        f"length penalty {result.length_penalty:g}); the goal is {GOAL}"
    )


if __name__ == "__main__":
    main()
