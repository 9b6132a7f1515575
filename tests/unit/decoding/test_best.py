"""The best of many, equal ones in the order of their places."""

# R rows  V numbers of a row
# ruff: noqa: N806

import pytest
import torch

from dragoman.decoding.best import BLOCK, best_of_rows


@pytest.mark.parametrize("width", [3, BLOCK, 10 * BLOCK, 40 * BLOCK, 40 * BLOCK + 17])
@pytest.mark.parametrize("levels", [2, 30, 10_000])
def test_the_best_of_rows_are_those_of_a_stable_sort(width: int, levels: int) -> None:
    generator = torch.Generator().manual_seed(width)
    values_RV = torch.randint(-levels, 1, (50, width), generator=generator).float()
    values_RV[::7, width // 3 :] = -torch.inf
    for count in (1, 2, 3):
        best, place = best_of_rows(values_RV, count)
        wanted, order = values_RV.sort(dim=1, descending=True, stable=True)
        is_real = best > -torch.inf
        assert torch.equal(best, wanted[:, :count])
        assert torch.equal(place[is_real], order[:, :count][is_real])
        assert torch.equal(values_RV.gather(1, place), best)
