"""Micro-batches, and how their real tokens are packed.

Takes pairs of token ids and gives padded tensors with lengths. The model computes on packed rows (N real tokens, one
after the other), so that padding costs nothing outside attention; a `Packing` knows where each row lies in the padded
rectangle. Knows nothing of vocabularies, files or ranks.
"""

# B sentences  S source tokens  T target tokens  L tokens of either side  N real tokens, packed

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class SpecialIds:
    """The ids that the model must know: padding, beginning and end of sentence."""

    pad: int
    bos: int
    eos: int


@dataclass(frozen=True)
class Packing:
    """Where each real token of a (B, L) rectangle lies: sentence by sentence, without padding."""

    lengths: tuple[int, ...]
    longest: int
    sentence_N: Tensor
    position_N: Tensor

    @staticmethod
    def of(lengths: Sequence[int], longest: int) -> "Packing":
        lengths_B = torch.tensor(lengths, dtype=torch.int64)
        sentence_N = torch.repeat_interleave(torch.arange(len(lengths)), lengths_B)
        first_B = lengths_B.cumsum(0) - lengths_B
        return Packing(tuple(lengths), longest, sentence_N, torch.arange(len(sentence_N)) - first_B[sentence_N])

    @property
    def num_tokens(self) -> int:
        return len(self.sentence_N)

    @property
    def is_full(self) -> bool:
        return self.num_tokens == len(self.lengths) * self.longest

    @cached_property
    def first_rows(self) -> Tensor:
        """The row where each sentence begins, and one more for the end; for code that runs on the CPU."""
        return torch.tensor((0, *self.lengths)).cumsum(0)

    def pack(self, ids_BL: Tensor) -> Tensor:
        """The real ids of a padded rectangle."""
        return ids_BL[self.sentence_N, self.position_N]

    def to(self, device: torch.device) -> "Packing":
        """The same on another device."""
        return Packing(self.lengths, self.longest, _move(self.sentence_N, device), _move(self.position_N, device))


@dataclass(frozen=True)
class Batch:
    """Sentence pairs of one forward pass; every target ends in eos, and the model itself puts bos before it."""

    source_BS: Tensor
    target_BT: Tensor
    source: Packing
    target: Packing

    @staticmethod
    def of(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], pad: int) -> "Batch":
        """A batch of (source ids, target ids), neither empty, both with the eos that they are to end in."""
        source_BS, source = padded([source for source, _ in pairs], pad)
        target_BT, target = padded([target for _, target in pairs], pad)
        return Batch(source_BS, target_BT, source, target)

    @property
    def num_sentences(self) -> int:
        return len(self.target.lengths)

    @property
    def num_source_tokens(self) -> int:
        return self.source.num_tokens

    @property
    def num_target_tokens(self) -> int:
        """What the loss is a sum over: real tokens, eos among them."""
        return self.target.num_tokens

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        tensors = _move(self.source_BS, device), _move(self.target_BT, device)
        return Batch(*tensors, self.source.to(device), self.target.to(device))

    def split(self, max_target_tokens: int) -> list["Batch"]:
        """The same pairs in order, as batches of at most so many target tokens (or of one longer pair)."""
        parts, first, tokens = [], 0, 0
        for row, length in enumerate(self.target.lengths):
            if row > first and tokens + length > max_target_tokens:
                parts.append(self._rows(first, row))
                first, tokens = row, 0
            tokens += length
        return [*parts, self._rows(first, self.num_sentences)] if first else [self]

    def _rows(self, first: int, last: int) -> "Batch":
        source_lengths, target_lengths = self.source.lengths[first:last], self.target.lengths[first:last]
        source = Packing.of(source_lengths, max(source_lengths)).to(self.source_BS.device)
        target = Packing.of(target_lengths, max(target_lengths)).to(self.target_BT.device)
        source_BS = self.source_BS[first:last, : source.longest]
        return Batch(source_BS, self.target_BT[first:last, : target.longest], source, target)


def padded(sentences: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Packing]:
    """Sentences as one rectangle of ids, and where their tokens lie in it."""
    lengths = [len(sentence) for sentence in sentences]
    if not lengths or min(lengths) == 0:
        raise ValueError("a batch needs sentences, and a sentence needs tokens")
    packing = Packing.of(lengths, max(lengths))
    ids_BL = torch.full((len(lengths), packing.longest), pad)
    ids_BL[packing.sentence_N, packing.position_N] = torch.tensor([token for ids in sentences for token in ids])
    return ids_BL, packing


def _move(tensor: Tensor, device: torch.device) -> Tensor:
    return tensor.to(device, non_blocking=True)
