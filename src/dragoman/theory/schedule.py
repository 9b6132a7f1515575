"""The learning rate of every step, a pure function of the step and the settings.

Training sets it, the planner and the report explain it; all three call this. Steps count from 1. Every kind rises in
a straight line to its peak at the end of the warm-up; without a warm-up the peak is at step 1. The kinds differ in
how they fall, and two of them must know the last step.
"""

import math
from bisect import bisect_left

from dragoman.core.config import ScheduleConfig
from dragoman.core.errors import UserError

DECAY_SHARE = 0.2
"""Of all steps, the fall of stable_decay: as Hägele et al. 2024 (arXiv 2405.18392) use to match a cosine."""
ENDING_KINDS = ("cosine", "stable_decay")
SINGLE_WARM_UPS = 2
"""So long ranks step together where later they make local steps: begun earlier, those cost some percent."""


def learning_rate(
    step: int, config: ScheduleConfig, *, width: int, total_steps: int | None = None, step_factor: int = 1
) -> float:
    """The rate of a step; past the last one it stays where it ended.

    Where `step_factor` steps make one update, that has to go as far as they would: it takes their rates together, but
    never more than the peak, which is known to go well.
    """
    rate = _single_rate(step, config, width, total_steps)
    return max(rate, min(step_factor * rate, peak_rate(config, width=width)))


def dropout_share(step: int, config: ScheduleConfig, total_steps: int | None) -> float:
    """Of the model's dropout in a step: a short run has to learn first, and only then can it remember too much.

    All of it where nobody knows the last step.
    """
    if not total_steps:
        return 1.0
    return config.dropout_start + (1.0 - config.dropout_start) * min(1.0, step / total_steps)


def _single_rate(step: int, config: ScheduleConfig, width: int, total_steps: int | None) -> float:
    assert step >= 1, "steps count from 1"
    last_step = _last_step(config, total_steps)
    peak, peak_step = peak_rate(config, width=width), peak_at_step(config)
    if step <= peak_step:
        return peak * step / peak_step
    if last_step is None:
        return peak * math.sqrt(peak_step / step)
    fall_step = _fall_step(config, last_step)
    progress = min(1.0, max(0.0, (step - fall_step) / max(1, last_step - fall_step)))
    return config.final + (peak - config.final) * _remaining(config, progress)


def peak_rate(config: ScheduleConfig, *, width: int) -> float:
    """The highest rate; for `transformer` where both branches of the formula meet."""
    if config.kind == "transformer":  # Vaswani et al. 2017, equation 3, times a factor
        return config.factor / math.sqrt(width * peak_at_step(config))
    return config.peak


def peak_at_step(config: ScheduleConfig) -> int:
    """The step that has the peak rate."""
    return max(1, config.warmup_steps)


def num_single_steps(
    config: ScheduleConfig, *, step_factor: int = 1, local_steps: int = 1, total_steps: int | None = None
) -> int:
    """How many first steps stand alone where later ones go together; a multiple of how many do."""
    cycle = step_factor * local_steps
    if cycle == 1:
        return 0
    if step_factor == 1:
        num_single = SINGLE_WARM_UPS * config.warmup_steps
    else:
        num_single = _larger_from(step_factor, config, total_steps and _up_to_a_multiple(total_steps, cycle))
    return _up_to_a_multiple(num_single, cycle)


def _larger_from(step_factor: int, config: ScheduleConfig, total_steps: int | None) -> int:
    """The first step whose rate has fallen to 1/√step_factor of the peak: begun earlier, larger steps cost quality."""
    low, peak_step = peak_rate(config, width=1) / math.sqrt(step_factor), peak_at_step(config)
    # A rate that falls as 1/√step is there at step_factor times its peak's step.
    steps = range(peak_step, _last_step(config, total_steps) or step_factor * peak_step)
    return peak_step + bisect_left(steps, True, key=lambda step: _single_rate(step, config, 1, total_steps) <= low)


def _up_to_a_multiple(steps: int, cycle: int) -> int:
    return -(-steps // cycle) * cycle


def describe(config: ScheduleConfig, *, width: int, total_steps: int | None = None, step: int | None = None) -> str:
    """The formula, the peak and its step in one sentence, and in a second one where `step` is on the curve."""
    peak, peak_step = peak_rate(config, width=width), peak_at_step(config)
    last_step = _last_step(config, total_steps)
    rise = f"rises in a straight line to its peak of {peak:.3g} at step {peak_step:,}"
    if peak_step == 1:
        rise = f"starts at its peak of {peak:.3g}"
    text = f"The learning rate {rise}, then {_fall_in_words(config, width, last_step)}."
    if total_steps and total_steps < peak_step:
        text = f"{text[:-1]}; with {total_steps:,} steps the run ends before the peak."
    if step is None or step < 1:
        return text
    rate = learning_rate(step, config, width=width, total_steps=total_steps)
    place = "during the warm-up" if step < peak_step else "at the peak" if rate == peak else "after the peak"
    of_peak = f", {rate / peak:.0%} of the peak" if peak > 0 and rate != peak else ""
    return f"{text} Step {step:,} is {place}, at {rate:.3g}{of_peak}."


def _last_step(config: ScheduleConfig, total_steps: int | None) -> int | None:
    """None for the kinds that fall for ever."""
    if config.kind not in ENDING_KINDS:
        return None
    if not total_steps:
        raise UserError(
            f'schedule.kind = "{config.kind}" must know the last step',
            'set training.max_steps, or schedule.kind = "inverse_sqrt", which has no end',
        )
    return total_steps


def _fall_step(config: ScheduleConfig, last_step: int) -> int:
    """The last step at the peak rate; a fall longer than the run begins when the warm-up ends."""
    if config.kind == "cosine":
        return peak_at_step(config)
    return max(peak_at_step(config), last_step - max(1, round(DECAY_SHARE * last_step)))


def _remaining(config: ScheduleConfig, progress: float) -> float:
    """Share of the way down that is still ahead."""
    if config.kind == "cosine":  # Loshchilov & Hutter 2017, equation 5, without restarts
        return 0.5 * (1 + math.cos(math.pi * progress))
    # "1-sqrt": lower loss than a linear fall of the same length in Hägele et al. 2024 (arXiv 2405.18392).
    return 1 - math.sqrt(progress)


def _fall_in_words(config: ScheduleConfig, width: int, last_step: int | None) -> str:
    if config.kind == "transformer":
        formula = f"{config.factor:g} · {width}^-0.5 · min(step^-0.5, step · {peak_at_step(config):,}^-1.5)"
        return f"falls as 1/√step: {formula}"
    if last_step is None:
        return f"falls as 1/√step: peak · √({peak_at_step(config):,}/step)"
    end = f"to {config.final:.3g} at step {last_step:,}"
    if config.kind == "cosine":
        return f"falls along half a cosine {end}"
    fall_step = _fall_step(config, last_step)
    if fall_step >= last_step:
        return f"stays there, with no steps left to fall {end}"
    formula = f"as 1 - √((step - {fall_step:,}) / {last_step - fall_step:,})"
    return f"stays there until step {fall_step:,} and falls {formula} {end}"
