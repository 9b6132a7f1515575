"""`dragoman translate`: lines in, lines out, in the same order."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dragoman.cli.settings import decoding_config
from dragoman.core.errors import UserError

EXAMPLES = """\
examples:
  echo 'Where is the train station?' | dragoman translate runs/phrasebook
  dragoman translate runs/phrasebook letter.txt > brief.txt
  dragoman translate runs/phrasebook letter.txt --n-best 3 --json"""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "translate",
        help="translate with a trained model",
        description="Translate a file, or standard input, line by line to standard output.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="text, a sentence or paragraph a line")
    parser.add_argument("--n-best", type=int, default=1, metavar="N", help="give the N best translations of each line")
    parser.add_argument("--average", type=int, default=1, metavar="K", help="use the mean of the last K checkpoints")
    parser.add_argument("--json", action="store_true", help="one object a line, with scores")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="such as decoding.beam=1")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.n_best < 1 or options.average < 1:
        raise UserError("--n-best and --average are 1 or more")
    decoding = decoding_config(options.run, options.set, at_least_beam=options.n_best)
    from dragoman.decoding.load import load_run

    translator = load_run(options.run, decoding, average_last=options.average)
    # Someone who types waits for each line; a file is translated many lines at a time.
    at_once = 1 if options.file is None and sys.stdin.isatty() else 0
    for translation in translator.stream(_lines(options.file), options.n_best, at_once):
        if options.json:
            print(
                json.dumps(
                    [{"text": c.text, "score": round(c.score, 4)} for c in translation.candidates], ensure_ascii=False
                )
            )
        else:
            for candidate in translation.candidates:
                print(candidate.text)
        sys.stdout.flush()


def _lines(file: Path | None) -> Iterator[str]:
    """Lines without their ends; broken bytes are shown as such, never a reason to stop."""
    try:
        stream = sys.stdin.buffer if file is None else file.open("rb")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    with stream:
        for line in stream:
            yield line.decode(errors="replace").rstrip("\r\n")
