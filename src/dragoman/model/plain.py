"""The sub-layers in ordinary autograd: what runs on GPUs, and what the hand-written ones are tested against.

Each takes packed rows and gives packed rows: the residual connection and its dropout are inside, the norm in front of
the sub-layer too where there is one. Same names and arguments as in `fused`.
"""

# N, M real tokens, packed (target, source)  B sentences  H heads  T queries  S keys  D width  F inner width

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model.geometry import Geometry, HeadMap
from dragoman.model.parameters import AttentionWeights, FeedForwardWeights, NormWeights, Switches

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


def embed(table_VD: Tensor, ids_N: Tensor, position_ND: Tensor, switches: Switches) -> Tensor:
    """Scaled embeddings plus positions, with dropout."""
    scale = table_VD.shape[1] ** 0.5
    return F.dropout(F.embedding(ids_N, table_VD) * scale + position_ND, switches.dropout.rate)


def attention(
    x_ND: Tensor,
    memory_MD: Tensor | None,
    norm: NormWeights | None,
    weights: AttentionWeights,
    geometry: Geometry,
    switches: Switches,
) -> Tensor:
    """x + dropout(attention(norm(x), memory)); without memory, attention of x to itself."""
    normed_ND = layer_norm(x_ND, norm)
    if memory_MD is None or geometry.memory is None:
        q, k, v = _split(F.linear(normed_ND, weights.inputs), geometry.inputs, weights.heads)
    else:
        assert weights.memory is not None
        (q,) = _split(F.linear(normed_ND, weights.inputs), geometry.inputs, weights.heads)
        k, v = _split(F.linear(memory_MD, weights.memory), geometry.memory, weights.heads)
    rate = switches.attention_dropout.rate
    context = F.scaled_dot_product_attention(q, k, v, attn_mask=geometry.bias.to(q.dtype), dropout_p=rate)
    context_ND = context.flatten(0, 1).index_select(0, geometry.context.join).view(x_ND.shape)
    return x_ND + F.dropout(F.linear(context_ND, weights.output), switches.dropout.rate)


def feed_forward(x_ND: Tensor, norm: NormWeights | None, weights: FeedForwardWeights, switches: Switches) -> Tensor:
    """x + dropout(W2 activation(W1 norm(x) + b1) + b2)."""
    inner_NF = F.linear(layer_norm(x_ND, norm), weights.inner, weights.inner_bias)
    active_NF = F.dropout(ACTIVATIONS[switches.activation](inner_NF), switches.activation_dropout.rate)
    return x_ND + F.dropout(F.linear(active_NF, weights.outer, weights.outer_bias), switches.dropout.rate)


def layer_norm(x_ND: Tensor, norm: NormWeights | None) -> Tensor:
    """The identity where there is no norm."""
    return x_ND if norm is None else F.layer_norm(x_ND, norm.scale.shape, norm.scale, norm.shift)


def _split(packed: Tensor, heads: HeadMap, num_heads: int) -> list[Tensor]:
    width = packed.shape[1] // (len(heads.shapes) * num_heads)
    rows = F.pad(packed, (0, 0, 0, 1)).view(-1, width).index_select(0, heads.split)
    sizes = [matrices * length for matrices, length in heads.shapes]
    return [
        part.view(*shape, width) for part, shape in zip(torch.split_with_sizes(rows, sizes), heads.shapes, strict=True)
    ]
