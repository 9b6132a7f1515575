"""Growing clusters, and the picture of them."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dragoman.planner.growth_chart import (
    GPUS_PER_HOST,
    LINK_NAMES,
    TOKENS_PER_STEP,
    growth_chart,
    house_chart,
    house_growths,
)
from dragoman.planner.hardware import GPUS
from dragoman.planner.offers import LINKS
from dragoman.planner.simulate import MOST_GPUS, grow, last_worth, workload_for

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ([(1, 100), (2, 200), (4, 390), (8, 500), (16, 990)], 4),
        ([(1, 100), (2, 149)], 1),
        ([(1, 100), (2, 150), (4, 225)], 4),
    ],
)
def test_growth_stops_paying_at_the_first_doubling_that_gains_too_little(
    speeds: list[tuple[int, float]], expected: int
) -> None:
    assert last_worth(speeds) == expected


@pytest.mark.parametrize("preset", ["base", "big"])
def test_clusters_are_simulated_up_to_1024_gpus(preset: str) -> None:
    found = grow(preset, workload_for(preset, TOKENS_PER_STEP), GPUS["A100"], 8, "10 Gb/s", LINKS["10 Gb/s"][0])
    assert [size.num_gpus for size in found.sizes] == [2**power for power in range(11)]
    assert found.sizes[-1].num_hosts == 128 and found.sizes[-1].num_gpus == MOST_GPUS
    assert all(size.tokens_per_s >= size.plain_tokens_per_s * (1 - 0.1) for size in found.sizes)
    one, two = found.sizes[:2]
    assert 1.9 < two.tokens_per_s / one.tokens_per_s <= 2


def test_a_faster_link_or_a_larger_step_lets_more_machines_pay() -> None:
    def worth(link: str, tokens: int) -> int:
        return grow("base", workload_for("base", tokens), GPUS["A100"], 8, link, LINKS[link][0]).last_worth

    assert worth("1 Gb/s", TOKENS_PER_STEP) <= worth("10 Gb/s", TOKENS_PER_STEP) <= worth("100 Gb/s", TOKENS_PER_STEP)
    assert worth("1 Gb/s", TOKENS_PER_STEP) < worth("100 Gb/s", TOKENS_PER_STEP)
    assert worth("100 Gb/s", 25_000) < worth("100 Gb/s", TOKENS_PER_STEP)


def test_the_chart_is_whole_and_escapes_what_it_is_given() -> None:
    text = growth_chart("a < b", [("<base>", house_growths("base"))])
    root = ElementTree.fromstring(text)
    assert root.find("{http://www.w3.org/2000/svg}title").text == "a < b"  # type: ignore[union-attr]
    assert text.count("<polyline") == 2 * len(LINK_NAMES) and text.count("<circle") == len(LINK_NAMES)


def test_the_chart_in_the_documentation_is_what_the_model_says_today() -> None:
    assert (DOCS / "growth-of-a-cluster.svg").read_text(encoding="utf-8") == house_chart()


def test_the_page_beside_it_gives_the_same_sizes() -> None:
    page = (DOCS / "PLANNING.md").read_text(encoding="utf-8")
    assert f"{GPUS_PER_HOST} to a host" in page and f"{TOKENS_PER_STEP:,} target tokens" in page
    for preset in ("base", "big"):
        for found in house_growths(preset):
            assert f"| {preset} | {found.link_name} | {found.last_worth_plain} | {found.last_worth} |" in page
