"""`dragoman evaluate`: how good translations are, by the one code path that scores everything here."""

import argparse
import json
from pathlib import Path
from typing import Any

from dragoman.cli.sentence_files import parallel_sentences
from dragoman.cli.settings import decoding_config
from dragoman.core import config_file, records
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths

EXAMPLES = """\
examples:
  dragoman evaluate runs/phrasebook
  dragoman evaluate runs/phrasebook --source news.en --reference news.de
  dragoman evaluate --hypothesis mine.de --reference news.de

Without files, the test set of the run's corpus is used."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "evaluate",
        help="BLEU and chrF of a model or of a file",
        description="Translate and score, or score a file of translations, with sacreBLEU and its signatures.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, nargs="?", metavar="RUN", help="a run directory")
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences to translate")
    parser.add_argument("--reference", type=Path, metavar="FILE", help="their translations by a person")
    parser.add_argument("--hypothesis", type=Path, metavar="FILE", help="translations to score as they are")
    parser.add_argument("--average", type=int, default=1, metavar="K", help="use the mean of the last K checkpoints")
    parser.add_argument("--tokenize", default="", metavar="NAME", help="sacreBLEU's tokenizer (by target language)")
    parser.add_argument("--json", action="store_true", help="print the score as an object")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="such as decoding.beam=1")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.hypothesis and not options.reference:
        raise UserError("a hypothesis needs a reference to compare with", "name it with --reference")
    if not options.hypothesis and not options.run:
        raise UserError("there is nothing to evaluate", "name a run, or --hypothesis and --reference")
    if options.run and (options.source is None) != (options.reference is None) and not options.hypothesis:
        raise UserError("--source and --reference belong together")
    if options.hypothesis:
        hypotheses, references = parallel_sentences(options.hypothesis, options.reference)
        target_language = ""
    else:
        hypotheses, references, target_language = _translated(options)
    from dragoman.decoding.score import score, tokenizer_for

    tokenizer = options.tokenize or tokenizer_for(target_language)
    result = score(hypotheses, references, tokenizer)
    if options.json:
        print(json.dumps(records.to_json(result), ensure_ascii=False))
    else:
        print(f"{result}\n{result.bleu_signature}\n{result.chrf_signature}")


def _translated(options: argparse.Namespace) -> tuple[list[str], list[str], str]:
    decoding = decoding_config(options.run, options.set)
    config = config_file.load(RunPaths(options.run).config)
    if options.source:
        sources, references = parallel_sentences(options.source, options.reference)
    else:
        from dragoman.corpus.shards import open_corpus

        corpus = open_corpus(Path(config.corpus.directory))
        sources, references = corpus.text("test", 0), corpus.text("test", 1)
    from dragoman.decoding.load import load_run

    translator = load_run(options.run, decoding, average_last=options.average)
    return translator.translate(sources), references, config.corpus.target_language
