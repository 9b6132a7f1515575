"""Small runs that are really trained here, on corpora made so that the truth about them is known."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dragoman.core import config_file
from dragoman.core.progress import Silent
from dragoman.corpus import phrasebook
from dragoman.corpus.prepare import prepare

RECIPE = """
[corpus]
directory = "{directory}/corpus"
[[corpus.texts]]
name = "text"
source = "{directory}/train.tsv"
[held_out]
dev_source = "{directory}/dev.tsv"
test_pairs = 0
[cleaning]
switched_off = ["length_ratio"]
[vocabulary]
size = {vocabulary}
byte_fallback = {byte_fallback}
[model]
width = {width}
feed_forward = {feed_forward}
heads = 2
encoder_layers = 1
decoder_layers = 1
dropout = 0.0
label_smoothing = 0.0
[batching]
tokens_per_step = 512
tokens_per_micro_batch = 512
[schedule]
kind = "inverse_sqrt"
peak = {peak}
warmup_steps = 20
[training]
max_steps = {steps}
evaluate_every_steps = 25
save_every_steps = 25
save_every_minutes = 0.0
[decoding]
beam = 1
max_length_ratio = 1.0
max_length_extra = 2
"""
GERMAN, ENGLISH = ("Haus", "Baum", "Hund", "Katze", "Vogel"), ("house", "tree", "dog", "cat", "bird")
WORDS_A_SENTENCE = 6
DRAWN_PAIRS, DEV_PAIRS = 3_100, 100
Pair = tuple[str, str]


@dataclass(frozen=True)
class RealRun:
    """A recipe with its corpus, and the directory of one run of it."""

    recipe: Path
    directory: Path

    def train(self, *settings: str) -> int:
        """The exit code of a training to its end."""
        return subprocess.run(self._command(*settings), env=_environment(), capture_output=True, check=False).returncode

    def kill_after_checkpoint(self, step: int, *settings: str) -> None:
        """Train until a checkpoint is there, and a moment longer, then end all of it without a word."""
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            self._command(*settings), env=_environment(), stdout=quiet, stderr=quiet, start_new_session=True
        )
        deadline = time.monotonic() + 300
        while not (self.directory / "checkpoints" / f"step_{step:07}").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _command(self, *settings: str) -> list[str]:
        chosen = [word for setting in settings for word in ("--set", setting)]
        words = ["train", str(self.recipe), "--run", str(self.directory), "--processes", "1"]
        return [sys.executable, "-m", "dragoman.cli.main", *words, *chosen]

    def as_it_stood(self, directory: Path, step: int) -> Path:
        """The records of this run as a reader found them after `step`: they only grow."""
        shutil.copytree(self.directory, directory, ignore=shutil.ignore_patterns("checkpoints", "heartbeats", "report"))
        for path in (*directory.glob("steps/*.jsonl"), directory / "evals.jsonl", directory / "events.jsonl"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            path.write_text("".join(line for line in lines if json.loads(line)["step"] <= step), encoding="utf-8")
        return directory


def _environment() -> dict[str, str]:
    """One thread: these models are too small for two, and other tests run beside."""
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}


def prepared(directory: Path, train: list[Pair], dev: list[Pair], **settings: object) -> Path:
    """A recipe whose corpus is ready."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, pairs in (("train", train), ("dev", dev)):
        text = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (directory / f"{name}.tsv").write_text(text, encoding="utf-8")
    recipe = directory / "recipe.toml"
    recipe.write_text(RECIPE.format(directory=directory, **settings), encoding="utf-8")
    prepare(config_file.load(recipe), mirror=None, progress=Silent())
    return recipe


def bring(make: Callable[[Path], Path], made_in: Path, home: Path, seen_as: Path) -> None:
    """A recipe and its corpus, ready in the home of a host that sees it as `seen_as`; the corpus is made once."""
    recipe = made_in / "recipe.toml"
    if not recipe.exists():
        make(made_in)
    shutil.copytree(made_in / "corpus", home / "corpus")
    text = recipe.read_text(encoding="utf-8").replace(str(made_in), str(seen_as))
    without_texts = re.sub(r"\[\[corpus\.texts\]\].*?(?=\[cleaning\])", "", text, flags=re.DOTALL)
    (home / "recipe.toml").write_text(without_texts, encoding="utf-8")


def few_phrases(directory: Path) -> Path:
    """275 pairs and a model that can learn them by heart: it must overfit."""
    pairs = list(phrasebook.pairs("train", num_pairs=400))
    settings = {"vocabulary": 512, "byte_fallback": "true", "width": 64, "feed_forward": 128}
    return prepared(directory, pairs[:300], pairs[300:], **settings, peak=0.008, steps=300)


def drawn_words(directory: Path) -> Path:
    """Targets that have nothing to do with their sources: five words drawn at random, and nothing to learn but that.

    No model can get below six sevenths of ln 5, because each of six words is one of five and the seventh token, the
    end, is certain. A small model is there within a hundred steps.
    """
    lengths = ((WORDS_A_SENTENCE, WORDS_A_SENTENCE) for _ in range(DRAWN_PAIRS))
    return _of_words(directory, list(lengths))


def uneven_words(directory: Path) -> Path:
    """Short targets of sources that are short or very long: the few pairs of a small step make no good rectangle."""
    drawn = random.Random(2)
    return _of_words(directory, [(drawn.choice((5, 60)), drawn.randint(4, 8)) for _ in range(DRAWN_PAIRS)])


def _of_words(directory: Path, lengths: list[tuple[int, int]]) -> Path:
    """Pairs of words drawn at random, of these numbers of words."""
    drawn = random.Random(1)
    pairs = [
        (" ".join(drawn.choices(ENGLISH, k=source)), " ".join(drawn.choices(GERMAN, k=target)))
        for source, target in lengths
    ]
    settings = {"vocabulary": 64, "byte_fallback": "false", "width": 16, "feed_forward": 32}
    return prepared(directory, pairs[:-DEV_PAIRS], pairs[-DEV_PAIRS:], **settings, peak=0.01, steps=400)
