"""`dragoman train`: a recipe in, a run out; the same command again goes on where it stopped."""

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dragoman.cli import terminal
from dragoman.core import config_file, records
from dragoman.core.config import Config
from dragoman.core.config_text import differences, to_toml
from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, write_atomically
from dragoman.core.paths import RunPaths

if TYPE_CHECKING:
    from dragoman.checkpoints.store import Snapshot
    from dragoman.cluster.hosts import Host
    from dragoman.corpus.shards import Corpus

EXAMPLES = """\
examples:
  dragoman train recipes/phrasebook.toml
  dragoman train recipes/phrasebook.toml --run runs/first --processes 2
  dragoman train recipes/phrasebook.toml --set training.max_steps=2000
  dragoman train own.toml --start-from runs/phrasebook

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
    parser.add_argument("--hosts", metavar="FILE", help="hosts.toml, or names: train on all of these machines")
    parser.add_argument("--skip-check", action="store_true", help="with --hosts: do not test the machines first")
    parser.add_argument(
        "--keep-copies", type=int, default=0, metavar="N", help="with --hosts: newest checkpoint also on N other hosts"
    )
    parser.add_argument("--allow-public", action="store_true", help="with --hosts: ranks may meet on public addresses")
    parser.add_argument(
        "--slurm", nargs="?", const="", metavar="OPTIONS", help='submit a job: --slurm="--nodes=2 --time=8:00:00"'
    )
    parser.add_argument("--detach", action="store_true", help="go on without this terminal; see `dragoman stop`")
    parser.add_argument(
        "--start-from",
        type=Path,
        action="append",
        default=[],
        metavar="RUN",
        help="a new run's first weights: the best of that run; repeatable, then their mean",
    )
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="override a setting; repeatable")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    config = settled_recipe(options)
    directory = options.run or Path("runs") / options.recipe.stem
    hosts = _hosts(options)
    num_processes = _num_processes(options.processes)
    if is_launched_from_outside():
        is_main = os.environ.get("RANK", os.environ.get("SLURM_PROCID")) == "0"
        _become_a_rank(config, directory, options.start_from, is_main=is_main)
    if hosts:
        return _train_on(hosts, config, directory, options)
    prepare_run(config, directory, options.start_from, is_main=True)
    if options.slurm is not None:
        return _train_with_slurm(options, directory)
    if options.detach:
        from dragoman.cluster.detached import start

        return start(_again(options, directory), directory)
    return launch(directory, num_processes)


def settled_recipe(options: argparse.Namespace) -> Config:
    """The settings that a run keeps: what the recipe leaves to the model's size is written out."""
    config = config_file.load(options.recipe, options.set)
    config.model.validate()
    return dataclasses.replace(config, optimizer=config.optimizer.settled_for(config.model))


def _hosts(options: argparse.Namespace) -> "tuple[Host, ...]":
    """The machines that --hosts names; UserError for options that make no sense without them, or with them."""
    from dragoman.cluster.hosts import read_hosts

    if not options.hosts:
        for option in ("skip_check", "keep_copies", "allow_public"):
            if getattr(options, option):
                raise UserError(f"--{option.replace('_', '-')} is for several machines", "name them with --hosts")
        return ()
    if options.slurm is not None:
        raise UserError("--hosts and --slurm are two ways to reach machines", "choose one")
    if options.processes:
        raise UserError("--processes is for this machine alone", "set processes of each host in hosts.toml")
    if options.keep_copies < 0:
        raise UserError(f"--keep-copies {options.keep_copies} makes no sense", "name 0 or more")
    return read_hosts(options.hosts)


def _train_on(hosts: "Sequence[Host]", config: Config, directory: Path, options: argparse.Namespace) -> int:
    from dragoman.cluster.detached import only_trainer, start, trainer_of
    from dragoman.cluster.launch import Order, train_on_hosts

    price = sum(host.price_per_hour for host in hosts)
    if price and not config.training.price_per_hour:
        config = dataclasses.replace(config, training=dataclasses.replace(config.training, price_per_hour=price))
    prepare_run(config, directory, options.start_from, is_main=True)
    if trainer := trainer_of(directory):
        raise UserError(
            f"{directory} is being trained by process {trainer.pid} on {trainer.host}",
            f"`dragoman stop {directory}` stops it",
        )
    order = Order(
        config=config,
        directory=directory,
        hosts=tuple(hosts),
        is_checked=not options.skip_check,
        keep_copies=options.keep_copies,
        may_be_public=options.allow_public,
        is_detached=options.detach,
    )
    if options.detach:
        return train_on_hosts(order, terminal.progress()) or start(_again(options, directory), directory)
    with only_trainer(directory):
        return _reported(train_on_hosts(order, terminal.progress()), directory)


