"""Processes that take turns: the order, that only one runs, and what is said of those who fail."""

import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.ground import ROOT
from benchmarks.turns import FailedError, Start, race, rounds_of, started

COUNTING = """
import sys, time
from pathlib import Path
counter, number = Path(sys.argv[-1]), 0
while True:
    time.sleep(0.01)
    number += 10
    with counter.open("r+b") as file:
        file.write(number.to_bytes(8, "little"))
"""


def counting() -> Start:
    return Start([sys.executable, "-c", COUNTING])


def failing() -> Start:
    return Start([sys.executable, "-c", "import sys; print('starting'); sys.exit('no such library')"])


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@dataclass
class Named:
    """Notes when it was its turn."""

    name: str
    turns: list[str] = field(default_factory=list)

    def take_turn(self, slice_s: float) -> None:
        self.turns.append(f"{self.name} {slice_s:g}")


def test_the_order_is_reversed_every_other_round() -> None:
    turns: list[str] = []
    everyone = [Named(name, turns) for name in "abc"]
    assert list(rounds_of(everyone, 3, 2.0)) == [1, 2, 3]
    assert turns == ["a 2", "b 2", "c 2", "c 2", "b 2", "a 2", "a 2", "b 2", "c 2"]


def test_a_participant_stands_still_while_it_is_not_its_turn(tmp_path: Path) -> None:
    with started("counting", counting(), tmp_path) as participant:
        part = participant.run(least_steps=2, least_s=0.05)
        assert part.amount >= 20 and part.amount % 10 == 0
        assert 0.05 <= part.wall_s < 5
        deadline = time.monotonic() + 5  # the signal takes effect a moment after it is sent
        while (state := state_of(participant.process.pid)) != "T" and time.monotonic() < deadline:
            time.sleep(0.001)
        assert state == "T"
        assert participant.peak_rss_mb > 1
    assert participant.process.poll() is not None


def test_a_race_gives_everyone_a_slice_a_round_and_names_who_failed() -> None:
    starts = {"first": counting(), "broken": failing(), "second": counting()}
    rounds = []
    for now in race(starts, rounds=2, slice_s=0.03, warm_up_s=0.03):
        rounds.append([len(participant.slices) for participant in now.participants])
    assert rounds == [[1, 1], [2, 2]]
    assert [participant.name for participant in now.participants] == ["first", "second"]
    assert now.failed == {"broken": "broken ended with code 1: no such library"}
    assert all(rate > 0 for participant in now.participants for rate in participant.rates("wall_s"))


def test_whoever_ends_in_its_turn_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    with (
        started("broken", failing(), tmp_path) as participant,
        pytest.raises(FailedError, match="broken ended with code 1: no such library"),
    ):
        participant.run(least_steps=1, least_s=0.0)


def test_when_a_race_is_ended_nobody_is_left_behind(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    racing = (
        "import sys; from pathlib import Path; from benchmarks.turns import Start, race\n"
        f"start = Start([sys.executable, '-c', {COUNTING!r}])\n"
        "for now in race({'a': start, 'b': start}, 1000, 0.01, 0.01):\n"
        f"    Path({str(pids)!r}).write_text(' '.join(str(each.process.pid) for each in now.participants))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", racing], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not pids.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.terminate()
    process.wait(timeout=10)
    assert not [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()]
