"""The sub-layers with hand-written gradients, for CPUs.

Each is one autograd Function around a residual connection: it keeps what its gradient needs in the layout that needs
it, works in place, folds dropout's factor into the multiplies, and adds weight gradients straight into `.grad` when
asked to. Same results as `plain`, which says what they compute; tests hold the two together.
"""

# N, M real tokens, packed (target, source)  P, Q = parts (q, k, v) x D  D width  F inner width

from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dragoman.model import compiled, gathered, passes
from dragoman.model.geometry import Geometry
from dragoman.model.kernel import kernel_for
from dragoman.model.parameters import AttentionWeights, FeedForwardWeights, NormWeights, Switches
from dragoman.model.products import add_product, operand, product, weight, write_product


def embed(table_VD: Tensor, ids_N: Tensor, position_ND: Tensor, switches: Switches) -> Tensor:
    """Scaled embeddings plus positions, with dropout."""
    result: Tensor = Embed.apply(table_VD, ids_N, position_ND, switches)  # type: ignore[no-untyped-call]
    return result


def attention(
    x_ND: Tensor,
    memory_MD: Tensor | None,
    norm: NormWeights | None,
    weights: AttentionWeights,
    geometry: Geometry,
    switches: Switches,
) -> Tensor:
    """x + dropout(attention(norm(x), memory)); without memory, attention of x to itself."""
    scale_D, shift_D = norm or (None, None)
    result: Tensor = Attention.apply(  # type: ignore[no-untyped-call]
        x_ND, memory_MD, scale_D, shift_D, *weights, geometry, switches
    )
    return result


def feed_forward(x_ND: Tensor, norm: NormWeights | None, weights: FeedForwardWeights, switches: Switches) -> Tensor:
    """x + dropout(W2 activation(W1 norm(x) + b1) + b2)."""
    scale_D, shift_D = norm or (None, None)
    result: Tensor = FeedForward.apply(x_ND, scale_D, shift_D, *weights, switches)  # type: ignore[no-untyped-call]
    return result


class Embed(torch.autograd.Function):
    """Its gradient touches only the rows that were looked up."""

    @staticmethod
    def forward(ctx: Any, table_VD: Tensor, ids_N: Tensor, position_ND: Tensor, switches: Switches) -> Tensor:
        ctx.scale = table_VD.shape[1] ** 0.5
        x_ND = torch.add(position_ND, table_VD.index_select(0, ids_N), alpha=ctx.scale)
        keep_ND = switches.dropout.keep(x_ND)
        if keep_ND is not None:
            x_ND.mul_(keep_ND).mul_(switches.dropout.scale)
            ctx.scale *= switches.dropout.scale
        ctx.save_for_backward(table_VD, ids_N, keep_ND)
        ctx.switches = switches
        return x_ND

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_x_ND: Tensor) -> tuple[Tensor | None, ...]:
        table_VD, ids_N, keep_ND = ctx.saved_tensors
        in_place = ctx.switches.accumulate_in_place and table_VD.grad is not None
        d_table_VD = table_VD.grad if in_place else torch.zeros_like(table_VD)
        d_kept_ND = d_x_ND if keep_ND is None else d_x_ND * keep_ND
        d_table_VD.index_add_(0, ids_N, d_kept_ND, alpha=ctx.scale)
        return None if in_place else d_table_VD, None, None, None


