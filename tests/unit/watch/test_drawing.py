"""Curves as characters."""

from dragoman.watch.drawing import picture, spark, stacked


def rows(*lines: list[tuple[float, float | None]], width: int = 4, height: int = 2) -> list[str]:
    return ["".join(character for character, _ in row) for row in picture(lines, width, height)]


def test_a_spark_rises_from_the_lowest_block_to_the_highest() -> None:
    assert spark([1, 2, 3, 4, 5, 6, 7, 8], 8) == "▁▂▃▄▅▆▇█"
    assert spark([5, 5], 9) == "▁▁"
    assert spark([], 9) == spark([None, None], 9) == ""


def test_a_spark_of_many_values_keeps_its_width_and_shows_gaps() -> None:
    assert len(spark([float(n) for n in range(1000)], 40)) == 40
    assert spark([1, None, 2], 3) == "▁ █"


def test_a_falling_line_goes_from_top_left_to_bottom_right() -> None:
    first, second = rows([(0, 8.0), (7, 1.0)])
    assert first == "⠑⢄⠀⠀"
    assert second == "⠀⠀⠑⢄"


def test_a_flat_line_lies_in_the_middle_and_one_point_is_one_dot() -> None:
    assert rows([(0, 3.0), (9, 3.0)]) == ["⠀⠀⠀⠀", "⠉⠉⠉⠉"]
    assert rows([(5, 3.0)]) == ["⠀⠀⠀⠀", "⠁⠀⠀⠀"]


def test_what_is_not_known_breaks_the_line() -> None:
    broken = rows([(0, 1.0), (1, 1.0), (4, None), (6, 1.0), (7, 1.0)])[1]
    assert broken[0] == broken[3] == "⠉"
    assert "⠀" in broken[1:3]


def test_two_lines_share_one_scale_and_one_axis() -> None:
    cells = picture([[(0, 10.0), (7, 10.0)], [(4, 0.0), (7, 0.0)]], 4, 2)
    assert [owner for _, owner in cells[0]] == [0, 0, 0, 0]
    assert [owner for _, owner in cells[1]] == [None, None, 1, 1]


def test_nothing_draws_nothing() -> None:
    assert rows() == rows([]) == rows([(1, None)]) == ["⠀⠀⠀⠀", "⠀⠀⠀⠀"]


def test_stacked_lines_lie_upon_each_other() -> None:
    assert stacked([[(1, 2.0), (2, None)], [(1, 3.0), (2, 4.0)]]) == [[(1, 2.0), (2, None)], [(1, 5.0), (2, 4.0)]]


def test_a_scale_can_be_made_to_hold_more_than_the_curve() -> None:
    whole = ["".join(character for character, _ in row) for row in picture([[(0, 1.0), (9, 1.0)]], 4, 2, (0.0, None))]
    assert whole == ["⠉⠉⠉⠉", "⠀⠀⠀⠀"]
