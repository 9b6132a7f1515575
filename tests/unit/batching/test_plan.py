"""Which pairs make a step: always the same ones, each once an epoch, divided fairly, padded little."""

import gzip
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.batching.plan import Lengths, Place, Plan, by_length
from dragoman.batching.shares import MICRO_BATCH_TOKENS_LOST, Padding, costs, micro_batches, padding_of, shares
from dragoman.batching.shuffle import ROUNDS, random_words, shuffled
from dragoman.batching.survey import survey
from dragoman.core.errors import UserError
from dragoman.corpus.vocab import Vocabulary

WORLD_SIZES = (1, 2, 3, 4, 8)


def as_lengths(pairs: Sequence[tuple[int, int]]) -> Lengths:
    return np.array(pairs, dtype=np.uint16).reshape(-1, 2)


def sentence_lengths(num_pairs: int, seed: int = 0) -> Lengths:
    """Lengths as a corpus has them: most near 25, few near 200, both sides alike."""
    random = np.random.Generator(np.random.PCG64(seed))
    target = np.clip(random.lognormal(3.2, 0.6, num_pairs), 2, 250)
    source = np.clip(target * random.normal(1.0, 0.15, num_pairs), 2, 250)
    return np.stack([source, target], axis=1).astype(np.uint16)


any_lengths = st.one_of(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=120),
    st.integers(1, 200).map(lambda n: [(7, 9)] * n),
    st.integers(0, 60).map(lambda n: [(3, 4)] * n + [(65_535, 65_535)]),
    st.lists(st.sampled_from([(1, 1), (500, 2), (2, 500)]), min_size=1, max_size=80),
).map(as_lengths)


def epoch_of(plan: Plan, epoch: int) -> list[list[int]]:
    first = epoch * plan.steps_per_epoch + 1
    return [plan.pairs(step).tolist() for step in range(first, first + plan.steps_per_epoch)]


# The plan


def test_a_plan_is_the_same_for_ever() -> None:
    random = random_words(5, 0, 0, 40_000).reshape(20_000, 2)
    plan = Plan((random % np.uint64(40) + np.uint64(2)).astype(np.uint16), seed=11, tokens_per_step=1_000)
    digest = hashlib.sha256()
    for step in (1, 2, plan.steps_per_epoch, plan.steps_per_epoch + 1, 1_000_000):
        digest.update(plan.pairs(step).astype("<i8").tobytes())
    assert plan.steps_per_epoch == 430
    assert plan.pairs(1)[:6].tolist() == [3120, 14909, 440, 10271, 16255, 15149]
    assert digest.hexdigest() == "f05c66b3ff7c30b3c5a50472173b0569bf5ad7c6bcdef05d9cb864fc22d23a91"


