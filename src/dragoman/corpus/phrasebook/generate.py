"""From constructions to splits.

Takes the register of constructions and gives the sentence pairs of a split, always the same for a seed. A keyed hash
puts each combination of two lexemes into train, dev or test; a sentence follows its combinations, and one that mixes
dev and test belongs nowhere. Sampling is without replacement in each product space, and the constructions take turns
until exhausted. All randomness is integer mixing or `getrandbits`: other methods of `random` may change between
Python versions.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from random import Random
from typing import Any, TypeVar

from dragoman.corpus.phrasebook.constructions import phrases
from dragoman.corpus.phrasebook.constructions.register import CONSTRUCTIONS, Construction, combinations
from dragoman.corpus.phrasebook.fillers import Combination
from dragoman.corpus.phrasebook.grammar import Pair
from dragoman.corpus.phrasebook.lexicon import STATES_ALL

T = TypeVar("T")

NUM_PAIRS = {"train": 330_000, "dev": 1_000, "test": 1_000}
HELD_OUT_PERCENT = 3  # of all combinations, for dev and for test each


# Frames of constructions that bring two lexemes together without naming a combination.
_FRAMES = (
    "need have want would like look for reserve a room a table",
    "need tickets",
    "had time money a car",
    "the weather is good bad",
)
_SPOKEN = tuple(english.lower() for english, _ in phrases.FIXED_PAIRS) + _FRAMES
_STATES = frozenset(english for english, _ in STATES_ALL)


@cache
def split_of_combination(combination: Combination) -> str:
    """Where a combination of two lexemes belongs, in every construction and for every seed.

    What a fixed phrase or the frame of a construction says in so many words is always known from training.
    """
    one, other = combination
    if one in _STATES or any(one in spoken and other in spoken for spoken in _SPOKEN):
        return "train"
    digest = blake2b("|".join(combination).encode(), digest_size=8, key=b"phrasebook").digest()
    percent = int.from_bytes(digest, "big") % 100
    if percent < HELD_OUT_PERCENT:
        return "test"
    return "dev" if percent < 2 * HELD_OUT_PERCENT else "train"


def split_of(fillers: Sequence[Any]) -> str | None:
    """The split a choice of fillers belongs to: held out if any combination is, None if two splits claim it."""
    claims = {split_of_combination(one) for one in combinations(fillers)} - {"train"}
    if len(claims) > 1:
        return None
    return claims.pop() if claims else "train"


def scattered(size: int, seed: int) -> Iterator[int]:
    """All of range(size) in a pseudo-random order, without storing it.

    Odd multiplication and xor with one's own high bits are bijections on a power of two; what falls outside is skipped.
    """
    bits = max(2, (size - 1).bit_length())
    mask, shift = (1 << bits) - 1, bits // 2 + 1
    rng = Random(seed)
    keys = [(rng.getrandbits(bits) | 1, rng.getrandbits(bits)) for _ in range(4)]
    for position in range(mask + 1):
        index = position
        for multiplier, offset in keys:
            index = (index * multiplier + offset) & mask
            index ^= index >> shift
        if index < size:
            yield index


def sentences(construction: Construction, split: str, seed: int) -> Iterator[Pair]:
    """The sentences of one construction in one split, each index once, in a shuffled order."""
    if split != "train":  # held-out combinations are few: look at no others
        construction = construction.narrowed(lambda filler: split_of([filler]) == split)
    for index in scattered(construction.size, seed):
        fillers = construction.fillers(index)
        if split_of(fillers) == split:
            pair = construction.build(*fillers)
            if pair is not None:
                yield pair


def _seed(seed: int, *names: str) -> int:
    """A seed for one named part: changing one construction leaves the others as they were."""
    digest = blake2b("|".join((str(seed), *names)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def labelled_pairs(split: str, num_pairs: int, seed: int) -> Iterator[tuple[str, Pair]]:
    """Pairs with the name of their construction: one from each in turn, until there are enough or all are exhausted."""
    turns = [
        (one.name, sentences(one, split, _seed(seed, split, one.name)))
        for one in CONSTRUCTIONS.values()
        if split == "train" or one.has_combination
    ]
    seen: set[str] = {english for english, _ in phrases.FIXED_PAIRS} if split != "train" else set()
    while turns:
        still_going = []
        for name, stream in turns:
            pair = next((pair for pair in stream if pair[0] not in seen), None)
            if pair is None:
                continue
            still_going.append((name, stream))
            seen.add(pair[0])
            yield name, pair
            num_pairs -= 1
            if num_pairs == 0:
                return
        turns = still_going


def shuffled_pairs(split: str, num_pairs: int | None, seed: int) -> Iterator[Pair]:
    """The pairs of a split in a shuffled order, so that every beginning of it is a fair sample."""
    if split not in NUM_PAIRS:
        raise ValueError(f"the phrasebook has no split {split!r}; it has {', '.join(NUM_PAIRS)}")
    wanted = NUM_PAIRS[split] if num_pairs is None else min(num_pairs, NUM_PAIRS[split])
    chosen = [pair for _, pair in labelled_pairs(split, wanted, seed)] if wanted > 0 else []
    return iter(shuffled(chosen, _seed(seed, split, "order")))


def shuffled(pairs: Sequence[T], seed: int) -> list[T]:
    """The same elements in an order that depends on the seed alone."""
    rng = Random(seed)
    order = sorted((rng.getrandbits(64), position) for position in range(len(pairs)))
    return [pairs[position] for _, position in order]
