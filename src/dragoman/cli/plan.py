"""`dragoman plan`: what a recipe would cost on given machines, before a cent is spent."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.core import config_file, records
from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, write_atomically
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import PreflightRecord

if TYPE_CHECKING:
    from dragoman.planner.choices import Plan
    from dragoman.planner.estimate import Speed
    from dragoman.planner.machines import Machines

EXAMPLES = """\
examples:
  dragoman plan recipes/wmt16_en_de_base.toml --cluster '2 hosts x 2 V100, 1 Gb/s, $3.06/h'
  dragoman plan recipes/wmt16_en_de_base.toml --cluster '2 x g4dn.12xlarge' --steps 50000
  dragoman plan recipes/phrasebook.toml --cluster '2 hosts x 1 CPU, 100 Mb/s' --learn-from runs/phrasebook

A price is that of one host. Gb/s is what a port claims, MB/s what somebody measured."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "plan",
        help="time, money, bytes and memory before you start",
        description="Predict what a recipe costs on given machines, and what each change would buy. Writes nothing.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", type=Path, nargs="?", metavar="RECIPE", help="a recipe.toml")
    parser.add_argument("--cluster", default="", metavar="TEXT", help="such as '2 hosts x 2 V100, 1 Gb/s, $3.06/h'")
    parser.add_argument("--hosts", default="", metavar="FILE", help="hosts.toml; preflight.json beside it is used")
    parser.add_argument("--preflight", type=Path, metavar="FILE", help="what `dragoman check` measured")
    parser.add_argument("--learn-from", type=Path, metavar="RUN", help="take the speed that this run had")
    parser.add_argument("--steps", type=int, metavar="N", help="plan for so many steps (the recipe's own)")
    parser.add_argument(
        "--out", type=Path, metavar="PLACE", help="also write the plan there: a file, or a run directory"
    )
    parser.add_argument("--replay", type=Path, metavar="TSV", help="compare the model with a table of published runs")
    parser.add_argument("--json", action="store_true", help="print the plan as an object")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="override a setting; repeatable")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.replay:
        _replay(options.replay, as_json=options.json)
        return
    if options.recipe is None:
        raise UserError("there is nothing to plan", "name a recipe, such as recipes/phrasebook.toml")
    from dragoman.planner import choices, workload
    from dragoman.planner.calibrate import manifest_of

    config = config_file.load(options.recipe, options.set)
    machines = _machines(options)
    work = workload.of(config, manifest_of(Path(config.corpus.directory)), options.steps)
    plan = choices.plan(work, machines, _learned(options.learn_from, machines))
    if options.out:
        place = RunPaths(options.out).plan if options.out.is_dir() else options.out
        with explaining_disk_errors(place):
            write_atomically(place, records.dumps(plan))
    if options.json:
        print(json.dumps(records.to_json(plan), ensure_ascii=False))
    else:
        _show(plan)


def _machines(options: argparse.Namespace) -> "Machines":
    from dragoman.planner import machines

    if sum(map(bool, (options.cluster, options.hosts, options.preflight))) == 0:
        raise UserError("which machines?", f"name them with --cluster: {machines.EXAMPLE}")
    if options.cluster and (options.hosts or options.preflight):
        raise UserError("--cluster describes machines, --hosts and --preflight measured ones", "name one of them")
    if options.cluster:
        return machines.parse(options.cluster)
    path = options.preflight or Path(options.hosts).with_name("preflight.json")
    preflight = read_preflight(path)
    if options.hosts:
        from dragoman.cluster.hosts import read_hosts

        wanted, found = {host.name for host in read_hosts(options.hosts)}, {host.name for host in preflight.hosts}
        if wanted != found:
            raise UserError(
                f"{path} is about {', '.join(sorted(found))}, not {', '.join(sorted(wanted))}",
                f"run `dragoman check --hosts {options.hosts}`",
            )
    return machines.from_preflight(preflight)


def read_preflight(path: Path) -> PreflightRecord:
    """What `dragoman check` wrote."""
    try:
        return records.from_json(PreflightRecord, json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}", "run `dragoman check --hosts hosts.toml` to measure the machines"
        ) from None
    except ValueError as error:
        raise UserError(f"{path} is no preflight: {error}", "run `dragoman check` once more") from None


def _learned(run_directory: Path | None, machines: "Machines") -> "Speed | None":
    if run_directory is None:
        return None
    from dragoman.planner.calibrate import calibrate

    learned = calibrate(run_directory)
    if learned.device != (machines.gpu.name if machines.gpu else None):
        raise UserError(
            f"{run_directory} ran on {learned.device or 'CPUs'} and says nothing about {machines.device}",
            "leave --learn-from out",
        )
    return learned.speed


def _show(plan: "Plan") -> None:
    """Tables with colours in a terminal, the same words without in a pipe."""
    from dragoman.cli.plan_view import show_plain, show_rich

    (show_rich if sys.stdout.isatty() else show_plain)(plan)


def _replay(path: Path, *, as_json: bool) -> None:
    from dragoman.planner import published

    replays = published.replay(published.read(path))
    if as_json:
        rows = [
            {
                "run": found.run.name,
                "observed_s": found.run.step_s,
                "predicted_s": found.predicted_s,
                "error": found.error,
                "link_bytes_per_s": found.link_bytes_per_s,
                "link_source": found.link_source,
                "is_misread": found.is_misread,
                "note": found.note,
            }
            for found in replays
        ]
        print(json.dumps({"runs": rows, "median_error": published.median_error(replays)}, ensure_ascii=False))
        return
    from dragoman.cli.plan_view import replay_lines

    print("\n".join(replay_lines(replays)))
