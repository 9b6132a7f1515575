"""What is kept apart to measure on: sizes, whole documents, and no more than its share."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.config import CleaningConfig
from dragoman.core.errors import UserError
from dragoman.corpus.cleaning import CleaningJob, clean_block
from dragoman.corpus.held_out import MOST_SHARE, Document, Wanted, choose_documents, split_off
from dragoman.corpus.sources import Block
from dragoman.corpus.spill import Run, group_buckets
from dragoman.corpus.workers import Workers

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def sentence(number: int) -> str:
    return f"sentence {LETTERS[number // 676 % 26]}{LETTERS[number // 26 % 26]}{LETTERS[number % 26]}"


def spilled(path: Path, number: int, per_document: int | None) -> tuple[list[Run], Counter[Document]]:
    sources = [sentence(i).encode() for i in range(number)]
    targets = [source.upper() for source in sources]
    names = None if per_document is None else [f"page {i // per_document}".encode() for i in range(number)]
    job = CleaningJob(
        Block(1, sources, targets, names, frozenset()), "text", 0, 1.0, 1, CleaningConfig(), ("en", "de"), path
    )
    cleaned = clean_block(job)
    return [cleaned.run], Counter({Document(0, name): times for name, times in cleaned.documents.items()})


def held_out(
    tmp_path: Path, dev: int, test: int, *, number: int = 2_000, per_document: int | None = None, processes: int = 0
) -> dict[str, list[tuple[str, str]]]:
    runs, documents = spilled(tmp_path / "run", number, per_document)
    with Workers(processes) as workers:
        wanted = Wanted({"dev": dev, "test": test}).capped(number)
        return split_off(runs, group_buckets(number, 100), wanted, documents, 1, workers)


def test_dev_and_test_have_the_wanted_pairs_and_share_none(tmp_path: Path) -> None:
    found = held_out(tmp_path, 30, 70)
    assert {split: len(pairs) for split, pairs in found.items()} == {"dev": 30, "test": 70}
    assert not set(found["dev"]) & set(found["test"])


def test_no_split_takes_more_than_its_share(tmp_path: Path) -> None:
    found = held_out(tmp_path, 1_000, 1_000, number=400)
    assert {split: len(pairs) for split, pairs in found.items()} == {
        "dev": 400 // MOST_SHARE,
        "test": 400 // MOST_SHARE,
    }


def test_nothing_is_held_out_where_nothing_is_wanted(tmp_path: Path) -> None:
    assert held_out(tmp_path, 0, 0) == {"dev": [], "test": []}
    assert held_out(tmp_path, 1_000, 1_000, number=10) == {"dev": [], "test": []}


@pytest.mark.parametrize("processes", [0, 2])
def test_documents_are_held_out_whole(tmp_path: Path, processes: int) -> None:
    found = held_out(tmp_path, 50, 50, per_document=10, processes=processes)
    document_of = {sentence(i): i // 10 for i in range(2_000)}
    pages = {split: Counter(document_of[source] for source, _ in pairs) for split, pairs in found.items()}
    assert not pages["dev"].keys() & pages["test"].keys()
    assert [set(times.values()) for times in pages.values()] == [{10}, {10}]
    assert [len(times) for times in pages.values()] == [5, 5]


def test_a_document_that_is_too_large_is_passed_over() -> None:
    documents = Counter({Document(0, "huge"): 5_000, **{Document(0, f"page {i}"): 10 for i in range(100)}})
    for seed in range(20):
        chosen = choose_documents(documents, Wanted({"dev": 40, "test": 40}), seed)
        assert Document(0, "huge") not in chosen
        assert Counter(chosen.values()) == {"dev": 4, "test": 4}


def test_other_seeds_choose_other_documents() -> None:
    documents = Counter({Document(0, f"page {i}"): 10 for i in range(100)})
    choices = {
        frozenset(choose_documents(documents, Wanted({"dev": 40, "test": 40}), seed).items()) for seed in range(5)
    }
    assert len(choices) == 5


def test_equal_names_in_two_texts_are_two_documents() -> None:
    documents = Counter({Document(text, "page"): 10 for text in range(30)})
    assert len(choose_documents(documents, Wanted({"dev": 10, "test": 10}), 1)) == 2


def test_too_few_documents_are_told_with_what_to_do() -> None:
    documents = Counter({Document(0, "one"): 500, Document(0, "other"): 500})
    with pytest.raises(
        UserError,
        match=r"too large or too few to hold out dev from 1,000 pairs; give a dev set, or set held_out.dev_pairs=0",
    ):
        choose_documents(documents, Wanted({"dev": 50, "test": 50}), 1)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(0, 50), st.integers(0, 50), st.integers(0, 99)
)
def test_every_split_gets_enough_or_the_text_is_refused(sizes: list[int], dev: int, test: int, seed: int) -> None:
    documents = Counter({Document(0, str(name)): size for name, size in enumerate(sizes)})
    wanted = Wanted({"dev": dev, "test": test}).capped(sum(sizes))
    try:
        chosen = choose_documents(documents, wanted, seed)
    except UserError:
        return
    pairs: Counter[str] = Counter()
    for document, split in chosen.items():
        pairs[split] += documents[document]
    assert all(pairs[split] >= number for split, number in wanted.pairs.items())
    assert not any(pairs[split] for split, number in wanted.pairs.items() if number == 0)
