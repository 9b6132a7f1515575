"""`dragoman train`: a recipe in, a run out; the same command again goes on where it stopped."""

import argparse
import dataclasses
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli import terminal
from dragoman.core import config_file, records
from dragoman.core.config import Config
from dragoman.core.config_text import differences, to_toml
from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, write_atomically
from dragoman.core.paths import RunPaths

if TYPE_CHECKING:
    from dragoman.corpus.shards import Corpus

EXAMPLES = """\
examples:
  dragoman train recipes/phrasebook.toml
  dragoman train recipes/phrasebook.toml --run runs/first --processes 2
  dragoman train recipes/phrasebook.toml --set training.max_steps=2000

Ctrl-C stops after the step at hand, with a checkpoint. The same command again
goes on. Inside torchrun or srun it is one of their ranks."""
MAY_CHANGE = (
    *("max_steps", "max_tokens", "max_epochs", "max_hours", "max_cost", "price_per_hour", "min_gain"),
    *("evaluate_every_steps", "evaluate_every_minutes", "save_every_steps", "save_every_minutes"),
    *("keep_last", "keep_best"),
)
"""Settings of [training] that a run may go on with changed: they decide when it ends and pauses, not what a step is."""
WAIT_FOR_MAIN_RANK_S = 600.0


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "train",
        help="train a model, or go on training it",
        description="Train the model of a recipe. Prepares the corpus first where it is not there.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", type=Path, metavar="RECIPE", help="a recipe.toml")
    parser.add_argument("--run", type=Path, metavar="DIR", help="the run directory (runs/NAME-OF-THE-RECIPE)")
    parser.add_argument(
        "--processes", type=int, default=0, metavar="N", help="ranks on this machine (one, or one a GPU)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="override a setting; repeatable")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    config = config_file.load(options.recipe, options.set)
    config.model.validate()
    directory = options.run or Path("runs") / options.recipe.stem
    num_processes = _num_processes(options.processes)
    if is_launched_from_outside():
        prepare_run(config, directory, is_main=os.environ.get("RANK", os.environ.get("SLURM_PROCID")) == "0")
        os.execv(sys.executable, [sys.executable, "-m", "dragoman.training.worker", str(directory)])
    prepare_run(config, directory, is_main=True)
    return launch(directory, num_processes)


def launch(directory: Path, num_processes: int) -> int:
    """Train a prepared run on this machine; its exit code."""
    from dragoman.cluster.local import run_workers

    return run_workers("dragoman.training.worker", [str(directory)], num_processes, directory)


def is_launched_from_outside() -> bool:
    """torchrun or srun have started this process as one of several."""
    return "TORCHELASTIC_RUN_ID" in os.environ or int(os.environ.get("SLURM_NTASKS", "1")) > 1


def _num_processes(wanted: int) -> int:
    if wanted < 0:
        raise UserError(f"--processes {wanted} makes no sense", "name 1 or more")
    num_gpus = len(list(Path("/proc/driver/nvidia/gpus").glob("*"))) if Path("/proc/driver/nvidia/gpus").is_dir() else 0
    most = num_gpus or len(os.sched_getaffinity(0))
    if wanted > most:
        kind = "GPUs" if num_gpus else "cores"
        raise UserError(f"--processes {wanted} is more than the {most} {kind} of this machine", f"name {most} at most")
    # On CPUs one process with all cores is as fast as several, and holds the model only once (docs/JOURNAL.md).
    return wanted or num_gpus or 1


def prepare_run(config: Config, directory: Path, *, is_main: bool) -> None:
    """See that corpus and run directory are there and fit the recipe; nothing is changed where they do not."""
    paths = RunPaths(directory)
    if not is_main:
        _wait_for(paths.config, to_toml(config))
        return
    if paths.config.is_file():
        _refuse_other_recipe(config_file.load(paths.config), config, directory)
    elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UserError(f"{directory} holds files but no run; nothing was changed", "name another with --run")
    corpus = _prepared_corpus(config)
    with explaining_disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        for side, vocabulary in corpus.vocabularies.items():
            if not paths.vocabulary(side).is_file():
                write_atomically(paths.vocabulary(side), (corpus.directory / vocabulary.file).read_bytes())
        write_atomically(paths.config, to_toml(config))


def _wait_for(path: Path, text: str) -> None:
    """Other ranks of an outside launcher begin when the main one has prepared everything."""
    deadline = time.monotonic() + WAIT_FOR_MAIN_RANK_S
    while not (path.is_file() and path.read_text(encoding="utf-8") == text):
        if time.monotonic() > deadline:
            raise UserError(f"the main rank did not write {path}")
        time.sleep(0.1)


def _refuse_other_recipe(before: Config, now: Config, directory: Path) -> None:
    same_limits = {name: getattr(now.training, name) for name in MAY_CHANGE}
    adapted = dataclasses.replace(before, training=dataclasses.replace(before.training, **same_limits))
    changes = differences(records.to_json(adapted), records.to_json(now))
    if changes:
        raise UserError(f"{directory} is a run of another recipe: {'; '.join(changes)}", "name another with --run")


def _prepared_corpus(config: Config) -> "Corpus":
    from dragoman.corpus.existing import already_prepared
    from dragoman.corpus.prepare import prepare
    from dragoman.corpus.shards import open_corpus

    if not config.corpus.directory:
        raise UserError("the recipe names no corpus", "set corpus.directory in it")
    if config.corpus.texts and already_prepared(config, force=False) is None:
        print(f"preparing {config.corpus.directory} first", file=sys.stderr)
        prepare(config, mirror=None, progress=terminal.progress())
    return open_corpus(Path(config.corpus.directory))
