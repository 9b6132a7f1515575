"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core import units


@pytest.mark.parametrize("number, words", [(0, "0"), (999, "999"), (1234567, "1,234,567"), (-1234, "-1,234")])
def test_counts_have_thousands_commas(number: int, words: str) -> None:
    assert units.count(number) == words


@pytest.mark.parametrize("number, words", [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (29_000, "29,000 pairs")])
def test_one_thing_is_singular(number: int, words: str) -> None:
    assert units.counted(number, "pair") == words


@pytest.mark.parametrize(
    "num_bytes, words",
    [
        (0, "0 B"),
        (999, "999 B"),
        (999.6, "1.0 kB"),
        (1000, "1.0 kB"),
        (1_234_567, "1.2 MB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (10**9, "1.0 GB"),
        (10**12, "1.0 TB"),
        (10**15, "1.0 PB"),
        (2 * 10**18, "2000.0 PB"),
    ],
)
def test_sizes_are_decimal_and_never_read_a_thousand_of_a_unit(num_bytes: float, words: str) -> None:
    assert units.size(num_bytes) == words


@pytest.mark.parametrize(
    "seconds, words",
    [
        (0, "0.0 s"),
        (0.25, "0.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (75, "1 min 15 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"),
        (7384, "2 h 3 min"),
        (360_000, "100 h 0 min"),
    ],
)
def test_durations_carry_over_to_the_next_unit(seconds: float, words: str) -> None:
    assert units.duration(seconds) == words


@pytest.mark.parametrize(
    "part, whole, words",
    [
        (201, 29_000, "0.69 %"),
        (0, 29_000, "0 %"),
        (1, 2, "50 %"),
        (1, 1, "100 %"),
        (1, 16, "6.2 %"),
        (1, 29_000_000, "< 0.01 %"),
        (0, 0, "–"),
        (3, 0, "–"),
    ],
)
def test_shares_show_two_digits_and_never_an_exponent(part: float, whole: float, words: str) -> None:
    assert units.share(part, whole) == words


@given(st.integers(0, 10**21))
def test_no_size_shows_an_exponent_or_more_than_four_digits_below_a_petabyte(num_bytes: int) -> None:
    words = units.size(num_bytes)
    assert "e" not in words
    assert words.endswith("PB") or len(words.split()[0]) <= 5


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_no_share_shows_an_exponent(part: int, whole: int) -> None:
    assert "e" not in units.share(min(part, whole), whole)


def test_nearly_all_is_not_shown_as_all() -> None:
    assert units.share(28_975, 29_000) == "99.91 %"
    assert units.share(999_999, 1_000_000) == "> 99.99 %"
    assert units.share(5, 5) == "100 %"
