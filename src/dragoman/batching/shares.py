"""How the pairs of a step are divided: among ranks by cost, and a rank's own into micro-batches.

Takes the lengths of the pairs in the plan's order and gives places in it. The ranks' shares together are the step,
whatever their number; a step of fewer pairs than ranks leaves some with nothing. Knows nothing of tokens or files.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.batching.plan import TARGET, Lengths
from dragoman.batching.shuffle import Numbers

SOURCE_COST, TARGET_COST, ATTENTION_COST = 4 * 256, 7 * 256, 1
"""Of a token, a token, and a query that meets a key. From `theory.cost` for small (8k pieces) and base (32k), whose
tokens both stand as 4 : 7; attention measured on small: 1,024 pairs of tokens took 442 ms in sentences of 16 and 572 ms
in sentences of 256 (AVX-512, one thread, 2026-11)."""
MICRO_BATCH_TOKENS_LOST = 200
"""Padding worth one micro-batch less. A micro-batch costs 20 ms beside its tokens, as much as 100 of them (small, as
above), and padding less than tokens; at 400, 3 ranks on Multi30k padded 6 %."""
UNFILLED_SHARE = 0.02
"""Gap in a rank's cost that is left as it is: filling it costs padding."""
GRAINS = 8
"""Micro-batches are cut at eighths of their greatest size, and where lengths jump, as between the plan's chunks."""


@dataclass(frozen=True)
class Padding:
    """Tokens of some batches, real ones and rectangles, on both sides."""

    source_tokens: int = 0
    padded_source_tokens: int = 0
    target_tokens: int = 0
    padded_target_tokens: int = 0

    @property
    def real_tokens(self) -> int:
        return self.source_tokens + self.target_tokens

    @property
    def padded_tokens(self) -> int:
        return self.padded_source_tokens + self.padded_target_tokens

    @property
    def waste(self) -> float:
        """The share of the rectangles that is padding; 0 of nothing."""
        return 1 - self.real_tokens / self.padded_tokens if self.padded_tokens else 0.0

    def __add__(self, other: "Padding") -> "Padding":
        return Padding(
            self.source_tokens + other.source_tokens,
            self.padded_source_tokens + other.padded_source_tokens,
            self.target_tokens + other.target_tokens,
            self.padded_target_tokens + other.padded_target_tokens,
        )


def padding_of(lengths: Lengths) -> Padding:
    """Of one batch of pairs of these lengths."""
    real, longest = lengths.sum(axis=0, dtype=np.int64).tolist(), lengths.max(axis=0).tolist()
    return Padding(real[0], len(lengths) * longest[0], real[1], len(lengths) * longest[1])


def costs(lengths: Lengths) -> Numbers:
    """What each pair costs to train on, in units that only compare."""
    source, target = lengths.T.astype(np.int64)
    attention = source * source + source * target + target * target
    total: Numbers = SOURCE_COST * source + TARGET_COST * target + ATTENTION_COST * attention
    return total


def shares(lengths: Lengths, world_size: int) -> list[Numbers]:
    """Which of neighbouring pairs each rank takes, in order: all of nearly the same cost, some perhaps empty.

    From the longest down, each rank takes neighbours up to its part of what is left. Where whole long pairs cannot make
    up a part, some of the shortest fill the gap.
    """
    until = np.append(0, np.cumsum(costs(lengths)))
    first, last = 0, len(lengths)
    taken = []
    for ranks_left in range(world_size, 1, -1):
        part = int(until[last] - until[first]) / ranks_left
        begin = _nearest(until, until[last] - part, first, last)
        num_short = 0
        if abs(until[last] - until[begin] - part) > UNFILLED_SHARE * part:
            begin = int(np.searchsorted(until, until[last] - part))
            begin = max(first, min(begin, last - 1))  # a pair that is more than a part is a share of its own
            gap = max(0, part - (until[last] - until[begin]))
            num_short = _nearest(until, until[first] + gap, first, begin) - first
        taken.append(np.append(np.arange(first, first + num_short), np.arange(begin, last)))
        first, last = first + num_short, begin
    return [*taken, np.arange(first, last)]


def _nearest(until: Numbers, wanted: float, first: int, last: int) -> int:
    """The place from `first` to `last` where `until` comes nearest to `wanted`."""
    place = int(np.searchsorted(until[first : last + 1], wanted)) + first
    if place > last or (place > first and wanted - until[place - 1] <= until[place] - wanted):
        place -= 1
    return place


def micro_batches(lengths: Lengths, most_target_tokens: int) -> list[slice]:
    """Cut neighbouring pairs into micro-batches of at most so many target tokens, or of one longer pair.

    Of all ways to cut between grains it takes the cheapest, counting padding and what a further micro-batch costs.
    """
    if not len(lengths):
        return []
    first = _grains(lengths[:, TARGET], most_target_tokens)
    num_pairs = np.diff(first, append=len(lengths)).tolist()
    tokens = np.add.reduceat(lengths[:, TARGET], first, dtype=np.int64).tolist()
    longest = np.maximum.reduceat(lengths, first, axis=0).tolist()
    cheapest, begins = [0], [0]
    for end in range(1, len(first) + 1):
        best, best_begin = -1, end - 1
        pairs = target_tokens = source = target = 0
        for begin in range(end - 1, -1, -1):
            target_tokens += tokens[begin]
            if target_tokens > most_target_tokens and begin < end - 1:
                break
            pairs += num_pairs[begin]
            source, target = max(source, longest[begin][0]), max(target, longest[begin][1])
            cost = cheapest[begin] + pairs * (source + target) + MICRO_BATCH_TOKENS_LOST
            if best < 0 or cost < best:
                best, best_begin = cost, begin
        cheapest.append(best)
        begins.append(best_begin)
    cuts, end = [], len(first)
    while end:
        cuts.append(slice(int(first[begins[end]]), int(first[end]) if end < len(first) else len(lengths)))
        end = begins[end]
    return cuts[::-1]


def _grains(target: npt.NDArray[np.uint16], most_target_tokens: int) -> Numbers:
    """Where runs of neighbours begin that are never cut."""
    grain = max(1, most_target_tokens // GRAINS)
    before = np.cumsum(target, dtype=np.int64) - target
    jumps = np.abs(np.diff(target.astype(np.int64))) > 1
    begins: Numbers = np.flatnonzero(np.append(True, (np.diff(before // grain) > 0) | jumps))
    return begins
