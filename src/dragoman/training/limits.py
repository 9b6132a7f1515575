"""When a run ends, and when it pauses to measure or to save: pure functions of settings and state.

What depends on a clock or a signal is a vote that travels with the gradients; what depends on steps and losses alone is
the same on every rank without asking.
"""

import math

from dragoman.core.config import TrainingConfig
from dragoman.core.units import duration
from dragoman.theory import curves
from dragoman.training.state import TrainState


def last_step(config: TrainingConfig, steps_per_epoch: int, tokens_per_step: int) -> int | None:
    """The step after which steps, tokens or epochs are used up; None if only a clock or the curve can stop it."""
    ends = []
    if config.max_steps:
        ends.append(config.max_steps)
    if config.max_tokens:
        ends.append(math.ceil(config.max_tokens / tokens_per_step))
    if config.max_epochs:
        ends.append(math.ceil(config.max_epochs * steps_per_epoch))
    return min(ends, default=None)


def cost_of(config: TrainingConfig, training_s: float) -> float | None:
    """Money spent so far; None where no price is set."""
    return config.price_per_hour * training_s / 3600 if config.price_per_hour else None


def is_time_up(config: TrainingConfig, training_s: float) -> str | None:
    """Why this rank's clock would stop the run."""
    if config.max_hours and training_s >= 3600 * config.max_hours:
        return f"its time of {duration(3600 * config.max_hours)} is over"
    cost = cost_of(config, training_s)
    if config.max_cost and cost is not None and cost >= config.max_cost:
        return f"{config.max_cost:g} is spent"
    return None


def seconds_left(config: TrainingConfig, began: TrainState, state: TrainState, end: int | None) -> float | None:
    """Until the first limit, at the pace since this session `began`; None where nothing but the curve can stop it.

    What came before, on another machine perhaps, and the first evaluation, which no step repeats, foretell nothing.
    """
    left = []
    if end is not None:
        left.append((end - state.step) * (state.training_s - began.training_s) / (state.step - began.step))
    if config.max_hours:
        left.append(3600 * config.max_hours - state.training_s)
    if config.max_cost and config.price_per_hour:
        left.append(3600 * config.max_cost / config.price_per_hour - state.training_s)
    return max(0.0, min(left)) if left else None


def buys_too_little(config: TrainingConfig, state: TrainState, warmup_steps: int) -> str | None:
    """Why the loss curve would stop the run: another fifth of training is not worth it."""
    if not config.min_gain:
        return None
    steps, losses = [p.step for p in state.evaluations], [p.dev_loss for p in state.evaluations]
    judgement = curves.judge(steps, losses, after_step=warmup_steps, threshold_share=config.min_gain)
    return judgement.reason if judgement.verdict == "converged" else None
