"""What lies between products, in C against torch's own operations: alike but for the last places."""

# N real tokens, packed  D width  F inner width

from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from torch import Tensor

from dragoman.model import compiled, kernel, passes
from dragoman.model.noise import LONGEST, SILENCE, Noise
from dragoman.model.products import operand

pytestmark = pytest.mark.skipif(kernel.built() is None, reason="no C compiler here, or no AVX2")

BF16 = torch.bfloat16
KINDS = [None, BF16]
SIZES = [(1, 16), (33, 48), (700, 128)]
"""Rows and width; the last are enough for two threads."""


@pytest.fixture(autouse=True, params=[1, 2])
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def noise_of(rate: float) -> Noise:
    """Drawing from the start, so that both ways draw the same."""
    return Noise(rate, torch.Generator().manual_seed(5)) if rate else SILENCE


def assert_close(ours: Tensor | None, theirs: Tensor | None) -> None:
    """To the rounding of their kind: what is bfloat16 may be its neighbour, and is not 0 where the other is not."""
    assert ours is not None and theirs is not None
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    tolerance = 2.0**-7 if ours.dtype == BF16 else 1e-5
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_norm(size: tuple[int, int], kind: torch.dtype | None) -> None:
    x_ND, d_round_ND = numbers(*size).mul_(3.0).add_(1.0), numbers(*size).neg_()
    scale_D, shift_D = numbers(size[1]), numbers(size[1]).neg_()
    d_normed_ND = operand(numbers(*size).roll(1, 0), kind)

    def results(way: ModuleType) -> tuple[Tensor, ...]:
        normed_ND, mean_N, rstd_N = way.norm_forward(x_ND, scale_D, shift_D, kind)
        gradients = way.norm_backward(d_normed_ND, x_ND, mean_N, rstd_N, scale_D, d_round_ND)
        return normed_ND, mean_N.flatten(), rstd_N.flatten(), *gradients

    for ours, theirs in zip(results(compiled), results(passes), strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_residual(size: tuple[int, int], kind: torch.dtype | None, has_bias: bool, rate: float) -> None:
    x_ND, y_ND, bias_D = numbers(*size), operand(numbers(*size).roll(1, 0), kind), numbers(size[1])

    def results(way: ModuleType) -> tuple[Tensor, ...]:
        out_ND, mask = way.residual_forward(x_ND, y_ND.clone(), bias_D if has_bias else None, noise_of(rate))
        d_y_ND, sums_D = way.residual_backward(x_ND, mask, kind, wants_sums=has_bias)
        assert (sums_D is not None) == has_bias
        return (out_ND, d_y_ND, sums_D) if has_bias else (out_ND, d_y_ND)

    for ours, theirs in zip(results(compiled), results(passes), strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_activation(size: tuple[int, int], kind: torch.dtype | None, rate: float) -> None:
    inner_NF, bias_F = operand(numbers(*size), kind), numbers(size[1])
    d_active_NF = operand(numbers(*size).roll(1, 0), kind)

    def results(way: ModuleType) -> tuple[Tensor, ...]:
        active_NF, saved_NF, mask = way.activation_forward(inner_NF.clone(), bias_F, size[0], "relu", noise_of(rate))
        return active_NF, *way.activation_backward(d_active_NF.clone(), saved_NF, mask, "relu")

    for ours, theirs in zip(results(compiled), results(passes), strict=True):
        assert_close(ours, theirs)


def test_bfloat16_is_rounded_to_the_nearest() -> None:
    x_ND = numbers(33, 48)
    assert torch.equal(compiled.residual_backward(x_ND, None, BF16, wants_sums=False)[0], operand(x_ND, BF16))


def test_a_mask_of_several_pieces_is_the_same_in_c() -> None:
    rows, width = LONGEST // 512 + 7, 512
    x_ND, y_ND = torch.zeros(rows, width), torch.ones(rows, width)
    ours, theirs = (way.residual_forward(x_ND, y_ND, None, noise_of(0.25))[0] for way in (compiled, passes))
    assert torch.equal(ours, theirs)
    assert 0.74 < float(ours.count_nonzero()) / ours.numel() < 0.76


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_bad_numbers_stay_bad(kind: torch.dtype | None, bad: float) -> None:
    x_ND = numbers(3, 32)
    x_ND[1, 5] = bad
    normed_ND, _, _ = compiled.norm_forward(x_ND, torch.ones(32), torch.zeros(32), kind)
    assert normed_ND[:3].isfinite().all(dim=1).tolist() == [True, False, True]
    active_NF, _, _ = compiled.activation_forward(operand(x_ND, kind).clone(), torch.zeros(32), 3, "relu", SILENCE)
    assert active_NF[:3].isfinite().all(dim=1).tolist() == [True, False, True]
    out_ND, _ = compiled.residual_forward(torch.zeros(3, 32), operand(x_ND, kind), None, SILENCE)
    assert out_ND.isfinite().all(dim=1).tolist() == [True, False, True]


def test_what_it_cannot_do_it_does_not_claim() -> None:
    x_ND = torch.zeros(2, 32)
    assert compiled.can(x_ND, 48, "relu")
    assert not compiled.can(x_ND, 48, "gelu")
    assert not compiled.can(x_ND, 40, "relu")
    assert not compiled.can(torch.zeros(2, 24), 48, "relu")
    assert not compiled.can(x_ND.double(), 48, "relu")
    assert not compiled.can(torch.zeros(32, 2).t(), 48, "relu")
