"""Records: frozen dataclasses that live on disk as JSON, one object a file or one object a line.

Writing keeps field order, so files can be compared. Reading is strict about what is missing and lenient about what
is new: an unknown field of a later version is passed over. A half-written last line, as a crash leaves it, is
passed over too.
"""

import contextlib
import dataclasses
import json
import math
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Record = TypeVar("Record")


def to_json(record: object) -> Any:
    """A dataclass and all that it holds, as plain lists and dictionaries; what is no number is null."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {field.name: to_json(getattr(record, field.name)) for field in dataclasses.fields(record)}
    if isinstance(record, dict):
        return {str(key): to_json(value) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [to_json(value) for value in record]
    if isinstance(record, float) and not math.isfinite(record):
        return None
    return str(record) if isinstance(record, Path) else record


def dumps(record: object) -> str:
    """The text of a file that holds one record."""
    return json.dumps(to_json(record), indent=1, ensure_ascii=False) + "\n"


def from_json(kind: type[Record], value: Any) -> Record:
    """The inverse of `to_json`; ValueError names what does not fit."""
    return typing.cast(Record, _convert(kind, value, kind.__name__))


def _convert(kind: Any, value: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _convert_record(typing.cast(type, kind), value, where)
    if origin is types.UnionType:
        if value is None and type(None) in arguments:
            return None
        *others, last = (a for a in arguments if a is not type(None))
        for other in others:
            with contextlib.suppress(ValueError):
                return _convert(other, value, where)
        return _convert(last, value, where)
    if origin is tuple and isinstance(value, list):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_convert(arguments[0], item, where) for item in value)
        if len(arguments) == len(value):
            return tuple(_convert(a, item, where) for a, item in zip(arguments, value, strict=True))
    if origin is dict and isinstance(value, dict):
        return {key: _convert(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is Any or (kind is float and isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(kind, type) and isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    raise ValueError(f"{where} does not fit: {json.dumps(value)[:80]}")


def _convert_record(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not an object")
    hints = typing.get_type_hints(kind)
    found = {}
    for field in dataclasses.fields(kind):
        if field.name in value:
            found[field.name] = _convert(hints[field.name], value[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ValueError(f"{where} has no {field.name}")
    return kind(**found)


def write_lines(path: Path, records: Iterable[object]) -> None:
    """One record a line."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(to_json(record), ensure_ascii=False) + "\n")


def append_line(path: Path, record: object) -> None:
    """Add a record in one write, so that a reader never sees half of it."""
    line = json.dumps(to_json(record), ensure_ascii=False) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


def read_lines(path: Path, kind: type[Record]) -> Iterator[Record]:
    """The records of a file; ValueError names the line that does not fit."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith("\n"):
                return
            try:
                yield from_json(kind, json.loads(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from error
            except RecursionError:
                raise ValueError(f"{path}:{number}: nested too deeply") from None