def _again(options: argparse.Namespace, directory: Path) -> list[str]:
    """The same command for a process without a terminal; what was checked is not checked again."""
    words = ["train", str(options.recipe.absolute()), "--run", str(directory.absolute())]
    for override in options.set:
        words += ["--set", override]
    if not options.hosts:
        return [*words, "--processes", str(options.processes)] if options.processes else words
    hosts = str(Path(options.hosts).absolute()) if Path(options.hosts).is_file() else options.hosts
    public = ["--allow-public"] if options.allow_public else []
    return [*words, "--hosts", hosts, "--skip-check", "--keep-copies", str(options.keep_copies), *public]


def launch(directory: Path, num_processes: int) -> int:
    """Train a prepared run on this machine; its exit code."""
    from dragoman.cluster.detached import only_trainer
    from dragoman.cluster.local import run_workers

    with only_trainer(directory):
        return _reported(run_workers("dragoman.training.worker", [str(directory)], num_processes, directory), directory)


def _reported(code: int, directory: Path) -> int:
    """However training ended, say what happened; `code` is how it ended and stays so."""
    from dragoman.report.report import write_report

    if any(RunPaths(directory).steps(0).parent.glob("*.jsonl")):
        problem = write_report(directory)
        print(problem or f"what happened: {RunPaths(directory).report('index.html')}", file=sys.stderr)
    return code


def is_launched_from_outside() -> bool:
    """torchrun or srun have started this process as one of several."""
    from dragoman.cluster.slurm import is_rank

    return "TORCHELASTIC_RUN_ID" in os.environ or is_rank()


def _become_a_rank(config: Config, directory: Path, start_from: Sequence[Path], *, is_main: bool) -> NoReturn:
    """One of the ranks that somebody else starts; the main one holds the run for all of them, until it ends."""
    from dragoman.cluster.detached import only_trainer

    prepare_run(config, directory, start_from, is_main=is_main)
    _find_the_others()
    with only_trainer(directory) if is_main else nullcontext():
        os.execv(sys.executable, [sys.executable, "-m", "dragoman.training.worker", str(directory)])


def _find_the_others() -> None:
    """srun says which rank this is, but not where they meet."""
    from dragoman.cluster.slurm import is_rank, meeting_variables

    if is_rank() and "MASTER_ADDR" not in os.environ:
        os.environ.update(meeting_variables(os.environ))


def _train_with_slurm(options: argparse.Namespace, directory: Path) -> int:
    """Submit a job, or start its ranks where an allocation is there already."""
    from dragoman.cluster import slurm

    chosen = slurm.checked_options(options.slurm)
    arguments = _again(options, directory)
    if slurm.is_inside_allocation():
        command = slurm.step(arguments)
        os.execvp(command[0], [command[0], *chosen, *command[1:]])
    print(f"dragoman: {slurm.submit(arguments, directory, chosen)}; its words go to {directory}/slurm-JOB.log")
    return 0


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


def prepare_run(config: Config, directory: Path, start_from: Sequence[Path] = (), *, is_main: bool) -> None:
    """See that corpus and run directory are there and fit the recipe; nothing is changed where they do not.

    A run that has no checkpoint yet gets its first weights from the runs `start_from`, where any are named.
    """
    paths = RunPaths(directory)
    if not is_main:
        _wait_for(paths.config, to_toml(config))
        return
    if paths.config.is_file():
        _refuse_other_recipe(config_file.load(paths.config), config, directory)
    elif directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UserError(f"{directory} holds files but no run; nothing was changed", "name another with --run")
    corpus = _prepared_corpus(config)
    first = _first_checkpoint(start_from, config, corpus, paths)
    with explaining_disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        for side, vocabulary in corpus.vocabularies.items():
            if not paths.vocabulary(side).is_file():
                write_atomically(paths.vocabulary(side), (corpus.directory / vocabulary.file).read_bytes())
        write_atomically(paths.config, to_toml(config))
        if first:
            from dragoman.training import first_weights

            first_weights.write(first, paths)


def _first_checkpoint(others: Sequence[Path], config: Config, corpus: "Corpus", paths: RunPaths) -> "Snapshot | None":
    """Made of other runs' weights; None where none is named, or where the run has begun already."""
    if not others:
        return None
    from dragoman.checkpoints.reading import steps_in
    from dragoman.training.first_weights import first_checkpoint

    if steps_in(paths.checkpoints):
        print(f"{paths.directory} has begun and goes on; --start-from is for new runs", file=sys.stderr)
        return None
    return first_checkpoint(others, config, corpus)


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
