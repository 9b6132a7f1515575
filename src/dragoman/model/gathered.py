"""Attention with torch's own operations: heads are gathered into small matrices, one a sentence and head, and back.

What computes where `kernel` cannot: without a compiler, in other precisions, with heads that are no whole vectors.
"""

# N, M real tokens, packed (target, source)  G = sentences x heads  T queries  S keys  K head width  P, Q = parts x D

import torch
from torch import Tensor

from dragoman.model.geometry import Geometry, HeadMap
from dragoman.model.noise import Noise


def forward(
    rows_NP: Tensor, memory_MQ: Tensor | None, geometry: Geometry, noise: Noise
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """The context of every row, without dropout's factor; and what `backward` needs.

    After the last row of either a row of zeros follows: where padding takes its numbers from.
    """
    head_width = rows_NP.shape[1] // geometry.heads // len(geometry.inputs.shapes)
    parts = _split(rows_NP, geometry.inputs, head_width)
    if memory_MQ is not None and geometry.memory is not None:
        parts += _split(memory_MQ, geometry.memory, head_width)
    q_GTK, k_GSK, v_GSK = parts
    scores_GTS = torch.baddbmm(geometry.bias, q_GTK, k_GSK.mT, alpha=head_width**-0.5)
    weights_GTS = torch.softmax(scores_GTS, dim=-1, out=scores_GTS)
    keep_GTS = noise.keep(weights_GTS)
    dropped_GTS = weights_GTS if keep_GTS is None else weights_GTS * keep_GTS
    context_GTK = dropped_GTS @ v_GSK
    context_ND = context_GTK.view(-1, head_width).index_select(0, geometry.context.join)
    return context_ND.view(-1, geometry.heads * head_width), (q_GTK, k_GSK, v_GSK, weights_GTS, keep_GTS)


def backward(
    d_context_ND: Tensor, saved: tuple[Tensor | None, ...], geometry: Geometry
) -> tuple[Tensor, Tensor | None]:
    """Gradients of the rows and of the memory's rows; a row of zeros follows those of the context too."""
    q_GTK, k_GSK, v_GSK, weights_GTS, keep_GTS = saved
    assert q_GTK is not None and k_GSK is not None and v_GSK is not None and weights_GTS is not None
    (d_context_GTK,) = _split(d_context_ND, geometry.context, q_GTK.shape[-1])
    d_parts = _scores_gradient(d_context_GTK, q_GTK, k_GSK, v_GSK, weights_GTS, keep_GTS)
    d_rows_NP = d_parts.index_select(0, geometry.inputs.join).view(geometry.queries.num_tokens, -1)
    if geometry.memory is None:
        return d_rows_NP, None
    d_keys_values = d_parts[q_GTK.shape[0] * q_GTK.shape[1] :]
    return d_rows_NP, d_keys_values.index_select(0, geometry.memory.join).view(geometry.keys.num_tokens, -1)


def _scores_gradient(
    d_context_GTK: Tensor, q_GTK: Tensor, k_GSK: Tensor, v_GSK: Tensor, weights_GTS: Tensor, keep_GTS: Tensor | None
) -> Tensor:
    """Gradients of queries, keys and values, one after the other as head rows."""
    width = q_GTK.shape[-1]
    shapes = q_GTK.shape, k_GSK.shape, v_GSK.shape
    sizes = [shape.numel() // width for shape in shapes]
    d_parts = q_GTK.new_empty(sum(sizes), width)
    parts = torch.split_with_sizes(d_parts, sizes)
    d_q, d_k, d_v = (part.view(shape) for part, shape in zip(parts, shapes, strict=True))
    dropped_GTS = weights_GTS if keep_GTS is None else weights_GTS * keep_GTS
    torch.bmm(dropped_GTS.mT, d_context_GTK, out=d_v)
    d_weights_GTS = d_context_GTK @ v_GSK.mT
    if keep_GTS is not None:
        d_weights_GTS.mul_(keep_GTS)
    d_scores_GTS = torch._softmax_backward_data(d_weights_GTS, weights_GTS, -1, weights_GTS.dtype)
    d_scores_GTS.mul_(width**-0.5)
    torch.bmm(d_scores_GTS, k_GSK, out=d_q)
    torch.bmm(d_scores_GTS.mT, q_GTK, out=d_k)
    return d_parts


def _split(rows_ND: Tensor, heads: HeadMap, width: int) -> list[Tensor]:
    """Packed rows, and a row of zeros after them, as one (G, L, K) a part."""
    head_rows = rows_ND.view(-1, width).index_select(0, heads.split)
    parts = torch.split_with_sizes(head_rows, [matrices * length for matrices, length in heads.shapes])
    return [part.view(*shape, width) for part, shape in zip(parts, heads.shapes, strict=True)]
