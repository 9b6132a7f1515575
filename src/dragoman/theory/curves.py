"""Loss curves: what would more training buy?

Takes evaluation losses by step and fits L(t) = floor + amplitude · (t + offset)^-exponent, with replicas from a block
bootstrap; with few points a straight line in ln t. Gives what the next steps would gain, how sure that is, and a
verdict. Every irregular input has an answer, and where the data do not decide it is "undetermined". The curve knows
nothing of the learning rate: a plateau is a plateau of the schedule that made it, and a fall of the rate may end it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from dragoman.theory import log_slope, power_law
from dragoman.theory.log_slope import Slope

Array = npt.NDArray[np.float64]
Verdict = Literal["converged", "improving", "undetermined"]

MIN_POINTS = 4
MIN_POINTS_OF_POWER_LAW = 6
"""Fewer leave too little to four parameters. Curves bend, and a straight line in ln t does not: on a Europarl run
asked at 6 and 7 evaluations it foresaw 6.6 and 6.7 % where 4.9 and 4.5 % came, the power law 4.5 and 4.5 %."""
NEWEST_POINTS = 8
"""Of many evaluations at least so many are fitted."""
NUM_REPLICAS = 400
SURE = 0.9
"""Probability from which a verdict is given."""
THRESHOLD_SHARE = 0.005
"""Of the loss: a smaller gain is not worth waiting for."""
HORIZON_SHARE = 0.2
"""More steps that are asked about, as a share of those done."""
INTERVAL = (0.05, 0.95)
SEED = 20
"""Fixed: the same losses get the same verdict."""

RECENT_SHARES = (0.25, 0.5)
"""Curves are fitted from these shares of the way on. Real curves bend more at first than any one power law: on the 26
evaluations of a public WMT16 run, fits to all of them foresaw 0.4 to 0.5 % where some 0.7 % came. Two beginnings,
because where they disagree the shape is not known well enough."""
SLOW_SHARE = 0.5
"""Of the threshold. A curve that surely falls, by the threshold or more at the best estimate and by this much of it at
the low end of the interval, is improving too: the fits err low. Asked at 13 evaluations of that run what the next fifth
would bring, they said less than came each time, by a factor of 1.01 to 1.44."""
MISFIT_SCALES = 4.0
"""Standard errors by which the newest losses may leave the curve."""


@dataclass(frozen=True)
class PowerLaw:
    """A fitted curve. A replica is (floor, height above it at the last step, exponent, offset)."""

    floor_loss: float
    amplitude: float
    exponent: float
    offset_steps: float
    last_step: float
    num_points: int
    noise_loss: float
    replicas: Array = field(repr=False, compare=False)

    def loss_at(self, step: float) -> float:
        return float(self.floor_loss + self.amplitude * (step + self.offset_steps) ** -self.exponent)

    def replica_losses_at(self, step: float) -> Array:
        """The loss at a step by each replica: a sample of what it may be, evaluation noise left out."""
        return power_law.values(self.replicas, np.array([step]), self.last_step)[:, 0]


Fit = PowerLaw | Slope


@dataclass(frozen=True)
class Gain:
    """What the next steps would buy: a fall of the loss, and as a share of the loss now.

    Low and high are the ends of nominal 90 % intervals; on simulated falling curves they held the truth in 74 to 97 %.
    """

    now_step: float
    horizon_steps: float
    loss_now: float
    loss_fall: float
    loss_fall_low: float
    loss_fall_high: float
    share: float
    share_low: float
    share_high: float
    threshold_share: float
    probability_above: float
    probability_below: float


@dataclass(frozen=True)
class Judgement:
    """A verdict, why it is so in one sentence, and what it rests on."""

    verdict: Verdict
    reason: str
    num_points: int
    fit: Fit | None = None
    gain: Gain | None = None
    trend: Slope | None = None
    """How the newer half falls."""


@dataclass(frozen=True)
class _Points:
    """Finite evaluations in order of steps, one a step; `weights` are relative."""

    steps: Array
    losses: Array
    weights: Array
    ends_finite: bool


@np.errstate(all="ignore")  # absurd numbers make infinite parameters, which `gain` turns away
def judge(
    steps: Sequence[float],
    losses: Sequence[float | None],
    standard_errors: Sequence[float | None] | None = None,
    *,
    after_step: float = 0,
    now_step: float = 0,
    horizon_steps: float | None = None,
    threshold_share: float = THRESHOLD_SHARE,
) -> Judgement:
    """Is the model trained? Evaluations up to `after_step`, the warm-up, are passed over.

    What more steps buy counts from `now_step`, the end of training, or from the last evaluation if that is later.
    """
    points = _cleaned(steps, losses, standard_errors, after_step)
    num_points = len(points.steps)
    if not points.ends_finite:
        return Judgement("undetermined", "the last loss is not a finite number", num_points)
    if num_points < MIN_POINTS:
        say = "evaluation after the warm-up says" if num_points == 1 else "evaluations after the warm-up say"
        reason = f"{num_points} {say} too little; {MIN_POINTS} are needed"
        return Judgement("undetermined", reason, num_points)
    if np.ptp(points.losses) == 0:
        return Judgement("undetermined", "the loss is the same at every evaluation", num_points)
    fit = _fitted(points)
    found = gain(fit, max(now_step, fit.last_step), horizon_steps, threshold_share=threshold_share)
    if found is None:
        return Judgement("undetermined", "no curve fits these losses", num_points, fit)
    trend = _slope(points, RECENT_SHARES[-1])
    if misfit := _misfit(fit, points, threshold_share):
        return Judgement("undetermined", misfit, num_points, fit, found, trend)
    return Judgement(verdict(found, trend), _reason(found), num_points, fit, found, trend)


@np.errstate(all="ignore")
def fit_curve(
    steps: Sequence[float],
    losses: Sequence[float | None],
    standard_errors: Sequence[float | None] | None = None,
    *,
    after_step: float = 0,
) -> Fit | None:
    """The power law, or with fewer than 6 evaluations the slope, or None with fewer than 4."""
    points = _cleaned(steps, losses, standard_errors, after_step)
    return _fitted(points) if len(points.steps) >= MIN_POINTS else None


@np.errstate(all="ignore")
def gain(
    fit: Fit, now_step: float, horizon_steps: float | None = None, *, threshold_share: float = THRESHOLD_SHARE
) -> Gain | None:
    """What `horizon_steps` more steps would buy, by default a fifth more; None where the curve gives no loss there."""
    horizon_steps = HORIZON_SHARE * now_step if horizon_steps is None else horizon_steps
    then_step = now_step + horizon_steps
    loss_now, loss_fall = fit.loss_at(now_step), fit.loss_at(now_step) - fit.loss_at(then_step)
    falls = fit.replica_losses_at(now_step) - fit.replica_losses_at(then_step)
    if not (np.isfinite(loss_fall) and np.isfinite(falls).all() and loss_now > 0):
        return None
    shares = falls / loss_now
    low, high = np.quantile(falls, INTERVAL)
    return Gain(
        now_step=float(now_step),
        horizon_steps=float(horizon_steps),
        loss_now=loss_now,
        loss_fall=loss_fall,
        loss_fall_low=float(low),
        loss_fall_high=float(high),
        share=loss_fall / loss_now,
        share_low=float(low / loss_now),
        share_high=float(high / loss_now),
        threshold_share=threshold_share,
        probability_above=float(np.mean(shares > threshold_share)),
        probability_below=float(np.mean(shares < threshold_share)),
    )


def verdict(found: Gain, trend: Slope) -> Verdict:
    """Sure at nine to one, or slow but sure to fall; else undetermined."""
    if found.probability_below >= SURE:
        return "converged"
    return "improving" if found.probability_above >= SURE or is_slow(found, trend) else "undetermined"


def is_slow(found: Gain, trend: Slope) -> bool:
    """Surely falling, about as fast as is worth waiting for."""
    is_falling = trend.loss_per_log_step_high < 0
    is_enough = found.share >= found.threshold_share and found.share_low >= SLOW_SHARE * found.threshold_share
    return is_falling and is_enough and found.probability_above < SURE


def _reason(found: Gain) -> str:
    return (
        f"{found.horizon_steps:,.0f} more steps would lower the loss by {found.share:.1%} "
        f"({found.share_low:.1%} to {found.share_high:.1%}); worth it from {found.threshold_share:.1%}"
    )


def _cleaned(
    steps: Sequence[float], losses: Sequence[float | None], errors: Sequence[float | None] | None, after_step: float
) -> _Points:
    """Finite points after the warm-up, in order; evaluations of the same step, as a resume makes them, are averaged."""
    step, loss = np.asarray(steps, dtype=float), np.asarray(losses, dtype=float)
    error = np.ones_like(loss) if errors is None else np.asarray(errors, dtype=float)
    is_known = np.isfinite(error) & (error > 0)
    error = np.where(is_known, error, np.median(error[is_known]) if is_known.any() else 1.0)
    is_after = np.isfinite(step) & (step > max(0.0, after_step))
    ends_finite = not is_after.any() or bool(np.isfinite(loss[is_after][np.argmax(step[is_after])]))
    kept = is_after & np.isfinite(loss)
    unique, group = np.unique(step[kept], return_inverse=True)
    counts = np.bincount(group)
    mean_loss = np.bincount(group, weights=loss[kept]) / counts
    mean_error = np.bincount(group, weights=error[kept]) / counts
    weights = (mean_error.mean() / mean_error) ** 2 if counts.size else mean_error
    return _Points(unique, mean_loss, weights, ends_finite)


def _recent(points: _Points, share: float, at_least: int) -> _Points:
    """The points from a share of the way on, and at least the newest few: they say how the curve falls now."""
    num_recent = int(np.sum(points.steps >= share * points.steps[-1]))
    newest = slice(-max(num_recent, at_least), None)
    return _Points(points.steps[newest], points.losses[newest], points.weights[newest], points.ends_finite)


def _fitted(points: _Points) -> Fit:
    return _power_law(points) if len(points.steps) >= MIN_POINTS_OF_POWER_LAW else _slope(points, RECENT_SHARES[0])


def _power_law(points: _Points) -> PowerLaw:
    windows = [_recent(points, share, NEWEST_POINTS) for share in RECENT_SHARES]
    last_step = float(points.steps[-1])
    fits = [power_law.fit(window.steps, window.losses, window.weights) for window in windows]
    replicas = [
        power_law.replicas(window.steps, window.losses, window.weights, fit, NUM_REPLICAS // len(windows), SEED)
        for window, fit in zip(windows, fits, strict=True)
    ]
    floor, height, exponent, offset = (float(number) for number in fits[0].parameters)
    residuals = windows[0].losses - power_law.values(fits[0].parameters[None], windows[0].steps, last_step)[0]
    return PowerLaw(
        floor_loss=floor,
        amplitude=float(height * np.float64(last_step + offset) ** exponent),
        exponent=exponent,
        offset_steps=offset,
        last_step=last_step,
        num_points=len(windows[0].steps),
        noise_loss=power_law.spread(np.abs(residuals)),
        replicas=np.concatenate(replicas),
    )


def _slope(points: _Points, share: float) -> Slope:
    newer = _recent(points, share, MIN_POINTS)
    return log_slope.fit(newer.steps, newer.losses, newer.weights, num_replicas=NUM_REPLICAS, seed=SEED)


def _misfit(fit: Fit, points: _Points, threshold_share: float) -> str | None:
    """Says so where the newest losses leave the curve: a rate that fell, or a loss that rises."""
    if not isinstance(fit, PowerLaw):
        return None
    points = _recent(points, RECENT_SHARES[0], NEWEST_POINTS)
    residuals = points.losses - np.array([fit.loss_at(step) for step in points.steps])
    # Second differences see the noise of single evaluations but not the misfit, which is smooth.
    noise = power_law.spread(np.abs(np.diff(residuals, n=2))) / np.sqrt(6)
    num_newest = max(3, len(residuals) // 5)
    distance = float(residuals[-num_newest:].mean())
    is_misfit = abs(distance) > max(MISFIT_SCALES * noise / np.sqrt(num_newest), threshold_share * points.losses[-1])
    if not is_misfit:
        return None
    side = "above" if distance > 0 else "below"
    return f"the newest {num_newest} losses lie {abs(distance):.3f} {side} the curve of those before"
