"""Pinned bytes: a corpus prepared today is the one that every earlier and later version prepares.

A change here means that prepared corpora and runs that resume on them no longer match: raise the format version of the
manifest and say so in the changelog.
"""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from dragoman.core import config_file
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Silent
from dragoman.corpus.manifest import HashedFile, fingerprint_of
from dragoman.corpus.prepare import prepare
from dragoman.corpus.shards import EncodedPairs, SplitWriter
from dragoman.corpus.spill import hash_of

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
ZAHLEN = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]


def spelled(number: int, words: list[str]) -> str:
    return " ".join(words[int(digit)] for digit in f"{number:03}")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The numbers from 0 to 999, digit by digit, in English and German."""
    directory = tmp_path_factory.mktemp("golden")
    (directory / "a.tsv").write_text(
        "".join(f"{spelled(number, NUMBERS)}\t{spelled(number, ZAHLEN)}\n" for number in range(1_000))
    )
    settings = [
        f"corpus.texts=[{{source={str(directory / 'a.tsv')!r}}}]",
        f"corpus.directory={str(directory / 'corpus')!r}",
        "vocabulary.size=320",
    ]
    prepare(config_file.load(None, settings), mirror=None, progress=Silent())
    return directory / "corpus"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def test_the_shuffle_of_a_pair_is_pinned() -> None:
    assert hash_of("one", "eins", 0, 1) == "1643a7caee3f66ed097b6f80e61aa230"
    assert hash_of("one", "eins", 1, 1) == "8d8afed8de530a3694a55455621e9858"


def test_the_first_test_sentences_are_pinned(corpus: Path) -> None:
    assert (corpus / "test.en").read_text().splitlines()[:3] == ["eight eight three", "nine four six", "six five zero"]


def test_the_bytes_of_a_prepared_corpus_are_pinned(corpus: Path) -> None:
    names = ("train-000.tokens", "train-000.lengths", "train-000.starts", "dev.de", "vocab.model")
    assert {name: sha256(corpus / name) for name in names} == {
        "train-000.tokens": "1cec5eee0dcf8ed5",
        "train-000.lengths": "94f23b711b4beb0b",
        "train-000.starts": "b888683997640129",
        "dev.de": "fdca0ebc67b089de",
        "vocab.model": "e40e79ed5a8a9467",  # of the SentencePiece that constraints.txt names
    }


def test_a_shard_is_little_endian_arrays_without_a_head(tmp_path: Path) -> None:
    tokens = np.array([7, 1, 258, 9, 1], dtype="<u2").tobytes()
    with SplitWriter(CorpusPaths(tmp_path), "dev", 2) as writer:
        writer.append(EncodedPairs(tokens, np.array([[2, 3]], dtype="<u2")))
        writer.append(EncodedPairs(tokens, np.array([[1, 4]], dtype="<u2")))
        writer.finish()
    assert (tmp_path / "dev-000.tokens").read_bytes() == bytes([7, 0, 1, 0, 2, 1, 9, 0, 1, 0]) * 2
    assert (tmp_path / "dev-000.lengths").read_bytes() == bytes([2, 0, 3, 0, 1, 0, 4, 0])
    assert (tmp_path / "dev-000.starts").read_bytes() == bytes([0] * 8 + [5] + [0] * 7)


def test_the_fingerprint_of_two_files_is_pinned() -> None:
    files = [HashedFile("b", 1, "22" * 32), HashedFile("a", 1, "11" * 32)]
    assert fingerprint_of(files, "en-de") == "b32097a077a8a31f59146b99af1208982526bc13d0b051f0eeaec0420db33bc1"
