"""`dragoman watch`: a run, live in the terminal or on a page; here or on another machine."""

import argparse
import sys
from pathlib import Path
from typing import Any

from dragoman.core.errors import UserError

EXAMPLES = """\
examples:
  dragoman watch runs/phrasebook
  dragoman watch runs/phrasebook --once
  dragoman watch runs/phrasebook --web
  dragoman watch me@gpu1:runs/phrasebook

Ctrl-C leaves; the run is not touched. Without a terminal, what there is to
see is printed once."""
DEFAULT_PORT = 8642


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "watch",
        help="see how a run goes, live",
        description="Show a run that goes on, or one that is over: curves, where time goes, machines, events, samples.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", metavar="RUN", help="a run directory, or user@host:directory")
    parser.add_argument("--once", action="store_true", help="print it once and end")
    parser.add_argument("--web", action="store_true", help="serve a live page on this machine, for this machine only")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, metavar="N", help=f"of the page ({DEFAULT_PORT})")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    from dragoman.watch import remote

    if options.web and options.once:
        raise UserError("--web and --once do not go together", "choose one")
    if not 0 <= options.port <= 65_535:
        raise UserError(f"--port {options.port} is no port", "name one from 1 to 65535")
    try:
        if place := remote.place_of(options.run):
            return remote.watch(
                place,
                has_terminal=sys.stdout.isatty() and sys.stdin.isatty(),
                once=options.once,
                web_port=options.port if options.web else None,
            )
        _watch(Path(options.run), options)
    except KeyboardInterrupt:  # the way to leave; nothing was begun that could be half done
        pass
    return 0


def _watch(directory: Path, options: argparse.Namespace) -> None:
    from dragoman.watch.observer import Observer

    observer = Observer(directory)
    if options.web:
        from dragoman.watch.web import PageServer

        with PageServer(observer, options.port) as server:
            print(f"{server.url}  (this machine only; Ctrl-C ends it)", flush=True)
            server.serve_forever()
    from dragoman.watch import terminal

    if options.once or not sys.stdout.isatty():
        terminal.print_once(observer, sys.stdout)
    else:
        from rich.console import Console

        terminal.follow(observer, Console())
