"""Token ids on disk: written once, memory-mapped ever after.

A split is a row of shards; a shard is three arrays: `tokens` (source ids then target ids of each pair, both with the
end of the sentence), `lengths` (source, target) and `starts` (where each pair begins). Opening a corpus reads its
manifest and maps the files, whatever their size. Knows nothing of text.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Progress
from dragoman.corpus.manifest import (
    HashedFile,
    Manifest,
    SplitReport,
    VocabularyReport,
    fingerprint_of,
    read_manifest,
    seal_of,
)

SHARD_BYTES = 256_000_000
PARTS = {"tokens": "", "lengths": "<u2", "starts": "<u8"}  # the type of tokens is the corpus's own
MOST_PIECES = 65_535  # of a side: lengths are 16 bits
PAIRS_AT_ONCE = 100_000
"""Whose pieces are looked at together: some megabytes."""


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs ready to be appended to a shard."""

    tokens: bytes
    lengths: npt.NDArray[np.uint16]


class SplitWriter:
    """Appends encoded pairs to the shards of one split."""

    def __init__(self, paths: CorpusPaths, split: str, id_bytes: int) -> None:
        self._paths = paths
        self._split = split
        self._id_bytes = id_bytes
        self._shard_pairs: list[int] = []
        self._files: list[_HashingFile] = []
        self._finished: list[HashedFile] = []
        self._num_tokens = 0  # in the open shard
        self._histograms = np.zeros((2, MOST_PIECES + 1), dtype=np.int64)
        self._open_shard()

    def append(self, pairs: EncodedPairs) -> None:
        if self._num_tokens * self._id_bytes >= SHARD_BYTES:
            self._close_shard()
            self._open_shard()
        sizes = pairs.lengths.sum(axis=1, dtype=np.uint64)
        starts = self._num_tokens + np.cumsum(sizes) - sizes
        for file, content in zip(
            self._files, (pairs.tokens, pairs.lengths.tobytes(), starts.astype("<u8").tobytes()), strict=True
        ):
            file.write(content)
        self._num_tokens += int(sizes.sum())
        self._shard_pairs[-1] += len(pairs.lengths)
        for side in range(2):
            self._histograms[side] += np.bincount(pairs.lengths[:, side], minlength=MOST_PIECES + 1)

    def _open_shard(self) -> None:
        number = len(self._shard_pairs)
        self._files = [_HashingFile(self._paths.shard(self._split, number, part)) for part in PARTS]
        self._shard_pairs.append(0)
        self._num_tokens = 0

    def _close_shard(self) -> None:
        self._finished += [file.close() for file in self._files]

    def finish(self) -> tuple[SplitReport, list[HashedFile]]:
        """Close the last shard; what was written."""
        self._close_shard()
        lengths = np.arange(MOST_PIECES + 1)
        used = [np.trim_zeros(histogram, "b") for histogram in self._histograms]
        report = SplitReport(
            pairs=sum(self._shard_pairs),
            source_tokens=int(self._histograms[0] @ lengths),
            target_tokens=int(self._histograms[1] @ lengths),
            source_lengths=tuple(used[0].tolist()),
            target_lengths=tuple(used[1].tolist()),
            shard_pairs=tuple(self._shard_pairs),
        )
        return report, self._finished

    def __enter__(self) -> "SplitWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            file.abandon()


class _HashingFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._sha256 = hashlib.sha256()

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self._sha256.update(content)

    def close(self) -> HashedFile:
        self._file.close()
        return HashedFile(self._path.name, self._path.stat().st_size, self._sha256.hexdigest())

    def abandon(self) -> None:
        # After a full disk, closing tries to write what is left and fails again: the first error is the one to tell.
        with contextlib.suppress(OSError):
            self._file.close()


@dataclass(frozen=True)
class Shard:
    """Some pairs of a split, mapped into memory."""

    tokens: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.uint64]


