"""Which pairs are kept apart to measure on.

Takes the cleaned pairs in the order of the shuffle and gives dev and test: whole documents where the texts have
documents, else the first pairs of the shuffle. Never more than a twentieth of the text each.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.core.errors import UserError
from dragoman.corpus.spill import Buckets, Key, Run, distinct, hash_of, read_buckets
from dragoman.corpus.workers import Workers

MOST_SHARE = 20  # at most one pair in so many is held out for dev, and as many for test

Pair = tuple[str, str]


@dataclass(frozen=True)
class Document:
    """A document id is only known within its text."""

    text_number: int
    name: str


@dataclass(frozen=True)
class Wanted:
    """Pairs that a split should have, by split."""

    pairs: dict[str, int]

    def capped(self, num_pairs: int) -> "Wanted":
        return Wanted({split: min(wanted, num_pairs // MOST_SHARE) for split, wanted in self.pairs.items()})


def split_off(
    runs: Sequence[Run],
    groups: Sequence[Buckets],
    wanted: Wanted,
    documents: Counter[Document],
    seed: int,
    workers: Workers,
) -> dict[str, list[Pair]]:
    """The pairs of each wanted split, in the order of the shuffle."""
    if not any(wanted.pairs.values()):
        return {split: [] for split in wanted.pairs}
    if documents:
        return _by_document(runs, groups, wanted, documents, seed, workers)
    return _by_pair(runs, groups, wanted)


def _by_pair(runs: Sequence[Run], groups: Sequence[Buckets], wanted: Wanted) -> dict[str, list[Pair]]:
    shuffled = _in_order(runs, groups)
    return {
        split: [(source, target) for _, (_, source, target) in zip(range(number), shuffled, strict=False)]
        for split, number in wanted.pairs.items()
    }


def _in_order(runs: Sequence[Run], groups: Sequence[Buckets]) -> Iterator[tuple[Key, str, str]]:
    for buckets in groups:
        yield from distinct(read_buckets(runs, buckets))


@dataclass(frozen=True)
class _Search:
    runs: Sequence[Run]
    buckets: Buckets
    split_of: dict[Document, str]


def _by_document(
    runs: Sequence[Run],
    groups: Sequence[Buckets],
    wanted: Wanted,
    documents: Counter[Document],
    seed: int,
    workers: Workers,
) -> dict[str, list[Pair]]:
    split_of = choose_documents(documents, wanted, seed)
    chosen: dict[str, list[Pair]] = {split: [] for split in wanted.pairs}
    for found in workers.map(_pairs_of_documents, (_Search(runs, buckets, split_of) for buckets in groups)):
        for split, pair in found:
            chosen[split].append(pair)
    return chosen


def choose_documents(documents: Counter[Document], wanted: Wanted, seed: int) -> dict[Document, str]:
    """Whole documents in random order until each split has what it wants; too large ones are passed over."""
    num_pairs = sum(documents.values())
    in_order = iter(sorted(documents, key=lambda one: (hash_of(one.name, "", 0, seed), one.text_number)))
    split_of: dict[Document, str] = {}
    for split, number in wanted.pairs.items():
        missing = number
        while missing > 0:
            document = next(in_order, None)
            if document is None:
                raise UserError(
                    f"the documents of the text are too large or too few to hold out {split} from {num_pairs:,} pairs",
                    f"give a {split} set, or set held_out.{split}_pairs=0",
                )
            if documents[document] <= max(number, 2 * num_pairs // MOST_SHARE):
                split_of[document] = split
                missing -= documents[document]
    return split_of


def _pairs_of_documents(search: _Search) -> list[tuple[str, Pair]]:
    found = []
    for key, source, target in distinct(read_buckets(search.runs, search.buckets)):
        split = search.split_of.get(Document(key.text_number, key.document))
        if split is not None:
            found.append((split, (source, target)))
    return found
