"""Long series for the eye: few enough points to draw at once, with every spike kept."""

import itertools

import numpy as np

from dragoman.report.answers import Line
from dragoman.report.columns import Column

MOST_POINTS = 500


def line(name: str, x: Column, y: Column, kind: str = "line", *, smooth: bool = False) -> Line:
    """A curve of at most MOST_POINTS points; `smooth` draws medians of windows instead of extremes."""
    is_known = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_known], y[is_known]
    if len(x) > MOST_POINTS:
        x, y = _medians(x, y) if smooth else _extremes(x, y)
    shown: tuple[float | None, ...] = tuple(_short(value) for value in y.tolist())
    assert kind in ("line", "points", "dashed")
    return Line(name, tuple(_short(value) for value in x.tolist()), shown, kind)  # type: ignore[arg-type]


def _medians(x: Column, y: Column) -> tuple[Column, Column]:
    edges = np.linspace(0, len(x), MOST_POINTS + 1).astype(int)
    middle = np.array([np.median(y[a:b]) for a, b in itertools.pairwise(edges)])
    return x[edges[1:] - 1], middle


def _extremes(x: Column, y: Column) -> tuple[Column, Column]:
    """The lowest and the highest of each window, in their order; first and last always."""
    edges = np.linspace(0, len(x), MOST_POINTS // 2 + 1).astype(int)
    places = {0, len(x) - 1}
    for a, b in itertools.pairwise(edges):
        places |= {int(a + np.argmin(y[a:b])), int(a + np.argmax(y[a:b]))}
    order = sorted(places)
    return x[order], y[order]


def _short(value: float) -> float:
    """Six figures are more than a screen shows."""
    return float(f"{value:.6g}")
