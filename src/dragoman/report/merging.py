"""The steps of all ranks as one: what the run did, beside what each rank saw."""

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
    steps = all_steps(members)
    columns: dict[str, Any] = {}
    for name in OF_THE_RUN:
        columns[name] = _first(aligned(steps, members, name))
    for name in ADDED_UP:
        column = aligned(steps, members, name)
        columns[name] = np.where(np.isfinite(column).any(axis=0), np.nansum(column, axis=0), np.nan)
    for name in OF_EACH:
        columns[name] = _mean(aligned(steps, members, name))
    for name in FLAGS:
        columns[name] = (np.nan_to_num(aligned(steps, members, name)) > 0).any(axis=0)
    return step_columns(steps, **columns)


def all_steps(members: Sequence[StepColumns]) -> npt.NDArray[np.int64]:
    """Every step that any rank has, in order."""
    first = members[0].step
    if all(np.array_equal(member.step, first) for member in members[1:]):  # as in most runs; a sort takes longer
        return first
    return np.unique(np.concatenate([member.step for member in members]))


def aligned(steps: npt.NDArray[np.int64], members: Sequence[StepColumns], name: str) -> Column:
    """One column of every rank over common steps: [rank, step]; NaN where a rank has no such step."""
    table = np.full((len(members), len(steps)), np.nan)
    for row, member in zip(table, members, strict=True):
        # A rank that made every step needs no search.
        places = slice(None) if len(member.step) == len(steps) else np.searchsorted(steps, member.step)
        row[places] = getattr(member, name)
    return table


def _mean(table: Column) -> Column:
    """Over the ranks that know it; NaN where none does. In the order of ranks, so that no table is copied."""
    total, known = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for row in table:
        is_known = np.isfinite(row)
        total += np.where(is_known, row, 0.0)
        known += is_known
    mean: Column = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    return mean


def _first(table: Column) -> Column:
    """The first rank's number that is known."""
    found: Column = table[0].copy()
    for row in table[1:]:
        is_missing = np.isnan(found)
        if not is_missing.any():
            break
        found[is_missing] = row[is_missing]
    return found
