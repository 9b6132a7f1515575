"""`dragoman check`: are these machines fit to train together? Each line is good, or says what mends it."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dragoman.cli import terminal, train
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths

EXAMPLES = """\
examples:
  dragoman check --hosts hosts.toml
  dragoman check --hosts hosts.toml --install
  dragoman check recipes/phrasebook.toml --hosts hosts.toml --json

With a recipe, its corpus is copied to the hosts and its steps are timed too.
hosts.toml has [[hosts]] with an address for each machine, and where they are
needed name, user, port, key, processes, price_per_hour, python, directory,
private_address."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "check",
        help="see whether machines can train together",
        description="Test several machines before money is spent: SSH, versions, disk, network, a real exchange.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", type=Path, nargs="?", metavar="RECIPE", help="what they are to train")
    parser.add_argument("--hosts", required=True, metavar="FILE", help="hosts.toml, or names such as left,right")
    parser.add_argument("--run", type=Path, metavar="DIR", help="the run directory (runs/NAME-OF-THE-RECIPE)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="what was measured (preflight.json of the run)")
    parser.add_argument("--json", action="store_true", help="print all findings as one object")
    parser.add_argument("--install", action="store_true", help="first install this Dragoman on the hosts")
    parser.add_argument(
        "--wheelhouse", type=Path, metavar="DIR", help="with --install: packages for hosts without internet"
    )
    parser.add_argument("--allow-public", action="store_true", help="ranks may meet on public addresses")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="override a setting; repeatable")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    from dragoman.cluster.hosts import read_hosts
    from dragoman.cluster.launch import Order, check_hosts

    hosts = read_hosts(options.hosts)
    if options.wheelhouse and not options.install:
        raise UserError("--wheelhouse is for --install", "add --install")
    config, directory = Config(), Path()
    if options.recipe:
        config = train.settled_recipe(options)
        directory = options.run or Path("runs") / options.recipe.stem
        train.prepare_run(config, directory, is_main=True)
    if options.install:
        from dragoman.cluster.install import install

        install(hosts, options.wheelhouse, terminal.progress())
    order = Order(config, directory, hosts, may_be_public=options.allow_public)

    def tell(line: object) -> None:
        if not options.json:
            print(line, flush=True)

    preflight = check_hosts(order, terminal.progress(), tell)
    out = options.out or (RunPaths(directory).preflight if options.recipe else Path("preflight.json"))
    if preflight.record is not None:
        write_atomically(out, records.dumps(preflight.record))
    if options.json:
        found = {"is_good": preflight.is_good, "lines": preflight.lines, "preflight": preflight.record}
        print(json.dumps(records.to_json(found), ensure_ascii=False, indent=1))
    else:
        print(f"{out} holds what was measured" if preflight.record else "nothing was measured", file=sys.stderr)
    return 0 if preflight.is_good else 2
