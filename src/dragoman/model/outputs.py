"""The pieces that a model writes, of all that it knows: one column of logits each.

Two languages that share a vocabulary each use a part of it, and what no target sentence holds need not be predicted:
Multi30k's German has 5,474 of 8,000 joint pieces. Logits, their gradient and the search are as much smaller. Columns
are in the order of the pieces. The list lies in every checkpoint; one without it writes the whole vocabulary.
"""

# V vocabulary  O columns: pieces that are written  D width  N target tokens

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from dragoman.core.errors import UserError
from dragoman.core.paths import WRITTEN_PIECES

MOST = 0.9
"""Of the vocabulary; where nearly all is written, taking rows out of the table costs more than it saves."""


class Outputs(nn.Module):
    """Which piece each column is, and which column each piece has; -1 where it is never written."""

    piece_O: Tensor
    column_V: Tensor

    def __init__(self, num_pieces: int) -> None:
        super().__init__()
        for name in ("piece_O", "column_V"):
            self.register_buffer(name, torch.arange(num_pieces), persistent=False)

    @property
    def are_all(self) -> bool:
        return len(self.piece_O) == len(self.column_V)

    def restrict(self, pieces: Sequence[int]) -> None:
        """Write only these from now on, unless they are nearly all."""
        if len(pieces) <= MOST * len(self.column_V):
            self.load({WRITTEN_PIECES: torch.tensor(pieces)})

    def saved(self) -> dict[str, Tensor]:
        """What a checkpoint keeps of it: nothing where all are written."""
        return {} if self.are_all else {WRITTEN_PIECES: self.piece_O.int()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """As `saved` had it."""
        num_pieces, device = len(self.column_V), self.column_V.device
        piece_O = (
            tensors[WRITTEN_PIECES].to(device).long()
            if WRITTEN_PIECES in tensors
            else torch.arange(num_pieces, device=device)
        )
        if not len(piece_O) or piece_O.min() < 0 or piece_O.max() >= num_pieces:
            raise UserError(
                f"the checkpoint's {WRITTEN_PIECES} are not pieces of a vocabulary of {num_pieces:,}", "use another one"
            )
        self.column_V = torch.full_like(self.column_V, -1)
        self.column_V[piece_O] = torch.arange(len(piece_O), device=device)
        self.piece_O = piece_O

    def rows_of(self, table_VD: Tensor) -> Tensor:
        """The rows of a table that are columns of logits."""
        return table_VD if self.are_all else table_VD.index_select(0, self.piece_O)
