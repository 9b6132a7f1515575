"""What the ranks of a preflight say becomes one measurement, or the reason why there is none."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from dragoman.cluster import measure as measuring
from dragoman.cluster.crew import Outfit, Reached
from dragoman.cluster.findings import Line
from dragoman.cluster.measure import Measured, measure
from dragoman.cluster.preflight import Preflight
from dragoman.core.errors import UserError
from dragoman.core.progress import Silent
from dragoman.core.run_records import TimedExchange
from tests.unit.cluster.fake_links import FakeLink
from tests.unit.cluster.test_seats import LO, PUBLIC, machine, seat

Story = Callable[[FakeLink, FakeLink, str], None]


def says(link: FakeLink, rank: int, attempt: str, **found: Any) -> None:
    link.say("output", rank=rank, attempt=attempt, text=f"PREFLIGHT {json.dumps(found)}")


def measured(story: Story) -> Measured:
    left, right = FakeLink("left", is_local=True), FakeLink("right")
    right.on_start = lambda attempt: story(left, right, attempt)
    seats = [seat("left", "10.0.0.1", 1), seat("right", "10.0.0.2", 1)]
    found = asyncio.run(asyncio.wait_for(measure([left.as_link, right.as_link], seats, 1_000_000, True), 20))
    assert left.requests[-1] == "stop" and (right.is_gone or right.requests[-1] == "stop"), "nothing is left running"
    return found


def test_the_slowest_rank_sets_the_step_and_each_exchange_counts_once() -> None:
    def story(left: FakeLink, right: FakeLink, attempt: str) -> None:
        for rank, link in enumerate((left, right)):
            says(link, rank, attempt, kind="device", name=None)
            says(link, rank, attempt, kind="sum", is_right=True)
            says(link, rank, attempt, kind="exchange", ranks=[0, 1], num_bytes=4096, seconds=0.25)
            says(link, rank, attempt, kind="steps", seconds=0.5 + rank, last_backward_s=0.25 + rank)
            says(link, rank, attempt, kind="stolen", s_per_byte=(1 + 2 * rank) * 1e-9)
            link.say("exited", rank=rank, attempt=attempt, code=0)

    found = measured(story)
    assert found == Measured(
        is_sum_right=True,
        exchanges=(TimedExchange(("left", "right"), 4096, 0.25),),
        compute_step_s=1.5,
        last_backward_s=1.25,
        stolen_s_per_byte=2e-9,
        gpus={"left": None, "right": None},
        problems={},
    )


def test_a_sum_that_is_wrong_on_one_rank_is_wrong() -> None:
    def story(left: FakeLink, right: FakeLink, attempt: str) -> None:
        for rank, link in enumerate((left, right)):
            says(link, rank, attempt, kind="sum", is_right=rank == 0)
            link.say("exited", rank=rank, attempt=attempt, code=0)

    assert not measured(story).is_sum_right


def test_a_rank_that_fails_is_told_with_its_last_words() -> None:
    def story(left: FakeLink, right: FakeLink, attempt: str) -> None:
        right.say("output", rank=1, attempt=attempt, text="out of luck")
        right.say("exited", rank=1, attempt=attempt, code=1)
        left.say("exited", rank=0, attempt=attempt, code=0)

    assert measured(story).problems == {"right": "out of luck"}


def test_a_gpu_that_torch_cannot_use_is_told() -> None:
    def story(left: FakeLink, right: FakeLink, attempt: str) -> None:
        says(right, 1, attempt, kind="device", problem="there is a GPU, but this torch cannot use it")
        for rank, link in enumerate((left, right)):
            link.say("exited", rank=rank, attempt=attempt, code=2)

    assert measured(story).problems["right"] == "there is a GPU, but this torch cannot use it"


def test_ranks_that_do_not_end_are_told_by_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "LONGEST_S", 0.2)

    def story(left: FakeLink, _right: FakeLink, attempt: str) -> None:
        left.say("exited", rank=0, attempt=attempt, code=0)

    assert measured(story).problems == {"right": "not done after 0 s"}


def test_a_host_that_goes_meanwhile_is_told() -> None:
    def story(_left: FakeLink, right: FakeLink, _attempt: str) -> None:
        right.mark_gone()
        right.say("gone")

    assert measured(story).problems == {"right": "gone"}


def test_checks_stop_where_the_next_would_make_no_sense() -> None:
    lines = list[Line]()
    links = [FakeLink(name, machine_there=machine(LO, PUBLIC)) for name in ("left", "right")]
    preflight = Preflight(Reached(tuple(link.as_link for link in links), ()), lines.append)
    asyncio.run(preflight.run(Silent()))
    assert lines[-1].check == "address" and not lines[-1].is_good
    assert "routes" not in links[0].requests and "listen" not in links[0].requests
    assert preflight.record is None


class FullDisk:
    """An outfit that does not fit on the host."""

    async def deliver_corpus(self, _links: object, _progress: object) -> None:
        raise UserError("right: the disk that holds /data is full", "make room")


def test_a_corpus_that_cannot_be_brought_is_told_and_nothing_is_measured(tmp_path: Path) -> None:
    lines = list[Line]()
    links = (FakeLink("left", is_local=True).as_link, FakeLink("right").as_link)
    preflight = Preflight(Reached(links, ()), lines.append, cast(Outfit, FullDisk()))
    asyncio.run(preflight._bring_and_measure(Silent()))
    assert [str(line) for line in lines] == ["✗ corpus    right: the disk that holds /data is full; make room"]
    assert preflight.record is None and not preflight.is_good
