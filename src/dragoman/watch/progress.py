"""How far a run is, how long it will go on and what it has cost: pure functions of its settings and records."""

import math

from dragoman.core.config import Config
from dragoman.core.units import duration
from dragoman.watch.view import EvalView, Progress, Status

SILENT_AFTER_S = 30.0
"""Ranks sign their heartbeat every second; a slow disk or a stopped laptop may hold it up a while."""


def last_step(config: Config) -> int | None:
    """The step at which the run ends; None if a clock, the curve or a number of epochs decides."""
    training = config.training
    if training.max_epochs:  # how many steps make an epoch is written in the corpus, which need not be here
        return None
    ends = [training.max_steps] if training.max_steps else []
    if training.max_tokens:
        ends.append(math.ceil(training.max_tokens / config.batching.tokens_per_step))
    return min(ends, default=None)


def progress(
    config: Config | None,
    step: int | None,
    step_s: float | None,
    measured: tuple[EvalView, float | None] | None,
    *,
    is_over: bool,
) -> Progress:
    """`measured` is the last evaluation and the seconds of training until then, which the run itself counted."""
    spent = training_s(step, step_s, measured)
    if config is None:
        return Progress(step, None, spent, None, None)
    price = config.training.price_per_hour
    end = last_step(config)
    return Progress(
        step=step,
        last_step=end,
        training_s=spent,
        left_s=None if is_over else seconds_left(config, step, end, spent),
        cost=price * spent / 3600 if price and spent is not None else None,
    )


def training_s(step: int | None, step_s: float | None, measured: tuple[EvalView, float | None] | None) -> float | None:
    """Seconds of training so far: counted at the last evaluation, and the steps since then at the usual pace."""
    at_step, counted = (measured[0].step, measured[1]) if measured and measured[1] is not None else (0, 0.0)
    if step is None or counted is None:
        return counted if measured and measured[1] is not None else None
    since = max(0, step - at_step)
    if since and step_s is None:
        return None
    return counted + since * (step_s or 0.0)


def seconds_left(config: Config, step: int | None, end: int | None, spent: float | None) -> float | None:
    """Until the first limit; None where nothing tells."""
    training, left = config.training, []
    if end is not None and step and spent is not None:
        left.append((end - step) * spent / step)
    if training.max_hours and spent is not None:
        left.append(3600 * training.max_hours - spent)
    if training.max_cost and training.price_per_hour and spent is not None:
        left.append(3600 * training.max_cost / training.price_per_hour - spent)
    return max(0.0, min(left)) if left else None


def status(*, has_steps: bool, ended: str | None, silent_s: float | None) -> Status:
    """`ended` is why the run stopped, if it did; `silent_s` how long ago its files last changed."""
    if ended is not None:
        return Status("stopped", f"stopped: {ended}")
    if silent_s is not None and silent_s > SILENT_AFTER_S:
        return Status("silent", f"no sign of life for {duration(silent_s)}; it may have been killed")
    return Status("running", "running") if has_steps else Status("waiting", "no step is done yet")
