"""Files that grow, are cut, hold half lines, or are far too long to read whole."""

import json
import time
from pathlib import Path

import pytest

from dragoman.watch.following import Follower, number, printable, whole_number
from tests.watched_run import write_long


def write(path: Path, *values: object, mode: str = "a") -> None:
    with path.open(mode) as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


def numbers(follower: Follower) -> list[int]:
    return [record["n"] for group in follower.look() for record in group]


def test_each_look_gives_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    follower = Follower(path)
    assert numbers(follower) == []
    write(path, {"n": 1}, {"n": 2})
    assert numbers(follower) == [1, 2]
    assert numbers(follower) == []
    write(path, {"n": 3})
    assert numbers(follower) == [3]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    follower = Follower(path)
    path.write_text('{"n": 1}\n{"n": ')
    assert numbers(follower) == [1]
    with path.open("a") as file:
        file.write('2}\n{"n"')
    assert numbers(follower) == [2]
    assert follower.num_bad_lines == 0


def test_lines_that_are_no_records_are_counted_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}\nnot json\n[1]\n\xff\xfe\n\n{"n": 2}\n' + b"[" * 100_000 + b'\n{"n": 3}\n')
    follower = Follower(path)
    assert numbers(follower) == [1, 2, 3]
    assert follower.num_bad_lines == 4


def test_a_file_that_was_cut_or_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, {"n": 1}, {"n": 2})
    follower = Follower(path)
    follower.look()
    write(path, {"n": 7}, mode="w")
    assert numbers(follower) == [7]
    write(tmp_path / "b.jsonl", {"n": 8}, {"n": 9})
    (tmp_path / "b.jsonl").rename(path)
    assert numbers(follower) == [8, 9]


def test_of_a_long_file_spots_lie_evenly_and_the_end_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, *({"n": n} for n in range(10_000)))
    follower = Follower(path, 1_000, 500, num_spots=10)
    *spots, tail = follower.look()
    firsts = [group[0]["n"] for group in spots]
    assert firsts[0] == 0
    assert firsts == sorted(firsts)
    assert all(abs(first - 1000 * index) < 150 for index, first in enumerate(firsts))
    assert all([record["n"] for record in group] == list(range(group[0]["n"], group[0]["n"] + 4)) for group in spots)
    assert tail[-1]["n"] == 9_999
    assert [record["n"] for record in tail] == list(range(tail[0]["n"], 10_000))
    assert follower.num_bad_lines == 0
    write(path, {"n": 10_000})
    assert numbers(follower) == [10_000]


def test_without_spots_only_the_end_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", *({"n": n} for n in range(10_000)))
    [tail] = Follower(tmp_path / "a.jsonl", 1_000, 500, num_spots=0).look()
    assert tail[-1]["n"] == 9_999
    assert len(tail) < 60


def test_a_hundred_megabytes_open_at_once(tmp_path: Path) -> None:
    write_long(tmp_path / "rank00.jsonl", 150_000)
    start = time.process_time()
    groups = Follower(tmp_path / "rank00.jsonl").look()
    assert time.process_time() - start < 0.5
    assert groups[0][0]["step"] == 1
    assert groups[-1][-1]["step"] == 150_000


@pytest.mark.parametrize("value", [None, "3", True, float("nan"), float("inf"), [1]])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert number({"x": value}, "x") is None
    assert whole_number({"x": value}, "x") is None


def test_numbers_are_read() -> None:
    assert (number({"x": 3}, "x"), number({}, "x")) == (3.0, None)
    assert (whole_number({"x": 3.0}, "x"), whole_number({"x": 3.5}, "x")) == (3, None)


def test_texts_cannot_steer_a_terminal() -> None:
    assert printable("Grüße\x1b[2J\r\n\u202e!") == "Grüße�[2J���!"
