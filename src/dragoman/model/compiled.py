"""`passes` in C: each group of operations is one pass over its numbers, and dropout's masks are never written down.

For float32 rows of whole vectors, with relu. Built with the other kernels (`kernel`).
"""

# N real tokens, packed  D width  F inner width

import ctypes

import torch
from torch import Tensor

from dragoman.model import kernel
from dragoman.model.noise import Mask, Noise, tables
from dragoman.model.passes import NORM_EPSILON
from dragoman.model.products import room

NUMBERS_A_THREAD = 1 << 15
"""Fewer are not worth waking another thread for."""


class Pass(ctypes.Structure):
    """`Pass` of the source."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "width", "is_narrow", "threads")),
        *((name, ctypes.c_void_p) for name in ("first", "second", "places")),
        ("dropped", ctypes.c_int64),
    )


def can(x_ND: Tensor, inner_width: int, activation: str) -> bool:
    """Whether there is a kernel and it can do this."""
    is_whole = x_ND.shape[1] % kernel.LANES == 0 and inner_width % kernel.LANES == 0
    is_fit = x_ND.dtype == torch.float32 and x_ND.is_contiguous() and is_whole
    return is_fit and activation == "relu" and kernel.built() is not None


def norm_forward(
    x_ND: Tensor, scale_D: Tensor, shift_D: Tensor, kind: torch.dtype | None
) -> tuple[Tensor, Tensor, Tensor]:
    normed_ND, (mean_N, rstd_N) = room(x_ND, kind), x_ND.new_empty(2, len(x_ND))
    _run("norm_forward", normed_ND, len(x_ND), None, x_ND, scale_D, shift_D, NORM_EPSILON, normed_ND, mean_N, rstd_N)
    return normed_ND, mean_N, rstd_N


def norm_backward(
    d_normed_ND: Tensor, x_ND: Tensor, mean_N: Tensor, rstd_N: Tensor, scale_D: Tensor, d_round_ND: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    d_x_ND, width = torch.empty_like(x_ND), x_ND.shape[1]
    sums = x_ND.new_empty(_num_threads(x_ND.numel()), 2, width)
    arguments = d_normed_ND, x_ND, mean_N, rstd_N, scale_D, d_round_ND.contiguous(), d_x_ND, sums
    _run("norm_backward", d_normed_ND, len(x_ND), None, *arguments)
    return d_x_ND, sums[0, 0], sums[0, 1]


def residual_forward(x_ND: Tensor, y_ND: Tensor, bias_D: Tensor | None, noise: Noise) -> tuple[Tensor, Mask | None]:
    out_ND, mask = torch.empty_like(x_ND), noise.mask(x_ND.numel())
    _run("residual_forward", y_ND, len(x_ND), mask, x_ND, y_ND, bias_D, noise.scale, out_ND)
    return out_ND, mask


def residual_backward(
    d_out_ND: Tensor, mask: Mask | None, kind: torch.dtype | None, wants_sums: bool
) -> tuple[Tensor, Tensor | None]:
    if mask is None and kind is None and not wants_sums:
        return d_out_ND, None
    d_out_ND = d_out_ND.contiguous()
    d_y_ND = room(d_out_ND, kind)
    sums = d_out_ND.new_empty(_num_threads(d_out_ND.numel()), d_out_ND.shape[1]) if wants_sums else None
    _run("residual_backward", d_y_ND, len(d_out_ND), mask, d_out_ND, d_y_ND, sums)
    return d_y_ND, None if sums is None else sums[0]


def activation_forward(
    inner_NF: Tensor, bias_F: Tensor, num_rows: int, activation: str, noise: Noise
) -> tuple[Tensor, Tensor, Mask | None]:
    """In the memory of `inner`."""
    mask = noise.mask(num_rows * inner_NF.shape[1])
    _run("relu_forward", inner_NF, num_rows, mask, inner_NF, bias_F)
    return inner_NF, inner_NF[:num_rows], None


def activation_backward(
    d_active_NF: Tensor, saved_NF: Tensor, mask: Mask | None, activation: str
) -> tuple[Tensor, Tensor]:
    """In the memory of `d_active`."""
    sums = torch.empty(_num_threads(saved_NF.numel()), saved_NF.shape[1])
    _run("relu_backward", d_active_NF, len(saved_NF), None, d_active_NF, saved_NF, sums)
    return d_active_NF, sums[0]


def _num_threads(num_numbers: int) -> int:
    return max(1, min(torch.get_num_threads(), num_numbers // NUMBERS_A_THREAD))


def _run(name: str, any_kind: Tensor, num_rows: int, mask: Mask | None, *arguments: Tensor | float | None) -> None:
    """`any_kind` is the matrix that may be bfloat16: it says so, and how wide all are."""
    own, width = kernel.built(), any_kind.shape[1]
    assert own is not None
    task = Pass(num_rows, width, any_kind.dtype == torch.bfloat16, _num_threads(num_rows * width))
    if mask is not None:
        places = (ctypes.c_int64 * len(mask.places))(*mask.places)
        task.first, task.second = (table.data_ptr() for table in tables())
        task.places, task.dropped = ctypes.addressof(places), mask.dropped_of_256
    words = (
        ctypes.c_float(one) if isinstance(one, float) else ctypes.c_void_p(None if one is None else one.data_ptr())
        for one in arguments
    )
    getattr(own.library, name)(ctypes.byref(task), *words)
