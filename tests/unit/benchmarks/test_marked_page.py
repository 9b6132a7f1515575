"""Pages that benchmarks write into keep what people wrote around the marks."""

import pytest

from benchmarks.marked_page import replaced


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    text = "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n"
    new = replaced(text, "measured", "new")
    assert new == "before\n<!-- measured: begin -->\n\nnew\n\n<!-- measured: end -->\nafter\n"
    assert replaced(new, "measured", "new") == new


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no place between"):
        replaced("nothing", "measured", "new")
