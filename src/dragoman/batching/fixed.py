"""The batches of an evaluation: the same pairs every time, divided over the ranks.

Takes a split, or its first pairs, and gives this rank's batches by length, each with the numbers of its pairs, so that
what is measured on a pair can be told and compared. All ranks' batches together hold every pair once.
"""

from dataclasses import dataclass

from dragoman.batching.gather import PairReader
from dragoman.batching.plan import by_length
from dragoman.batching.shares import micro_batches, shares
from dragoman.batching.shuffle import Numbers
from dragoman.corpus.shards import Split
from dragoman.model.batch import Batch


@dataclass(frozen=True)
class NumberedBatch:
    """A batch and which pairs of the split it holds, row by row."""

    pairs: Numbers
    batch: Batch


def fixed_batches(
    split: Split,
    pad: int,
    *,
    rank: int,
    world_size: int,
    tokens_per_micro_batch: int,
    first_pairs: int | None = None,
) -> list[NumberedBatch]:
    """This rank's part of the split, or of its first so many pairs; none where there are fewer pairs than ranks."""
    lengths = split.lengths()[:first_pairs]
    order = by_length(lengths)
    pairs = order[shares(lengths[order], world_size)[rank]]
    if not len(pairs):
        return []
    cuts = micro_batches(lengths[pairs], tokens_per_micro_batch)
    batches = PairReader(split, pad).batches(pairs, cuts)
    return [NumberedBatch(pairs[cut], batch) for cut, batch in zip(cuts, batches, strict=True)]
