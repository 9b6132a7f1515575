"""What is told of growth: powers from the upper half of a curve, and a page that holds what was measured."""

import json

import pytest

from benchmarks.growth.__main__ import PARTS, RESULTS
from benchmarks.growth.page import PAGE, PICTURES, power, sections, verdict
from benchmarks.marked_page import replaced


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_power_is_that_of_the_upper_half(exponent: float) -> None:
    rows = [[x, 5.0 if x < 100 else float(x) ** exponent] for x in (1, 10, 100, 1_000, 10_000)]
    assert power(rows[:1] + rows[2:]) == pytest.approx(exponent)


def test_quadratic_growth_is_not_called_linear() -> None:
    assert verdict([[1, 1.0], [10, 10.0], [100, 100.0]]) == "power 1.00, linear or better"
    assert verdict([[1, 1.0], [10, 100.0], [100, 10_000.0]]) == "power 2.00, **more than linear**"


def test_the_page_and_its_pictures_are_those_of_the_results() -> None:
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert set(found) == set(PARTS)
    text = PAGE.read_text(encoding="utf-8")
    for part, section in sections(found).items():
        assert text == replaced(text, part, section.text)
        for name, picture in section.pictures.items():
            assert (PICTURES / name).read_text(encoding="utf-8") == picture
            assert f"(images/{name})" in text
