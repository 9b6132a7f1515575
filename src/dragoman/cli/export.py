"""`dragoman export`: a run's model as a folder that translates wherever CTranslate2 runs."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli.sentence_files import parallel_sentences
from dragoman.core.errors import UserError

if TYPE_CHECKING:
    from dragoman.export.card import ExportCard
    from dragoman.export.check import Sentences

EXAMPLES = """\
examples:
  dragoman export runs/phrasebook --out models/en-de
  dragoman export runs/phrasebook --out models/en-de --average 5 --quantization float32
  dragoman export runs/phrasebook --out models/en-de --source news.en --reference news.de

The trained and the exported model translate the same sentences before DIR appears; where they differ, it does not.
DIR holds the model, its vocabularies, README.md for people and model.json for programs."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "export",
        help="a model to use: small, fast, checked",
        description="Turn a run into a CTranslate2 model with its vocabularies and a model card, checked on the spot.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the model goes")
    parser.add_argument("--average", type=int, default=1, metavar="K", help="use the mean of the last K checkpoints")
    parser.add_argument(
        "--quantization", default="int8", metavar="KIND", help="int8 (default), int16, float16, float32 …"
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences to check on, instead of dev")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="their translations by a person")
    parser.add_argument("--force", action="store_true", help="replace an exported model that is there")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.average < 1:
        raise UserError("--average is 1 or more")
    if (options.source is None) != (options.reference is None):
        raise UserError("--source and --reference belong together")
    from dragoman.export.exporting import Wish, export

    wish = Wish(
        run=options.run,
        out=options.out,
        quantization=options.quantization,
        average_last=options.average,
        sentences=_sentences(options.source, options.reference) if options.source else None,
        replaces=options.force,
    )
    card = export(wish, lambda text: print(text, file=sys.stderr, flush=True))
    print(_summary(card, options.out))


def _sentences(source: Path, reference: Path) -> "Sentences":
    from dragoman.export.check import Sentences

    return Sentences(source.name, *parallel_sentences(source, reference))


def _summary(card: "ExportCard", directory: Path) -> str:
    from dragoman.core.units import size

    check = card.check
    assert check is not None
    total = sum(path.stat().st_size for path in directory.iterdir())
    return (
        f"{directory}: {card.source_language} → {card.target_language}, {card.quantization}, {size(total)}\n"
        f"BLEU {check.exported.bleu:.2f} on {check.num_sentences:,} sentences of {check.sentences}"
        f" (as trained: {check.trained.bleu:.2f}); the same translation of {check.same_translations:.1%},"
        f" the same greedy pieces for {check.same_tokens:.1%}\n"
        f"Try it: echo '…' | dragoman translate {directory}"
    )
