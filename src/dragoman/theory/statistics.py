"""Intervals and tests for numbers that come in time order: bootstrap over blocks, pairs, elasticity, change-points.

Neighbouring steps are alike, so resampling single steps would promise too much; whole blocks are drawn instead. Seeds
are fixed: the same numbers get the same answer. Values that are not finite are left out. Pure numpy.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

BLOCK_STEPS = 20
NUM_REPLICAS = 400
INTERVAL = (0.025, 0.975)
SEED = 11
MOST_VALUES = 20_000
"""Longer series are thinned, in whole blocks, before a median is bootstrapped."""
MOST_BLOCKS = 1_000
"""More blocks are joined: longer ones promise no more than short ones do, and are drawn sooner."""
MOST_WINDOWS = 200
"""A series is looked at through so many windows when a change is sought."""
WINDOW_STEPS = 5
"""Least steps of a window."""
LEAST_WINDOWS = 8


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedDifference:
    """How much later losses lie above earlier ones of the same sentences, in nats a token."""

    mean: float
    low: float
    high: float
    p_not_above: float
    """Share of resampled texts in which the later losses do not lie above."""


@dataclass(frozen=True)
class Change:
    """A lasting change of level."""

    index: int
    """The first value after it."""
    before: float
    after: float
    p_value: float


def ratio(parts: Array, wholes: Array, *, block: int = BLOCK_STEPS) -> Estimate | None:
    """The sum of parts over the sum of wholes; None without a whole above zero."""
    found = ratios(parts[:, None], wholes, block=block)
    return found[0] if found else None


def ratios(parts: Array, wholes: Array, *, block: int = BLOCK_STEPS) -> tuple[Estimate, ...] | None:
    """The same for several columns of parts at once, drawn together."""
    is_known = np.isfinite(parts).all(axis=1) & np.isfinite(wholes)
    parts, wholes = parts[is_known], wholes[is_known]
    if not len(wholes) or wholes.sum() <= 0:
        return None
    sums = _block_sums(np.column_stack([parts, wholes]), block)
    drawn = _drawn_blocks(len(sums)) @ sums
    with np.errstate(divide="ignore", invalid="ignore"):
        replicas = drawn[:, :-1] / drawn[:, -1:]
    values = parts.sum(axis=0) / wholes.sum()
    return tuple(_estimate(float(value), column) for value, column in zip(values, replicas.T, strict=True))


def median(values: Array, *, block: int = BLOCK_STEPS) -> Estimate | None:
    """The median; None of nothing."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    return _estimate(float(np.median(values)), median_replicas(values, block=block))


def median_replicas(values: Array, *, block: int = BLOCK_STEPS, seed: int = SEED) -> Array:
    """Medians of resampled series."""
    values = values[np.isfinite(values)]
    blocks = _whole_blocks(values, block)
    random = np.random.default_rng(seed)
    picks = random.integers(len(blocks), size=(NUM_REPLICAS, len(blocks)))
    replicas: Array = np.array([np.median(blocks[pick]) for pick in picks])
    return replicas


def share_lost(with_it: Array, without_it: Array) -> Estimate | None:
    """1 - median without / median with: what part of a step something takes, by comparing steps with and without it."""
    with_it, without_it = with_it[np.isfinite(with_it)], without_it[np.isfinite(without_it)]
    if not len(with_it) or not len(without_it) or np.median(with_it) <= 0:
        return None
    # Probes stand far apart from each other: each is a block of its own.
    longer, shorter = median_replicas(with_it), median_replicas(without_it, block=1, seed=SEED + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        replicas = 1 - shorter / longer
    return _estimate(float(1 - np.median(without_it) / np.median(with_it)), replicas)


def paired_bootstrap(later: Array, earlier: Array, tokens: Array) -> PairedDifference | None:
    """Compare two loss sums of each sentence, resampling sentences; None without sentences in common."""
    is_known = np.isfinite(later) & np.isfinite(earlier) & (tokens > 0)
    if is_known.sum() < 2:
        return None
    differences, tokens = (later - earlier)[is_known], tokens[is_known]
    random = np.random.default_rng(SEED)
    num_sentences, replicas = len(tokens), np.empty(NUM_REPLICAS * 5)
    for number in range(len(replicas)):
        weights = np.bincount(random.integers(num_sentences, size=num_sentences), minlength=num_sentences)
        replicas[number] = (weights @ differences) / (weights @ tokens)
    low, high = np.quantile(replicas, INTERVAL)
    mean = float(differences.sum() / tokens.sum())
    return PairedDifference(mean, float(low), float(high), float(np.mean(replicas <= 0)))


def elasticity(driver: Array, outcome: Array, *, block: int = 1) -> Estimate | None:
    """d ln outcome / d ln driver by least squares; None where the driver hardly varies or numbers are few."""
    is_known = np.isfinite(driver) & np.isfinite(outcome) & (driver > 0) & (outcome > 0)
    x, y = np.log(driver[is_known]), np.log(outcome[is_known])
    if len(x) < LEAST_WINDOWS or np.std(x) < 1e-3:
        return None
    moments = _block_sums(np.column_stack([np.ones_like(x), x, y, x * x, x * y]), block)
    drawn = np.vstack([moments.sum(axis=0), _drawn_blocks(len(moments)) @ moments])
    count, sum_x, sum_y, sum_xx, sum_xy = drawn.T
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x**2)
    return _estimate(float(slopes[0]), slopes[1:])


