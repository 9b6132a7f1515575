"""Bytes and seconds say which link it was."""

import pytest

from dragoman.report.foreign.links import class_name, least_class, payload_bytes_per_s, wire_sentence

RING = 365.285e6


def test_a_port_left_at_100_megabits_is_known_by_its_rate() -> None:
    assert wire_sentence(RING, 34.893, 0.61) == (
        "The wire carried 10.5 MB to 10.7 MB a second while gradients were exchanged: what a 100 Mb/s link carries "
        "when it is full (11.8 MB/s)."
    )


def test_a_gigabit_port_that_gave_two_is_told_from_one() -> None:
    assert wire_sentence(RING, 1.941, 0.61) == (
        "The wire carried 210.2 MB to 274.4 MB a second while gradients were exchanged: more than a 1 Gb/s link can "
        "(117.5 MB/s)."
    )


def test_without_the_computing_only_a_least_rate_is_known() -> None:
    assert wire_sentence(RING, 1.941, None) == (
        "The wire carried 188.2 MB/s or more, so a link of 2.5 Gb/s at least: 365.3 MB each way within 1.94 s."
    )


def test_nothing_is_said_of_nothing() -> None:
    assert wire_sentence(0, 1, None) is None
    assert wire_sentence(1, 0, None) is None


@pytest.mark.parametrize("rate, mbps", [(1.0, 10), (11e6, 100), (117e6, 1000), (118e6, 2500), (1e15, None)])
def test_the_least_link_that_carries_a_rate(rate: float, mbps: int | None) -> None:
    assert least_class(rate) == mbps


def test_names_and_payloads() -> None:
    assert (class_name(100), class_name(2500)) == ("100 Mb/s", "2.5 Gb/s")
    assert payload_bytes_per_s(1000) == pytest.approx(117.5e6)
