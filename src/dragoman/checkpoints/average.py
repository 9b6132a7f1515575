"""The mean of the weights of several checkpoints, which often translates better than any of them.

Takes the directory of a run's checkpoints and which to take; gives tensors of the same names and types. Sums in 64
bits, so that rounding loses nothing. Damaged checkpoints are passed over, and the answer says so. Writes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from dragoman.checkpoints.reading import MODEL_ONLY, DamagedError, PassedOver, check, checked, scores_in, steps_in
from dragoman.checkpoints.rotation import best_first
from dragoman.core.errors import UserError


@dataclass(frozen=True)
class Averaged:
    """The mean, and what it is the mean of."""

    model: dict[str, Tensor]
    steps: tuple[int, ...]
    passed_over: tuple[PassedOver, ...]


def average(directory: Path, num_checkpoints: int, by: str = "last") -> Averaged:
    """The mean of the last checkpoints, or of the best by `dev_loss` or `bleu`; of fewer where there are fewer."""
    candidates = steps_in(directory)[::-1] if by == "last" else best_first(scores_in(directory), by)
    steps: list[int] = []
    passed_over: list[PassedOver] = []

    def models() -> Iterable[Mapping[str, Tensor]]:
        for step in candidates:
            if len(steps) == num_checkpoints:
                return
            try:
                model = checked(directory, step, MODEL_ONLY).model
            except DamagedError as error:
                passed_over.append(PassedOver(step, str(error)))
                continue
            steps.append(step)
            yield model

    model = mean(models())
    if not steps:
        fix = "train first" if by == "last" else f"only checkpoints with a {by} can be judged by it"
        raise UserError(f"{directory} has no checkpoint to average", fix)
    return Averaged(model, tuple(steps), tuple(passed_over))


def mean(models: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each tensor; what is not a floating-point number is the first one's."""
    first: Mapping[str, Tensor] = {}
    sums: dict[str, Tensor] = {}
    number = 0
    for number, model in enumerate(models, start=1):
        if number == 1:
            first = model
            sums = {name: t.to(torch.float64, copy=True) for name, t in model.items() if t.is_floating_point()}
            continue
        check(model, first, "a checkpoint among those to average")
        for name, total in sums.items():
            total += model[name]
    return {
        name: (sums[name] / number).to(tensor.dtype) if name in sums else tensor.clone()
        for name, tensor in first.items()
    }
