"""A link that got worse on the way: a lasting change of the time of an exchange of the same bytes."""

import warnings

import numpy as np

from dragoman.report import merging
from dragoman.report.columns import Column, Flags, StepColumns
from dragoman.report.measures import Measures
from dragoman.theory import statistics
from dragoman.theory.statistics import Change

DEGRADED = 1.5
"""A lasting change of the exchange time by this factor."""
FELT = 0.05
"""Of a step: a smaller change is not felt."""
CHANCE = 0.01
ENOUGH_PROBES = 3 * statistics.LEAST_WINDOWS
"""Fewer probes cannot show a change that chance does not make now and then."""
NEWEST_STEPS = 400
"""Looked at on their own too: forty steps at the end of a long run are lost in the whole of it."""
LASTING_STEPS = 30
"""A change is lasting from so many steps on; its beginning is found to some five steps, so that forty are enough."""


def degradation(measures: Measures) -> Change | None:
    """The change (`index` is its step), or None where there is none. Probes, all steps and the newest are asked."""
    steps = measures.steady
    has_link = measures.layout is None or measures.layout.num_hosts > 1
    if steps is None or measures.exchange is None or not has_link:
        return None
    waits = _wire_waits(measures, steps)
    views = [np.ones(len(steps), dtype=bool), np.arange(len(steps)) >= len(steps) - NEWEST_STEPS]
    if steps.is_probe.sum() >= ENOUGH_PROBES:
        views.insert(0, steps.is_probe)
    return next((change for view in views if (change := _lasting(steps, waits, view)) is not None), None)


def _wire_waits(measures: Measures, steps: StepColumns) -> Column:
    """Seconds that the rank which waited least waited: the last to arrive waits for nobody but the wire."""
    members = [measures.facts.ranks[rank] for rank in sorted(measures.facts.ranks)]
    waits = steps.exchange_s - np.nan_to_num(steps.skew_s)
    if len(members) > 1:
        everything = merging.all_steps(members)
        with warnings.catch_warnings():  # a step that nobody timed is NaN, which is what we want
            warnings.simplefilter("ignore", RuntimeWarning)
            least = np.nanmin(merging.aligned(everything, members, "exchange_s"), axis=0)
        waits = least[np.searchsorted(everything, steps.step)]
    typical = measures.exchange_bytes
    if typical and np.isfinite(steps.wire_bytes).any():  # another rung or world size is no worse link
        waits = np.where(np.abs(steps.wire_bytes - typical) <= 0.1 * typical, waits, np.nan)
    return np.where(waits > 0, waits, np.nan)


def _lasting(steps: StepColumns, waits: Column, view: Flags) -> Change | None:
    found = statistics.change_point(waits[view])
    if found is None or found.p_value > CHANCE or not found.after > DEGRADED * found.before:
        return None
    place = int(np.flatnonzero(view)[found.index])
    if len(steps) - place < LASTING_STEPS:
        return None
    # A machine that is slower at everything, or a change too small to feel, says nothing about the link.
    computing = steps.step_s - steps.exchange_s
    before, after = np.nanmedian(computing[view][: found.index]), np.nanmedian(computing[view][found.index :])
    is_everything = found.after / found.before < DEGRADED * max(1.0, after / before)
    is_small = found.after - found.before < FELT * (after + found.after)
    if is_everything or is_small:
        return None
    return Change(int(steps.step[place]), found.before, found.after, found.p_value)
