"""Checkpoints as they lie on disk: found, checked byte by byte, mapped into memory.

Takes the directory of a run's checkpoints; gives the newest, the best or a named one. What is damaged is passed over,
and the answer says so. Changes nothing, so any process may read while another one writes.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dragoman.checkpoints.rotation import Scored, best_first
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import CheckpointPaths, step_name
from dragoman.core.units import count

FORMAT = 1
"""Of a checkpoint; older ones are read, newer ones refused."""


@dataclass(frozen=True)
class PassedOver:
    """A checkpoint that could not be used, and why."""

    step: int
    reason: str


@dataclass(frozen=True)
class Loaded:
    """A whole checkpoint. Its tensors are mapped: to change one in memory leaves the file as it is."""

    step: int
    state: dict[str, Any]
    model: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    """Empty where only the model was asked for."""
    passed_over: tuple[PassedOver, ...] = ()
    """What would have been taken before this one."""


@dataclass(frozen=True)
class Wanted:
    """What of a checkpoint is wanted, and what it must look like: names, shapes and types of tensors."""

    optimizer_too: bool = True
    like_model: Mapping[str, Tensor] | None = None
    like_optimizer: Mapping[str, Tensor] | None = None


EVERYTHING = Wanted()
MODEL_ONLY = Wanted(optimizer_too=False)


class DamagedError(Exception):
    """A checkpoint is not as it was written; the message says which file."""


def steps_in(directory: Path) -> list[int]:
    """The steps that have a checkpoint, in order."""
    if not directory.is_dir():
        return []
    names = (re.fullmatch(r"step_(\d{7,})", path.name) for path in directory.iterdir())
    return sorted(int(name[1]) for name in names if name)


def scores_in(directory: Path) -> list[Scored]:
    """All checkpoints with the scores that they have."""
    return [Scored(step, _scores(directory, step)) for step in steps_in(directory)]


def newest(directory: Path, wanted: Wanted = EVERYTHING) -> Loaded | None:
    """The last whole checkpoint; None where there is none at all, UserError where none is whole."""
    return _first_whole(directory, wanted, lambda: steps_in(directory)[::-1])


def best(directory: Path, by: str = "dev_loss", wanted: Wanted = MODEL_ONLY) -> Loaded | None:
    """The best whole checkpoint by `dev_loss` or `bleu`; None where none has that score."""
    return _first_whole(directory, wanted, lambda: best_first(scores_in(directory), by))


def load(directory: Path, step: int, wanted: Wanted = EVERYTHING) -> Loaded:
    """The checkpoint of a step. UserError where it is missing or damaged."""
    if step not in steps_in(directory):
        there = ", ".join(count(step) for step in steps_in(directory)) or "none"
        raise UserError(f"{directory} has no checkpoint of step {count(step)}", f"there are: {there}")
    try:
        return checked(directory, step, wanted)
    except DamagedError as error:
        raise UserError(
            f"the checkpoint {directory / step_name(step)} is damaged: {error}", "use another one"
        ) from None


def _first_whole(directory: Path, wanted: Wanted, candidates: Callable[[], list[int]]) -> Loaded | None:
    passed_over: list[PassedOver] = []
    while True:
        left = [step for step in candidates() if step not in [p.step for p in passed_over]]
        if not left:
            break
        try:
            return replace(checked(directory, left[0], wanted), passed_over=tuple(passed_over))
        except DamagedError as error:
            # Gone altogether: the writer has just replaced it by a newer one. Look again.
            if (directory / step_name(left[0])).is_dir():
                passed_over.append(PassedOver(left[0], str(error)))
    if not passed_over:
        return None
    reasons = "; ".join(f"step {count(p.step)}: {p.reason}" for p in passed_over)
    raise UserError(f"no checkpoint in {directory} is whole ({reasons})", "move the directory away to start anew")


def checked(directory: Path, step: int, wanted: Wanted) -> Loaded:
    """The checkpoint of a step. DamagedError where a file is missing or changed, UserError where it does not fit."""
    paths = CheckpointPaths(directory / step_name(step))
    try:
        sums = _read_sums(paths)
        _verify(paths.state, sums)
        state = json.loads(paths.state.read_text(encoding="utf-8"))
        if state["format"] > FORMAT:
            raise UserError(
                f"{paths.directory} was written by a newer version of dragoman"
                f" (format {state['format']}; this one reads up to {FORMAT})",
                "update dragoman with `pip install --upgrade dragoman`",
            )
        files = [paths.model, paths.optimizer] if wanted.optimizer_too else [paths.model]
        for path in files:
            _verify(path, sums)
        model, optimizer = load_file(paths.model), load_file(paths.optimizer) if wanted.optimizer_too else {}
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from error
    check(model, wanted.like_model, f"the model in {paths.directory}")
    check(optimizer, wanted.like_optimizer, f"the optimizer state in {paths.directory}")
    return Loaded(step, state, model, optimizer)


def _read_sums(paths: CheckpointPaths) -> dict[str, str]:
    if not paths.sums.is_file():
        raise DamagedError(f"{paths.sums.name} is missing")
    lines = paths.sums.read_text(encoding="utf-8", errors="replace").splitlines()
    matches = [re.fullmatch(r"([0-9a-f]{64})  (\S+)", line) for line in lines]
    sums = {match[2]: match[1] for match in matches if match}
    if sums.keys() != {path.name for path in (paths.model, paths.optimizer, paths.state)} or not all(matches):
        raise DamagedError(f"{paths.sums.name} is not as it was written")
    return sums


def _verify(path: Path, sums: Mapping[str, str]) -> None:
    if not path.is_file():
        raise DamagedError(f"{path.name} is missing")
    if sha256_of(path) != sums[path.name]:
        raise DamagedError(f"{path.name} is not as it was written")


def check(found: Mapping[str, Tensor], expected: Mapping[str, Tensor] | None, what: str) -> None:
    """UserError names the first tensor that is missing, too many, or of another shape or type than expected."""
    if expected is None:
        return
    for name in sorted(found.keys() | expected.keys()):
        here, there = (_look(tensors.get(name)) for tensors in (expected, found))
        if here != there:
            raise UserError(
                f"{what} does not fit: {name} is {there}, expected {here}",
                "train with the recipe that the checkpoint was made with, or into another directory",
            )


def _look(tensor: Tensor | None) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}" if tensor is not None else "not there"


def _scores(directory: Path, step: int) -> dict[str, float]:
    try:
        state = json.loads(CheckpointPaths(directory / step_name(step)).state.read_text(encoding="utf-8"))
        return {name: float(value) for name, value in (state.get("scores") or {}).items() if value is not None}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # damaged, or removed just now: it cannot be the best
