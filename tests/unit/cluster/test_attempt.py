"""One attempt, from what its hosts say: how it ended, and what is written down on the way."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.cluster import attempt as attempts
from dragoman.cluster.attempt import Attempt, Ended
from dragoman.cluster.home import Home
from dragoman.cluster.pace import Pace
from dragoman.core import records
from dragoman.core.run_records import EventRecord
from tests.unit.cluster.fake_links import FakeLink
from tests.unit.cluster.test_seats import seat

Story = Callable[["Stage", str], None]


class Stage:
    """Two hosts of a rank each, and a story that is told when the ranks have been started."""

    def __init__(self, directory: Path, story: Story) -> None:
        self.left, self.right = FakeLink("left", is_local=True), FakeLink("right")
        self.wish: str | None = None
        self.directory = directory
        self.right.on_start = lambda attempt: story(self, attempt)

    def exit(self, attempt: str, left: int | None, right: int | None) -> None:
        for rank, (link, code) in enumerate(((self.left, left), (self.right, right))):
            if code is not None:
                link.say("exited", rank=rank, attempt=attempt, code=code)

    def beat(self, age: float, words: str) -> None:
        """Of the rank on right."""
        self.right.say("beat", ranks={"1": [age, words]}, flows={})

    async def play(self) -> Ended:
        seats = [seat("left", "10.0.0.1", 1), seat("right", "10.0.0.2", 1)]
        links = [self.left.as_link, self.right.as_link]
        pace = Pace.from_end_of(self.directory / "steps/rank00.jsonl", 7)
        return await Attempt(links, seats, Home(self.directory), pace, lambda: self.wish).run()

    @property
    def events(self) -> list[EventRecord]:
        path = self.directory / "events.jsonl"
        return list(records.read_lines(path, EventRecord)) if path.exists() else []


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Story], tuple[Ended, Stage]]:
    monkeypatch.setattr(attempts, "TICK_S", 0.01)

    def play(story: Story) -> tuple[Ended, Stage]:
        stage = Stage(tmp_path, story)
        return asyncio.run(asyncio.wait_for(stage.play(), 20)), stage

    return play


Played = Callable[[Story], tuple[Ended, Stage]]


@pytest.mark.parametrize(
    ("codes", "ended"),
    [
        ((0, 0), Ended("done")),
        ((None, -9), Ended("broken", "rank 1 on right was killed by SIGKILL", 1)),
        ((None, 1), Ended("broken", "rank 1 on right ended with code 1", 1)),
        ((75, None), Ended("broken", "rank 0 on left did not move and ended itself", 0)),
        ((2, None), Ended("refused", "rank 0 on left ended with code 2", 0)),
        ((143, 0), Ended("broken", "rank 0 on left was stopped by somebody else", 0)),
    ],
)
def test_exit_codes_say_how_it_ended(played: Played, codes: tuple[int | None, int | None], ended: Ended) -> None:
    found, stage = played(lambda stage, attempt: stage.exit(attempt, *codes))
    assert found == ended
    assert stage.left.requests[-1] == stage.right.requests[-1] == "stop", "nothing is left running"


def test_what_ranks_of_an_earlier_attempt_did_does_not_count(played: Played) -> None:
    def story(stage: Stage, attempt: str) -> None:
        stage.exit("an earlier one", 1, 1)
        stage.exit(attempt, 0, 0)

    assert played(story)[0] == Ended("done")


def test_a_wish_stops_all_hosts_and_their_ends_are_awaited(played: Played) -> None:
    def story(stage: Stage, attempt: str) -> None:
        stage.wish = "third is back"
        asyncio.get_running_loop().call_later(0.1, stage.exit, attempt, 143, 143)

    found, stage = played(story)
    assert found == Ended("stopped", "third is back")
    stops = [fields["grace_s"] for kind, fields in stage.right.asked if kind == "stop"]
    assert stops[0] == attempts.STOP_GRACE_S, "time for a checkpoint"


def test_a_rank_that_gives_no_sign_is_named_and_ended(played: Played) -> None:
    found, stage = played(lambda stage, _: stage.beat(31.0, "working 2"))
    assert found == Ended("broken", "rank 1 on right gave no sign of life", 1)
    assert [(one.kind, one.rank, one.step, one.text) for one in stage.events] == [
        ("stuck", 1, 7, "rank 1 on right has given no sign for 31 s")
    ]


def test_a_rank_that_does_not_move_is_named_once_and_given_time(played: Played) -> None:
    def story(stage: Stage, attempt: str) -> None:
        stage.beat(0.5, "working 46")
        stage.beat(0.5, "working 48")
        stage.beat(0.5, "waiting 90")
        stage.exit(attempt, 0, 0)

    found, stage = played(story)
    assert found == Ended("done")
    assert [one.text for one in stage.events] == ["rank 1 on right has not moved for 46 s"]


def test_a_rank_that_waits_for_others_is_not_stuck(played: Played) -> None:
    def story(stage: Stage, attempt: str) -> None:
        stage.beat(0.5, "waiting 200")
        stage.beat(0.5, "starting 200")
        stage.exit(attempt, 0, 0)

    assert played(story)[1].events == []


def test_a_host_that_is_silent_for_too_long_is_gone(played: Played) -> None:
    def story(stage: Stage, _: str) -> None:
        stage.right.silent_s = 41.0

    found, stage = played(story)
    assert found == Ended("broken", "right cannot be reached any more", lost_hosts=("right",))
    assert stage.right.is_gone and not stage.left.is_gone
    assert stage.left.requests[-1] == "stop"


def test_a_shorter_silence_is_written_down_with_the_time_it_cost(played: Played) -> None:
    def story(stage: Stage, attempt: str) -> None:
        def back() -> None:
            stage.right.silent_s = 0.0
            asyncio.get_running_loop().call_later(0.1, stage.exit, attempt, 0, 0)

        stage.right.silent_s = 12.0
        stage.right.heard_at = asyncio.get_running_loop().time() - 12.0  # the clock of a loop is time.monotonic
        asyncio.get_running_loop().call_later(0.1, back)

    found, stage = played(story)
    assert found == Ended("done")
    (event,) = stage.events
    assert event.kind == "silence" and event.text == "right was silent for 12 s and is back"
    assert event.lost_s == pytest.approx(12.0, abs=2.0)


def test_what_ranks_say_has_the_name_of_the_host_and_cannot_control_the_terminal(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    def story(stage: Stage, attempt: str) -> None:
        stage.right.say("output", rank=1, attempt=attempt, text="\x1b[31mred\x07 \x9b2J step 3")
        stage.right.say("output", rank=1, attempt="an earlier one", text="late words")
        stage.exit(attempt, 0, 0)

    played(story)
    assert capsys.readouterr().err == "right │ [31mred 2J step 3\n"


def test_a_host_that_goes_while_ranks_are_started_is_a_break(played: Played, tmp_path: Path) -> None:
    stage = Stage(tmp_path, lambda *_: None)
    stage.right.mark_gone()
    found = asyncio.run(asyncio.wait_for(stage.play(), 20))
    assert (found.kind, found.lost_hosts) == ("broken", ("right",))
    assert "stop" in stage.left.requests
