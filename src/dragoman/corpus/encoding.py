"""One group of buckets, encoded: cleaned pairs in, token ids and an account of what was still dropped out.

Here the rules are asked that need more than a pair: duplicates (neighbours in the shuffle), overlap with dev and test,
and the number of pieces. A pure function of its job and of the files that the job names, so any process may do it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.corpus.clean import essence
from dragoman.corpus.cleaning import Account
from dragoman.corpus.shards import MOST_PIECES, EncodedPairs
from dragoman.corpus.spill import Buckets, Run, distinct, parse_key, read_buckets
from dragoman.corpus.vocab import Vocabulary, count_words


@dataclass(frozen=True)
class HeldOut:
    """What training must not see: pairs that were split off (by hash) and every dev and test side (by essence)."""

    hashes: frozenset[str]
    essences: frozenset[str]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps([sorted(self.hashes), sorted(self.essences)]), encoding="utf-8")


@lru_cache(maxsize=1)
def _read_held_out(path: Path, _written_ns: int) -> HeldOut:
    hashes, essences = json.loads(path.read_text(encoding="utf-8"))
    return HeldOut(frozenset(hashes), frozenset(essences))


@lru_cache(maxsize=2)
def _vocabulary(path: Path, _written_ns: int) -> Vocabulary:
    return Vocabulary(path)


def _written_ns(path: Path) -> int:
    """When a file was written; a second corpus prepared by the same process may use the same path."""
    return path.stat().st_mtime_ns


@dataclass(frozen=True)
class EncodingJob:
    """What encoding some buckets needs to know; large things by the file they are in."""

    runs: Sequence[Run]
    buckets: Buckets
    held_out: Path
    vocabularies: tuple[Path, Path]
    id_type: str
    max_pieces: int | None
    switched_off: tuple[str, ...]
    text_names: tuple[str, ...]


@dataclass(frozen=True)
class EncodedBuckets:
    """Encoded pairs in the order of the shuffle, and by text what became of the others."""

    pairs: EncodedPairs
    accounts: dict[int, Account]
    held_out: Counter[int]
    num_records: int


def encode_buckets(job: EncodingJob) -> EncodedBuckets:
    """Encode the pairs of some buckets that no rule drops."""
    keys, sources, targets = read_buckets(job.runs, job.buckets)
    held_out = _read_held_out(job.held_out, _written_ns(job.held_out))
    drops_duplicates = "duplicate" not in job.switched_off
    drops_overlap = "overlap" not in job.switched_off and bool(held_out.essences)
    accounts: dict[int, Account] = defaultdict(Account)
    num_held_out: Counter[int] = Counter()
    kept: list[int] = []

    def drop(place: int, rule: str) -> None:
        key = parse_key(keys[place])
        if key.copy == 0:  # the copies of a weighted pair are no pairs of their own
            text = job.text_names[key.text_number]
            accounts[key.text_number].drop(text, rule, key.line, sources[place], targets[place])

    previous = ""
    for place, key_text in enumerate(keys):
        pair_hash = key_text[:32]
        is_repeated, previous = pair_hash == previous, pair_hash
        if is_repeated and drops_duplicates:
            drop(place, "duplicate")
        elif pair_hash in held_out.hashes:
            key = parse_key(key_text)
            num_held_out[key.text_number] += key.copy == 0
        elif drops_overlap and (
            essence(sources[place]) in held_out.essences or essence(targets[place]) in held_out.essences
        ):
            drop(place, "overlap")
        else:
            kept.append(place)

    encoded, fitting = encode_pairs(
        [sources[place] for place in kept],
        [targets[place] for place in kept],
        job.vocabularies,
        job.id_type,
        MOST_PIECES if job.max_pieces is None else job.max_pieces,
    )
    for place, fits in zip(kept, fitting, strict=True):
        if not fits:
            drop(place, "too_many_pieces")
    return EncodedBuckets(encoded, dict(accounts), num_held_out, len(keys))


def encode_pairs(
    sources: Sequence[str], targets: Sequence[str], vocabularies: tuple[Path, Path], id_type: str, max_pieces: int
) -> tuple[EncodedPairs, list[bool]]:
    """Encode both sides; pairs with more than `max_pieces` on a side (its end apart) are left out and marked."""
    id_bytes = np.dtype(id_type).itemsize
    sides = [
        _ids(_vocabulary(path, _written_ns(path)), sentences, id_type)
        for path, sentences in zip(vocabularies, (sources, targets), strict=True)
    ]
    lengths = np.array([[len(ids) // id_bytes for ids in side] for side in sides], dtype=np.int64).reshape(2, -1).T
    fits: npt.NDArray[np.bool_] = np.all(lengths <= min(max_pieces + 1, MOST_PIECES), axis=1)
    fitting: list[bool] = fits.tolist()
    tokens = b"".join(
        ids for fit, source, target in zip(fitting, *sides, strict=True) if fit for ids in (source, target)
    )
    return EncodedPairs(tokens, lengths[fits].astype("<u2")), fitting


def _ids(vocabulary: Vocabulary, sentences: Sequence[str], id_type: str) -> list[bytes]:
    encoded = vocabulary.encode(sentences)
    if np.dtype(id_type) == np.dtype(vocabulary.id_type):
        return encoded
    # The other side's vocabulary is so large that the ids of both need more room.
    return [np.frombuffer(ids, vocabulary.id_type).astype(id_type).tobytes() for ids in encoded]


@dataclass(frozen=True)
class SamplingJob:
    """Buckets whose words are counted, those held out apart; at most `num_pairs` of them."""

    runs: Sequence[Run]
    buckets: Buckets
    held_out: Path
    num_pairs: int


def sample_words(job: SamplingJob) -> tuple[Counter[str], Counter[str], int]:
    """The words of the source sides and of the target sides, and the number of pairs."""
    sample = [pair for _, pair in zip(range(job.num_pairs), _texts(job), strict=False)]
    return count_words(source for source, _ in sample), count_words(target for _, target in sample), len(sample)


def _texts(job: SamplingJob) -> Iterable[tuple[str, str]]:
    unseen = _read_held_out(job.held_out, _written_ns(job.held_out)).hashes
    records = distinct(read_buckets(job.runs, job.buckets))
    return ((source, target) for key, source, target in records if key.hash not in unseen)
