"""Steps from a thread: the right tensors, from any step on, and an end in every case."""

import hashlib
import itertools
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.batching.fixed import fixed_batches
from dragoman.batching.gather import PairReader
from dragoman.batching.plan import Plan
from dragoman.batching.shares import Padding, padding_of
from dragoman.batching.stream import Step, Stream, open_stream, step_of
from dragoman.core.paths import CorpusPaths
from dragoman.corpus.shards import EncodedPairs, Shard, Split, SplitWriter
from dragoman.model.batch import Batch

PAD = 0


def split_of(num_pairs: int, num_shards: int = 1, seed: int = 0) -> Split:
    random = np.random.Generator(np.random.PCG64(seed))
    shards = []
    for rows in np.array_split(np.arange(num_pairs), num_shards):
        lengths = random.integers(1, 30, (len(rows), 2), dtype=np.uint16)
        sizes = lengths.sum(axis=1, dtype=np.uint64)
        tokens = random.integers(1, 65_000, int(sizes.sum()), dtype=np.uint16)
        shards.append(Shard(tokens, lengths, np.cumsum(sizes) - sizes))
    return Split(shards)


def stream_of(split: Split, rank: int = 0, world_size: int = 1, after_step: int = 0) -> Stream:
    plan = Plan(split.lengths(), seed=1, tokens_per_step=500)
    return open_stream(
        plan, split, PAD, rank=rank, world_size=world_size, tokens_per_micro_batch=200, after_step=after_step
    )


def slow_batch(split: Split, numbers: list[int]) -> Batch:
    return Batch.of([tuple(ids.tolist() for ids in split[number]) for number in numbers], PAD)


def assert_equal_batches(one: Batch, other: Batch) -> None:
    for here, there in ((one.source_BS, other.source_BS), (one.target_BT, other.target_BT)):
        assert here.dtype == there.dtype and torch.equal(here, there)
    for mine, theirs in ((one.source, other.source), (one.target, other.target)):
        assert (mine.lengths, mine.longest) == (theirs.lengths, theirs.longest)
        assert torch.equal(mine.sentence_N, theirs.sentence_N) and torch.equal(mine.position_N, theirs.position_N)


def digest_of(step: Step) -> str:
    digest = hashlib.sha256(f"{step.number} {step.epoch} {step.num_target_tokens}".encode())
    for batch in step.batches:
        digest.update(batch.source_BS.numpy().tobytes() + b"|" + batch.target_BT.numpy().tobytes())
    return digest.hexdigest()


# The tensors


@pytest.mark.parametrize("num_shards", [1, 3])
def test_batches_equal_those_that_are_made_pair_by_pair(num_shards: int) -> None:
    split = split_of(90, num_shards)
    numbers = np.random.Generator(np.random.PCG64(1)).permutation(90)[:50]
    cuts = [slice(0, 1), slice(1, 20), slice(20, 50)]
    for cut, batch in zip(cuts, PairReader(split, PAD).batches(numbers, cuts), strict=True):
        assert_equal_batches(batch, slow_batch(split, numbers[cut].tolist()))


def test_batches_of_a_corpus_on_disk_equal_those_that_are_made_pair_by_pair(tmp_path: Path) -> None:
    made = split_of(40)
    with SplitWriter(CorpusPaths(tmp_path), "train", id_bytes=2) as writer:
        tokens = b"".join(ids.astype("<u2").tobytes() for pair in made for ids in pair)
        writer.append(EncodedPairs(tokens, made.lengths()))
        writer.finish()
    paths = [CorpusPaths(tmp_path).shard("train", 0, part) for part in ("tokens", "lengths", "starts")]
    mapped = [np.memmap(path, dtype=kind, mode="r") for path, kind in zip(paths, ("<u2", "<u2", "<u8"), strict=True)]
    split = Split([Shard(mapped[0], mapped[1].reshape(40, 2), mapped[2])])
    (batch,) = PairReader(split, PAD).batches(np.arange(40)[::-1], [slice(0, 40)])
    assert_equal_batches(batch, slow_batch(made, list(range(40))[::-1]))


def test_wide_ids_are_read() -> None:
    lengths = np.array([[1, 2]], dtype=np.uint16)
    split = Split([Shard(np.array([70_000, 1, 80_000], dtype=np.uint32), lengths, np.zeros(1, dtype=np.uint64))])
    (batch,) = PairReader(split, PAD).batches(np.array([0]), [slice(0, 1)])
    assert batch.source_BS.tolist() == [[70_000]] and batch.target_BT.tolist() == [[1, 80_000]]


# The steps


@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 8])
def test_the_union_over_the_ranks_is_the_step_whatever_their_number(world_size: int) -> None:
    split = split_of(300, num_shards=2)
    plan = Plan(split.lengths(), seed=1, tokens_per_step=500)
    streams = [stream_of(split, rank, world_size) for rank in range(world_size)]
    for number in range(1, 2 * plan.steps_per_epoch + 1):
        steps = [next(stream) for stream in streams]
        pairs = np.concatenate([step.pairs for step in steps])
        assert sorted(pairs.tolist()) == sorted(plan.pairs(number).tolist())
        num_target_tokens = sum(batch.num_target_tokens for step in steps for batch in step.batches)
        assert {(step.number, step.num_target_tokens) for step in steps} == {(number, num_target_tokens)}
    for stream in streams:
        stream.close()


