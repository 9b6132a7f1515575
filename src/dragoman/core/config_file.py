"""Recipes: TOML text in, a frozen `Config` out.

Strict: an unknown key, a wrong type or a value out of bounds is a `UserError` with file, line and, for a misspelling,
what was probably meant. Later layers win: defaults, then the recipe, then `--set section.key=value`.
"""

import contextlib
import dataclasses
import difflib
import math
import re
import tomllib
import typing
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dragoman.core.config import Bounds, Config, bounds_of
from dragoman.core.errors import UserError

MAX_RECIPE_BYTES = 1_000_000
RETIRED = {"schedule.decay_steps": 0}
"""Settings that there are no more, with the value that means what is done without them: old runs have written it."""


def load(recipe: Path | None, overrides: Iterable[str] = ()) -> Config:
    """The settings of a recipe file (None: the defaults) with `section.key=value` overrides on top."""
    text = "" if recipe is None else _read(recipe)
    config = parse(text, str(recipe))
    for override in overrides:
        config = _override(config, override)
    return config


def parse(text: str, name: str) -> Config:
    """The settings of recipe text; `name` is what errors call it."""
    return parse_onto(Config(), text, name)


Section = typing.TypeVar("Section")


def parse_onto(base: Section, text: str, name: str) -> Section:
    """`base` with what TOML text sets: for every file whose keys are the `setting`s of a frozen dataclass."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = where[1] if where else str(text.count("\n") + 1)
        problem = str(error)[: where.start()] if where else re.sub(r" \(.*\)$", "", str(error))
        raise UserError(f"{name}:{line}: not valid TOML: {problem}") from None
    except ValueError:  # Python's own limit on the length of a decimal number
        raise UserError(f"{name}: not valid TOML: a number has too many digits") from None
    except RecursionError:
        raise UserError(f"{name}: nested too deeply") from None
    return _build(base, table, "", _Recipe(name, text.split("\n")))


@dataclasses.dataclass(frozen=True)
class _Recipe:
    """The text of a recipe, to say where a fault lies."""

    name: str
    lines: list[str]

    def error(self, path: str, problem: str) -> UserError:
        line = self._line_of(path)
        return UserError(f"{self.name}:{line}: {problem}" if line else f"{self.name}: {problem}")

    def _line_of(self, path: str) -> int | None:
        """The line that sets `path` ("corpus.texts[1].weight"), else that of the closest table around it."""
        closest, found = 0, None
        for line, here in self._assignments():
            if f"{here}.".startswith((f"{path}.", f"{path}[")):
                return line
            if path.startswith((f"{here}.", f"{here}[")) and len(here) > closest:
                closest, found = len(here), line
        return found

    def _assignments(self) -> Iterator[tuple[int, str]]:
        """Each line that opens a table or sets a key, with the full path of what it sets."""
        table, entries = "", Counter[str]()
        for number, line in enumerate(map(str.strip, self.lines), start=1):
            is_header = line.startswith("[")
            path = _path(line if is_header else line.partition("=")[0] + "=0")
            if path and is_header:
                table = path
                if line.startswith("[["):
                    table = f"{path}[{entries[path]}]"
                    entries[path] += 1
                yield number, table
            elif path:
                yield number, f"{table}.{path}" if table else path


def _path(line: str) -> str:
    """The path that one line of TOML names, however it quotes it; "" if it names none."""
    keys: list[str] = []
    with contextlib.suppress(ValueError):
        value = tomllib.loads(line)
        while isinstance(value, dict) and value:
            keys += value
            inner = value[keys[-1]]
            value = inner[0] if isinstance(inner, list) else inner
    return ".".join(keys)


def _read(recipe: Path) -> str:
    try:
        with recipe.open("rb") as file:
            content = file.read(MAX_RECIPE_BYTES + 1)  # not its size: that of a pipe or a device says nothing
        if len(content) > MAX_RECIPE_BYTES:
            raise UserError(f"{recipe} is larger than a recipe can be")
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"there is no recipe {recipe}") from None
    except UnicodeDecodeError:
        raise UserError(f"cannot read the recipe {recipe}: it is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise UserError(f"cannot read the recipe {recipe}: {getattr(error, 'strerror', None) or error}") from None


def _override(config: Config, override: str) -> Config:
    path, equals, value_text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise UserError(f"--set {override}: expected section.key=value")
    recipe = _Recipe(f"--set {override}", [])
    text = value_text.strip()  # an unquoted word or path is meant as it stands
    try:
        table = tomllib.loads(f"value = {value_text}")
        value = table["value"] if len(table) == 1 else text
    except (ValueError, RecursionError):
        value = text
    try:
        return _build(config, _nested(keys, value), "", recipe)
    except UserError:
        with contextlib.suppress(UserError):  # a text may look like a number: --set corpus.directory=2024
            return _build(config, _nested(keys, text), "", recipe)
        raise


def _nested(keys: list[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys[1:]):
        value = {key: value}
    return {keys[0]: value}


def _build(base: Section, table: dict[str, Any], path: str, recipe: _Recipe) -> Section:
    """`base` with the fields that `table` sets."""
    fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, base))}
    hints = typing.get_type_hints(type(base))
    changed = {}
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if here in RETIRED and value == RETIRED[here]:
            continue
        if key not in fields:
            kind = "key" if path or not isinstance(value, dict) else "section"
            raise recipe.error(here, f"unknown {kind} {here}{_suggestion(key, fields)}")
        current = getattr(base, key)
        if dataclasses.is_dataclass(current):
            if not isinstance(value, dict):
                raise recipe.error(here, f"{here} is a section; write [{here}]")
            changed[key] = _build(current, value, here, recipe)
        else:
            changed[key] = _value(hints[key], value, here, bounds_of(fields[key]), recipe)
    return typing.cast(Section, dataclasses.replace(typing.cast(Any, base), **changed))


def _value(kind: Any, value: Any, path: str, bounds: Bounds, recipe: _Recipe) -> Any:
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        if not isinstance(value, list):
            raise recipe.error(path, f"{path} is a list; {_shown(value)} is not")
        if dataclasses.is_dataclass(element):
            return tuple(_entry(element, item, f"{path}[{n}]", recipe) for n, item in enumerate(value))
        return tuple(_value(element, item, path, bounds, recipe) for item in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 2**1023 else math.inf
    if type(value) is not kind:
        name = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}[kind]
        raise recipe.error(path, f"{path} is {_shown(value)}; it must be {name}")
    _check_bounds(value, path, bounds, recipe)
    return value


def _entry(kind: Any, item: Any, path: str, recipe: _Recipe) -> Any:
    if not isinstance(item, dict):
        raise recipe.error(path, f"{path} is {_shown(item)}; it must be a table")
    return _build(kind(), item, path, recipe)


def _check_bounds(value: Any, path: str, bounds: Bounds, recipe: _Recipe) -> None:
    if bounds.choices and value not in bounds.choices:
        known = ", ".join(bounds.choices)
        raise recipe.error(path, f"{path}: {_shown(value)} is not one of {known}{_suggestion(value, bounds.choices)}")
    if isinstance(value, str):
        return
    wanted = []
    if bounds.multiple_of and value % bounds.multiple_of:
        wanted.append(f"a multiple of {bounds.multiple_of}")
    if bounds.at_least is not None and not value >= bounds.at_least:
        wanted.append(f"at least {bounds.at_least:,}")
    if bounds.at_most is not None and not value <= bounds.at_most:
        wanted.append(f"at most {bounds.at_most:,}")
    if isinstance(value, float) and not math.isfinite(value):
        wanted.append("finite")
    if wanted:
        raise recipe.error(path, f"{path} is {_shown(value)}; it must be {' and '.join(wanted)}")


def _shown(value: Any) -> str:
    """A value as a recipe spells it, cut where it is too long for a sentence."""
    try:
        if isinstance(value, bool):
            text = str(value).lower()
        elif isinstance(value, int | float):
            text = f"{value:,}"
        else:
            text = repr(value) if isinstance(value, str | list | dict) else str(value)  # str: a date
    except (ValueError, RecursionError):  # thousands of digits, or of tables in tables
        return "too large to show"
    return text if len(text) <= 60 else f"{text[:60]}…"


def _suggestion(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