class Split:
    """The pairs of train, dev or test, by number."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self._ends = np.cumsum([len(shard.lengths) for shard in shards])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, number: int) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """The source and the target ids of a pair, both with the end of the sentence."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        place = int(np.searchsorted(self._ends, number, side="right"))
        shard = self._shards[place]
        row = number - int(self._ends[place]) + len(shard.lengths)
        start, (source, target) = int(shard.starts[row]), shard.lengths[row].tolist()
        return shard.tokens[start : start + source], shard.tokens[start + source : start + source + target]

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]]:
        return (self[number] for number in range(len(self)))

    def lengths(self) -> npt.NDArray[np.uint16]:
        """(pairs, 2): the number of source and of target ids of every pair, ends included."""
        return np.concatenate([shard.lengths for shard in self._shards])

    def has_in_target(self, vocabulary_size: int) -> npt.NDArray[np.bool_]:
        """Of every piece, whether a target sentence holds it."""
        found = np.zeros(vocabulary_size, dtype=np.bool_)
        for shard in self._shards:
            for first in range(0, len(shard.lengths), PAIRS_AT_ONCE):
                lengths = shard.lengths[first : first + PAIRS_AT_ONCE].reshape(-1)
                is_target = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
                start = int(shard.starts[first])
                found[shard.tokens[start : start + len(is_target)][is_target]] = True
        return found


@dataclass(frozen=True)
class Corpus:
    """A prepared corpus, opened."""

    directory: Path
    manifest: Manifest

    @property
    def vocabularies(self) -> dict[str, VocabularyReport]:
        return self.manifest.vocabularies

    def split(self, name: str) -> Split:
        report = self.manifest.splits[name]
        return Split([self._shard(name, number, pairs) for number, pairs in enumerate(report.shard_pairs)])

    def written_pieces(self) -> list[int]:
        """The pieces of a model's output: of all that train and dev hold on the target side, and the special ones."""
        vocabulary = self.vocabularies["target"]
        splits = [self.split(name).has_in_target(vocabulary.size) for name in ("train", "dev")]
        is_written = np.logical_or.reduce(splits)
        special = vocabulary.special
        is_written[[special.pad, special.bos, special.eos, special.unk]] = True
        pieces: list[int] = is_written.nonzero()[0].tolist()
        return pieces

    def text(self, split: str, side: int) -> list[str]:
        """The sentences of dev or test (side 0: source, 1: target) as a person reads them."""
        language = self.manifest.languages.split("-", 1)[side]
        text = CorpusPaths(self.directory).text(split, language).read_bytes().decode()  # a lone \r ends no line
        return text.split("\n")[:-1]

    def _shard(self, split: str, number: int, num_pairs: int) -> Shard:
        paths = CorpusPaths(self.directory)
        types = {**PARTS, "tokens": self.manifest.id_type}
        tokens, lengths, starts = (_mapped(paths.shard(split, number, part), kind) for part, kind in types.items())
        return Shard(tokens, lengths.reshape(num_pairs, 2), starts)


def _mapped(path: Path, kind: str) -> npt.NDArray[Any]:
    if path.stat().st_size == 0:  # nothing cannot be mapped
        return np.empty(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r")


def open_corpus(directory: Path) -> Corpus:
    """Open a prepared corpus in milliseconds. UserError if it is none, or if a file is missing or cut off."""
    manifest = read_manifest(directory)
    for file in manifest.files:
        path = directory / file.name
        if not path.is_file() or path.stat().st_size != file.bytes:
            state = "is not as long as it was" if path.is_file() else "is missing"
            raise UserError(f"{path} {state}", "prepare the corpus again with --force")
    return Corpus(directory, manifest)


def verify(directory: Path, progress: Progress) -> Manifest:
    """Check every byte of a prepared corpus. UserError names the first file that is not as it was written."""
    corpus = open_corpus(directory)
    manifest = corpus.manifest
    files = (*manifest.files, *manifest.pages)
    with progress.stage("verifying", total=sum(file.bytes for file in files), unit="bytes") as bar:
        for file in files:
            path = directory / file.name
            if not path.is_file() or sha256_of(path) != file.sha256:
                raise UserError(f"{path} is not as it was written", "prepare the corpus again with --force")
            bar.advance(file.bytes)
    is_own = fingerprint_of(manifest.files, manifest.languages) == manifest.fingerprint
    if not is_own or seal_of(manifest) != manifest.seal:
        path = CorpusPaths(directory).manifest
        raise UserError(f"{path} is not as it was written", "prepare the corpus again with --force")
    return manifest
