"""`dragoman VERB …`: finds the verb, runs it, and turns what goes wrong into a sentence and an exit code.

0 is done, 2 means that the person can mend it, 130 and 143 that it was stopped by Ctrl-C or by SIGTERM; anything
else is a bug and shows a traceback. Results go to standard output, talk to standard error.
"""

import argparse
import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import dragoman
from dragoman.cli import (
    check,
    completion,
    demo,
    evaluate,
    export,
    plan,
    prepare,
    report,
    serve,
    stop,
    train,
    translate,
    watch,
)
from dragoman.core.errors import UserError

DESCRIPTION = "Train a translation model on the machines you have, and know what happened."


class Terminated(BaseException):
    """SIGTERM came; unwinds like Ctrl-C so that nothing half-written stays behind."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dragoman",
        description=DESCRIPTION,
        epilog="example:\n  dragoman prepare phrasebook --out corpus/phrasebook\n\n`dragoman VERB --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dragoman {dragoman.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs_in_order = (
        *(demo, prepare, plan, check, train, watch, stop, report),
        *(evaluate, export, translate, serve, completion),
    )
    for verb in verbs_in_order:
        verb.add_to(verbs)
    return parser


def main() -> int:
    """Run the verb this process was started for, and give its exit code."""
    code = run_command(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):  # it is done: what comes while Python clears up changes nothing
        signal.signal(number, signal.SIG_IGN)
    return code


def run_command(arguments: Sequence[str]) -> int:
    """Run one verb and give its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    options = build_parser().parse_args(arguments)
    try:
        code: int | None = options.run_verb(options)
        sys.stdout.flush()
        return code or 0
    except UserError as error:
        print(f"dragoman: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dragoman: stopped; nothing half-written was left behind", file=sys.stderr)
        return 130
    except Terminated:
        return 143
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EPIPE):
            raise
        # The reader of our output went away, as `head` does, or there is no room for it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return 0
        print("dragoman: the disk is full", file=sys.stderr)
        return 2


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise Terminated


if __name__ == "__main__":
    sys.exit(main())
