"""When a run of ours began, went on and ended; and which records a resume left behind."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dragoman.core.run_records import EventRecord
from dragoman.report.columns import Evaluations, Flags, StepColumns
from dragoman.report.record_lines import RankSteps, unix_seconds

BACK = ("resumed", "rolled back")
"""Events after which steps are done again."""


def first_time(events: Sequence[EventRecord], steps: StepColumns | None) -> float | None:
    """The first sign of life."""
    return _end(events, steps, None, min)


def last_time(
    events: Sequence[EventRecord], steps: StepColumns | None, evaluations: Evaluations | None
) -> float | None:
    """The last sign of life."""
    return _end(events, steps, evaluations, max)


def _end(
    events: Sequence[EventRecord],
    steps: StepColumns | None,
    evaluations: Evaluations | None,
    end: Callable[[list[float]], float],
) -> float | None:
    columns = [unix_seconds([event.time for event in events])]
    columns += [part.time_s for part in (steps, evaluations) if part is not None]
    times = [time for time in np.concatenate(columns).tolist() if math.isfinite(time)]
    return end(times) if times else None


def training_seconds(steps: StepColumns | None, evaluations: Evaluations | None) -> float | None:
    """Time spent in all sessions: what the last evaluation says, and the steps since; clocks do not matter."""
    known = [] if evaluations is None else np.flatnonzero(np.isfinite(evaluations.training_s)).tolist()
    last = known[-1] if known else None
    before, since = (0.0, 0) if last is None or evaluations is None else (
        float(evaluations.training_s[last]), int(evaluations.step[last])
    )  # fmt: skip
    if steps is None:
        return before or None
    seconds = steps.step_s[steps.step > since]
    if last is None and not np.isfinite(seconds).any():
        return None
    return before + float(np.nansum(seconds))


def ending(events: Sequence[EventRecord]) -> str | None:
    """What the run said when it stopped; None while it goes on, and after a crash."""
    for event in reversed(events):
        if event.kind == "stopped":
            return event.text
        if event.kind in ("started", *BACK):
            return None
    return None


def without_left_behind(ranks: Mapping[int, RankSteps], events: Iterable[EventRecord]) -> dict[int, RankSteps]:
    """Without rows that a resume made void though no later row says so: those of ranks that did not come back."""
    kept = dict(ranks)
    for event in (event for event in events if event.kind in BACK):
        moment = float(unix_seconds([event.time])[0])
        if math.isnan(moment):
            continue
        for rank, found in kept.items():
            columns = found.columns
            is_void = (columns.step > event.step) & (columns.time_s < moment)
            if is_void.any():
                kept[rank] = dataclasses.replace(
                    found,
                    columns=rows(columns, ~is_void),
                    redone_steps=found.redone_steps + int(is_void.sum()),
                    redone_s=found.redone_s + float(np.nansum(columns.step_s[is_void])),
                )
    return {rank: found for rank, found in kept.items() if len(found.columns)}


def rows(columns: StepColumns, chosen: Flags) -> StepColumns:
    """Some rows of all columns."""
    values = {one.name: getattr(columns, one.name) for one in dataclasses.fields(columns)}
    picked: dict[str, Any] = {
        name: value[chosen] if isinstance(value, np.ndarray) else value for name, value in values.items()
    }
    return StepColumns(**picked)
