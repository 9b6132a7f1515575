"""Curves stay small, even and honest about gaps."""

from itertools import pairwise

import pytest

from dragoman.watch.curves import Curves


def drawn(curves: Curves, name: str, since: int = 0) -> list[tuple[float, float | None]]:
    return [(point.x, point.y) for point in curves.points(name, since)]


def test_few_points_stay_as_they_are() -> None:
    curves = Curves()
    for step in (1, 2, 5):
        curves.add(step, {"loss": 10.0 - step})
    assert drawn(curves, "loss") == [(1, 9.0), (2, 8.0), (5, 5.0)]


def test_many_points_become_means_of_equal_stretches() -> None:
    curves = Curves(most_buckets=100)
    for step in range(100_000):
        curves.add(step, {"loss": float(step)})
    points = drawn(curves, "loss")
    assert 50 <= len(points) <= 100
    gaps = {right[0] - left[0] for left, right in pairwise(points[:-1])}
    assert len(gaps) == 1
    assert all(y == pytest.approx(x) for x, y in points)


def test_after_a_resume_the_later_line_counts() -> None:
    curves = Curves()
    for step in (1, 2, 3, 4):
        curves.add(step, {"loss": 1.0})
    curves.add(3, {"loss": 2.0})
    assert drawn(curves, "loss") == [(1, 1.0), (2, 1.0), (3, 2.0)]


def test_what_is_not_known_is_a_gap_and_does_not_pull_a_mean_down() -> None:
    curves = Curves()
    curves.add(1, {"loss": 4.0})
    curves.add(2, {"loss": None})
    curves.add(3, {"bleu": 1.0})
    assert drawn(curves, "loss") == [(1, 4.0), (2, None), (3, None)]
    wide = Curves(width=10)
    wide.add(1, {"loss": 4.0})
    wide.add(2, {"loss": None})
    assert drawn(wide, "loss") == [(1.5, 4.0)]
    assert curves.names() == ["bleu", "loss"]


def test_only_what_changed_since_a_revision_is_given() -> None:
    curves = Curves(width=10)
    curves.revision = 1
    curves.add(1, {"loss": 1.0})
    curves.add(11, {"loss": 2.0})
    curves.revision = 2
    curves.add(12, {"loss": 4.0})
    assert drawn(curves, "loss", since=1) == [(11.5, 3.0)]
    assert drawn(curves, "loss", since=2) == []
    assert curves.reset_revision == 0


def test_going_back_and_becoming_coarser_ask_for_everything_anew() -> None:
    curves = Curves(most_buckets=4)
    curves.revision = 5
    curves.add(1, {"loss": 1.0})
    curves.add(1, {"loss": 1.0})
    assert curves.reset_revision == 5
    curves.revision = 6
    for step in range(2, 9):
        curves.add(step, {"loss": 1.0})
    assert curves.reset_revision == 6
