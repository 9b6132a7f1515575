"""The wire's model: against hand-worked numbers of the five runs, and by its laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.run_records import PreflightRecord
from dragoman.theory import wire
from dragoman.theory.wire import PLAIN, Codecs, Compute, Layout, Link, Row, Rung, Wire

GRADIENTS = 243_523_584
EMBEDDING = 67_108_864
BASE = Row(GRADIENTS, EMBEDDING, num_buckets=8)
FLOWING = Row(GRADIENTS, EMBEDDING)
TWO_BY_TWO = Layout(4, 2)
GIGABIT = Link(117.5e6)
V100 = Compute.of(0.61)
FREE = Codecs()


def on(link: Link, layout: Layout = TWO_BY_TWO, codecs: Codecs = FREE) -> Wire:
    return Wire(layout, link, codecs=codecs)


def named(name: str, layout: Layout = TWO_BY_TWO) -> Rung:
    rungs = wire.ladder(layout, max_step_factor=8, local_steps=16)
    return next(rung for rung in rungs if rung.name == name)


# Numbers


def test_a_ring_of_four_sends_the_365_megabytes_that_a_monitor_saw() -> None:
    assert wire.ring_bytes(GRADIENTS, 4) == pytest.approx(365.3e6, rel=1e-3)
    seen = 219_153.9 * 1024 * 1.629
    assert seen == pytest.approx(wire.ring_bytes(GRADIENTS, 4), rel=2e-3)


@pytest.mark.parametrize(("num_ranks", "factor"), [(1, 0.0), (2, 1.0), (3, 4 / 3), (4, 1.5), (1024, 2046 / 1024)])
def test_ring_bytes_by_hand(num_ranks: int, factor: float) -> None:
    assert wire.ring_bytes(1000, num_ranks) == pytest.approx(1000 * factor)


def test_a_run_stands_on_eight_bits_until_larger_or_local_steps_begin() -> None:
    for name in ("larger_step_4", "local_steps_16"):
        first = named(name).at_first
        assert (first.codec, first.step_factor, first.local_steps) == ("eight_bits", 1, 1)
    assert named("two_level_half").at_first == named("two_level_half")


def test_what_an_interface_carries_by_hand() -> None:
    assert wire.nic_bytes(1000, TWO_BY_TWO) == 1500
    assert wire.nic_bytes(1000, TWO_BY_TWO, named("two_level")) == 1000
    assert wire.nic_bytes(1000, TWO_BY_TWO, named("two_level_half")) == 500
    assert wire.nic_bytes(1000, TWO_BY_TWO, named("half")) == pytest.approx(
        875
    )  # 1,000 straight and 750 around, halved
    assert wire.nic_bytes(1000, Layout(2, 2), named("half", Layout(2, 2))) == 500
    assert wire.nic_bytes(1000, TWO_BY_TWO, named("eight_bits")) == pytest.approx(253.90625)  # a scale for 256 numbers
    assert wire.nic_bytes(1000, Layout(4, 1)) == 0


@pytest.mark.parametrize(
    ("rung", "gigabits", "compute_s", "expected"),
    [
        ("plain", 1, 0.61, 3.31),
        ("two_level", 1, 0.61, 2.28),
        ("two_level_half", 1, 0.61, 1.24),
        ("plain", 10, 0.61, 0.70),
        ("two_level_half", 10, 0.61, 0.64),
        ("plain", 1, 0.13, 3.15),
        ("plain", 10, 0.13, 0.36),
        ("two_level_half", 10, 0.13, 0.16),
    ],
)
def test_step_times_are_those_of_the_worked_table(rung: str, gigabits: int, compute_s: float, expected: float) -> None:
    goodput = {1: 117.5e6, 10: 1.15e9}[gigabits]
    found = wire.predict(named(rung), Compute.of(compute_s), FLOWING, on(Link(goodput)))
    assert found.update_s == pytest.approx(expected, rel=0.02, abs=0.01)


def test_accumulation_at_one_gigabit_keeps_the_share_of_the_worked_table() -> None:
    rung = Rung("k8", "", "half", is_two_level=True, step_factor=8)
    found = wire.predict(rung, V100, FLOWING, on(GIGABIT))
    assert found.compute_s / found.update_s == pytest.approx(0.89, abs=0.01)


def test_the_last_bucket_hides_behind_nothing() -> None:
    assert wire.arrival_s(0.6, 0.0, 0.2, 0, 0.1) == pytest.approx(0.7)
    assert wire.arrival_s(0.6, 0.0, 1.2, 0, 0.1) == pytest.approx(1.3)
    assert wire.arrival_s(0.0, 0.0, 0.0, 0, 0.3) == pytest.approx(0.3)  # one bucket: nothing is hidden


def test_buckets_leave_when_they_are_full_and_the_wire_is_free() -> None:
    """Four are full after 1, 2, 3 and 4 s of backward; the fifth is the last."""
    assert wire.arrival_s(4.0, 0.0, 4 * 0.5, 4, 1.0) == pytest.approx(4 + 0.5 + 1)  # the wire waits for each
    assert wire.arrival_s(4.0, 0.0, 4 * 3.0, 4, 1.0) == pytest.approx(1 + 12 + 1)  # each waits for the wire


def test_what_an_exchange_takes_from_backward_comes_on_top() -> None:
    """The first three run beside backward; the fourth has nothing beside it."""
    assert wire.arrival_s(4.0, 4 * 0.1, 4 * 0.5, 4, 1.0) == pytest.approx(4.3 + 0.5 + 1)
    assert wire.arrival_s(4.0, 4 * 0.1, 4 * 3.0, 4, 1.0) == pytest.approx(1 + 12 + 1)
    stolen = Wire(TWO_BY_TWO, Link(5e9), stolen_s_per_byte=1e-9)
    cost = (
        wire.predict(PLAIN, V100, FLOWING, stolen).update_s - wire.predict(PLAIN, V100, FLOWING, on(Link(5e9))).update_s
    )
    assert cost == pytest.approx(1.5 * (GRADIENTS - EMBEDDING) * 1e-9)
    local = named("local_steps_16")
    assert wire.predict(local, V100, BASE, stolen) == wire.predict(local, V100, BASE, on(Link(5e9)))


def test_a_measured_backward_hides_what_it_can() -> None:
    unmeasured = PreflightRecord(1, "2026-01-01T00:00:00Z", (), (), None)
    measured = replace(unmeasured, compute_step_s=0.6)
    assert Compute.measured(measured, 2) == Compute.of(0.6, 2)
    assert Compute.measured(replace(measured, last_backward_s=0.15), 2) == Compute(0.6, 0.15)
    assert Compute.measured(unmeasured) is None


def test_latency_counts_once_a_hop_and_bucket() -> None:
    assert wire.exchange_s(on(Link(1e6, 0.001)), 1e6, num_buckets=10) == pytest.approx(1.5 + 10 * 6 * 0.001)


def test_packing_is_never_hidden() -> None:
    costs = Codecs(half_s_per_byte=1e-9, eight_bits_s_per_byte=3e-9)
    for name, seconds in (("plain", 0.0), ("half", 0.243523584), ("eight_bits", 0.730570752)):
        free = wire.predict(named(name), V100, BASE, on(GIGABIT))
        paid = wire.predict(named(name), V100, BASE, on(GIGABIT, codecs=costs))
        assert paid.exposed_s - free.exposed_s == pytest.approx(seconds)


def test_inside_one_host_nothing_crosses_the_network() -> None:
    found = wire.predict(PLAIN, V100, BASE, Wire(Layout(4, 1), Link(1.0), Link(9.45e9)))
    assert found.nic_bytes == 0
    one_s = 1.5 * (GRADIENTS - EMBEDDING) / 7 / 9.45e9  # the bucket before it is full only when backward is done
    assert found.update_s == pytest.approx(0.61 + one_s + 1.5 * EMBEDDING / 9.45e9)
    assert wire.predict(PLAIN, V100, BASE, on(Link(1.0), Layout(1, 1))).update_s == 0.61


# The ladder


def test_the_ladder_is_tried_from_the_safest_rung() -> None:
    assert [rung.name for rung in wire.ladder(TWO_BY_TWO)] == [
        "plain", "half", "two_level", "two_level_half", "eight_bits",
    ]  # fmt: skip
    longer = wire.ladder(Layout(2, 2), max_step_factor=6, local_steps=16)
    assert [rung.name for rung in longer] == [
        "plain", "half", "eight_bits", "larger_step_2", "larger_step_4", "larger_step_6", "local_steps_16",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("megabits", "options", "expected"),
    [
        (40_000, {}, "plain"),
        (12_000, {}, "half"),
        (6_000, {}, "two_level_half"),
        (3_000, {}, "eight_bits"),
        (200, {}, "eight_bits"),
        (1_000, {"max_step_factor": 8}, "larger_step_4"),
        (100, {"max_step_factor": 2, "local_steps": 64}, "local_steps_64"),
    ],
)
def test_the_first_rung_that_is_good_enough_is_chosen(megabits: float, options: dict[str, int], expected: str) -> None:
    choice = wire.choose(V100, BASE, on(Link(megabits * 0.941e6 / 8)), **options)
    assert choice.rung.name == expected
    assert choice.why.startswith(f"{expected}: ")


def test_why_is_a_sentence_with_numbers() -> None:
    fast = wire.choose(V100, BASE, on(Link(5e9)))
    assert fast.why == "plain: 4% of the step waits for the wire, less than 10%"
    slow = wire.choose(V100, BASE, on(Link(11.77e6)))
    assert slow.why == (
        "eight_bits: 89% of the step waits for the wire instead of 98%, 5.7 times the tokens a second "
        "(8 bits on the wire with error feedback, first inside each host); no rung brings it below 10%"
    )
    dear = wire.choose(V100, BASE, on(Link(200e6), codecs=Codecs(1e-6, 1e-6)))
    assert dear.why.startswith("two_level: ")
    alone = Wire(Layout(2, 2), Link(200e6), codecs=Codecs(1e-6, 1e-6))
    assert (
        wire.choose(V100, BASE, alone).why == "plain: 59% of the step waits for the wire, and no other rung is faster"
    )


# Laws

LAYOUTS = st.integers(1, 64).flatmap(lambda hosts: st.builds(Layout, st.integers(hosts, 8 * hosts), st.just(hosts)))
COMPUTE = st.floats(1e-3, 100).flatmap(lambda s: st.builds(Compute, st.just(s), st.floats(0, s)))
ROWS = st.integers(1, 10**10).flatmap(lambda n: st.builds(Row, st.just(n), st.integers(0, n), st.integers(1, 64)))
RATES = st.floats(1e5, 1e11)
LINKS = st.builds(Link, RATES, st.floats(0, 0.01))
COSTS = st.builds(Codecs, st.floats(0, 1e-8), st.floats(0, 1e-8))
WIRES = st.builds(Wire, LAYOUTS, LINKS, st.none() | LINKS, COSTS, st.floats(0, 1e-8))


def all_predictions(compute: Compute, row: Row, on_wire: Wire) -> tuple[wire.Prediction, ...]:
    return wire.choose(compute, row, on_wire, max_step_factor=8, local_steps=16).predictions


@given(COMPUTE, ROWS, WIRES)
def test_no_rung_is_faster_than_computing_and_shares_are_shares(compute: Compute, row: Row, on_wire: Wire) -> None:
    for found in all_predictions(compute, row, on_wire):
        assert found.step_s >= compute.step_s * (1 - 1e-12)
        assert found.exposed_s >= -1e-9 * found.update_s
        assert -1e-9 <= found.exposed_share < 1


@given(COMPUTE, ROWS, WIRES, st.floats(1, 100))
def test_more_bandwidth_is_never_slower(compute: Compute, row: Row, on_wire: Wire, factor: float) -> None:
    link = on_wire.between
    better = replace(on_wire, between=Link(factor * link.bytes_per_s, link.latency_s))
    for slow, fast in zip(all_predictions(compute, row, on_wire), all_predictions(compute, row, better), strict=True):
        assert fast.update_s <= slow.update_s * (1 + 1e-12)


@given(COMPUTE, ROWS, WIRES, st.floats(1, 100))
def test_more_bytes_are_never_faster(compute: Compute, row: Row, on_wire: Wire, factor: float) -> None:
    more = Row(int(factor * row.num_bytes), int(factor * row.last_bucket_bytes), row.num_buckets)
    for light, heavy in zip(
        all_predictions(compute, row, on_wire), all_predictions(compute, more, on_wire), strict=True
    ):
        assert heavy.update_s >= light.update_s * (1 - 1e-12)
        assert heavy.nic_bytes >= light.nic_bytes


@given(COMPUTE, ROWS, WIRES)
def test_what_is_chosen_is_good_enough_or_the_fastest(compute: Compute, row: Row, on_wire: Wire) -> None:
    choice = wire.choose(compute, row, on_wire)
    good = [found for found in choice.predictions if found.exposed_share < wire.ENOUGH]
    assert choice.prediction == (good[0] if good else min(choice.predictions, key=lambda found: found.step_s))


@given(COMPUTE, ROWS, WIRES, st.floats(0.01, 100))
def test_seconds_are_seconds_whatever_the_unit_of_time(compute: Compute, row: Row, on_wire: Wire, unit: float) -> None:
    def stretched(link: Link | None) -> Link | None:
        return link and Link(link.bytes_per_s / unit, link.latency_s * unit)

    between = stretched(on_wire.between)
    assert between is not None
    costs = Codecs(on_wire.codecs.half_s_per_byte * unit, on_wire.codecs.eight_bits_s_per_byte * unit)
    longer = Wire(on_wire.layout, between, stretched(on_wire.inside), costs, on_wire.stolen_s_per_byte * unit)
    slower = Compute(compute.step_s * unit, compute.overlap_s * unit)
    pairs = zip(all_predictions(compute, row, on_wire), all_predictions(slower, row, longer), strict=True)
    for found, scaled in pairs:
        assert scaled.update_s == pytest.approx(found.update_s * unit)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_link_that_carries_nothing_is_no_link(rate: float) -> None:
    with pytest.raises(ValueError, match="no link"):
        Link(rate)


def test_hosts_without_ranks_are_no_layout() -> None:
    with pytest.raises(ValueError, match="2 ranks cannot be on 3 hosts"):
        Layout(2, 3)
