"""A run directory, looked at again and again: each look reads what is new and gives a view.

Needs nothing but the files, so a run that is going on, one that is over and one copied from elsewhere look the same.
"""

import re
import shlex
import time
from collections import deque
from pathlib import Path
from typing import Any

from dragoman.core import config_file
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.core.units import counted
from dragoman.watch.curves import Curves
from dragoman.watch.following import Follower, number, printable, whole_number, words
from dragoman.watch.machines import Hosts
from dragoman.watch.progress import progress, status
from dragoman.watch.steps import Steps
from dragoman.watch.view import EvalView, EventView, SampleView, View

EVENTS_SHOWN = 12
SAMPLES_SHOWN = 5
BEGINNINGS = ("started", "resumed")


class Observer:
    """One run. UserError if `directory` holds none, or none any more."""

    def __init__(self, directory: Path) -> None:
        self.paths = RunPaths(directory)
        self.steps = Steps(self.paths.steps(0).parent)
        self.hosts = Hosts(self.paths.telemetry("").parent)
        self.evals = Curves()
        self.revision = 0
        self._eval_file, self._event_file = Follower(self.paths.evals), Follower(self.paths.events)
        self._measured: tuple[EvalView, float | None] | None = None
        self._events: deque[EventView] = deque(maxlen=EVENTS_SHOWN)
        self._ended: str | None = None
        self._config, self._config_note = _config_of(self.paths)
        self._must_be_there("holds no run")

    def look(self) -> View:
        """Read what is new and say how things stand."""
        self._must_be_there("is gone or holds no run any more")
        self.revision += 1
        try:
            self._read()
        except OSError as error:
            raise UserError(f"cannot read {self.paths.directory}: {error.strerror}") from None
        pace, step = self.steps.pace(), whole_number(self.steps.last, "step")
        silent_s = _silent_s(self.paths)
        state = status(has_steps=step is not None, ended=self._ended, silent_s=silent_s)
        is_over = state.kind in ("stopped", "silent")
        return View(
            name=printable(str(self.paths.directory)),
            status=state,
            progress=progress(self._config, step, pace.step_s, self._measured, is_over=is_over),
            pace=pace,
            evaluation=self._measured[0] if self._measured else None,
            account=_account_of(self.paths) if state.kind == "stopped" else None,
            ranks=self.steps.ranks(),
            hosts=self.hosts.views(),
            events=tuple(self._events),
            samples=_samples(self.paths),
            notes=self._notes(),
        )

    def curves(self) -> dict[str, Curves]:
        """Everything that can be drawn, by where it comes from."""
        hosts = {f"host {name}": host.curves for name, host in self.hosts.by_name.items()}
        return {"steps": self.steps.curves, "evals": self.evals, **hosts}

    def _must_be_there(self, problem: str) -> None:
        places = (self.paths.config, self.paths.events, self.paths.evals, self.paths.steps(0).parent)
        if not any(place.exists() for place in places):
            raise UserError(f"{self.paths.directory} {problem}", _where_one_is(self.paths.directory))

    def _read(self) -> None:
        if self._config is None:
            self._config, self._config_note = _config_of(self.paths)
        self.steps.look(self.revision)
        self.hosts.look(self.revision)
        self.evals.revision = self.revision
        for group in self._eval_file.look():
            for record in group:
                self._add_evaluation(record)
        for group in self._event_file.look():
            for record in group:
                self._add_event(record)

    def _add_evaluation(self, record: dict[str, Any]) -> None:
        step = whole_number(record, "step")
        if step is None:
            return
        values = {name: number(record, name) for name in ("dev_loss", "train_loss", "bleu", "chrf")}
        self.evals.add(step, values)
        interval = record.get("bleu_interval")
        ends = [number({"": end}, "") for end in interval] if isinstance(interval, list) else []
        low, high = (ends[0], ends[1]) if len(ends) == 2 else (None, None)
        view = EvalView(
            step=step,
            bleu_interval=(low, high) if low is not None and high is not None else None,
            **values,
        )
        self._measured = view, number(record, "training_s")

    def _add_event(self, record: dict[str, Any]) -> None:
        kind, text = words(record, "kind") or "", words(record, "text") or ""
        rank = whole_number(record, "rank") or 0
        if kind in BEGINNINGS:
            self._ended = None
        elif kind == "stopped":
            self._ended = text
        if rank == 0 or kind not in ("started", "resumed", "stopped", "skipped"):  # those every rank writes
            self._events.append(EventView(words(record, "time") or "", kind, whole_number(record, "step"), text))

    def _notes(self) -> tuple[str, ...]:
        notes = [self._config_note] if self._config_note else []
        files = (self._eval_file, self._event_file, self.steps, self.hosts)
        if bad := sum(file.num_bad_lines for file in files):
            notes.append(f"{counted(bad, 'line')} could not be read and {'is' if bad == 1 else 'are'} left out")
        return tuple(notes)


def _where_one_is(directory: Path) -> str:
    """The newest run below a directory, for those who named the one above; else how to begin one."""
    runs = [file.parent for file in directory.glob("*/config.toml")]
    if not runs:
        return "`dragoman train RECIPE` begins one"
    newest = max(runs, key=lambda run: (run / "config.toml").stat().st_mtime)
    return f"there is one in it: `dragoman watch {shlex.quote(str(newest))}`"


def _account_of(paths: RunPaths) -> str | None:
    page = paths.report("index.html")
    return printable(str(page)) if page.is_file() else None


def _config_of(paths: RunPaths) -> tuple[Config | None, str | None]:
    if not paths.config.is_file():
        return None, "there is no config.toml, so the run's end and price are not known"
    try:
        return config_file.load(paths.config), None
    except UserError as error:
        return None, f"its settings cannot be read, so the run's end and price are not known: {error.problem}"


def _silent_s(paths: RunPaths) -> float | None:
    """Seconds since a rank signed or wrote something, by this machine's clock; None if none ever did."""
    newest = None
    for directory in (paths.heartbeats, paths.steps(0).parent, paths.telemetry("").parent, paths.directory):
        try:
            stamps = [file.stat().st_mtime for file in directory.iterdir() if file.is_file()]
        except OSError:  # not there, or a file that has just gone
            continue
        newest = max([*stamps, *([newest] if newest is not None else [])], default=None)
    return None if newest is None else max(0.0, time.time() - newest)


def _samples(paths: RunPaths) -> tuple[SampleView, ...]:
    """The sentences of the newest file of samples."""
    directory = paths.samples(0).parent
    try:
        files = [file for file in directory.iterdir() if re.fullmatch(r"step_\d+\.txt", file.name)]
        newest = max(files, key=lambda file: int(file.stem.removeprefix("step_")))
        text = newest.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):  # none yet
        return ()
    step = int(newest.stem.removeprefix("step_"))
    found = []
    for block in text.split("\n\n")[:SAMPLES_SHOWN]:
        parts = dict(line.partition("  ")[::2] for line in block.splitlines())
        if {"source", "reference", "translation"} <= parts.keys():
            three = (printable(parts[name].strip()) for name in ("source", "reference", "translation"))
            found.append(SampleView(step, *three))
    return tuple(found)
