"""Links from timed exchanges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.run_records import HostRecord, PreflightRecord, TimedExchange
from dragoman.theory.link_fit import fitted_link, measured_link
from dragoman.theory.wire import Layout, Link, Wire, exchange_s

RATES = st.floats(1e5, 1e11)


@given(RATES, st.floats(0, 0.005), st.integers(2, 16))
def test_a_link_is_found_again_from_its_exchanges(rate: float, latency_s: float, num_ranks: int) -> None:
    link, layout = Link(rate, latency_s), Layout(num_ranks, num_ranks)
    sizes = [2.0**power for power in range(14, 28, 2)]
    timed = [(num_bytes, num_ranks, exchange_s(Wire(layout, link), num_bytes)) for num_bytes in sizes]
    found = fitted_link(timed)
    assert found is not None
    for num_bytes, _, seconds in timed:
        assert exchange_s(Wire(layout, found), num_bytes) == pytest.approx(seconds, rel=1e-3)


def preflight(*exchanges: TimedExchange) -> PreflightRecord:
    hosts = tuple(HostRecord(name, "10.0.0.1", "eth0", 1000.0, 1, 2, None, None, None) for name in "ab")
    return PreflightRecord(1, "2026-01-01T00:00:00Z", hosts, exchanges, None)


def test_the_preflight_gives_the_link_of_all_hosts_together() -> None:
    together = [TimedExchange(("a", "b", "c"), size, 0.001 + 4 / 3 * size / 1e8) for size in (10**5, 10**6, 10**7)]
    pair = TimedExchange(("a", "b"), 10**6, 1.0)
    found = measured_link(preflight(*together, pair))
    assert found is not None
    assert found.bytes_per_s == pytest.approx(1e8, rel=1e-3)
    assert found.latency_s == pytest.approx(0.001 / 4, rel=1e-3)


def test_of_several_pairs_the_slowest_counts_and_of_none_nothing_is_known() -> None:
    pairs = [TimedExchange((one, two), 10**6, seconds) for one, two, seconds in (("a", "b", 0.01), ("a", "c", 0.1))]
    found = measured_link(preflight(*pairs))
    assert found == Link(1e7)
    assert measured_link(preflight()) is None
    assert fitted_link([(1000, 1, 0.5), (1000, 2, 0.0)]) is None
