"""From packed rows to attention heads and back.

Attention needs one small matrix a sentence and head; everything else computes on packed rows. A `HeadMap` moves between
the two with one gather of whole head rows in each direction: padding, splitting and transposing are a single copy, and
as no row is used twice, the gradient of the one gather is the other. Depends on lengths only, so it is built once a
batch and shared by all layers.
"""

# B sentences  H heads  T queries  S keys, padded  L tokens of either side  N real tokens, packed  P parts (q, k, v)
# G = B x H matrices

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dragoman.model.batch import Batch, Packing

LEAST_KEYS = 16
"""Keys are padded up to this: softmax over 15 numbers took 10 x the time of 16, a full vector (AVX-512, 2026-11)."""


@dataclass(frozen=True)
class HeadMap:
    """Where each head row lies: `split` from packed rows (and one row of zeros after them), `join` back to them."""

    split: Tensor
    join: Tensor
    shapes: tuple[tuple[int, int], ...]
    """(number of matrices, rows of each) of every part."""

    @staticmethod
    def of(packing: Packing, heads: int, lengths: tuple[int, ...]) -> "HeadMap":
        """Packed rows hold P parts of H heads; part p becomes B x H matrices of lengths[p] rows."""
        device, parts, num_sentences = packing.position_N.device, len(lengths), len(packing.lengths)
        row_BL = torch.full((num_sentences, max(lengths)), packing.num_tokens, device=device)
        row_BL[packing.sentence_N, packing.position_N] = torch.arange(packing.num_tokens, device=device)
        head_H = torch.arange(heads, device=device)
        split, join, offset = [], [], 0
        for part, length in enumerate(lengths):
            row_BHL = row_BL[:, None, :length] * (parts * heads) + (part * heads + head_H[:, None])
            split.append(row_BHL.flatten())
            matrix_NH = packing.sentence_N[:, None] * heads + head_H
            join.append(offset + matrix_NH * length + packing.position_N[:, None])
            offset += num_sentences * heads * length
        shapes = tuple((num_sentences * heads, length) for length in lengths)
        return HeadMap(torch.cat(split), torch.stack(join, dim=1).flatten(), shapes)


@dataclass(frozen=True)
class Geometry:
    """One kind of attention of one batch: where queries and keys come from, and which may see which."""

    queries: Packing
    keys: Packing
    """Of the same rows in self-attention, of the source in cross-attention."""
    heads: int
    is_self: bool
    is_causal: bool = False

    @property
    def num_keys(self) -> int:
        return max(LEAST_KEYS, self.keys.longest)

    @cached_property
    def inputs(self) -> HeadMap:
        """Self-attention: queries, keys and values of the same rows. Cross-attention: the queries."""
        keys = (self.num_keys, self.num_keys) if self.is_self else ()
        return HeadMap.of(self.queries, self.heads, (self.queries.longest, *keys))

    @cached_property
    def memory(self) -> HeadMap | None:
        """Cross-attention: keys and values of the source rows."""
        return None if self.is_self else HeadMap.of(self.keys, self.heads, (self.num_keys, self.num_keys))

    @cached_property
    def context(self) -> HeadMap:
        return HeadMap.of(self.queries, self.heads, (self.queries.longest,)) if self.is_self else self.inputs

    @cached_property
    def bias(self) -> Tensor:
        """(G, T, S): 0 where a query may see a key, -inf elsewhere."""
        longest = self.queries.longest
        if self.is_causal:
            causal_TS = torch.full((longest, self.num_keys), -torch.inf, device=self.keys.position_N.device).triu_(1)
            return causal_TS.expand(len(self.keys.lengths) * self.heads, -1, -1)
        bias_GS = key_bias(self.keys, self.num_keys).repeat_interleave(self.heads, dim=0)
        return bias_GS[:, None].expand(-1, longest, -1)


@dataclass(frozen=True)
class Geometries:
    """All attention of one batch."""

    encoder: Geometry
    decoder: Geometry
    cross: Geometry

    @staticmethod
    def of(batch: Batch, heads: int) -> "Geometries":
        return Geometries(
            Geometry(batch.source, batch.source, heads, is_self=True),
            Geometry(batch.target, batch.target, heads, is_self=True, is_causal=True),
            Geometry(batch.target, batch.source, heads, is_self=False),
        )


def key_bias(packing: Packing, num_keys: int) -> Tensor:
    """(B, S): 0 for a real token, -inf for padding."""
    bias_BS = torch.full((len(packing.lengths), num_keys), -torch.inf, device=packing.position_N.device)
    bias_BS[packing.sentence_N, packing.position_N] = 0.0
    return bias_BS
