"""TensorBoard's files: event files as they are written, and the tables that its page exports.

An event file is a row of records, each with its length in front; a run that was killed leaves half a record, which is
left out. Only scalars are read. Uses TensorBoard's own description of an event, and no TensorFlow.
"""

import contextlib
import csv
import importlib
import math
import re
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dragoman.report.foreign.scalars import Curve

EVENT_FILES = "*tfevents*"
TABLE_HEADER = ["wall time", "step", "value"]
MAX_RECORD_BYTES = 1 << 30
LENGTH_BYTES, CHECKSUM_BYTES = 8, 4

Row = tuple[float, float, float]


def is_event_file(start: bytes) -> bool:
    """The first record of every event file names the version of the format."""
    return b"brain.Event:" in start[:64]


def is_table(start: str) -> bool:
    first = start.lstrip("\ufeff").splitlines()[:1]
    return bool(first) and [word.strip().lower() for word in first[0].split(",")][:3] == TABLE_HEADER


def read_events(files: Iterable[tuple[str, bytes]]) -> dict[str, Curve]:
    """Curves by tag, from files in the order of their writing, each with the name of its run or ""."""
    rows: dict[str, list[Row]] = {}
    for run, data in files:
        for tag, row in _scalars_of(data):
            rows.setdefault(f"{run}/{tag}" if run else tag, []).append(row)
    return {tag: _curve(found) for tag, found in rows.items()}


def read_tables(files: Iterable[tuple[str, str]]) -> dict[str, Curve]:
    """Curves from exported tables: names of files and their text."""
    return {tag_of_table(name): _curve(_table_rows(text)) for name, text in files}


def tag_of_table(name: str) -> str:
    """'run-train-tag-eval_loss.csv' -> 'train/eval_loss'; 'eval_loss.csv' -> 'eval_loss'."""
    stem = re.sub(r"(\.csv)?(\.gz)?$", "", name, flags=re.IGNORECASE)
    if match := re.fullmatch(r"run-(.*?)-?tag-(.*)", stem):
        run = match[1].strip("._-")
        return f"{run}/{match[2]}" if run else match[2]
    return stem


def _table_rows(text: str) -> list[Row]:
    """Whole rows of three numbers; nan is a number here."""
    rows = []
    for cells in csv.reader(text.lstrip("\ufeff").replace("\0", "").splitlines(keepends=True)[1:]):
        with contextlib.suppress(ValueError, IndexError):
            rows.append((float(cells[0]), float(cells[1]), float(cells[2])))
    if text and not text.endswith(("\n", "\r")) and rows:
        rows.pop()  # perhaps half a number
    return rows


def _curve(rows: list[Row]) -> Curve:
    """A step that comes twice, as after a restart, counts as it came last; steps that are none are left out."""
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    columns = columns[np.isfinite(columns[:, 1])]
    return Curve(columns[:, 0], columns[:, 1], columns[:, 2])


def _records(data: bytes) -> Iterator[bytes]:
    """Length, checksum, bytes, checksum; the end of the file may cut any of them."""
    place = 0
    while place + LENGTH_BYTES + CHECKSUM_BYTES <= len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        start = place + LENGTH_BYTES + CHECKSUM_BYTES
        if length > MAX_RECORD_BYTES or start + length + CHECKSUM_BYTES > len(data):
            return
        yield data[start : start + length]
        place = start + length + CHECKSUM_BYTES


def _scalars_of(data: bytes) -> Iterator[tuple[str, Row]]:
    event_pb2 = importlib.import_module("tensorboard.compat.proto.event_pb2")
    for record in _records(data):
        try:
            event = event_pb2.Event.FromString(record)
        except Exception:  # protobuf's own DecodeError, without a dependency on where it lives
            return  # from here on the lengths mean nothing
        for value in event.summary.value:
            number = _scalar(value)
            if number is not None:
                yield value.tag, (event.wall_time, float(event.step), number)


def _scalar(value: Any) -> float | None:
    """The number of a summary, whichever generation of TensorFlow wrote it."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    if kind != "tensor" or value.metadata.plugin_data.plugin_name not in ("", "scalars"):
        return None
    tensor = value.tensor
    for numbers in (tensor.float_val, tensor.double_val, tensor.int_val, tensor.int64_val):
        if len(numbers) == 1:
            return float(numbers[0])
    size = {1: ("<f", 4), 2: ("<d", 8)}.get(tensor.dtype)  # DT_FLOAT, DT_DOUBLE
    if size and len(tensor.tensor_content) == size[1]:
        found = struct.unpack(size[0], tensor.tensor_content)[0]
        return float(found) if isinstance(found, float) else math.nan
    return None
