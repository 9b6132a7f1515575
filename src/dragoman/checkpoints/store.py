"""The writer of a run's checkpoints.

    checkpoints/  step_0005000/{model.safetensors, optimizer.safetensors, state.json, SHA256SUMS}  …
                  latest  best  best_bleu      text files: the name of a directory

`save` copies the tensors and returns; a thread writes beside, flushes, renames, and only then removes what is no longer
kept. A save waits for the one before it, so that none is left out. What goes wrong comes back as a value: the caller
decides whether to go on. One process writes, any may read; the pointers are for people, `reading` needs none.
"""

import json
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.checkpoints import reading
from dragoman.checkpoints.leftovers import remove_leftovers, remove_whole
from dragoman.checkpoints.reading import EVERYTHING, FORMAT, MODEL_ONLY, Loaded, Wanted, scores_in
from dragoman.checkpoints.rotation import POINTERS, best_first, kept
from dragoman.checkpoints.writing import write
from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, write_atomically
from dragoman.core.paths import step_name


@dataclass(frozen=True)
class Snapshot:
    """What a checkpoint is made of."""

    step: int
    model: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    state: Mapping[str, Any]
    """Plain JSON, without NaN and infinity; among its `scores`, such as `dev_loss` and `bleu`, these become null."""

    def as_json(self) -> str:
        """What `state.json` says."""
        content = {"format": FORMAT, "step": self.step, **self.state}
        if scores := content.get("scores"):
            is_number = {name: value is not None and math.isfinite(value) for name, value in scores.items()}
            content["scores"] = {name: value if is_number[name] else None for name, value in scores.items()}
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


@dataclass(frozen=True)
class Saved:
    """How a save ended."""

    step: int
    is_whole: bool
    """The checkpoint is on disk."""
    problem: str | None
    """What went wrong, as a sentence: the disk is full, or old checkpoints could not be removed."""
    blocked_s: float
    """How long `save` kept its caller: waiting for the save before, and copying."""
    written_s: float
    """How long the thread wrote."""
    removed: tuple[int, ...] = ()
    """Steps whose checkpoints were rotated out."""


class Store:
    """Writes checkpoints into a directory and keeps the last and the best of them."""

    def __init__(self, directory: Path, keep_last: int = 3, keep_best: int = 1) -> None:
        """Removes what killed writers left behind; a writer that is still alive is left alone."""
        if keep_last < 1:
            raise ValueError("the newest checkpoint is always kept")
        self._directory, self._keep_last, self._keep_best = directory, keep_last, keep_best
        self._copies: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}}
        self._thread: threading.Thread | None = None
        self._outcomes: list[Saved] = []
        with explaining_disk_errors(directory):
            directory.mkdir(parents=True, exist_ok=True)
            remove_leftovers(directory)

    @property
    def is_busy(self) -> bool:
        """A save now would have to wait."""
        return self._thread is not None and self._thread.is_alive()

    def save(self, snapshot: Snapshot) -> None:
        """Copy and return; the tensors may be changed at once."""
        start = time.monotonic()
        state = snapshot.as_json()  # what the caller changes from here on is not saved
        if self._thread is not None:
            self._thread.join()
        for part, tensors in (("model", snapshot.model), ("optimizer", snapshot.optimizer)):
            self._copies[part] = _copied(tensors, self._copies[part])
        blocked_s = time.monotonic() - start
        # No daemon: a program that ends while a checkpoint is being written waits for it.
        self._thread = threading.Thread(
            target=self._write, args=(snapshot.step, state, blocked_s), name="dragoman-checkpoint"
        )
        self._thread.start()

    def finished(self) -> list[Saved]:
        """The saves that have ended since the last time this was asked; does not wait."""
        if self.is_busy:
            return []
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def wait(self) -> list[Saved]:
        """The same, when nothing is being written any more."""
        if self._thread is not None:
            self._thread.join()
        return self.finished()

    def newest(self, wanted: Wanted = EVERYTHING) -> Loaded | None:
        """The last whole checkpoint; None where there is none at all, UserError where none is whole."""
        return reading.newest(self._directory, wanted)

    def best(self, by: str = "dev_loss", wanted: Wanted = MODEL_ONLY) -> Loaded | None:
        """The best whole checkpoint by `dev_loss` or `bleu`; None where none has that score."""
        return reading.best(self._directory, by, wanted)

    def load(self, step: int, wanted: Wanted = EVERYTHING) -> Loaded:
        """The checkpoint of a step. UserError where it is missing or damaged."""
        return reading.load(self._directory, step, wanted)

    def _write(self, step: int, state: str, blocked_s: float) -> None:
        start = time.monotonic()
        is_whole, problem = False, None
        removed: tuple[int, ...] = ()
        try:
            with explaining_disk_errors(self._directory):
                write(self._directory / step_name(step), self._copies["model"], self._copies["optimizer"], state)
                is_whole = True
                removed = self._rotate(step)
        except UserError as error:
            problem = str(error)
        except Exception as error:  # a bug too must not end the training before its time
            problem = f"{type(error).__name__}: {error}"
        self._outcomes.append(Saved(step, is_whole, problem, blocked_s, time.monotonic() - start, removed))

    def _rotate(self, newest: int) -> tuple[int, ...]:
        checkpoints = scores_in(self._directory)
        kept_steps = kept(checkpoints, newest, self._keep_last, self._keep_best)
        # The pointers first, so that none ever names a directory that is gone.
        write_atomically(self._directory / "latest", step_name(newest) + "\n")
        for pointer, by in POINTERS.items():
            if best := best_first((c for c in checkpoints if c.step in kept_steps), by):
                write_atomically(self._directory / pointer, step_name(best[0]) + "\n")
        removed = tuple(c.step for c in checkpoints if c.step not in kept_steps)
        for step in removed:
            remove_whole(self._directory / step_name(step))
        return removed


def _copied(tensors: Mapping[str, Tensor], copies: dict[str, Tensor]) -> dict[str, Tensor]:
    """Copies in main memory, in the place of earlier ones: fresh memory takes ten times as long (1.6 s, not 0.13 s,
    of one core for 61 M weights and their moments, 2026-11)."""
    made = {}
    for name, tensor in tensors.items():
        copy = copies.get(name)
        if copy is None or copy.shape != tensor.shape or copy.dtype != tensor.dtype:
            copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
        if tensor.device.type == "cpu" and tensor.dtype is not torch.bfloat16:  # which NumPy does not have
            # By one thread: torch's would wait for each other after every tensor, 2 s in all where cores are busy.
            np.copyto(copy.numpy(), tensor.detach().numpy())
        else:
            copy.copy_(tensor.detach())
        made[name] = copy
    return made
