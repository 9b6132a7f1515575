"""A run over its attempts: who takes part in the next, what is said, and when it is given up."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from dragoman.cluster import copies, supervise
from dragoman.cluster.attempt import Ended
from dragoman.cluster.crew import Outfit, Reached
from dragoman.cluster.home import Home
from dragoman.cluster.hosts import Host
from dragoman.cluster.link import Link, UnreachableError
from dragoman.cluster.machine import this_machine
from dragoman.cluster.pace import Pace
from dragoman.cluster.seats import Seat
from dragoman.cluster.ssh import Problem
from dragoman.cluster.supervise import Supervisor
from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.core.run_records import EventRecord
from tests.unit.cluster.fake_links import FakeLink
from tests.unit.cluster.test_seats import seat

BROKEN = Ended("broken", "rank 1 on right was killed by SIGKILL", 1)
Turn = Callable[["Play", Pace], Ended]


class FakeOutfit:
    """Brings nothing."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def seat(self, link: Link) -> Seat:
        return seat(link.host.name, "10.0.0.1", 1)

    async def deliver_run(self, _link: Link) -> None: ...

    async def deliver_corpus(self, _links: Sequence[Link], _progress: object) -> None: ...


@dataclass
class Play:
    """A supervisor whose attempts end as they are told to."""

    directory: Path
    links: list[FakeLink]
    turns: list[Turn]
    casts: list[list[str]] = field(default_factory=list)
    """The hosts of each attempt, in the order of their ranks."""
    reachable: dict[str, FakeLink] = field(default_factory=dict)
    supervisor: Supervisor = field(init=False)

    def __post_init__(self) -> None:
        hosts = [link.host for link in self.links]
        self.supervisor = Supervisor(hosts, cast(Outfit, FakeOutfit(self.directory)))

    def save(self, step: int, seconds_ago: float = 0.0) -> None:
        """A checkpoint at home."""
        place = self.directory / "checkpoints" / f"step_{step:07}"
        place.mkdir(parents=True)
        (place / "SHA256SUMS").touch()
        os.utime(place / "SHA256SUMS", (time.time() - seconds_ago,) * 2)

    def run(self, links: Sequence[FakeLink] | None = None) -> int:
        chosen = self.links if links is None else links
        return asyncio.run(asyncio.wait_for(self.supervisor.run([link.as_link for link in chosen]), 30))

    def events(self, kind: str) -> list[EventRecord]:
        path = self.directory / "events.jsonl"
        found = list(records.read_lines(path, EventRecord)) if path.exists() else []
        return [one for one in found if one.kind == kind]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    stage = Play(tmp_path, [FakeLink("left", is_local=True), FakeLink("right")], [])

    class ScriptedAttempt:
        def __init__(self, links: Sequence[Link], seats: Any, home: Any, pace: Pace, wishes: Any) -> None:
            stage.casts.append([link.host.name for link in links])
            self._pace, self._wishes = pace, wishes

        async def run(self) -> Ended:
            turn = stage.turns.pop(0)
            ended = turn(stage, self._pace)
            deadline = time.monotonic() + 5
            while ended.kind == "stopped" and self._wishes() is None:  # it ends because of the wish
                assert time.monotonic() < deadline, "nobody wishes anything"
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3 if self._pace.num_steps else 0.01)  # for what waits for the first step
            return Ended("stopped", self._wishes()) if ended.kind == "stopped" else ended

    async def fake_reach(hosts: Sequence[Host]) -> Reached:
        found = [stage.reachable[host.name].as_link for host in hosts if host.name in stage.reachable]
        missing = [host for host in hosts if host.name not in stage.reachable]
        problem = Problem("it does not answer", "see that it runs")
        return Reached(tuple(found), tuple(UnreachableError(host, problem) for host in missing))

    async def fake_connect(host: Host) -> Link:
        reached = await fake_reach([host])
        if reached.failures:
            raise reached.failures[0]
        return reached.links[0]

    monkeypatch.setattr(supervise, "Attempt", ScriptedAttempt)
    monkeypatch.setattr(supervise, "reach", fake_reach)
    monkeypatch.setattr(supervise, "connect", fake_connect)
    return stage


def always(ended: Ended) -> Turn:
    return lambda _stage, _pace: ended


def test_three_breaks_without_a_new_checkpoint_are_enough(play: Play) -> None:
    play.turns = [always(BROKEN)] * 9
    with pytest.raises(
        UserError, match="broke 3 times without reaching a new checkpoint; the last time rank 1 on right"
    ):
        play.run()
    assert len(play.turns) == 6


