"""A small run on the hosts of a ground: trained, disturbed, looked at."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dragoman.core import records
from dragoman.core.run_records import EventRecord, StepRecord
from tests.hosts.ground import HOME, Ground
from tests.training.tiny_run import RECIPE

PATIENCE_S = 150.0


def bring_recipe(ground: Ground, corpus: Path) -> None:
    """The tiny recipe, and its prepared corpus, on the main host alone."""
    shutil.copytree(corpus, ground.main.directory / "corpus")
    text = RECIPE.format(corpus=HOME / "corpus", text="")
    recipe = re.sub(r"\[\[corpus\.texts\]\].*?(?=\[held_out\])", "", text, flags=re.DOTALL)
    (ground.main.directory / "tiny.toml").write_text(recipe)


@dataclass
class HostsRun:
    """One run directory on the main host."""

    ground: Ground
    hosts: str
    max_steps: int = 12
    name: str = "run"
    process: "subprocess.Popen[str] | None" = None

    @property
    def directory(self) -> Path:
        return self.ground.main.directory / self.name

    @property
    def log(self) -> Path:
        return self.ground.main.directory / f"{self.name}.log"

    def start(self, *options: str) -> None:
        with self.log.open("a") as log:
            self.process = self.ground.dragoman(
                "train", "tiny.toml", "--hosts", self.hosts, "--run", self.name, "--set",
                f"training.max_steps={self.max_steps}", "--set", "training.evaluate_every_steps=0",
                *options, stdout=log, stderr=log,
            )  # fmt: skip

    def end(self) -> int:
        assert self.process is not None
        return self.process.wait(PATIENCE_S)

    def train(self, *options: str) -> int:
        self.start(*options)
        return self.end()

    def wait_for(self, what: Callable[[], object], why: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not what():
            assert self.process is not None
            assert self.process.poll() is None, f"ended before {why}:\n{self.words()}"
            assert time.monotonic() < deadline, f"not {why} in time:\n{self.words()}"
            time.sleep(0.05)

    def wait_for_step(self, step: int, rank: int = 0) -> None:
        self.wait_for(lambda: max(self.steps(rank), default=0) >= step, f"step {step}")

    def wait_for_event(self, kind: str, after: int = 0) -> EventRecord:
        """The first of its kind, but for so many that were there before."""
        self.wait_for(lambda: len(self.events(kind)) > after, f"the event {kind}")
        return self.events(kind)[after]

    def wait_for_more_steps(self, number: int = 5, rank: int = 0) -> None:
        """As many steps more than now, however often they are made again."""
        now = len(self.every_step(rank))
        self.wait_for(lambda: len(self.every_step(rank)) >= now + number, f"{number} more steps")

    @property
    def is_going(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def wait_until_nothing_is_left(self) -> None:
        """Agents and ranks that were cut off end by themselves."""
        deadline = time.monotonic() + PATIENCE_S
        while self.ground.leftovers():
            assert time.monotonic() < deadline, f"left running: {self.ground.leftovers()}\n{self.words()}"
            time.sleep(0.1)

    def ask_to_stop(self, number: int = signal.SIGINT) -> None:
        """As Ctrl-C does: to the command itself."""
        for pid in self.ground.main.processes(r"dragoman\.cli\.main train"):
            subprocess.run(["kill", f"-{int(number)}", str(pid)], check=True)

    def words(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def steps(self, rank: int = 0) -> dict[int, StepRecord]:
        path = self.directory / "steps" / f"rank{rank:02}.jsonl"
        return {record.step: record for record in records.read_lines(path, StepRecord)} if path.exists() else {}

    def every_step(self, rank: int) -> list[StepRecord]:
        """Also those that were made again."""
        path = self.directory / "steps" / f"rank{rank:02}.jsonl"
        return list(records.read_lines(path, StepRecord)) if path.exists() else []

    def events(self, kind: str) -> list[EventRecord]:
        path = self.directory / "events.jsonl"
        found = list(records.read_lines(path, EventRecord)) if path.exists() else []
        return [record for record in found if record.kind == kind]

    def checkpoints(self) -> list[str]:
        place = self.directory / "checkpoints"
        return sorted(path.name for path in place.glob("step_*")) if place.is_dir() else []


def kill(pids: list[int], number: int = signal.SIGKILL) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, number)


def has_same_batches(run: HostsRun) -> bool:
    """Whenever a step was made again, by however many ranks, it was the same global batch."""
    lines = [line for rank in (0, 1, 2) for line in run.every_step(rank)]
    tokens = {line.step: line.target_tokens for line in lines}
    is_complete = sorted(run.steps(0)) == list(range(1, max(tokens) + 1))
    return is_complete and all(tokens[line.step] == line.target_tokens for line in lines)
