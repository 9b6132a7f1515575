"""A small recipe on a small part of the phrasebook, and ways to train it as a user would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.core import config_file, records
from dragoman.core.progress import Silent
from dragoman.core.run_records import EvalRecord, EventRecord, StepRecord
from dragoman.corpus import phrasebook
from dragoman.corpus.prepare import prepare

RECIPE = """
[corpus]
directory = "{corpus}"
[[corpus.texts]]
name = "phrases"
source = "{text}"
[held_out]
dev_pairs = 40
test_pairs = 40
[vocabulary]
size = 512
[model]
width = 16
feed_forward = 32
heads = 2
encoder_layers = 1
decoder_layers = 1
[batching]
tokens_per_step = 512
tokens_per_micro_batch = 256
[schedule]
warmup_steps = 10
[training]
max_steps = 12
evaluate_every_steps = 6
save_every_steps = 2
[decoding]
beam = 2
max_length_ratio = 1.0
max_length_extra = 2
"""


def make_recipe(directory: Path) -> Path:
    """A recipe and its prepared corpus."""
    text = directory / "phrases.tsv"
    pairs = phrasebook.pairs("train", num_pairs=2000)
    text.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    recipe = directory / "tiny.toml"
    recipe.write_text(RECIPE.format(corpus=directory / "corpus", text=text))
    prepare(config_file.load(recipe), mirror=None, progress=Silent())
    return recipe


@dataclass(frozen=True)
class TinyRun:
    """One run directory of the recipe."""

    recipe: Path
    directory: Path

    def command(self, *settings: str, processes: int = 1, start_from: Sequence[Path] = ()) -> list[str]:
        chosen = [word for setting in settings for word in ("--set", setting)]
        start = [sys.executable, "-m", "dragoman.cli.main", "train", str(self.recipe), "--run", str(self.directory)]
        origins = [word for other in start_from for word in ("--start-from", str(other))]
        return [*start, "--processes", str(processes), *origins, *chosen]

    def train(
        self, *settings: str, processes: int = 1, start_from: Sequence[Path] = ()
    ) -> "subprocess.CompletedProcess[str]":
        command = self.command(*settings, processes=processes, start_from=start_from)
        return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=240, check=False)

    def start(self, *settings: str, processes: int = 1, start_from: Sequence[Path] = ()) -> "subprocess.Popen[bytes]":
        """In a process group of its own, so that all of it can be killed."""
        return subprocess.Popen(
            self.command(*settings, processes=processes, start_from=start_from),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
            start_new_session=True,
        )

    def checkpoint(self, step: int) -> Path:
        return self.directory / "checkpoints" / f"step_{step:07}"

    def weights(self, step: int) -> tuple[bytes, bytes]:
        """Of the model and of the optimizer, as they are on disk."""
        files = ("model.safetensors", "optimizer.safetensors")
        model, optimizer = ((self.checkpoint(step) / file).read_bytes() for file in files)
        return model, optimizer

    def wait_for(self, step: int) -> None:
        deadline = time.monotonic() + 120
        while not self.checkpoint(step).exists():
            assert time.monotonic() < deadline, f"no checkpoint {step} in {self.directory}"
            time.sleep(0.01)

    def steps(self, rank: int = 0) -> dict[int, StepRecord]:
        """The last record of each step."""
        path = self.directory / "steps" / f"rank{rank:02}.jsonl"
        return {record.step: record for record in records.read_lines(path, StepRecord)}

    def evals(self) -> list[EvalRecord]:
        return list(records.read_lines(self.directory / "evals.jsonl", EvalRecord))

    def events(self) -> list[EventRecord]:
        return list(records.read_lines(self.directory / "events.jsonl", EventRecord))


def environment() -> dict[str, str]:
    """Ranks that wait actively for cores that others use would make tests slow, not wrong."""
    return {**os.environ, "OMP_WAIT_POLICY": "passive"}


def kill_all(process: "subprocess.Popen[bytes]") -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
