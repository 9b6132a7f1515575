"""The steps of all ranks as one: what the run did, beside what each rank saw."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.report.columns import Column, StepColumns, step_columns

OF_THE_RUN = ("time_s", "loss", "smoothed_loss", "gradient_norm", "learning_rate", "target_tokens")
ADDED_UP = ("real_tokens", "padded_tokens")
OF_EACH = ("data_wait_s", "forward_s", "backward_s", "exchange_s", "optimizer_s", "step_s", "wire_bytes", "skew_s")
FLAGS = ("was_skipped", "is_probe", "is_non_finite")


def merged(ranks: Mapping[int, StepColumns]) -> StepColumns | None:
    """One row a step; None without any."""
    members = [ranks[rank] for rank in sorted(ranks) if len(ranks[rank])]
    if not members:
        return None
    if len(members) == 1:
        return members[0]
    steps = np.unique(np.concatenate([member.step for member in members]))
    columns: dict[str, Any] = {}
    for name in OF_THE_RUN:
        columns[name] = _first(aligned(steps, members, name))
    for name in ADDED_UP:
        column = aligned(steps, members, name)
        columns[name] = np.where(np.isfinite(column).any(axis=0), np.nansum(column, axis=0), np.nan)
    for name in OF_EACH:
        with warnings.catch_warnings():  # a step that nobody timed is NaN, which is what we want
            warnings.simplefilter("ignore", RuntimeWarning)
            columns[name] = np.nanmean(aligned(steps, members, name), axis=0)
    for name in FLAGS:
        columns[name] = (np.nan_to_num(aligned(steps, members, name)) > 0).any(axis=0)
    return step_columns(steps, **columns)


def aligned(steps: npt.NDArray[np.int64], members: Sequence[StepColumns], name: str) -> Column:
    """One column of every rank over common steps: [rank, step]; NaN where a rank has no such step."""
    table = np.full((len(members), len(steps)), np.nan)
    for row, member in zip(table, members, strict=True):
        row[np.searchsorted(steps, member.step)] = getattr(member, name)
    return table


def _first(table: Column) -> Column:
    """The first rank's number that is known."""
    found: Column = table[0].copy()
    for row in table[1:]:
        found = np.where(np.isnan(found), row, found)
    return found
