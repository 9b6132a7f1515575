"""TensorBoard as a view of the run; the JSONL files are the truth.

Takes named numbers and texts by step and gives event files in a directory. Uses TensorBoard's own record writer, so
that no torch is needed. Nothing is opened before the first value, and nothing here raises: when the package is
missing or the disk is full, the board falls silent for good, logs that once and keeps the sentence in `note`.
"""

import contextlib
import importlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dragoman.core import records

logger = logging.getLogger(__name__)

FLUSH_S = 10.0
"""How long values may wait before a browser can see them."""
HYPERPARAMETER_METRICS = ("eval/dev_loss", "eval/bleu", "eval/chrf")
"""The curves whose last value the table of hyperparameters shows beside the settings."""
FILE_PREFIX = "events.out.tfevents."


class Board:
    """The events of one attempt. `resumed_at_step` hides what earlier attempts wrote after that step."""

    def __init__(self, directory: Path, *, resumed_at_step: int | None = None) -> None:
        self.note: str | None = None  # why the board fell silent
        self._directory = directory
        self._resumed_at_step = resumed_at_step
        self._writer: Any = None
        self._flushed_at_s = 0.0
        self._is_closed = False
        self._lock = threading.Lock()

    def scalar(self, name: str, value: float | None, step: int) -> None:
        """One point of a curve; None, a value that is not known, leaves a gap."""
        if value is not None:
            self._add(step, {"tag": name, "simple_value": value})

    def text(self, name: str, text: str, step: int) -> None:
        """A text, shown as Markdown."""
        tensor = {"dtype": "DT_STRING", "string_val": [text.encode(errors="replace")]}
        metadata = {"plugin_data": {"plugin_name": "text"}, "data_class": "DATA_CLASS_TENSOR"}
        self._add(step, {"tag": name, "metadata": metadata, "tensor": tensor})

    def hyperparameters(self, settings: object) -> None:
        """The recipe, a dataclass, as the table of TensorBoard's HPARAMS page and as a text."""
        named = dict(flattened(records.to_json(settings)))
        rows = "\n".join(f"| {name} | {value} |" for name, value in named.items())
        self.text("recipe", f"| setting | value |\n|---|---|\n{rows}", 0)
        with self._lock:
            if self._is_closed:
                return
            try:
                summaries = importlib.import_module("tensorboard.plugins.hparams.summary_v2")
                metrics = [summaries.Metric(tag) for tag in HYPERPARAMETER_METRICS]
                choices = [summaries.HParam(name) for name in named]
                self._write(summary=summaries.hparams_config_pb(choices, metrics))
                self._write(summary=summaries.hparams_pb(named))
            except Exception as error:
                self._fall_silent(error)

    def close(self) -> None:
        """Write what waits; later values are passed over."""
        with self._lock:
            self._is_closed = True
            try:
                if self._writer is not None:
                    self._writer.close()
            except Exception as error:
                self._fall_silent(error)

    def _add(self, step: int, value: dict[str, Any]) -> None:
        with self._lock:
            if self._is_closed:
                return
            try:
                if self._writer is None:
                    self._open()
                self._write(step=int(step), summary={"value": [value]})
                if time.monotonic() - self._flushed_at_s >= FLUSH_S:
                    self._writer.flush()
                    self._flushed_at_s = time.monotonic()
            except Exception as error:
                self._fall_silent(error)

    def _open(self) -> None:
        records = importlib.import_module("tensorboard.summary.writer.record_writer")
        self._directory.mkdir(parents=True, exist_ok=True)
        self._writer = records.RecordWriter(_next_file(self._directory).open("xb"))
        self._write(file_version="brain.Event:2")
        if self._resumed_at_step is not None:
            # TensorBoard drops events of earlier files from the step of a START on, that step included.
            self._write(step=self._resumed_at_step + 1, session_log={"status": "START"})

    def _write(self, **fields: Any) -> None:
        events = importlib.import_module("tensorboard.compat.proto.event_pb2")
        self._writer.write(events.Event(wall_time=time.time(), **fields).SerializeToString())

    def _fall_silent(self, error: Exception) -> None:
        self._is_closed = True
        with contextlib.suppress(Exception):  # the file object closes even where its last flush fails
            self._writer.close()
        if self.note is None:
            self.note = f"TensorBoard shows nothing from here on: {error}; the run's own records go on"
            logger.warning(self.note)


def flattened(value: Any, path: str = "") -> Iterator[tuple[str, bool | float | str]]:
    """Every leaf of nested dictionaries under its dotted name; a list is one leaf, as JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flattened(item, f"{path}.{key}" if path else key)
    else:
        yield path, value if isinstance(value, bool | int | float | str) else json.dumps(value, ensure_ascii=False)


def _next_file(directory: Path) -> Path:
    """A name that sorts behind all others, because TensorBoard reads in that order, whatever the clocks say."""
    stamps = [0]
    for file in directory.glob(f"{FILE_PREFIX}*"):
        seconds, _, rest = file.name.removeprefix(FILE_PREFIX).partition(".")
        nanoseconds = rest.partition(".")[0]
        if seconds.isdecimal():
            stamps.append(int(seconds) * 10**9 + (int(nanoseconds) if nanoseconds.isdecimal() else 10**9))
    seconds_now, nanoseconds_now = divmod(max(time.time_ns(), max(stamps) + 1), 10**9)
    return directory / f"{FILE_PREFIX}{seconds_now:010d}.{nanoseconds_now:09d}.dragoman"
