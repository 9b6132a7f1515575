"""The shuffle that needs no memory: cleaned pairs, sorted by a keyed hash of their text.

Cleaning writes each block of pairs as one sorted run; buckets of neighbouring hashes are then gathered from all runs,
each small enough to hold. The order is random but depends on nothing except seed and text, so it is the same on every
machine, for every number of processes and for every order of the inputs. Equal pairs meet as neighbours, and any first
part of the order is a fair sample of the whole.

A record is three lines: key, source, target. The key is hash, text number, line number, copy and document.
"""

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NUM_BUCKETS = 256
HASH_DIGITS = 32


@dataclass(frozen=True)
class Run:
    """A sorted file of pairs; bucket b lies from `ends[b]` to `ends[b + 1]`."""

    path: Path
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Key:
    """What a record's first line says."""

    hash: str
    text_number: int
    line: int
    copy: int
    document: str


def hash_of(source: str, target: str, copy: int, seed: int) -> str:
    """The place of a pair in the shuffle."""
    digest = hashlib.blake2b(digest_size=HASH_DIGITS // 2, key=seed.to_bytes(8, "big"), person=copy.to_bytes(16, "big"))
    digest.update(source.encode())
    digest.update(b"\n")
    digest.update(target.encode())
    return digest.hexdigest()


def format_key(pair_hash: str, text_number: int, line: int, copy: int, document: str) -> str:
    return f"{pair_hash}{text_number:04x}{line:010x}{copy:04x}{document}"


def parse_key(key: str) -> Key:
    digits = HASH_DIGITS
    text_number, line, copy = key[digits : digits + 4], key[digits + 4 : digits + 14], key[digits + 14 : digits + 18]
    return Key(key[:digits], int(text_number, 16), int(line, 16), int(copy, 16), key[digits + 18 :])


def write_run(path: Path, records: list[str]) -> Run:
    """Sort `records` (key, source and target, each ending in a newline) into a run."""
    records.sort()
    cuts = [bisect_left(records, f"{bucket:02x}") for bucket in range(NUM_BUCKETS)] + [len(records)]
    ends = [0]
    with path.open("wb") as file:
        for first, last in itertools.pairwise(cuts):
            ends.append(ends[-1] + file.write("".join(records[first:last]).encode()))
    return Run(path, tuple(ends))


@dataclass(frozen=True)
class Buckets:
    """Neighbouring buckets that are handled at once."""

    first: int
    end: int


def group_buckets(num_pairs: int, pairs_at_once: int) -> list[Buckets]:
    """All buckets in groups of about `pairs_at_once`; depends on the corpus alone, never on the machine."""
    num_groups = min(NUM_BUCKETS, max(1, round(num_pairs / pairs_at_once)))
    cuts = [NUM_BUCKETS * number // num_groups for number in range(num_groups + 1)]
    return [Buckets(first, end) for first, end in itertools.pairwise(cuts)]


Records = tuple[list[str], list[str], list[str]]
"""Keys, sources and targets."""


def read_buckets(runs: Sequence[Run], buckets: Buckets) -> Records:
    """The records of some buckets from all runs, in the order of the shuffle, repeats included."""
    parts = []
    for run in runs:
        start, end = run.ends[buckets.first], run.ends[buckets.end]
        if end > start:
            with run.path.open("rb") as file:
                file.seek(start)
                parts.append(file.read(end - start))
    lines = b"".join(parts).decode().split("\n")
    keys, sources, targets = lines[0:-1:3], lines[1::3], lines[2::3]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [keys[i] for i in order], [sources[i] for i in order], [targets[i] for i in order]


def distinct(records: Records) -> Iterator[tuple[Key, str, str]]:
    """The first record of each pair, copies of weighted texts left out."""
    previous = ""
    for key_text, source, target in zip(*records, strict=True):
        key = parse_key(key_text)
        if key.hash != previous and key.copy == 0:
            yield key, source, target
        previous = key.hash
