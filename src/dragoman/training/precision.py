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
from dragoman.model.machine import is_slow_in_mkl
from dragoman.training.world import World

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


@dataclass(frozen=True)
class Precision:
    """How a device computes: fp32, bf16 or fp16."""

    name: str
    autocast: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered for each forward pass."""
    loss_scale: LossScale = LossScale()
    multiplied_in: torch.dtype | None = None
    """On a CPU: kind of numbers in matrix products; None is that of the weights, as they are."""


def precision_for(wanted: str, device: torch.device) -> Precision:
    """What `training.precision` means on a device: `auto` is half precision where the device has arithmetic for it."""
    if wanted == "auto":
        wanted = _own_precision(device)
    if wanted == "fp32":
        return Precision("fp32", multiplied_in=torch.float32 if device.type == "cpu" and is_slow_in_mkl() else None)
    if device.type == "cpu":
        if wanted == "fp16":
            raise UserError("training.precision = fp16 needs a GPU", "set training.precision = auto")
        return Precision("bf16", multiplied_in=torch.bfloat16)
    kind = torch.bfloat16 if wanted == "bf16" else torch.float16
    scale = LossScale(FIRST_SCALE, is_dynamic=True) if wanted == "fp16" else LossScale()
    return Precision(wanted, partial(torch.autocast, device.type, dtype=kind), scale)


def agreed_precision(wanted: str, world: World) -> Precision:
    """The same on all ranks: full precision where their devices differ in what they have. Every rank must call this."""
    own = precision_for(wanted, world.device)
    names = set(world.gather_bytes(own.name.encode()))
    return own if len(names) == 1 else precision_for("fp32", world.device)


def _own_precision(device: torch.device) -> str:
    if device.type == "cuda":
        return "bf16" if torch.cuda.get_device_capability(device) >= (8, 0) else "fp16"
    capabilities = torch.cpu.get_capabilities()
    has_bf16 = any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16"))
    return "bf16" if has_bf16 else "fp32"  # without such arithmetic bf16 is 3 to 4 times slower