class FeedForward(torch.autograd.Function):
    """Two multiplies with everything around them."""

    @staticmethod
    def forward(
        ctx: Any,
        x_ND: Tensor,
        scale_D: Tensor | None,
        shift_D: Tensor | None,
        inner_FD: Tensor,
        inner_bias_F: Tensor,
        outer_DF: Tensor,
        outer_bias_D: Tensor,
        switches: Switches,
    ) -> Tensor:
        kind, noise = switches.multiplied_in, switches.activation_dropout
        ctx.between = between = _between(x_ND, len(inner_FD), switches)
        normed_ND, mean_N, rstd_N = _norm(between, x_ND, scale_D, shift_D, kind)
        inner_NF = product(normed_ND, weight(inner_FD, kind).t())
        active_NF, saved_NF, ctx.inner_mask = between.activation_forward(
            inner_NF, inner_bias_F, len(x_ND), switches.activation, noise
        )
        y_ND = product(active_NF, weight(outer_DF, kind).t(), noise.scale)
        out_ND: Tensor
        out_ND, ctx.mask = between.residual_forward(x_ND, y_ND, outer_bias_D, switches.dropout)
        ctx.switches = switches
        ctx.save_for_backward(
            *(x_ND, scale_D, normed_ND, mean_N, rstd_N, saved_NF, active_NF),
            *(inner_FD, inner_bias_F, outer_DF, outer_bias_D),
        )
        return out_ND

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out_ND: Tensor) -> tuple[Tensor | None, ...]:
        x_ND, scale_D, normed_ND, mean_N, rstd_N, saved_NF, active_NF = ctx.saved_tensors[:7]
        inner_FD, inner_bias_F, outer_DF, outer_bias_D = ctx.saved_tensors[7:]
        switches: Switches = ctx.switches
        in_place, kind = switches.accumulate_in_place, switches.multiplied_in
        factor = switches.dropout.scale
        outer_factor = factor * switches.activation_dropout.scale
        d_y_ND, sums_D = ctx.between.residual_backward(d_out_ND, ctx.mask, kind, wants_sums=True)
        d_outer_bias_D = _bias_gradient(outer_bias_D, sums_D, factor, in_place)
        d_outer_DF = _weight_gradient(outer_DF, d_y_ND, active_NF, outer_factor, in_place)
        d_active_NF = product(d_y_ND, weight(outer_DF, kind), outer_factor)
        d_inner_NF, sums_F = ctx.between.activation_backward(d_active_NF, saved_NF, ctx.inner_mask, switches.activation)
        d_inner_bias_F = _bias_gradient(inner_bias_F, sums_F, 1.0, in_place)
        d_inner_FD = _weight_gradient(inner_FD, d_inner_NF, normed_ND, 1.0, in_place)
        d_normed_ND = product(d_inner_NF, weight(inner_FD, kind))
        norm_gradients = _norm_gradient(ctx.between, d_normed_ND, x_ND, mean_N, rstd_N, scale_D, d_out_ND)
        return *norm_gradients, d_inner_FD, d_inner_bias_F, d_outer_DF, d_outer_bias_D, None


class Attention(torch.autograd.Function):
    """Projections, scores, softmax, context and output projection of all heads of a batch."""

    @staticmethod
    def forward(
        ctx: Any,
        x_ND: Tensor,
        memory_MD: Tensor | None,
        scale_D: Tensor | None,
        shift_D: Tensor | None,
        inputs_PD: Tensor,
        memory_QD: Tensor | None,
        output_DD: Tensor,
        heads: int,
        geometry: Geometry,
        switches: Switches,
    ) -> Tensor:
        kind = switches.multiplied_in
        ctx.between = between = _between(x_ND, x_ND.shape[1], switches)
        normed_ND, mean_N, rstd_N = _norm(between, x_ND, scale_D, shift_D, kind)
        rows_NP = _padded_product(normed_ND, weight(inputs_PD, kind).t(), x_ND)
        memory_MQ = ready_MD = None
        if memory_MD is not None and memory_QD is not None:
            ready_MD = operand(memory_MD, kind)
            memory_MQ = _padded_product(ready_MD, weight(memory_QD, kind).t(), memory_MD)
        ctx.core = kernel_for(rows_NP, x_ND.shape[1] // heads) or gathered
        context_ND, saved = ctx.core.forward(rows_NP, memory_MQ, geometry, switches.attention_dropout)
        context_ND, factor = operand(context_ND, kind), switches.attention_dropout.scale
        y_ND = product(context_ND, weight(output_DD, kind).t(), factor)
        out_ND: Tensor
        out_ND, ctx.mask = between.residual_forward(x_ND, y_ND, None, switches.dropout)
        ctx.geometry, ctx.switches = geometry, switches
        ctx.save_for_backward(
            *(x_ND, ready_MD, scale_D, normed_ND, mean_N, rstd_N),
            *(context_ND, inputs_PD, memory_QD, output_DD, *saved),
        )
        return out_ND

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out_ND: Tensor) -> tuple[Tensor | None, ...]:
        x_ND, memory_MD, scale_D, normed_ND, mean_N, rstd_N = ctx.saved_tensors[:6]
        context_ND, inputs_PD, memory_QD, output_DD, *saved = ctx.saved_tensors[6:]
        switches: Switches = ctx.switches
        in_place, kind = switches.accumulate_in_place, switches.multiplied_in
        d_y_ND, _ = ctx.between.residual_backward(d_out_ND, ctx.mask, kind, wants_sums=False)
        factor = switches.dropout.scale * switches.attention_dropout.scale
        d_output_DD = _weight_gradient(output_DD, d_y_ND, context_ND, factor, in_place)
        d_context_ND = _padded_product(d_y_ND, weight(output_DD, kind), x_ND, factor)
        d_rows_NP, d_memory_MQ = ctx.core.backward(d_context_ND, saved, ctx.geometry)
        d_rows_NP = operand(d_rows_NP, kind)
        d_inputs_PD = _weight_gradient(inputs_PD, d_rows_NP, normed_ND, 1.0, in_place)
        d_normed_ND = product(d_rows_NP, weight(inputs_PD, kind))
        d_memory_MD = d_memory_QD = None
        if d_memory_MQ is not None:
            d_memory_MD = d_memory_MQ.new_empty(len(d_memory_MQ), x_ND.shape[1])
            d_memory_MQ = operand(d_memory_MQ, kind)
            d_memory_QD = _weight_gradient(memory_QD, d_memory_MQ, memory_MD, 1.0, in_place)
            write_product(d_memory_MQ, weight(memory_QD, kind), d_memory_MD)
        d_x_ND, *d_norm = _norm_gradient(ctx.between, d_normed_ND, x_ND, mean_N, rstd_N, scale_D, d_out_ND)
        return d_x_ND, d_memory_MD, *d_norm, d_inputs_PD, d_memory_QD, d_output_DD, None, None, None


