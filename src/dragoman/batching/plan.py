"""Which pairs make step n: a pure function of the lengths of all pairs, the seed and `tokens_per_step`.

    epoch:  all pairs, shuffled       cut into pools of some 65,000 pairs
    pool:   its pairs, by length      cut into chunks of equal target tokens
    step:   MIXED_LENGTHS chunks      one from each quarter of the lengths

An epoch and a pool have fixed numbers of steps, so step 1,000,000 is found by division and costs one pool, however
large the corpus. Every pair is in exactly one step of an epoch. Knows nothing of ranks, files or tensors.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.batching.shuffle import ROUNDS, Numbers, random_words, shuffled
from dragoman.core.errors import UserError

POOL_PAIRS = 65_536
POOL_STEPS = 32
"""Pools have at least this many steps (and POOL_PAIRS), where the corpus has them."""
MIXED_LENGTHS = 4
"""Chunks of a step. More mix lengths better and make more, smaller micro-batches; see `survey`."""
TARGET = 1
"""The column of a pair's target length; 0 is its source length."""

Lengths = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class Place:
    """Where a step lies: both counted from 0."""

    epoch: int
    index: int


@dataclass(frozen=True)
class _Pool:
    epoch: int
    number: int
    pairs: Numbers
    """By length."""
    ends: Numbers
    """Of each chunk, in `pairs`."""
    chunks: Numbers
    """(steps, chunks of a step): which make each step, the shortest lengths first."""


class Plan:
    """The pairs of every step. Steps are numbered from 1, epochs and pairs from 0."""

    def __init__(self, lengths: Lengths, seed: int, tokens_per_step: int) -> None:
        """`lengths` has a row a pair: source and target tokens."""
        if not len(lengths):
            raise UserError("the corpus has no pairs to train on", "prepare it again with other cleaning settings")
        self.lengths, self.seed, self.tokens_per_step = lengths, seed, tokens_per_step
        self.num_target_tokens = int(lengths[:, TARGET].sum(dtype=np.int64))
        pool_pairs = max(POOL_PAIRS, POOL_STEPS * tokens_per_step * len(lengths) // self.num_target_tokens)
        self._num_pools = max(1, len(lengths) // pool_pairs)
        smallest_pool = len(lengths) // self._num_pools
        half_steps = 2 * self.num_target_tokens // (self._num_pools * tokens_per_step)
        self._steps_per_pool = min(max(1, (half_steps + 1) // 2), smallest_pool)
        self._chunks_per_step = min(MIXED_LENGTHS, smallest_pool // self._steps_per_pool)
        self._latest: _Pool | None = None

    @property
    def steps_per_epoch(self) -> int:
        """The same in every epoch: as many as bring a step nearest to `tokens_per_step`."""
        return self._num_pools * self._steps_per_pool

    def place(self, step: int) -> Place:
        if step < 1:
            raise ValueError(f"steps begin with 1, not with {step}")
        return Place(*divmod(step - 1, self.steps_per_epoch))

    def pairs(self, step: int) -> Numbers:
        """The numbers of the pairs of a step, never none, by length: neighbours pad each other least."""
        place = self.place(step)
        number, index = divmod(place.index, self._steps_per_pool)
        pool = self._latest
        if pool is None or (pool.epoch, pool.number) != (place.epoch, number):
            pool = self._latest = self._pool(place.epoch, number)
        return np.concatenate(
            [pool.pairs[pool.ends[chunk - 1] if chunk else 0 : pool.ends[chunk]] for chunk in pool.chunks[index]]
        )

    def _pool(self, epoch: int, number: int) -> _Pool:
        num_pairs = len(self.lengths)
        first, last = (n * num_pairs // self._num_pools for n in (number, number + 1))
        keys = random_words(self.seed, epoch, 0, ROUNDS)
        pairs = shuffled(np.arange(first, last), num_pairs, keys)
        pairs = pairs[by_length(self.lengths[pairs])]
        num_chunks = self._steps_per_pool * self._chunks_per_step
        ends = _equal_parts(self.lengths[pairs, TARGET], num_chunks)
        # Of the chunks by length, the first quarter is dealt to the steps in a random order, then the second …
        words = random_words(self.seed, epoch, number + 1, num_chunks)
        order = np.argsort(words.reshape(self._chunks_per_step, self._steps_per_pool), axis=1, kind="stable")
        quarters = np.arange(self._chunks_per_step)[:, None] * self._steps_per_pool
        return _Pool(epoch, number, pairs, ends, (order + quarters).T)


def by_length(lengths: Lengths) -> Numbers:
    """The order in which neighbours have nearly equal lengths on both sides; equal pairs keep their order.

    Target lengths rise; source lengths rise and fall in turn, so that they do not jump where the target grows by one.
    """
    source, target = np.ascontiguousarray(lengths.T)
    to_and_fro = np.where(target % 2, np.uint16(65_535) - source, source)
    order = np.argsort(to_and_fro, kind="stable")  # stable sorting of 16 bits is by radix: no comparisons
    by_both: Numbers = order[np.argsort(target[order], kind="stable")]
    return by_both


def _equal_parts(tokens: npt.NDArray[np.uint16], num_parts: int) -> Numbers:
    """Where each part ends when neighbours are cut into parts of about equal tokens and of at least one pair."""
    before = np.cumsum(tokens, dtype=np.int64)
    bounds = np.arange(1, num_parts) * before[-1] // num_parts
    middle = before - tokens // 2
    ends = np.append(np.searchsorted(middle, bounds), len(tokens))
    number = np.arange(num_parts)
    ends = np.maximum.accumulate(np.maximum(ends - number, 1)) + number
    at_least_one_left: Numbers = np.minimum(ends, len(tokens) - num_parts + 1 + number)
    return at_least_one_left
