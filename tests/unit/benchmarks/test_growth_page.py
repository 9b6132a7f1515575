"""What is told of growth: powers from the upper half of a curve, and a page that holds what was measured."""

import pytest

from benchmarks.growth.page import power, verdict


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_power_is_that_of_the_upper_half(exponent: float) -> None:
    rows = [[x, 5.0 if x < 100 else float(x) ** exponent] for x in (1, 10, 100, 1_000, 10_000)]
    assert power(rows[:1] + rows[2:]) == pytest.approx(exponent)


def test_quadratic_growth_is_not_called_linear() -> None:
    assert verdict([[1, 1.0], [10, 10.0], [100, 100.0]]) == "power 1.00, linear or better"
    assert verdict([[1, 1.0], [10, 100.0], [100, 10_000.0]]) == "power 2.00, **more than linear**"
