"""Which numbers a device computes with, and how small gradients survive half of them.

fp16 holds nothing below 6e-8: the loss is multiplied by a scale before backward and gradients are divided by it after.
The scale looks for its own place: halved when gradients overflow, doubled after a long time in which none did.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

import torch

from dragoman.core.errors import UserError

FIRST_SCALE = 2.0**15
LARGEST_SCALE = 2.0**24
GROWS_AFTER_STEPS = 2_000


@dataclass(frozen=True)
class LossScale:
    """What losses are multiplied by; part of a checkpoint, so that a resumed run scales alike."""

    value: float = 1.0
    is_dynamic: bool = False
    finite_steps: int = 0
    """In a row, at this value."""

    def after(self, is_finite: bool) -> "LossScale":
        """The scale of the next step. Every rank sees the same gradients, so all scales stay equal."""
        if not self.is_dynamic:
            return self
        if not is_finite:
            return replace(self, value=max(1.0, self.value / 2), finite_steps=0)
        if self.finite_steps + 1 >= GROWS_AFTER_STEPS and self.value < LARGEST_SCALE:
            return replace(self, value=self.value * 2, finite_steps=0)
        return replace(self, finite_steps=self.finite_steps + 1)

    @property
    def may_be_too_large(self) -> bool:
        """Gradients that are not finite may be the scale's fault alone."""
        return self.is_dynamic and self.value > 1.0


def precision_for(wanted: str, device: torch.device) -> tuple[Callable[[], AbstractContextManager[object]], LossScale]:
    """How to enter a forward pass, and the first loss scale: full precision on CPUs, half where the device has it."""
    if wanted == "auto":
        if device.type != "cuda":
            return nullcontext, LossScale()  # bf16 on a CPU without it is 3 to 4 times slower
        wanted = "bf16" if torch.cuda.get_device_capability(device) >= (8, 0) else "fp16"
    if wanted == "fp32":
        return nullcontext, LossScale()
    if device.type == "cpu" and wanted == "fp16":
        raise UserError("training.precision = fp16 needs a GPU", "set training.precision = auto")
    kind = torch.bfloat16 if wanted == "bf16" else torch.float16
    scale = LossScale(FIRST_SCALE, is_dynamic=True) if wanted == "fp16" else LossScale()
    return partial(torch.autocast, device.type, dtype=kind), scale