def _between(x_ND: Tensor, inner_width: int, switches: Switches) -> ModuleType:
    """What computes all between the products."""
    return compiled if compiled.can(x_ND, inner_width, switches.activation) else passes


def _padded_product(left_NI: Tensor, right_IO: Tensor, like_N: Tensor, factor: float = 1.0) -> Tensor:
    """factor x left x right, with a row of zeros or more after it: where padding takes its numbers from."""
    out_NO = like_N.new_empty(len(left_NI) + 1, right_IO.shape[1])
    write_product(left_NI, right_IO, out_NO[:-1], factor)
    out_NO[len(like_N) :] = 0.0
    return out_NO


def _weight_gradient(weight_OI: Tensor, d_NO: Tensor, x_NI: Tensor, factor: float, in_place: bool) -> Tensor | None:
    """factor x d^T x: added to `.grad`, or returned where autograd is to do that."""
    if in_place and weight_OI.grad is not None:
        add_product(weight_OI.grad, d_NO.t(), x_NI, factor)
        return None
    return write_product(d_NO.t(), x_NI, torch.empty_like(weight_OI), factor)


def _bias_gradient(bias_O: Tensor, sums_O: Tensor, factor: float, in_place: bool) -> Tensor | None:
    """factor x sums: added to `.grad`, or returned where autograd is to do that."""
    if in_place and bias_O.grad is not None:
        bias_O.grad.add_(sums_O, alpha=factor)
        return None
    return sums_O * factor


def _norm(
    between: ModuleType, x_ND: Tensor, scale_D: Tensor | None, shift_D: Tensor | None, kind: torch.dtype | None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """The rows as the first product takes them; where the norm comes after the sub-layer, as they are."""
    if scale_D is None:
        return operand(x_ND, kind), None, None
    result: tuple[Tensor, Tensor, Tensor] = between.norm_forward(x_ND, scale_D, shift_D, kind)
    return result


def _norm_gradient(
    between: ModuleType,
    d_normed_ND: Tensor,
    x_ND: Tensor,
    mean_N: Tensor | None,
    rstd_N: Tensor | None,
    scale_D: Tensor | None,
    d_round_ND: Tensor,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Gradients of x, with what came round the sub-layer; of scale and of shift."""
    if scale_D is None:
        return d_round_ND + d_normed_ND[: len(x_ND)], None, None
    result: tuple[Tensor, Tensor, Tensor] = between.norm_backward(
        d_normed_ND, x_ND, mean_N, rstd_N, scale_D, d_round_ND
    )
    return result
