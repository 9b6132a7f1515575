"""What a prepared corpus says of itself: `manifest.json` as frozen records.

The fingerprint covers the bytes that training sees and nothing else: two corpora with one fingerprint train the same
model, wherever and whenever they were prepared.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.core.files import write_atomically
from dragoman.core.paths import CorpusPaths
from dragoman.corpus.lines import FileRead
from dragoman.corpus.vocab import SpecialIds

FORMAT_VERSION = 1


@dataclass(frozen=True)
class HashedFile:
    """A file of the corpus directory."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class TextReport:
    """What became of one input text."""

    name: str
    weight: float
    files: tuple[FileRead, ...]
    pairs_read: int
    pairs_kept: int
    pairs_held_out: int
    dropped: dict[str, int]
    licence: str
    citation: str


@dataclass(frozen=True)
class SplitReport:
    """One of train, dev and test. `source_lengths[n]` is the number of source sides of n pieces, end included."""

    pairs: int
    source_tokens: int
    target_tokens: int
    source_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    shard_pairs: tuple[int, ...]


@dataclass(frozen=True)
class VocabularyReport:
    """The subwords of one side, or of both."""

    file: str
    size: int
    special: SpecialIds
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The whole account of a prepared corpus."""

    format_version: int
    dragoman_version: str
    fingerprint: str
    languages: str
    seed: int
    id_type: str
    prepared_at: str
    seconds: dict[str, float]
    texts: tuple[TextReport, ...]
    given: dict[str, tuple[FileRead, ...]]
    """The files of a dev or test set that was not split off."""
    splits: dict[str, SplitReport]
    vocabularies: dict[str, VocabularyReport]
    settings: dict[str, Any]
    files: tuple[HashedFile, ...]
    """What training sees."""
    pages: tuple[HashedFile, ...]
    """What people see."""
    seal: str = ""
    """A hash of all the above, so that a change is noticed."""

    @property
    def pairs_read(self) -> int:
        return sum(text.pairs_read for text in self.texts)

    def dropped(self) -> dict[str, int]:
        """Dropped pairs by rule over all texts, the commonest first."""
        total: dict[str, int] = {}
        for text in self.texts:
            for rule, number in text.dropped.items():
                total[rule] = total.get(rule, 0) + number
        return dict(sorted(total.items(), key=lambda entry: -entry[1]))


def fingerprint_of(files: Iterable[HashedFile], languages: str) -> str:
    """One hash for all that training sees."""
    content = sorted((file.name, file.sha256) for file in files)
    return hashlib.sha256(json.dumps([FORMAT_VERSION, languages, content]).encode()).hexdigest()


def seal_of(manifest: Manifest) -> str:
    unsealed = dataclasses.replace(manifest, seal="")
    return hashlib.sha256(json.dumps(records.to_json(unsealed)).encode()).hexdigest()


def write_manifest(manifest: Manifest, pages: Sequence[HashedFile], directory: Path) -> Manifest:
    """Write the manifest, completed by the pages that were made from it."""
    manifest = dataclasses.replace(manifest, pages=tuple(pages))
    manifest = dataclasses.replace(manifest, seal=seal_of(manifest))
    write_atomically(CorpusPaths(directory).manifest, records.dumps(manifest))
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """UserError if the directory holds no prepared corpus, or one that this version cannot read."""
    path = CorpusPaths(directory).manifest
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        version = value["format_version"]
        if version != FORMAT_VERSION:
            age = "a newer" if version > FORMAT_VERSION else "an older"
            raise UserError(f"{directory} was prepared by {age} version of Dragoman", "prepare it again with this one")
        return records.from_json(Manifest, value)
    except FileNotFoundError:
        raise UserError(f"{directory} is not a prepared corpus: no manifest.json", "run `dragoman prepare`") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path} is damaged", "prepare the corpus again with --force") from None