def test_a_new_checkpoint_is_a_new_chance(play: Play) -> None:
    def saves(stage: Play, _pace: Pace) -> Ended:
        stage.save(len(stage.casts))
        return BROKEN

    play.turns = [always(BROKEN), always(BROKEN), saves, always(BROKEN), always(BROKEN), always(Ended("done"))]
    assert play.run() == 0
    assert [event.text for event in play.events("broken")] == 5 * [
        f"{BROKEN.reason}; going on from the last checkpoint"
    ]
    assert play.events("broken")[0].rank == 1


@pytest.mark.parametrize(
    ("num_failures", "told"),
    [(2, []), (3, ["the last checkpoints were not copied: left: there is no such directory"])],
)
def test_last_checkpoints_that_do_not_come_home_are_tried_again_and_then_told(
    play: Play, monkeypatch: pytest.MonkeyPatch, num_failures: int, told: list[str]
) -> None:
    tries = list[str]()

    async def bring_home(link: Link, _outfit: Outfit, _home: Home) -> None:
        tries.append(link.host.name)
        if len(tries) <= num_failures:
            raise UserError("left: there is no such directory")

    monkeypatch.setattr(copies, "bring_home", bring_home)
    play.links[0].is_local = False
    play.turns = [always(Ended("done"))]
    assert play.run() == 0
    assert tries == ["left"] * 3
    assert [event.text for event in play.events("save")] == told


def test_what_the_user_can_mend_is_not_tried_again(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    play.turns = [always(Ended("refused", "rank 0 on left ended with code 2"))]
    assert play.run() == 2
    assert "dragoman: rank 0 on left ended with code 2" in capsys.readouterr().err


def test_lost_time_counts_from_the_checkpoint_that_everything_goes_back_to(play: Play) -> None:
    play.save(2, seconds_ago=60.0)
    assert play.supervisor._work_lost_since(started=time.time() - 100) == pytest.approx(time.time() - 60, abs=5)
    assert play.supervisor._work_lost_since(started=time.time() - 10) == pytest.approx(time.time() - 10, abs=5)


def test_the_first_step_after_a_break_ends_the_lost_time(play: Play) -> None:
    def steps(_stage: Play, pace: Pace) -> Ended:
        pace.num_steps = 1
        return Ended("done")

    play.turns = [always(BROKEN), steps]
    assert play.run() == 0
    (recovered,) = play.events("recovered")
    assert recovered.text.startswith("training again on left, right; ") and recovered.text.endswith(" s were lost")
    assert recovered.lost_s is not None and 0 <= recovered.lost_s < 20


def test_a_host_that_cannot_be_reached_is_done_without(play: Play) -> None:
    def loses_right(stage: Play, _pace: Pace) -> Ended:
        stage.links[1].mark_gone()
        return BROKEN

    play.turns = [loses_right, always(Ended("done"))]
    assert play.run() == 0
    assert play.casts == [["left", "right"], ["left"]]
    assert [event.text for event in play.events("host lost")] == ["right: it does not answer; going on without it"]


def test_a_host_that_comes_back_as_it_was_is_taken_in_again_behind_this_machine(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "LOOK_AGAIN_S", 0.0)
    play.links.reverse()  # the order of the file: right, left
    play.supervisor = Supervisor([link.host for link in play.links], cast(Outfit, FakeOutfit(play.directory)))
    play.reachable["right"] = FakeLink("right", machine_there=this_machine(play.directory))
    play.turns = [always(Ended("stopped")), always(Ended("done"))]
    assert play.run(play.links[1:]) == 0
    assert play.casts == [["left"], ["left", "right"]]
    assert [event.text for event in play.events("host back")] == ["right takes part again"]


def test_a_host_that_comes_back_with_another_dragoman_stays_away(play: Play) -> None:
    other = FakeLink("right")
    assert not asyncio.run(play.supervisor._is_fit(other.as_link))
    assert other.is_gone
    same = FakeLink("right", machine_there=this_machine(play.directory))
    assert asyncio.run(play.supervisor._is_fit(same.as_link))


def test_a_host_that_is_lost_again_and_again_is_tried_less_often(play: Play) -> None:
    waits = []
    for _ in range(12):
        play.supervisor._miss(play.links[1].host)
        waits.append(round(play.supervisor._absent["right"].look_at - time.monotonic()))
    assert waits[:4] == [10, 20, 40, 80]
    assert waits[-1] == 1800


def test_no_host_at_all_is_waited_for_and_then_told(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "REACH_WAIT_S", 0.1)

    def loses_all(stage: Play, _pace: Pace) -> Ended:
        for link in stage.links:
            link.mark_gone()
        return BROKEN

    play.turns = [loses_all]
    with pytest.raises(
        UserError, match="none of the hosts can be reached any more; run the same command when they can"
    ):
        play.run()
