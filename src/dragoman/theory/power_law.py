"""Least squares for floor + height · ((t + offset) / (last + offset))^-exponent, none of the four below zero.

Exponent and offset are searched on a grid; floor and height then have a closed form, so that hundreds of bootstrap
replicas are one matrix product. `last` is the last step: scaled to it, all four are numbers of ordinary size. Takes
clean points in order; `curves` does the cleaning and the judging.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

EXPONENTS = np.geomspace(0.03, 3.0, 24)
OFFSETS = np.concatenate([[0.0], np.geomspace(0.01, 1.0, 7)])
"""Where exponents and offsets are searched; an offset here is a share of the last step."""
NUM_ZOOMS = 4
OUTLIER_SCALES = 2.5
"""Residuals beyond so many standard deviations lose weight (Huber 1964)."""
CLIP_SCALES = 4.0
"""Residuals beyond so many are not drawn whole: one spike must not make every replica doubtful."""
NUM_REWEIGHTINGS = 3
NUM_PARAMETERS = 4


@dataclass(frozen=True)
class PowerLawFit:
    """The best (floor, height, exponent, offset in steps), and the weights that outliers were left with."""

    parameters: Array
    weights: Array


def values(parameters: Array, steps: Array, last_step: float) -> Array:
    """The curve of each row (floor, height, exponent, offset in steps), at each step: [row, step]."""
    floor, height, exponent, offset = parameters.T[:, :, None]
    curves: Array = floor + height * ((steps + offset) / (last_step + offset)) ** -exponent
    return curves


def fit(steps: Array, losses: Array, weights: Array) -> PowerLawFit:
    """Least squares, repeated with less weight for outliers; `weights` are inverse variances, up to a factor."""
    robust = weights
    for _ in range(NUM_REWEIGHTINGS):
        best = _search(steps, losses[:, None], robust, EXPONENTS, OFFSETS * steps[-1])
        deviations = np.abs(losses - values(best, steps, steps[-1])[0]) * np.sqrt(weights)
        limit = OUTLIER_SCALES * spread(deviations)
        robust = weights * np.where(deviations > limit, limit / np.maximum(deviations, 1e-300), 1.0)
    return PowerLawFit(_zoomed(steps, losses, robust), robust)


def replicas(steps: Array, losses: Array, weights: Array, fitted: PowerLawFit, num_replicas: int, seed: int) -> Array:
    """Fits to as many resampled curves: residuals drawn in blocks, because neighbours err alike (Künsch 1989)."""
    num_points, (_, _, exponent, offset) = len(steps), fitted.parameters
    num_free = num_points - NUM_PARAMETERS
    curve = values(fitted.parameters[None], steps, steps[-1])[0]
    residuals = (losses - curve) * np.sqrt(weights)
    limit = CLIP_SCALES * spread(np.abs(residuals))
    residuals = np.clip(residuals, -limit, limit) if limit > 0 else residuals
    # The fit took up its share of the noise; least squares gives it back like this.
    residuals = (residuals - residuals.mean()) * np.sqrt(num_points / num_free)
    block = round(num_points ** (1 / 3))  # the rate of Hall, Horowitz & Jing 1995
    random = np.random.default_rng(seed)
    starts = random.integers(num_points, size=(-(-num_points // block), num_replicas))
    rows = (starts[:, None, :] + np.arange(block)[None, :, None]) % num_points
    drawn = residuals[rows.reshape(-1, num_replicas)[:num_points]]
    # From few points it is not known how large the noise is, either; so Student's law widens each replica's.
    drawn *= np.sqrt(num_free / random.chisquare(num_free, num_replicas))
    resampled = curve[:, None] + drawn / np.sqrt(weights)[:, None]
    # The fit's own exponent and offset are on the grid too, so that replicas spread around the fit and not beside it.
    exponents = np.union1d(EXPONENTS, exponent * np.geomspace(0.75, 1.33, 9))
    return _search(steps, resampled, fitted.weights, exponents, np.union1d(OFFSETS * steps[-1], offset))


def spread(deviations: Array) -> float:
    """A standard deviation that outliers do not move: the median absolute deviation, scaled for a normal law."""
    return float(1.4826 * np.median(deviations))


def _zoomed(steps: Array, losses: Array, weights: Array) -> Array:
    """The best parameters, on ever finer grids around the best so far."""
    exponents, offsets = EXPONENTS, OFFSETS * steps[-1]
    for _ in range(NUM_ZOOMS):
        best = _search(steps, losses[:, None], weights, exponents, offsets)[0]
        exponents, offsets = _around(best[2], exponents), _around(best[3], offsets)
    finest: Array = _search(steps, losses[:, None], weights, exponents, offsets)[0]
    return finest


def _around(value: float, grid: Array) -> Array:
    """A finer grid between the neighbours of a value of a grid, the value among it."""
    here = int(np.argmin(np.abs(grid - value)))
    low, high = grid[max(0, here - 1)], grid[min(len(grid) - 1, here + 1)]
    return np.concatenate([np.linspace(low, value, 6)[:-1], np.linspace(value, high, 6)])


def _search(steps: Array, losses: Array, weights: Array, exponents: Array, offsets: Array) -> Array:
    """For every column of losses the best (floor, height, exponent, offset) of the grid: [column, 4]."""
    grid_exponents, grid_offsets = (axis.ravel() for axis in np.meshgrid(exponents, offsets, indexing="ij"))
    last_step = steps[-1]
    logarithms = np.log((steps + offsets[:, None]) / (last_step + offsets[:, None]))
    basis = np.exp(-exponents[:, None, None] * logarithms[None]).reshape(len(grid_exponents), -1)
    weights = weights / weights.sum()
    mean_x, mean_y = basis @ weights, weights @ losses
    centred = basis - mean_x[:, None]
    var_x, var_y = (centred**2) @ weights, weights @ (losses - mean_y) ** 2
    covariance = (centred * weights) @ (losses - mean_y)
    height = covariance / var_x[:, None]
    error = var_y - covariance * height
    # Where the closed form leaves the allowed quarter, the best lies on its edge: no floor, or no height.
    no_floor = mean_y - height * mean_x[:, None] < 0
    moment_xx, moment_xy = var_x + mean_x**2, covariance + mean_x[:, None] * mean_y
    height = np.where(no_floor, moment_xy / moment_xx[:, None], height)
    error = np.where(no_floor, var_y + mean_y**2 - moment_xy * height, error)
    error = np.where(height < 0, var_y, error)
    height = np.maximum(height, 0.0)
    best, columns = np.argmin(error, axis=0), np.arange(losses.shape[1])
    best_height = height[best, columns]
    floor = np.maximum(mean_y - best_height * mean_x[best], 0.0)
    return np.stack([floor, best_height, grid_exponents[best], grid_offsets[best]], axis=1)
