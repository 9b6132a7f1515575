"""Where two files come apart, found by length and digits alone."""

import gzip
from pathlib import Path

import pytest

from dragoman.corpus import drift
from dragoman.corpus.drift import where_lines_drift


def written(directory: Path, name: str, lines: list[bytes]) -> Path:
    path = directory / name
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def sides(shared_data: Path, name: str) -> tuple[list[bytes], list[bytes]]:
    source, target = (gzip.decompress((shared_data / f"{name}.{side}.gz").read_bytes()) for side in ("en", "de"))
    return source.split(b"\n")[:-1], target.split(b"\n")[:-1]


@pytest.mark.parametrize("text", ["multi30k/train", "europarl/dev2000"])
@pytest.mark.parametrize("place", [0.01, 0.6, 0.99])
@pytest.mark.parametrize(("shorter", "missing"), [("target", 1), ("source", 1), ("target", 3)])
def test_the_line_where_real_text_drifts_is_named_to_within_ten(
    shared_data: Path, tmp_path: Path, text: str, place: float, shorter: str, missing: int
) -> None:
    source, target = sides(shared_data, text)
    line = round(place * len(source))
    cut = target if shorter == "target" else source
    del cut[line - 1 : line - 1 + missing]
    found = where_lines_drift(
        written(tmp_path, "a.en", source), written(tmp_path, "a.de", target), len(target) - len(source)
    )
    assert found is not None
    assert abs(found - line) <= 10


def test_a_missing_last_line_is_found_at_the_end(shared_data: Path, tmp_path: Path) -> None:
    source, target = sides(shared_data, "multi30k/val")
    found = where_lines_drift(written(tmp_path, "a.en", source), written(tmp_path, "a.de", target[:-1]), -1)
    assert found is not None
    assert abs(found - len(source)) <= 10


def test_text_that_says_nothing_gives_no_line(tmp_path: Path) -> None:
    one, other = written(tmp_path, "a", [b"x"] * 3), written(tmp_path, "b", [b"yyyyyyyyyyyyy", b""] * 2)
    assert where_lines_drift(one, other, 1) is None


@pytest.mark.parametrize(("num_source", "num_target"), [(0, 5), (5, 0), (0, 0), (5, 5)])
def test_where_nothing_can_drift_there_is_no_line(tmp_path: Path, num_source: int, num_target: int) -> None:
    source, target = written(tmp_path, "a", [b"x 1"] * num_source), written(tmp_path, "b", [b"x 1"] * num_target)
    assert where_lines_drift(source, target, num_target - num_source) is None


def test_files_of_wholly_different_size_are_not_searched(tmp_path: Path) -> None:
    source = written(tmp_path, "a", [b"line 1"])
    target = written(tmp_path, "b", [b"line 1"] * (drift.MAX_SHIFT + 2))
    assert where_lines_drift(source, target, drift.MAX_SHIFT + 1) is None
