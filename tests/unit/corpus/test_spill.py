"""The shuffle: random, yet the same for every number of processes, block size and order of the inputs."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.config import CleaningConfig
from dragoman.corpus.cleaning import CleaningJob, clean_block
from dragoman.corpus.sources import Block
from dragoman.corpus.spill import (
    NUM_BUCKETS,
    Buckets,
    Key,
    Run,
    distinct,
    format_key,
    group_buckets,
    hash_of,
    parse_key,
    read_buckets,
    write_run,
)

NO_RULES = CleaningConfig(switched_off=("identical_sides", "few_letters", "different_numbers"))
ALL = Buckets(0, NUM_BUCKETS)
Pair = tuple[str, str]


def spilled(
    directory: Path,
    pairs: Sequence[Pair],
    *,
    block_pairs: int = 1_000,
    weight: float = 1.0,
    seed: int = 1,
    text: int = 0,
) -> list[Run]:
    """The pairs of one text through cleaning, block by block."""
    directory.mkdir(exist_ok=True)
    runs = []
    for first in range(0, len(pairs), block_pairs):
        part = pairs[first : first + block_pairs]
        block = Block(
            first + 1, [one.encode() for one, _ in part], [other.encode() for _, other in part], None, frozenset()
        )
        path = directory / f"run-{text}-{first}"
        runs.append(clean_block(CleaningJob(block, "text", text, weight, seed, NO_RULES, ("en", "de"), path)).run)
    return runs


def order(runs: Sequence[Run], pairs_at_once: int = 10**9) -> list[Pair]:
    """All pairs in the order of the shuffle, gathered as encoding does it."""
    found: list[Pair] = []
    for buckets in group_buckets(5_000, pairs_at_once):
        _, sources, targets = read_buckets(runs, buckets)
        found += zip(sources, targets, strict=True)
    return found


def numbered(number: int) -> list[Pair]:
    return [(f"sentence {i}", f"Satz {i}") for i in range(number)]


def test_the_order_does_not_depend_on_blocks_groups_or_the_order_of_the_inputs(tmp_path: Path) -> None:
    pairs = numbered(2_000)
    expected = order(spilled(tmp_path / "a", pairs))
    assert sorted(expected) == sorted(pairs)
    assert order(spilled(tmp_path / "b", pairs, block_pairs=37)) == expected
    assert order(spilled(tmp_path / "c", pairs[::-1], block_pairs=300)) == expected
    halves = [*spilled(tmp_path / "d", pairs[1_000:], text=0), *spilled(tmp_path / "d", pairs[:1_000], text=1)]
    assert order(halves) == order(halves[::-1]) == expected
    assert order(halves, pairs_at_once=50) == expected


def test_another_seed_gives_another_order(tmp_path: Path) -> None:
    pairs = numbered(500)
    one, other = (order(spilled(tmp_path / str(seed), pairs, seed=seed)) for seed in (1, 2))
    assert one != other
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_the_order_looks_random(tmp_path: Path, seed: int) -> None:
    number = 4_000
    places = np.array(
        [int(source.split()[1]) for source, _ in order(spilled(tmp_path / "a", numbered(number), seed=seed))]
    )
    ranks = np.arange(number)
    assert abs(np.corrcoef(ranks, places)[0, 1]) < 4 / number**0.5
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 4 / number**0.5
    # Any first part is a fair sample: of the first quarter, a tenth comes from each tenth of the text.
    tenths = np.bincount(places[: number // 4] * 10 // number, minlength=10)
    expected = number / 4 / 10
    assert float(((tenths - expected) ** 2 / expected).sum()) < 27.9  # chi-square, 9 degrees of freedom, p = 0.001


def test_equal_pairs_meet_as_neighbours(tmp_path: Path) -> None:
    pairs = numbered(300) * 2 + [("sentence 7", "ein anderer Satz 7")]
    random.Random(3).shuffle(pairs)
    found = order(spilled(tmp_path / "a", pairs, block_pairs=100))
    assert len(found) == 601
    repeats = sum(one == other for one, other in itertools.pairwise(found))
    assert repeats == 300


def test_the_first_of_equal_pairs_is_the_distinct_one(tmp_path: Path) -> None:
    runs = spilled(tmp_path / "a", [("one", "eins"), ("two", "zwei"), ("one", "eins")], block_pairs=1)
    found = {source: key.line for key, source, _ in distinct(read_buckets(runs, ALL))}
    assert found == {"one": 1, "two": 2}


@pytest.mark.parametrize(("weight", "least", "most"), [(0, 0, 0), (0.5, 0, 1), (1, 1, 1), (2, 2, 2), (2.5, 2, 3)])
def test_a_weight_is_the_number_of_copies(tmp_path: Path, weight: float, least: int, most: int) -> None:
    number = 2_000
    copies = Counter(order(spilled(tmp_path / "a", numbered(number), weight=weight)))
    times = [copies[pair] for pair in numbered(number)]
    assert min(times) == least
    assert max(times) == most
    expected, deviation = weight * number, (number / 4) ** 0.5
    assert abs(sum(times) - expected) <= (0 if weight == int(weight) else 4 * deviation)


def test_copies_are_spread_and_distinct_pairs_are_counted_once(tmp_path: Path) -> None:
    runs = spilled(tmp_path / "a", numbered(500), weight=3)
    found = order(runs)
    assert sum(one == other for one, other in itertools.pairwise(found)) < 20
    assert len(list(distinct(read_buckets(runs, ALL)))) == 500


@given(
    st.integers(0, 0xFFFF),
    st.integers(0, 2**40 - 1),
    st.integers(0, 0xFFFF),
    st.text().filter(lambda name: "\n" not in name),
)
def test_a_key_says_what_was_put_into_it(text_number: int, line: int, copy: int, document: str) -> None:
    pair_hash = hash_of("one", "eins", copy, 1)
    key = parse_key(format_key(pair_hash, text_number, line, copy, document))
    assert key == Key(pair_hash, text_number, line, copy, document)


def test_the_place_of_a_pair_depends_on_both_sides_the_copy_and_the_seed() -> None:
    places = {
        hash_of(*job)
        for job in [("a", "b", 0, 1), ("b", "a", 0, 1), ("ab", "", 0, 1), ("a", "b", 1, 1), ("a", "b", 0, 2)]
    }
    assert len(places) == 5


def test_a_run_knows_where_each_bucket_lies(tmp_path: Path) -> None:
    records = [
        f"{format_key(f'{first:02x}' + 'a' * 30, 0, 1, 0, '')}\nsource {first}\ntarget {first}\n"
        for first in (255, 0, 7)
    ]
    run = write_run(tmp_path / "run", records)
    assert run.ends[-1] == run.path.stat().st_size
    for first in (0, 7, 255):
        assert read_buckets([run], Buckets(first, first + 1))[1] == [f"source {first}"]
    assert read_buckets([run], Buckets(8, 255)) == ([], [], [])


@pytest.mark.parametrize(
    ("num_pairs", "num_groups"), [(0, 1), (1, 1), (16_384, 1), (100_000, 6), (3_000_000, 183), (10**9, 256)]
)
def test_groups_cover_all_buckets_once(num_pairs: int, num_groups: int) -> None:
    groups = group_buckets(num_pairs, 16_384)
    assert len(groups) == num_groups
    assert [bucket for group in groups for bucket in range(group.first, group.end)] == list(range(NUM_BUCKETS))