def test_a_plan_of_several_pools_is_the_same_for_ever() -> None:
    random = random_words(6, 0, 0, 400_000).reshape(200_000, 2)
    plan = Plan((random % np.uint64(40) + np.uint64(2)).astype(np.uint16), seed=11, tokens_per_step=5_000)
    steps = (1, plan.steps_per_epoch // 2, plan.steps_per_epoch, 3 * plan.steps_per_epoch + 7)
    digest = hashlib.sha256(b"".join(plan.pairs(step).astype("<i8").tobytes() for step in steps))
    assert digest.hexdigest() == "60a11145a255434f1a025e12339ccb25c24545878c2c8fbb68d8a87cbab2d48c"


def test_the_order_in_which_steps_are_asked_for_does_not_matter() -> None:
    lengths = sentence_lengths(3_000)
    forwards, backwards = Plan(lengths, 1, 2_000), Plan(lengths, 1, 2_000)
    steps = range(1, 2 * forwards.steps_per_epoch + 1)
    there = {step: forwards.pairs(step).tolist() for step in steps}
    assert {step: backwards.pairs(step).tolist() for step in reversed(steps)} == there


@given(any_lengths, st.integers(1, 3_000), st.integers(0, 2**62), st.integers(0, 5))
def test_every_pair_appears_exactly_once_an_epoch_and_no_step_is_empty(
    lengths: Lengths, tokens_per_step: int, seed: int, epoch: int
) -> None:
    steps = epoch_of(Plan(lengths, seed, tokens_per_step), epoch)
    assert all(steps)
    assert sorted(pair for step in steps for pair in step) == list(range(len(lengths)))


def test_every_pair_appears_exactly_once_in_an_epoch_of_several_pools() -> None:
    lengths = sentence_lengths(200_001)
    plan = Plan(lengths, 3, 25_000)
    assert plan.steps_per_epoch > 3 * 32
    seen = np.concatenate([plan.pairs(step) for step in range(1, plan.steps_per_epoch + 1)])
    assert np.array_equal(np.sort(seen), np.arange(len(lengths)))


def test_a_step_is_of_about_the_tokens_that_were_asked_for() -> None:
    for tokens_per_step, tolerance in ((1_000, 0.2), (4_096, 0.05), (25_000, 0.02)):
        found = survey(Plan(sentence_lengths(30_000), 1, tokens_per_step), 1, 2_048)
        assert found.least_target_tokens > (1 - tolerance) * tokens_per_step
        assert found.most_target_tokens < (1 + tolerance) * tokens_per_step


def test_a_corpus_smaller_than_a_step_is_one_step() -> None:
    plan = Plan(sentence_lengths(50), 1, 1_000_000)
    assert plan.steps_per_epoch == 1
    assert sorted(plan.pairs(4)) == list(range(50))


def test_a_step_smaller_than_a_pair_is_a_pair() -> None:
    plan = Plan(as_lengths([(9, 9)] * 20), 1, 1)
    assert plan.steps_per_epoch == 20
    assert all(len(step) == 1 for step in epoch_of(plan, 0))


def test_steps_mix_short_and_long_pairs() -> None:
    lengths = sentence_lengths(30_000)
    plan = Plan(lengths, 1, 4_096)
    for step in range(1, 50):
        target = lengths[plan.pairs(step), 1]
        assert target.min() < 25 and target.max() > 40


@pytest.mark.parametrize(("longest", "most_share"), [(2, 0.09), (250, 0.26)])
def test_pairs_of_a_step_seldom_meet_again(longest: int, most_share: float) -> None:
    # Where lengths are rare, a chunk has the same pairs in every epoch, and only its three companions change.
    lengths = np.minimum(sentence_lengths(30_000), np.uint16(longest))
    plan, other = Plan(lengths, 1, 4_096), Plan(lengths, 2, 4_096)
    step_of = np.empty(len(lengths), dtype=int)
    for step in range(1, plan.steps_per_epoch + 1):
        step_of[plan.pairs(step)] = step
    for again in (other, Plan(lengths, 1, 4_096)):
        met, possible = 0, 0
        for step in range(again.steps_per_epoch + 1, again.steps_per_epoch + 41):
            together = np.bincount(step_of[again.pairs(step)])
            met += int((together * (together - 1)).sum())
            possible += int(together.sum() * (together.sum() - 1))
        assert met < most_share * possible


def test_steps_are_numbered_from_one() -> None:
    plan = Plan(sentence_lengths(3_000), 1, 4_096)
    assert plan.place(1) == Place(epoch=0, index=0)
    assert plan.place(plan.steps_per_epoch) == Place(0, plan.steps_per_epoch - 1)
    assert plan.place(plan.steps_per_epoch + 1) == Place(1, 0)
    with pytest.raises(ValueError, match="steps begin with 1"):
        plan.pairs(0)


def test_a_corpus_without_pairs_is_told() -> None:
    with pytest.raises(UserError, match="no pairs to train on"):
        Plan(as_lengths([]), 1, 4_096)


@pytest.mark.parametrize(("num_pairs", "most_s"), [(29_000, 0.05), (4_500_000, 0.25)])
def test_starting_at_step_1_000_000_costs_milliseconds(num_pairs: int, most_s: float) -> None:
    lengths = sentence_lengths(num_pairs)
    seconds = []
    for step in (1_000_000, 1_000_001, 1_234_567):
        start = time.perf_counter()
        Plan(lengths, 1, 4_096).pairs(step)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < most_s  # best of five, on busy cores: 4 ms and 14 ms, 2026-11


@given(st.integers(1, 3_000), st.integers(0, 2**62), st.integers(0, 9))
def test_a_shuffle_keeps_everything(num_things: int, seed: int, epoch: int) -> None:
    order = shuffled(np.arange(num_things), num_things, random_words(seed, epoch, 0, ROUNDS))
    assert sorted(order.tolist()) == list(range(num_things))


def test_a_shuffle_sends_everything_everywhere() -> None:
    counts = np.zeros((10, 10), dtype=int)
    for seed in range(2_000):
        counts[np.arange(10), shuffled(np.arange(10), 10, random_words(seed, 0, 0, ROUNDS))] += 1
    assert counts.min() > 140 and counts.max() < 260  # 200 ± 4.5 standard deviations


# Ranks


@given(any_lengths, st.sampled_from([*WORLD_SIZES, 16]))
def test_the_ranks_together_have_the_step(lengths: Lengths, world_size: int) -> None:
    lengths = lengths[by_length(lengths)]
    parts = shares(lengths, world_size)
    assert len(parts) == world_size
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(lengths)))
    assert all(part.tolist() == sorted(part.tolist()) for part in parts)


