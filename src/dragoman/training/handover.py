"""A checkpoint for ranks that do not have its files: the main rank reads, the others receive.

Checkpoints lie on the main rank's machine. Each rank looks whether it sees the same files; only if one does not, the
tensors cross the wire, as plain bytes in an order that a JSON header gives.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dragoman.checkpoints import reading
from dragoman.checkpoints.reading import Loaded, PassedOver
from dragoman.core.errors import UserError
from dragoman.core.paths import CheckpointPaths, step_name
from dragoman.training.world import World

PARTS = ("model", "optimizer")


def newest(directory: Path, world: World) -> Loaded | None:
    """The main rank's newest whole checkpoint, on every rank; None if it has none. Every rank must call this."""
    loaded, header = _read(directory) if world.is_main else (None, {})
    header = json.loads(world.from_main(json.dumps(header).encode()))
    if "error" in header:
        raise UserError(*header["error"])
    if header["step"] is None:
        return None
    if not world.is_main:
        loaded = _same_files(directory, header)
    if world.any(loaded is None):
        loaded = _received(header, loaded if world.is_main else None, world)
    assert loaded is not None
    passed_over = tuple(PassedOver(**one) for one in header["passed_over"])
    return dataclasses.replace(loaded, passed_over=passed_over)


def _read(directory: Path) -> tuple[Loaded | None, dict[str, Any]]:
    """What the main rank has, and what it tells the others about it: also that it cannot go on."""
    try:
        loaded = reading.newest(directory)
    except UserError as error:
        return None, {"error": [error.problem, error.fix]}
    if loaded is None:
        return None, {"step": None}
    return loaded, {
        "step": loaded.step,
        "state": loaded.state,
        "sums": CheckpointPaths(directory / step_name(loaded.step)).sums.read_text(encoding="utf-8"),
        "passed_over": [dataclasses.asdict(one) for one in loaded.passed_over],
        "tensors": {part: _shapes(getattr(loaded, part)) for part in PARTS},
    }


def _shapes(tensors: Mapping[str, Tensor]) -> list[tuple[str, str, list[int]]]:
    return [(name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape)) for name, tensor in tensors.items()]


def _same_files(directory: Path, header: Mapping[str, Any]) -> Loaded | None:
    """The checkpoint from this rank's own disk if it is the same to the byte."""
    try:
        sums = CheckpointPaths(directory / step_name(header["step"])).sums.read_text(encoding="utf-8")
        return reading.load(directory, header["step"]) if sums == header["sums"] else None
    except (OSError, UserError):
        return None


def _received(header: Mapping[str, Any], own: Loaded | None, world: World) -> Loaded:
    """The tensors, from the main rank to the others."""
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in PARTS}
    for part in PARTS:
        for name, kind, shape in header["tensors"][part]:
            tensor = getattr(own, part)[name] if own else torch.empty(shape, dtype=getattr(torch, kind))
            parts[part][name] = world.broadcast_(tensor.contiguous())
    return Loaded(header["step"], dict(header["state"]), parts["model"], parts["optimizer"])
