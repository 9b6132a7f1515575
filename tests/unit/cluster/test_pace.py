"""A slow link is noticed; a busy moment is not one."""

import json
from pathlib import Path

import pytest

from dragoman.cluster.pace import Pace, Turn


def write(path: Path, exchanges: list[float], first: int = 1) -> None:
    with path.open("a") as file:
        for number, seconds in enumerate(exchanges, start=first):
            file.write(json.dumps({"step": number, "exchange_s": seconds}) + "\n")


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    return tmp_path / "rank00.jsonl"


def test_a_link_at_a_tenth_is_noticed_and_so_is_its_return(steps: Path) -> None:
    pace = Pace.from_end_of(steps, 0)
    write(steps, [3.0, 2.0, 1.0] + [0.1] * 27)
    assert pace.news() == []
    write(steps, [1.0] * 12, first=31)
    assert pace.news() == [Turn(is_slow=True, exchange_s=1.0, usual_s=0.1)]
    write(steps, [0.1] * 12, first=43)
    assert pace.news() == [Turn(is_slow=False, exchange_s=0.1, usual_s=0.1)]
    assert (pace.step, pace.num_steps) == (54, 54)


def test_a_late_rank_now_and_then_is_no_slow_link(steps: Path) -> None:
    pace = Pace.from_end_of(steps, 0)
    write(steps, [0.01] * 30 + [0.01, 0.5, 0.6, 0.5, 0.4] * 20)
    assert pace.news() == []


def test_milliseconds_are_not_worth_a_word(steps: Path) -> None:
    pace = Pace.from_end_of(steps, 0)
    write(steps, [0.0001] * 30 + [0.005] * 50)
    assert pace.news() == []


def test_only_this_attempt_counts_and_half_a_line_waits(steps: Path) -> None:
    write(steps, [9.0] * 100)
    pace = Pace.from_end_of(steps, 100)
    assert (pace.news(), pace.num_steps, pace.step) == ([], 0, 100)
    with steps.open("a") as file:
        file.write('{"step": 101, "exch')
        file.flush()
        assert (pace.news(), pace.num_steps) == ([], 0)
        file.write('ange_s": 0.1}\nnot json\n')
    assert (pace.news(), pace.num_steps, pace.step) == ([], 1, 101)


def test_no_file_is_no_news(tmp_path: Path) -> None:
    assert Pace.from_end_of(tmp_path / "absent", 7).news() == []