def test_a_step_of_fewer_pairs_than_ranks_leaves_some_ranks_with_nothing() -> None:
    parts = shares(as_lengths([(3, 3), (4, 4)]), 4)
    assert sorted(len(part) for part in parts) == [0, 0, 1, 1]


def test_a_giant_pair_is_alone_and_the_others_share_the_rest() -> None:
    lengths = as_lengths([(10, 10)] * 90 + [(5_000, 5_000)])
    parts = shares(lengths, 4)
    assert sorted(len(part) for part in parts) == [1, 30, 30, 30]


def test_longer_sentences_cost_more_than_their_tokens() -> None:
    short, long = costs(as_lengths([(10, 10), (100, 100)])).tolist()
    assert 10 * short < long < 11 * short


# Micro-batches


@given(any_lengths, st.integers(1, 300))
def test_micro_batches_are_the_share_in_order_and_within_the_budget(lengths: Lengths, most: int) -> None:
    cuts = micro_batches(lengths, most)
    assert [place for cut in cuts for place in range(cut.start, cut.stop)] == list(range(len(lengths)))
    for cut in cuts:
        assert lengths[cut, 1].sum() <= most or cut.stop - cut.start == 1


def test_an_empty_share_has_no_micro_batches() -> None:
    assert micro_batches(as_lengths([]), 100) == []


def test_neighbours_of_equal_length_stay_together_and_others_part() -> None:
    assert micro_batches(as_lengths([(10, 10)] * 20), 1_000) == [slice(0, 20)]
    assert micro_batches(as_lengths([(10, 10)] * 20), 100) == [slice(0, 10), slice(10, 20)]
    assert micro_batches(as_lengths([(5, 5)] * 50 + [(50, 50)] * 10), 1_000) == [slice(0, 50), slice(50, 60)]


def test_a_few_short_pairs_are_padded_rather_than_computed_apart() -> None:
    assert MICRO_BATCH_TOKENS_LOST > 2 * (50 - 5) * 2
    assert micro_batches(as_lengths([(5, 5)] * 2 + [(50, 50)] * 10), 1_000) == [slice(0, 12)]


def test_padding_is_counted_on_both_sides() -> None:
    found = padding_of(as_lengths([(2, 5), (4, 3)]))
    assert found == Padding(6, 8, 8, 10)
    assert found.waste == pytest.approx(1 - 14 / 18)
    assert (found + found).waste == found.waste
    assert Padding().waste == 0.0


# Real corpora


def pieces_of(path: Path, vocabulary: Vocabulary, num_lines: int) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line, _ in zip(file, range(num_lines), strict=False)]
    id_bytes = np.dtype(vocabulary.id_type).itemsize
    return np.array([len(ids) // id_bytes for ids in vocabulary.encode(lines)], dtype=np.uint16)


@pytest.fixture(scope="module")
def real_lengths(shared_data: Path) -> dict[str, Lengths]:
    vocabulary = Vocabulary(shared_data / "wmt16" / "m_common.model")
    names = {"multi30k": "multi30k/train", "europarl": "europarl/train300k"}
    return {
        corpus: np.stack(
            [pieces_of(shared_data / f"{name}.{side}.gz", vocabulary, 30_000) for side in ("en", "de")], axis=1
        )
        for corpus, name in names.items()
    }


@pytest.mark.parametrize("world_size", WORLD_SIZES)
@pytest.mark.parametrize("corpus", ["multi30k", "europarl"])
def test_padding_stays_below_5_percent_and_ranks_within_3(
    real_lengths: dict[str, Lengths], corpus: str, world_size: int
) -> None:
    found = survey(Plan(real_lengths[corpus], 1, 4_096), world_size, 2_048, max_steps=120)
    assert found.padding.waste < 0.05
    assert found.mean_imbalance < 0.03
    assert found.target_tokens_per_micro_batch > 0.6 * min(1_024, 4_096 / world_size)


@pytest.mark.parametrize("corpus", ["multi30k", "europarl"])
def test_large_steps_over_many_ranks_are_balanced_in_every_step(real_lengths: dict[str, Lengths], corpus: str) -> None:
    found = survey(Plan(real_lengths[corpus], 1, 25_000), 8, 4_096)
    assert found.padding.waste < 0.05
    assert found.worst_imbalance < 0.03
