"""Two hosts that really train over a link whose truth is known: is it found, and only it?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from tests.hosts.conftest import MISSING, frozen_source
from tests.hosts.ground import ground
from tests.laboratory.linked import Linked, linked, second_cable, slow_tunnel, wait_for_step

__all__ = ["frozen_source"]  # hosts run a copy of the source
pytestmark = [
    pytest.mark.hosts,
    pytest.mark.slow,  # what a link does to a step is seen where nothing else runs
    pytest.mark.timeout(900),
    pytest.mark.skipif(MISSING is not None, reason=f"hosts cannot be made here: {MISSING}"),
]
MODEL = ("model.width=32", "model.feed_forward=4096")
"""2.1 MB of gradients in one bucket: nothing of the exchange can hide."""
LITTLE = ("batching.tokens_per_step=64", "batching.tokens_per_micro_batch=64")
MUCH = ("batching.tokens_per_step=4096", "batching.tokens_per_micro_batch=2048")
"""Computing a step takes some milliseconds, or some tenths of a second."""
NARROW_MBIT, WIDE_MBIT = 40, 400
QUIET = {"overfit": {"no"}, "divergence": {"no"}, "input": {"no"}, "padding": {"little"}, "failures": {"none"}}
"""What no link may change."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    with ground(tmp_path_factory.mktemp("links")) as made:
        yield linked(made, tmp_path_factory.mktemp("words"))


def wrong(found: dict[str, Answer], **expected: str | set[str]) -> dict[str, str]:
    """Verdicts that are not as expected, with what they say."""
    wanted = QUIET | {key: {words} if isinstance(words, str) else words for key, words in expected.items()}
    return {
        key: f"{found[key].verdict}: {found[key].sentence}" for key in wanted if found[key].verdict not in wanted[key]
    }


def test_a_narrow_link_is_full(hosts: Linked) -> None:
    hosts.rate(NARROW_MBIT)
    found = hosts.trained("narrow", 40, *MODEL, *LITTLE)
    bad = wrong(
        found,
        network="bandwidth-bound",
        busy="lost to exposed communication",
        elasticity="strong",
        straggler="no",
        traffic="agrees",
    )
    assert not bad
    rate = found["network"].value("achieved rate during exchange")
    assert rate == pytest.approx(NARROW_MBIT * 1e6 / 8, rel=0.15), "what `tc` allows, packets' headers aside"


def test_a_link_that_degrades_half_way_is_told_with_the_step(hosts: Linked) -> None:
    hosts.rate(WIDE_MBIT)
    changed_at = []

    def degrade(directory: Path) -> None:
        changed_at.append(wait_for_step(directory, 60))
        hosts.rate(NARROW_MBIT)

    found = hosts.trained("degraded", 110, *MODEL, *LITTLE, meanwhile=degrade)
    # Training itself notices and writes it down, which makes it something that the run survived.
    assert not wrong(found, network="degraded", straggler="no", traffic="agrees", failures={"none", "survived"})
    step = int(found["network"].sentence.split("from step ")[1].split(" ")[0])
    assert abs(step - changed_at[0]) <= 10, found["network"].sentence


def test_gradients_that_take_another_cable_are_seen(hosts: Linked) -> None:
    hosts.rate(None)
    with second_cable(hosts.ground):
        found = hosts.trained("astray", 40, *MODEL, *MUCH)
    assert not wrong(found, network={"no", "slightly"}, busy="busy", traffic="wrong interface")
    assert "the gradients crossed eth1" in found["traffic"].sentence
    assert "not eth0" in found["traffic"].sentence


def test_a_long_way_is_latency_not_bandwidth(hosts: Linked) -> None:
    """20 ms each way: rounds of small messages take all the time. (Who else runs here shares the ranks' cores.)"""
    hosts.rate(None)
    with slow_tunnel(hosts.ground, 0.02):
        found = hosts.trained("far", 40, *LITTLE)
    bad = wrong(
        found,
        network="latency-bound",
        busy="lost to exposed communication",
        elasticity={"none", "weak"},
        traffic="agrees",
    )
    assert not bad


def test_a_busy_link_behind_much_computing_is_no_bottleneck(hosts: Linked) -> None:
    hosts.rate(None)
    found = hosts.trained("busy", 40, *MODEL, *MUCH)
    assert not wrong(
        found,
        network={"no", "slightly"},
        busy="busy",
        elasticity={"none", "weak"},
        straggler="no",
        traffic="agrees",
    )
    rate = found["network"].value("implied rate")
    assert rate is not None
    assert rate > 1e6, "the truth of this run: megabytes cross every second"
