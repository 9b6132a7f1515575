"""A straight line in ln t through losses: for few points, and for whether a curve falls at its end at all.

Takes clean points in order; `curves` does the cleaning and the judging.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Slope:
    """A fitted line; low and high are the ends of a 90 % interval. A replica is a slope."""

    loss_per_log_step: float
    loss_per_log_step_low: float
    loss_per_log_step_high: float
    last_loss: float
    last_step: float
    num_points: int
    noise_loss: float
    replicas: Array = field(repr=False, compare=False)

    def loss_at(self, step: float) -> float:
        return float(self.last_loss + self.loss_per_log_step * np.log(step / self.last_step))

    def replica_losses_at(self, step: float) -> Array:
        return self.last_loss + self.replicas * float(np.log(step / self.last_step))


def fit(steps: Array, losses: Array, weights: Array, *, num_replicas: int, seed: int) -> Slope:
    """Weighted least squares; the slopes of the replicas follow Student's law, as theory has it."""
    logs, shares = np.log(steps / steps[-1]), weights / weights.sum()
    num_points, mean_log, mean_loss = len(logs), shares @ logs, shares @ losses
    var_log = shares @ (logs - mean_log) ** 2
    slope = shares @ ((logs - mean_log) * losses) / var_log
    residuals = losses - mean_loss - slope * (logs - mean_log)
    noise = np.sqrt(num_points * (shares @ residuals**2) / (num_points - 2))
    student = np.random.default_rng(seed).standard_t(num_points - 2, size=num_replicas)
    slopes = slope + student * noise / np.sqrt(num_points * var_log)
    low, high = np.quantile(slopes, (0.05, 0.95))
    return Slope(
        loss_per_log_step=float(slope),
        loss_per_log_step_low=float(low),
        loss_per_log_step_high=float(high),
        last_loss=float(mean_loss - slope * mean_log),
        last_step=float(steps[-1]),
        num_points=num_points,
        noise_loss=float(noise),
        replicas=slopes,
    )
