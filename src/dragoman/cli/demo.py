"""`dragoman demo`: what Dragoman does, shown on its built-in corpus in a few minutes.

A story of real commands: each is printed before it runs, and a person can run it again by hand.
"""

import argparse
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, write_atomically
from dragoman.core.paths import RunPaths, step_name
from dragoman.core.units import count, duration

EXAMPLES = """\
examples:
  dragoman demo
  dragoman demo --out /tmp/demo --minutes 10
  dragoman demo --corpus libreoffice-help:en-de   # real text, about half an hour"""

RECIPE = """\
# What `dragoman demo` trains.
[corpus]
directory = {corpus}
languages = {languages}
[[corpus.texts]]
dataset = {dataset}
[vocabulary]
size = {vocabulary}
[model]
preset = "{preset}"
[batching]
tokens_per_step = {tokens}
[optimizer]
average_decay = 0.998
[schedule]
kind = "inverse_sqrt"
peak = {peak}
warmup_steps = 300
[training]
max_steps = 0
max_hours = {hours}
evaluate_every_steps = {every}
save_every_steps = 100
[decoding]
beam = {beam}
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
KILLED_AFTER_SHARE = 0.4
"""Of the training time, and not before there is a checkpoint: late enough to have something to lose."""
POLL_S = 0.2


@dataclass(frozen=True)
class Scene:
    """A corpus to show, and settings that suit it."""

    dataset: str
    words: str
    minutes: float
    settings: dict[str, object]


PHRASEBOOK = Scene(
    "phrasebook",
    "English and German sentences from a grammar; dev and test hold combinations that are never trained on",
    4.0,
    {"vocabulary": 2048, "preset": "tiny", "tokens": 2048, "peak": 6e-3, "every": 1000, "beam": 2},
)
REAL_TEXT: dict[str, object] = {
    "vocabulary": 8000,
    "preset": "small",
    "tokens": 4096,
    "peak": 4e-3,
    "every": 500,
    "beam": 4,
}


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "demo",
        help="see it work on the built-in phrasebook",
        description="Prepare a corpus, train on it with two processes, kill the training and let it go on, score it, "
        "export it, report on it, translate with it. Everything stays on this machine.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", default="phrasebook", metavar="NAME", help="the data set to show (phrasebook)")
    parser.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where it goes (demo)")
    parser.add_argument("--minutes", type=float, metavar="N", help="how long to train (4; 25 on real text)")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> int:
    if options.minutes is not None and not 0 < options.minutes < math.inf:
        raise UserError("--minutes is more than 0", "leave it out for the usual time")
    scene = scene_of(options.corpus)
    minutes = options.minutes or scene.minutes
    out: Path = options.out
    start = time.monotonic()
    write_recipe(scene, out, minutes)
    _say(f"1. The text: {scene.words}")
    _dragoman("prepare", out / "recipe.toml")
    processes = min(2, len(os.sched_getaffinity(0)))
    _say(f"2. Training for {minutes:g} minutes with {processes} processes. On the way it is killed with -9, on purpose")
    train(["train", out / "recipe.toml", "--run", out / "run", "--processes", processes], out, minutes)
    _say("3. The score: the test set, translated freely")
    _dragoman("evaluate", out / "run")
    _say("4. The model as a folder that works wherever CTranslate2 works, compared with the trained one")
    if not (out / "model").exists():
        # So small a model feels eight bits: they may cost more BLEU than an export allows.
        _dragoman("export", out / "run", "--out", out / "model", "--quantization", "float32")
    _say("5. What happened: the eleven questions")
    _dragoman("report", out / "run")
    _say("6. Sentences that it was not trained on")
    sentences = sentences_of(scene, out)
    _show(sentences, out)
    print(_where_to_click(out, min(sentences, key=len), time.monotonic() - start))
    return 0


def scene_of(name: str) -> Scene:
    """The built-in corpus, or any data set that has a name; `prepare` refuses one that does not exist."""
    if name == PHRASEBOOK.dataset:
        return PHRASEBOOK
    return Scene(name, f"{name}, real text", 25.0, REAL_TEXT)


def write_recipe(scene: Scene, out: Path, minutes: float) -> None:
    """The recipe of the demo, or the one that is there: a demo that was stopped goes on."""
    languages = scene.dataset.partition(":")[2] or "en-de"
    recipe = RECIPE.format(
        corpus=json.dumps(str(out / "corpus")),
        dataset=json.dumps(scene.dataset),
        languages=json.dumps(languages),
        hours=minutes / 60,
        **scene.settings,
    )
    with explaining_disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / "recipe.toml", recipe)


def train(words: Sequence[object], out: Path, minutes: float) -> None:
    """Train, kill it once, train on; with the live view where there is a terminal."""
    if not sys.stderr.isatty():
        _train_and_kill(words, out, minutes, log=None)
        return
    from rich.console import Console
    from rich.live import Live

    from dragoman.watch.observer import Observer
    from dragoman.watch.terminal import screen

    (out / "run").mkdir(exist_ok=True)
    trouble: list[BaseException] = []

    def work() -> None:
        try:
            with (out / "train.log").open("ab") as log:
                _train_and_kill(words, out, minutes, log)
        except BaseException as error:
            trouble.append(error)

    worker = threading.Thread(target=work)
    console, observer = Console(stderr=True), Observer(out / "run")
    worker.start()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while worker.is_alive():
            live.update(screen(observer, observer.look(), console.width, console.height), refresh=True)
            worker.join(1.0)
    if trouble:
        raise trouble[0]


def _train_and_kill(words: Sequence[object], out: Path, minutes: float, log: Any) -> None:
    """The same command twice: the first is killed as a power cut would, the second goes on."""
    _say(f"$ dragoman {shlex.join(map(str, words))}", log)
    if not _has_checkpoint(out):
        process = subprocess.Popen(_command(words), stdout=log, stderr=log, start_new_session=True)
        try:
            is_killed = _runs_until_checkpoint(process, out, 60 * minutes * KILLED_AFTER_SHARE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if not is_killed:  # so short a time was over before
            _refuse_failure(process.returncode, out, log)
            return
        _say(f"   kill -9 {process.pid}: everything stopped at once. The same command again:", log)
        _say(f"$ dragoman {shlex.join(map(str, words))}", log)
    _refuse_failure(subprocess.run(_command(words), stdout=log, stderr=log, check=False).returncode, out, log)


def _runs_until_checkpoint(process: "subprocess.Popen[bytes]", out: Path, least_s: float) -> bool:
    """Wait until so much time is over and there is something to go on from; False if it ended before."""
    start = time.monotonic()
    while time.monotonic() - start < least_s or not _has_checkpoint(out):
        try:
            process.wait(timeout=POLL_S)
            return False
        except subprocess.TimeoutExpired:
            pass
    return True


def _has_checkpoint(out: Path) -> bool:
    """Whether a step was saved; that of step 0 has nothing to lose."""
    latest = RunPaths(out / "run").checkpoints / "latest"
    return latest.is_file() and latest.read_text().strip() != step_name(0)


def _refuse_failure(code: int, out: Path, log: Any) -> None:
    if code:
        raise UserError(f"training ended with code {code}", f"look into {out / 'train.log'}" if log else None)


def sentences_of(scene: Scene, out: Path) -> list[str]:
    """A dozen that were not trained on."""
    from dragoman.corpus.shards import open_corpus

    return list(SENTENCES) if scene is PHRASEBOOK else open_corpus(out / "corpus").text("test", 0)[:12]


def _show(sentences: list[str], out: Path) -> None:
    """Sentences through the exported model."""
    from dragoman.export.engine import Translator

    for source, target in zip(sentences, Translator.open(out / "model").translate(sentences), strict=True):
        print(f"  {source}\n  → {target}\n")


def _where_to_click(out: Path, example: str, seconds: float) -> str:
    page = (out / "run" / "report" / "index.html").resolve()
    return (
        f"All of it took {duration(seconds)}. Where to look:\n"
        f"  the report       {page.as_uri()}\n"
        f"  TensorBoard      tensorboard --logdir {out / 'run' / 'tensorboard'}\n"
        f"  live charts      dragoman watch {out / 'run'} --web\n"
        f"  the web page     dragoman serve {out / 'model'}\n"
        f"  by hand          echo {shlex.quote(example)} | dragoman translate {out / 'model'}\n"
        f"  the corpus       {out / 'corpus' / 'CARD.md'} ({count(_num_pairs(out))} pairs)"
    )


def _num_pairs(out: Path) -> int:
    from dragoman.corpus.shards import open_corpus

    return len(open_corpus(out / "corpus").split("train"))


def _dragoman(*words: object) -> None:
    """Run a verb as a person would, and stop with its code."""
    _say(f"$ dragoman {shlex.join(map(str, words))}")
    code = subprocess.run(_command(words), check=False).returncode
    if code:
        raise SystemExit(code)


def _command(words: Sequence[object]) -> list[str]:
    return [sys.executable, "-m", "dragoman", *map(str, words)]


def _say(text: str, out: Any = None) -> None:
    if out is None:
        print(f"\n{text}" if not text.startswith("$") else text, file=sys.stderr, flush=True)
    else:
        out.write(f"{text}\n".encode())
