"""What lies between the matrix products of a sub-layer, forward and backward, with torch's own operations.

Norm, bias, activation, dropout and residual connection. Takes and gives operands of products (`products`), which may
be bfloat16 and have rows of zeros after their last; computes in float32. `compiled` does the same in one pass each.
"""

# N real tokens, packed  D width  F inner width

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model.noise import Mask, Noise
from dragoman.model.products import operand, operand_like

NORM_EPSILON = 1e-5
aten = torch.ops.aten


def norm_forward(
    x_ND: Tensor, scale_D: Tensor, shift_D: Tensor, kind: torch.dtype | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The normed rows, ready to be multiplied; mean and 1 / deviation of each."""
    normed_ND, mean_N, rstd_N = torch.native_layer_norm(x_ND, scale_D.shape, scale_D, shift_D, NORM_EPSILON)
    return operand(normed_ND, kind), mean_N, rstd_N


def norm_backward(
    d_normed_ND: Tensor, x_ND: Tensor, mean_N: Tensor, rstd_N: Tensor, scale_D: Tensor, d_round_ND: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of x, with what came round the norm added; of scale; and of shift."""
    arguments = d_normed_ND[: len(x_ND)].to(x_ND.dtype), x_ND, scale_D.shape, mean_N, rstd_N, scale_D, scale_D
    d_x_ND, d_scale_D, d_shift_D = aten.native_layer_norm_backward(*arguments, [True, True, True])
    return d_x_ND.add_(d_round_ND), d_scale_D, d_shift_D


def residual_forward(x_ND: Tensor, y_ND: Tensor, bias_D: Tensor | None, noise: Noise) -> tuple[Tensor, Mask | None]:
    """x + dropout(y + bias), in the memory of `y` where that is of the kind to compute in; and the mask."""
    y_ND, mask = y_ND[: len(x_ND)].to(x_ND.dtype), noise.mask(x_ND.numel())
    if bias_D is not None:
        y_ND.add_(bias_D)
    if mask is None:
        return y_ND.add_(x_ND), None
    return torch.addcmul(x_ND, y_ND, mask.keep(y_ND), value=noise.scale, out=y_ND), mask


def residual_backward(
    d_out_ND: Tensor, mask: Mask | None, kind: torch.dtype | None, wants_sums: bool
) -> tuple[Tensor, Tensor | None]:
    """The gradient of y, ready to be multiplied, without dropout's factor; its sums over rows, for the bias."""
    d_y_ND = d_out_ND if mask is None else d_out_ND * mask.keep(d_out_ND)
    return operand(d_y_ND, kind), _sums(d_y_ND) if wants_sums else None


def activation_forward(
    inner_NF: Tensor, bias_F: Tensor, num_rows: int, activation: str, noise: Noise
) -> tuple[Tensor, Tensor, Mask | None]:
    """dropout(activation(inner + bias)) without dropout's factor, ready to be multiplied; what the gradient needs.

    In the memory of `inner`, where that is of the kind to compute in.
    """
    real_NF = inner_NF[:num_rows].to(bias_F.dtype).add_(bias_F)
    functions: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu_, "gelu": F.gelu, "swish": F.silu}
    active_NF = functions[activation](real_NF)
    mask = noise.mask(real_NF.numel())
    if mask is not None:
        active_NF.mul_(mask.keep(active_NF))
    if activation == "relu":  # what was dropped is 0, and so its gradient is that of a relu at rest
        return operand_like(active_NF, inner_NF), active_NF, None
    return operand_like(active_NF, inner_NF), real_NF, mask


def activation_backward(
    d_active_NF: Tensor, saved_NF: Tensor, mask: Mask | None, activation: str
) -> tuple[Tensor, Tensor]:
    """The gradient before bias and activation, ready to be multiplied; its sums over rows, for the bias.

    In the memory of `d_active`, where that is of the kind to compute in.
    """
    d_NF = d_active_NF[: len(saved_NF)].to(saved_NF.dtype)
    if mask is not None:
        d_NF.mul_(mask.keep(d_NF))
    gradients: dict[str, Callable[[], Tensor]] = {
        "relu": lambda: aten.threshold_backward.grad_input(d_NF, saved_NF, 0, grad_input=d_NF),
        "gelu": lambda: aten.gelu_backward.grad_input(d_NF, saved_NF, grad_input=d_NF),
        "swish": lambda: aten.silu_backward.grad_input(d_NF, saved_NF, grad_input=d_NF),
    }
    gradients[activation]()
    return operand_like(d_NF, d_active_NF), _sums(d_NF)


def _sums(d_NO: Tensor) -> Tensor:
    # As a multiply with ones: 13 % faster than a sum over rows.
    return d_NO.t() @ d_NO.new_ones(len(d_NO))
