"""`dragoman demo`: what Dragoman does, shown on its built-in corpus in a few minutes."""

import argparse
import sys
from pathlib import Path
from typing import Any

from dragoman.cli import prepare, train
from dragoman.core import config_file
from dragoman.core.config import Config

EXAMPLES = """\
examples:
  dragoman demo
  dragoman demo --out /tmp/demo --minutes 10"""

RECIPE = """
[corpus]
directory = {corpus}
[[corpus.texts]]
dataset = "phrasebook"
[vocabulary]
size = 2048
[model]
preset = "tiny"
[batching]
tokens_per_step = 2048
[schedule]
kind = "inverse_sqrt"
peak = 3e-3
warmup_steps = 300
[training]
max_steps = 0
max_hours = {hours}
evaluate_every_steps = 1000
[decoding]
beam = 2
"""
SENTENCES = (
    "Where is the train station?",
    "How much does this cost?",
    "I would like a coffee, please.",
    "Could you bring us the menu, please?",
    "I would like a single room with breakfast for one week.",
    "Can you tell me when the train from Vienna arrives?",
    "My brother bought a new car yesterday.",
    "She does not drink beer.",
    "The book is on the table.",
    "Do you speak English?",
    "What time is it?",
    "We have to get up early tomorrow because the train leaves at half past six.",
)


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "demo",
        help="see it work on the built-in phrasebook",
        description="Prepare the built-in English–German phrasebook, train a small model on it, score it, use it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where it goes (demo)")
    parser.add_argument("--minutes", type=float, default=4.0, metavar="N", help="how long to train (4)")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    from dragoman.corpus.shards import open_corpus

    corpus, directory = options.out / "corpus", options.out / "run"
    config = _config(corpus, options.minutes)
    _say("The phrasebook: English and German sentences from a grammar, dev and test in combinations never trained on")
    train.prepare_run(config, directory, is_main=True)
    print(prepare.summary(open_corpus(corpus).manifest, corpus))
    _say(f"Training for {options.minutes:g} minutes; Ctrl-C stops it, the same command goes on")
    code = train.launch(directory, num_processes=1)
    if code:
        return code
    _show(directory, corpus)
    return 0


def _config(corpus: Path, minutes: float) -> Config:
    import json

    return config_file.parse(RECIPE.format(corpus=json.dumps(str(corpus)), hours=minutes / 60), "the demo's recipe")


def _show(directory: Path, corpus: Path) -> None:
    """What the model can do now."""
    from dragoman.corpus.shards import open_corpus
    from dragoman.decoding.load import load_run
    from dragoman.decoding.score import score

    translator, prepared = load_run(directory), open_corpus(corpus)
    _say("Scoring the test set: combinations that are not in the training text")
    result = score(translator.translate(prepared.text("test", 0)), prepared.text("test", 1))
    print(f"{result}\n{result.bleu_signature}\n")
    for source, target in zip(SENTENCES, translator.translate(SENTENCES), strict=True):
        print(f"  {source}\n  → {target}\n")
    print(
        f"Try your own:   echo 'Good morning!' | dragoman translate {directory}\n"
        f"Curves:         tensorboard --logdir {directory / 'tensorboard'}\n"
        f"The corpus:     {corpus / 'CARD.md'}"
    )


def _say(text: str) -> None:
    print(f"\n{text}", file=sys.stderr)
