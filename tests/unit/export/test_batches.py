"""Batches: every sentence once, none too large, and the workers' shares even."""

from hypothesis import given
from hypothesis import strategies as st

from dragoman.export.batches import batches_of

LENGTHS = st.lists(st.integers(1, 60), max_size=80)


@given(LENGTHS, st.integers(1, 4), st.integers(1, 300))
def test_every_sentence_is_in_one_batch_and_no_batch_is_too_large(
    lengths: list[int], num_workers: int, most_pieces: int
) -> None:
    batches = batches_of(lengths, num_workers, most_pieces)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[number] + 1 for number in batch) <= most_pieces


@given(LENGTHS, st.integers(1, 4))
def test_the_longest_come_first(lengths: list[int], num_workers: int) -> None:
    ordered = [lengths[number] for batch in batches_of(lengths, num_workers, 256) for number in batch]
    assert ordered == sorted(lengths, reverse=True)


def test_no_worker_gets_a_small_rest() -> None:
    assert [len(batch) for batch in batches_of([14] * 256, 2, 256)] == [16] * 16  # not 15 of 17 and a lonely one
    assert [len(batch) for batch in batches_of([14] * 18, 2, 256)] == [9, 9]


def test_few_sentences_are_shared_out() -> None:
    assert [len(batch) for batch in batches_of([10, 10, 10], 2, 256)] == [2, 1]
    assert batches_of([5], 2, 256) == [[0]]
    assert batches_of([], 2, 256) == []


def test_a_sentence_that_is_larger_than_a_batch_is_one() -> None:
    assert batches_of([300, 3, 3], 1, 64) == [[0], [1, 2]]
