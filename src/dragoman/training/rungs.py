"""The stepper that stands on a rung of the ladder: its wire, its cycle, its rate."""

import dataclasses

from dragoman.core.config import OptimizerConfig
from dragoman.core.errors import UserError
from dragoman.theory.schedule import larger_step_rate
from dragoman.theory.wire import Rung
from dragoman.training.communication.ways import wire_for
from dragoman.training.local_steps import LocalStepper
from dragoman.training.step import Stepper


def on_rung(stepper: Stepper, rung: Rung, hosts: tuple[tuple[int, ...], ...], optimizer: OptimizerConfig) -> Stepper:
    """A stepper like the given one, which is not used any more. Every rank must call this, with the same rung."""
    if rung.local_steps > 1 and optimizer.average_decay:
        raise UserError(
            "local steps and a running mean of the weights do not go together: ranks would have different means",
            "set optimizer.average_decay = 0",
        )
    kind = LocalStepper if rung.local_steps > 1 else Stepper
    fields = {field.name: getattr(stepper, field.name) for field in dataclasses.fields(Stepper) if field.init}
    stepper.wire.end()
    other = kind(**{**fields, "cycle": rung.step_factor * rung.local_steps})
    other.wire.end()
    other.wire = wire_for(rung, stepper.gradients, stepper.world, hosts)
    return other


def rate_factor(rung: Rung) -> float:
    """How much faster weights move in a larger step."""
    return larger_step_rate(rung.step_factor)
