"""Where things lie."""

from pathlib import Path

import pytest

from dragoman.core.paths import CorpusPaths, cache_directory


def test_the_files_of_a_corpus_lie_in_its_directory() -> None:
    paths = CorpusPaths(Path("corpus"))
    assert paths.manifest == Path("corpus/manifest.json")
    assert paths.card == Path("corpus/CARD.md")
    assert paths.dropped == Path("corpus/dropped.jsonl")
    assert paths.chart("lengths") == Path("corpus/lengths.svg")
    assert paths.text("train", "en") == Path("corpus/train.en")


def test_a_shared_vocabulary_names_no_side() -> None:
    paths = CorpusPaths(Path("corpus"))
    assert paths.vocabulary(None) == Path("corpus/vocab.model")
    assert paths.vocabulary("source") == Path("corpus/vocab.source.model")


def test_shards_sort_by_their_number() -> None:
    paths = CorpusPaths(Path("corpus"))
    assert paths.shard("train", 3, "tokens") == Path("corpus/train-003.tokens")
    assert sorted([paths.shard("train", 10, "tokens"), paths.shard("train", 9, "tokens")])[0].name == "train-009.tokens"


def test_the_cache_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_CACHE", "/mnt/big/dragoman")
    monkeypatch.setenv("XDG_CACHE_HOME", "/mnt/small")
    assert cache_directory() == Path("/mnt/big/dragoman")


def test_the_cache_lies_in_the_users_cache_directory_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRAGOMAN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/mnt/small")
    assert cache_directory() == Path("/mnt/small/dragoman")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/ada")
    assert cache_directory() == Path("/home/ada/.cache/dragoman")
