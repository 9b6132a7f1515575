"""A shuffle that can be asked anywhere.

Takes the number of things, keys, and places in the shuffled order; gives what lies at those places, without making the
rest of the order. A Feistel network over a rectangle that just holds all numbers (Black and Rogaway 2002, "Ciphers with
arbitrary finite domains"). For mixing, not for secrets. Exact integers only: the same on every machine and version.
"""

import math

import numpy as np
import numpy.typing as npt

ROUNDS = 6
Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def random_words(seed: int, epoch: int, purpose: int, count: int) -> Words:
    """Random bits that belong to (seed, epoch, purpose). NumPy keeps the raw stream of Philox for ever (NEP 19)."""
    key, counter = np.array([seed, epoch], dtype=np.uint64), np.array([0, 0, 0, purpose], dtype=np.uint64)
    return np.random.Philox(key=key, counter=counter).random_raw(count)


def shuffled(places: Numbers, num_things: int, keys: Words) -> Numbers:
    """What lies at each of `places` when 0 … num_things - 1 are shuffled by ROUNDS keys."""
    height = math.isqrt(num_things - 1) + 1
    width = -(-num_things // height)
    things = places.astype(np.uint64)
    outside = np.ones(len(things), dtype=bool)
    # A number that falls into the rectangle's rest is moved on until it falls inside: less than one in sqrt(n) does.
    while outside.any():
        things[outside] = _moved(things[outside], height, width, keys)
        outside = things >= num_things
    return things.astype(np.int64)


def _moved(things: Words, height: int, width: int, keys: Words) -> Words:
    row, column = np.divmod(things, np.uint64(width))
    for number, key in enumerate(keys):
        if number % 2:
            column = (column + _scrambled(row ^ key)) % np.uint64(width)
        else:
            row = (row + _scrambled(column ^ key)) % np.uint64(height)
    moved: Words = row * np.uint64(width) + column
    return moved


def _scrambled(words: Words) -> Words:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014), less its top bit, which the addition after it needs."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: Words = (words ^ (words >> np.uint64(31))) >> np.uint64(1)
    return scrambled
