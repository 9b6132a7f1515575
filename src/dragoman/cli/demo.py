"""`dragoman demo`: what Dragoman does, shown on its built-in corpus."""

import argparse
import sys
from pathlib import Path
from typing import Any

from dragoman.cli import prepare, terminal
from dragoman.core import config_file

EXAMPLES = """\
examples:
  dragoman demo
  dragoman demo --out /tmp/demo"""
NUM_SENTENCES = 8


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "demo",
        help="see it work on the built-in phrasebook",
        description="Prepare the built-in English–German phrasebook and show what came out.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where it goes (demo)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from dragoman.corpus.existing import already_prepared
    from dragoman.corpus.prepare import prepare as prepare_corpus
    from dragoman.corpus.shards import open_corpus
    from dragoman.corpus.vocab import Vocabulary

    directory = options.out / "corpus"
    texts = 'corpus.texts=[{dataset="phrasebook"}]'
    config = config_file.load(None, [texts, "vocabulary.size=4096", f"corpus.directory={str(directory)!r}"])
    print("Preparing the phrasebook: English and German sentences from a grammar", file=sys.stderr)
    manifest = already_prepared(config, force=False)
    if manifest is None:
        manifest = prepare_corpus(config, mirror=None, progress=terminal.progress())
    print(prepare.summary(manifest, directory))
    corpus = open_corpus(directory)
    vocabulary = Vocabulary(directory / corpus.vocabularies["source"].file)
    sources, targets = corpus.text("test", 0), corpus.text("test", 1)
    print("\nTest sentences, in combinations that are not in the training text, and their subwords:")
    for number, (source_ids, _) in zip(range(NUM_SENTENCES), corpus.split("test"), strict=False):
        pieces = " ".join(vocabulary.piece(int(token)) for token in source_ids)
        print(f"\n  {sources[number]}\n  {targets[number]}\n  {pieces}")
