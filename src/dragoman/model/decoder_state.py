"""What translating a token at a time remembers.

Keys and values of the target so far are written once, in columns that all hypotheses of a sentence share, and never
re-ordered: each hypothesis knows which columns are its own past. To follow beam search costs a few bytes a hypothesis.
"""

# B sentences  P hypotheses of a sentence, next to each other  R = B x P  H heads  K head width  S source tokens
# t columns written so far  O pieces that are written  D width

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

FIRST_STEPS = 16
"""Room for so many steps at first; twice as much whenever it is used up."""


class KeysValues(NamedTuple):
    """Keys and values of one attention: (B, H, columns, K), of the source or of the target with room for more."""

    keys: Tensor
    values: Tensor

    def select(self, sentences: Tensor) -> "KeysValues":
        return KeysValues(self.keys.index_select(0, sentences), self.values.index_select(0, sentences))

    def written(self, keys_BHPK: Tensor, values_BHPK: Tensor, start: int) -> "KeysValues":
        """With new columns from `start` on, in place where there is room: a state is continued only once."""
        end, places = start + keys_BHPK.shape[2], keys_BHPK.shape[2]
        room = self
        if end > self.keys.shape[2]:
            num_sentences, heads, _, width = keys_BHPK.shape
            columns = max(2 * start, end, FIRST_STEPS * places)
            room = KeysValues(*(keys_BHPK.new_empty(num_sentences, heads, columns, width) for _ in self))
            for new, old in zip(room, self, strict=True):
                new[:, :, :start] = old[:, :, :start]
        room.keys[:, :, start:end] = keys_BHPK
        room.values[:, :, start:end] = values_BHPK
        return room


@dataclass(frozen=True)
class DecoderState:
    """Where all hypotheses of a batch of sentences stand."""

    position: int
    """Tokens fed so far."""
    past: tuple[KeysValues, ...]
    sees_B1Pt: Tensor
    """0 for the columns of a hypothesis' own past, -inf for those of others."""
    memory: tuple[KeysValues, ...]
    bias_B11S: Tensor
    table_OD: Tensor
    """What the last hidden rows are multiplied with: taken out of the output table once, not at every step."""

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> "DecoderState":
        """Hypotheses `rows`, in that order; `sentences` only where some are finished and their source is let go."""
        num_sentences = len(self.bias_B11S) if sentences is None else len(sentences)
        columns = self.sees_B1Pt.shape[3]
        sees_Rt = self.sees_B1Pt.flatten(0, 2).index_select(0, rows)
        state = replace(self, sees_B1Pt=sees_Rt.view(num_sentences, 1, -1, columns))
        if sentences is None:
            return state
        return replace(
            state,
            past=tuple(layer.select(sentences) for layer in self.past),
            memory=tuple(layer.select(sentences) for layer in self.memory),
            bias_B11S=self.bias_B11S.index_select(0, sentences),
        )

    def seeing_themselves(self, num_rows: int) -> Tensor:
        """(B, 1, P, t + P): what each hypothesis sees once each has written a column of its own."""
        num_sentences = len(self.bias_B11S)
        places = num_rows // num_sentences
        own_PP = self.sees_B1Pt.new_full((places, places), -torch.inf).fill_diagonal_(0.0)
        return torch.cat((self.sees_B1Pt, own_PP.expand(num_sentences, 1, -1, -1)), dim=3)
