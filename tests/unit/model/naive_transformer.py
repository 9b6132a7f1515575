"""The Transformer once more, naively: padded, one sentence at a time, ordinary autograd, no dropout."""

# S source tokens  T target tokens  L tokens of either side  D width  H heads  K head width

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model.batch import Batch
from dragoman.model.transformer import Attention, FeedForward, Norm, Transformer, sinusoids

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


def loss_sums(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Smoothed and plain cross-entropy of all sentences."""
    smoothed, plain = torch.zeros(()), torch.zeros(())
    for row, (source_length, target_length) in enumerate(zip(batch.source.lengths, batch.target.lengths, strict=True)):
        target_T = batch.target_BT[row, :target_length]
        logits_TV = logits(model, batch.source_BS[row, :source_length], target_T)
        smoothing = model.config.label_smoothing
        smoothed = smoothed + F.cross_entropy(logits_TV, target_T, reduction="sum", label_smoothing=smoothing)
        plain = plain + F.cross_entropy(logits_TV, target_T, reduction="sum")
    return smoothed, plain


def logits(model: Transformer, source_S: Tensor, target_T: Tensor) -> Tensor:
    memory_SD = _embedded(model.source_table, source_S)
    for layer in model.encoder_layers:
        memory_SD = _attention(layer.attention, memory_SD, None, is_causal=False)
        memory_SD = _feed_forward(layer.feed_forward, memory_SD, model.config.activation)
    x_TD = _embedded(model.target_embedding, torch.cat((torch.tensor([model.ids.bos]), target_T[:-1])))
    if model.config.norm == "pre":
        memory_SD = _norm(model.encoder_norm, memory_SD)
    for block in model.decoder_layers:
        x_TD = _attention(block.attention, x_TD, None, is_causal=True)
        x_TD = _attention(block.cross, x_TD, memory_SD, is_causal=False)
        x_TD = _feed_forward(block.feed_forward, x_TD, model.config.activation)
    if model.config.norm == "pre":
        x_TD = _norm(model.decoder_norm, x_TD)
    logits_TV: Tensor = x_TD @ model.output_table.t()
    return logits_TV


def _embedded(table_VD: Tensor, ids_L: Tensor) -> Tensor:
    width = table_VD.shape[1]
    embedded_LD: Tensor = F.embedding(ids_L, table_VD) * width**0.5
    return embedded_LD + sinusoids(len(ids_L), width).to(table_VD.dtype)


def _norm(norm: Norm, x_LD: Tensor) -> Tensor:
    return F.layer_norm(x_LD, norm.scale.shape, norm.scale, norm.shift)


def _attention(block: Attention, x_TD: Tensor, memory_SD: Tensor | None, *, is_causal: bool) -> Tensor:
    normed_TD = _norm(block.norm, x_TD) if block.is_pre else x_TD
    if block.memory is None:
        q_TD, k_SD, v_SD = (normed_TD @ block.inputs.t()).chunk(3, dim=1)
    else:
        assert memory_SD is not None
        q_TD = normed_TD @ block.inputs.t()
        k_SD, v_SD = (memory_SD @ block.memory.t()).chunk(2, dim=1)
    heads = []
    for q_TK, k_SK, v_SK in zip(*(x.chunk(block.heads, dim=1) for x in (q_TD, k_SD, v_SD)), strict=True):
        scores_TS = q_TK @ k_SK.t() / q_TK.shape[1] ** 0.5
        if is_causal:
            scores_TS = scores_TS.masked_fill(torch.ones_like(scores_TS, dtype=torch.bool).triu(1), -torch.inf)
        heads.append(scores_TS.softmax(dim=1) @ v_SK)
    y_TD = x_TD + torch.cat(heads, dim=1) @ block.output.t()
    return y_TD if block.is_pre else _norm(block.norm, y_TD)


def _feed_forward(block: FeedForward, x_LD: Tensor, activation: str) -> Tensor:
    normed_LD = _norm(block.norm, x_LD) if block.is_pre else x_LD
    inner_LF = ACTIVATIONS[activation](normed_LD @ block.inner.t() + block.inner_bias)
    y_LD = x_LD + inner_LF @ block.outer.t() + block.outer_bias
    return y_LD if block.is_pre else _norm(block.norm, y_LD)
