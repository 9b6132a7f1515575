"""What is told of the wire is what was measured, and whole runs add up."""

import pytest

from benchmarks.marked_page import replaced
from benchmarks.wire.page import (
    PAGE,
    PICTURES,
    STUDY,
    measured_links,
    quality_chart,
    speed_chart,
    speed_sections,
    whole_runs,
)
from benchmarks.wire.quality import Trained
from dragoman.core import records


def test_the_page_and_its_picture_are_those_of_the_results() -> None:
    found, text = measured_links(), PAGE.read_text(encoding="utf-8")
    for part, section in speed_sections(found).items():
        assert text == replaced(text, part, section)
    assert (PICTURES / "wire-speed.svg").read_text(encoding="utf-8") == speed_chart(found)


@pytest.mark.parametrize("study", ["ordinary", "small"])
def test_the_pictures_of_quality_are_those_of_the_runs(study: str) -> None:
    runs = list(records.read_lines(STUDY.with_name(f"quality-{study}.jsonl"), Trained))
    assert (PICTURES / f"wire-quality-{study}.svg").read_text(encoding="utf-8") == quality_chart(runs)


def test_a_whole_run_is_slow_at_first() -> None:
    seconds = {"plain": 4.0, "eight_bits": 2.0, "larger_step_4": 1.0, "local_steps_16": 1.0}
    rows = whole_runs({"rungs": {name: {"measured_s": one} for name, one in seconds.items()}}).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| larger_step_4", "| local_steps_16"]
    for row in rows:
        first, _, after = row.split(" | ")[1].partition(" of ")
        share = int(first.replace(",", "")) / int(after.replace(",", ""))
        assert 0 < share < 1
        assert float(row.strip("| ").split(" | ")[-1]) == pytest.approx(4 / (2 * share + (1 - share)), abs=0.01)
