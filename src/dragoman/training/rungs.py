"""The stepper that stands on a rung of the ladder: its wire and its cycle."""

import dataclasses

from dragoman.core.config import OptimizerConfig
from dragoman.core.errors import UserError
from dragoman.theory.wire import Rung
from dragoman.training.communication.ways import wire_for
from dragoman.training.local_steps import LocalStepper
from dragoman.training.step import Stepper


def on_rung(
    stepper: Stepper,
    rung: Rung,
    hosts: tuple[tuple[int, ...], ...],
    optimizer: OptimizerConfig,
    num_single_steps: int = 0,
) -> Stepper:
    """A stepper like the given one, which is not used any more. Every rank must call this, with the same rung."""
    if rung.local_steps > 1 and optimizer.average_decay:
        raise UserError(
            "local steps and a running mean of the weights do not go together: ranks would have different means",
            "set optimizer.average_decay = 0",
        )
    kind = LocalStepper if rung.local_steps > 1 else Stepper
    fields = {field.name: getattr(stepper, field.name) for field in dataclasses.fields(Stepper) if field.init}
    stepper.end()
    cycle = rung.step_factor * rung.local_steps
    other = kind(**{**fields, "cycle": cycle, "num_single_steps": num_single_steps})
    other.wire = wire_for(rung.at_first, stepper.gradients, stepper.world, hosts)
    if isinstance(other, LocalStepper):
        other.meetings = wire_for(rung, stepper.gradients, stepper.world, hosts)
    return other
