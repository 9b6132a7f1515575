"""`dragoman stop`: ends a training that goes on without a terminal, with a checkpoint."""

import argparse
import sys
from pathlib import Path
from typing import Any

from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths

EXAMPLES = """\
example:
  dragoman stop runs/phrasebook"""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "stop",
        help="stop a training, with a checkpoint",
        description="Stop whoever trains a run, on all its hosts, after the step at hand and with a checkpoint.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    from dragoman.cluster.detached import stop

    if not RunPaths(options.run).config.is_file():
        raise UserError(f"{options.run} is not a run: no config.toml", "train one with `dragoman train RECIPE.toml`")
    stop(options.run)
    print(f"dragoman: {options.run} has stopped; the same `dragoman train` command goes on", file=sys.stderr)
