"""What translating a token at a time remembers: plain tensors that beam search can select from."""

# B sentences  R hypotheses: B x beams, those of a sentence next to each other  H heads  K head width
# S source tokens  t target tokens so far

from dataclasses import dataclass, replace
from typing import NamedTuple

from torch import Tensor


class KeysValues(NamedTuple):
    """Keys and values of one attention: (R, H, t, K) of the target so far, or (B, H, S, K) of the source."""

    keys: Tensor
    values: Tensor

    def select(self, rows: Tensor) -> "KeysValues":
        return KeysValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))


@dataclass(frozen=True)
class DecoderState:
    """Where all hypotheses of a batch of sentences stand."""

    position: int
    """Tokens fed so far."""
    past: tuple[KeysValues, ...]
    memory: tuple[KeysValues, ...]
    bias_B11S: Tensor

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> "DecoderState":
        """Hypotheses `rows`, in that order; `sentences` only where some are finished and their source is let go."""
        state = replace(self, past=tuple(layer.select(rows) for layer in self.past))
        if sentences is None:
            return state
        memory = tuple(layer.select(sentences) for layer in self.memory)
        return replace(state, memory=memory, bias_B11S=self.bias_B11S.index_select(0, sentences))