def test_a_step_says_which_pairs_it_holds_and_how_much_is_padding() -> None:
    split = split_of(300)
    with stream_of(split, rank=1, world_size=2) as stream:
        for step in itertools.islice(stream, 10):
            first, padding = 0, Padding()
            for batch in step.batches:
                pairs = step.pairs[first : first + batch.num_sentences]
                assert_equal_batches(batch, slow_batch(split, pairs.tolist()))
                assert batch.num_target_tokens <= 200
                padding += padding_of(split.lengths()[pairs])
                first += batch.num_sentences
            assert first == len(step.pairs) and step.padding == padding


def test_a_rank_may_have_nothing_to_do() -> None:
    steps = []
    for rank in range(4):
        with stream_of(split_of(2), rank, world_size=4) as stream:
            steps.append(next(stream))
    assert sorted(len(step.batches) for step in steps) == [0, 0, 1, 1]
    assert all(step.num_target_tokens > 0 for step in steps)


@pytest.mark.parametrize("world_size", [1, 3])
def test_resuming_anywhere_gives_what_an_uninterrupted_stream_gives(world_size: int) -> None:
    split = split_of(300)
    with stream_of(split, 0, world_size) as stream:
        whole = [digest_of(step) for step in itertools.islice(stream, 60)]
    assert len(set(whole)) == 60
    for after_step in (1, 7, 31, 59):
        with stream_of(split, 0, world_size, after_step) as stream:
            assert [digest_of(step) for step in itertools.islice(stream, 60 - after_step)] == whole[after_step:]


def test_making_a_step_takes_little_time() -> None:
    split = split_of(20_000)
    plan = Plan(split.lengths(), seed=1, tokens_per_step=4_096)
    make = step_of(plan, PairReader(split, PAD), rank=0, world_size=1, tokens_per_micro_batch=2_048)
    make(1)
    seconds = []
    for number in range(2, 52):
        start = time.thread_time()
        make(number)
        seconds.append(time.thread_time() - start)
    assert np.median(seconds) < 0.004  # 0.8 ms a step of Multi30k, 2026-11


# The thread


def empty_step(number: int) -> Step:
    return Step(number, 0, np.arange(0), [], 1, Padding())


def test_steps_are_made_ahead_but_not_without_bound() -> None:
    made: list[int] = []
    has_made_three = threading.Event()

    def make(number: int) -> Step:
        made.append(number)
        if len(made) == 3:
            has_made_three.set()
        return empty_step(number)

    with Stream(make, after_step=10, prefetched_steps=3) as stream:
        assert has_made_three.wait(20)
        assert made == [11, 12, 13]
        assert next(stream).number == 11
    assert len(made) <= 5


def test_waiting_is_measured() -> None:
    may_go_on = threading.Event()

    def make(number: int) -> Step:
        if number == 2:
            may_go_on.wait(20)
        return empty_step(number)

    with Stream(make, prefetched_steps=1) as stream:
        next(stream)
        threading.Timer(0.05, may_go_on.set).start()
        assert 0.04 < next(stream).waited_s < 10


def test_what_goes_wrong_in_the_thread_is_raised_where_the_step_would_have_come() -> None:
    def make(number: int) -> Step:
        if number == 3:
            raise OSError("the disk is on fire")
        return empty_step(number)

    with Stream(make) as stream:
        assert [next(stream).number, next(stream).number] == [1, 2]
        for _ in range(3):  # and again, instead of waiting for ever
            with pytest.raises(OSError, match="on fire"):
                next(stream)


def test_a_closed_stream_ends_and_its_thread_too() -> None:
    before = threading.active_count()
    stream = stream_of(split_of(300))
    next(stream)
    stream.close()
    stream.close()
    assert list(stream) == []
    assert threading.active_count() == before


def test_closing_wakes_one_who_waits() -> None:
    may_go_on = threading.Event()
    seen: list[Step] = []

    def make(number: int) -> Step:
        may_go_on.wait(20)
        return empty_step(number)

    stream = Stream(make, prefetched_steps=1)
    waiting = threading.Thread(target=lambda: seen.extend(stream))
    waiting.start()
    threading.Timer(0.05, may_go_on.set).start()
    stream.close()
    waiting.join(20)
    assert not waiting.is_alive()


def test_a_stream_that_nobody_closes_does_not_keep_the_program_alive() -> None:
    stream = stream_of(split_of(50))
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "dragoman-batches")
    assert thread.daemon
    stream.close()


# Evaluation


@pytest.mark.parametrize("world_size", [1, 3, 8])
@pytest.mark.parametrize("first_pairs", [None, 50, 2, 0])
def test_fixed_batches_hold_every_pair_once_and_know_which(world_size: int, first_pairs: int | None) -> None:
    split = split_of(200, num_shards=2)
    seen: list[int] = []
    for rank in range(world_size):
        found = fixed_batches(
            split, PAD, rank=rank, world_size=world_size, tokens_per_micro_batch=300, first_pairs=first_pairs
        )
        for numbered in found:
            assert numbered.batch.num_target_tokens <= 300
            assert_equal_batches(numbered.batch, slow_batch(split, numbered.pairs.tolist()))
            seen += numbered.pairs.tolist()
    assert sorted(seen) == list(range(200 if first_pairs is None else first_pairs))