def correlation(x: Array, y: Array) -> float | None:
    """Pearson's r; None where one of the two does not vary."""
    is_known = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_known], y[is_known]
    if len(x) < 3 or np.std(x) == 0 or np.std(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def change_point(values: Array) -> Change | None:
    """The most likely lasting change of level, with how likely chance alone makes one so strong.

    Medians of windows make single slow steps harmless, ranks make the size of outliers harmless, and the test shuffles
    windows. None where the series is too short.
    """
    places = np.flatnonzero(np.isfinite(values))
    if len(places) < LEAST_WINDOWS:
        return None
    num_windows = min(MOST_WINDOWS, max(LEAST_WINDOWS, len(places) // WINDOW_STEPS))
    edges = np.linspace(0, len(places), num_windows + 1).astype(int)
    windows = np.array([np.median(values[places[a:b]]) for a, b in itertools.pairwise(edges)])
    ranks = np.argsort(np.argsort(windows, kind="stable")).astype(np.float64) - (num_windows - 1) / 2
    strength = _strongest_split(ranks[None])[0]
    random = np.random.default_rng(SEED)
    shuffled = random.permuted(np.tile(ranks, (NUM_REPLICAS, 1)), axis=1)
    chance = _strongest_split(shuffled)
    first = _best_split(windows)
    return Change(
        index=int(places[edges[first]]),
        before=float(np.median(windows[:first])),
        after=float(np.median(windows[first:])),
        p_value=float((1 + np.sum(chance >= strength)) / (1 + NUM_REPLICAS)),
    )


def _strongest_split(ranks: Array) -> Array:
    """How well each row falls into two levels at best (a CUSUM of ranks, scaled so that all splits count alike)."""
    num = ranks.shape[1]
    sizes = np.arange(1, num)
    scaled = np.abs(np.cumsum(ranks, axis=1)[:, :-1]) / np.sqrt(sizes * (num - sizes))
    scaled[:, :1] = scaled[:, -1:] = 0.0  # a single window is no level
    strongest: Array = scaled.max(axis=1)
    return strongest


def _best_split(windows: Array) -> int:
    """The first window of the second level: where absolute distances from two medians are least."""
    costs = [
        np.abs(windows[:first] - np.median(windows[:first])).sum()
        + np.abs(windows[first:] - np.median(windows[first:])).sum()
        for first in range(2, len(windows) - 1)
    ]
    return 2 + int(np.argmin(costs))


def _block_sums(table: Array, block: int) -> Array:
    block = max(block, -(-len(table) // MOST_BLOCKS))
    starts = np.arange(0, len(table), block)
    sums: Array = np.add.reduceat(table, starts, axis=0)
    return sums


def _drawn_blocks(num_blocks: int) -> Array:
    """How often each block is drawn: [replica, block]."""
    random = np.random.default_rng(SEED)
    even = np.full(num_blocks, 1 / num_blocks)
    return random.multinomial(num_blocks, even, size=NUM_REPLICAS).astype(np.float64)


def _whole_blocks(values: Array, block: int) -> Array:
    """[block, value], thinned evenly where there are very many; short series are cut into single values."""
    if len(values) < 4 * block:
        block = 1
    blocks = values[: len(values) // block * block].reshape(-1, block)
    if blocks.size > MOST_VALUES:
        blocks = blocks[np.linspace(0, len(blocks) - 1, MOST_VALUES // block).astype(int)]
    return blocks


def _estimate(value: float, replicas: Array) -> Estimate:
    finite = replicas[np.isfinite(replicas)]
    low, high = np.quantile(finite, INTERVAL) if len(finite) else (value, value)
    return Estimate(value, float(low), float(high))
