"""The phrasebook: the corpus that comes with Dragoman.

Gives English-German sentence pairs from a lexicon and a grammar, the same for a seed on every machine. One English
sentence has one German translation, always: "you" is the formal Sie, each word sense has one German word, word order
is fixed by rule. Dev and test hold combinations of two lexemes (buy + car, red + hat) that no training sentence
brings together. The lexicon is loaded when the first pair is asked for, so importing this package costs nothing.
"""

from collections.abc import Iterator

VERSION = 1  # raise it when any pair changes: it is part of the manifest of a corpus


def pairs(split: str, *, num_pairs: int | None = None, seed: int = 1) -> Iterator[tuple[str, str]]:
    """(English, German) pairs of `train`, `dev` or `test`, shuffled; `num_pairs` asks for fewer, equally balanced."""
    from dragoman.corpus.phrasebook.generate import shuffled_pairs

    return shuffled_pairs(split, num_pairs, seed)


def fixed_phrases() -> frozenset[tuple[str, str]]:
    """What people say word for word ("What time is it?"): some hundreds of pairs of the training split."""
    from dragoman.corpus.phrasebook.constructions.phrases import FIXED_PAIRS

    return frozenset(FIXED_PAIRS)
