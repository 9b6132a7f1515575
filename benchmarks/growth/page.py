"""Tables, charts and verdicts of docs/GROWTH.md, from what was measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from benchmarks.ground import ROOT
from benchmarks.growth.log_chart import Panel, chart
from benchmarks.marked_page import put

Rows = Sequence[Sequence[float]]
PAGE = ROOT / "docs" / "GROWTH.md"
PICTURES = ROOT / "docs" / "images"
LINEAR = 1.05
"""Growth with at most this power counts as linear: so much is noise here."""
AXES = {
    "tokens": "target tokens a step",
    "size": "numbers in its matrices, thousands",
    "pieces": "pieces of the vocabulary",
}


def power(rows: Rows, column: int = 1) -> float:
    """How fast the upper half of a curve grows: 1 is linear, 2 is quadratic."""
    first, last = rows[len(rows) // 2 - 1], rows[-1]
    return log(last[column] / first[column]) / log(last[0] / first[0])


def verdict(rows: Rows, column: int = 1) -> str:
    grows = power(rows, column)
    return f"power {grows:.2f}, " + ("linear or better" if grows <= LINEAR else "**more than linear**")


def table(heads: Sequence[str], rows: Rows, digits: Sequence[int]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "--:|" * len(heads)]
    for row in rows:
        cells = [f"{one:,.{places}f}" for one, places in zip(row, digits, strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


@dataclass(frozen=True)
class Section:
    """A part of the page: its words, and its pictures by name."""

    text: str
    pictures: Mapping[str, str]


def sections(found: Mapping[str, Any]) -> dict[str, Section]:
    """One for every part that was measured."""
    write: dict[str, Callable[[Any], Section]] = {
        "steps": steps,
        "resuming": resuming,
        "preparation": preparation,
        "reports": reports,
    }
    told = {}
    for part, one in found.items():
        section = write[part](one["rows"])
        told[part] = replace(section, text=f"{section.text}\n\n`{one['command']}`, {one['measured_at']}.")
    return told


def publish(found: Mapping[str, Any]) -> None:
    """What there is; parts that were not measured stay as they are."""
    for part, section in sections(found).items():
        put(PAGE, part, section.text)
        for name, picture in section.pictures.items():
            (PICTURES / name).write_text(picture, encoding="utf-8")


def steps(rows: Mapping[str, Rows]) -> Section:
    pictures = {}
    for name, column, unit in (("time", 1, "seconds of a step"), ("memory", 2, "peak memory, MB")):
        panels = [Panel(unit, label, points(rows[axis], column)) for axis, label in AXES.items()]
        pictures[f"growth-of-{name}.svg"] = chart(f"Growth of a step's {name} (dotted: linear)", panels)
    text = "\n\n".join(
        f"{table([label, 'seconds', 'peak MB'], rows[axis], (0, 3, 0))}\n\n"
        f"Time: {verdict(rows[axis])}. Memory: {verdict(rows[axis], 2)}."
        for axis, label in AXES.items()
    )
    return Section(text, pictures)


def resuming(rows: Rows) -> Section:
    panel = Panel("seconds from the command to its first new step", "steps done", points(rows, 1))
    text = f"{table(['steps done', 'seconds'], rows, (0, 1))}\n\nTime: {verdict(rows)}."
    return Section(text, {"growth-of-resuming.svg": chart("Resuming (dotted: linear)", [panel])})


def preparation(rows: Rows) -> Section:
    curves = (("seconds", 1), ("seconds without subwords", 2), ("peak memory, MB", 3))
    panels = [Panel(name, "sentence pairs", points(rows, column)) for name, column in curves]
    text = (
        f"{table(['pairs', 'seconds', 'without subwords', 'peak MB'], rows, (0, 1, 1, 0))}\n\n"
        f"Time: {verdict(rows)}; without subwords: {verdict(rows, 2)}. Memory: {verdict(rows, 3)}."
    )
    return Section(text, {"growth-of-preparation.svg": chart("Preparation (dotted: linear)", panels)})


def reports(rows: Rows) -> Section:
    panels = [
        Panel("seconds of `dragoman report`", "steps of 8 ranks", points(rows, 2)),
        Panel("seconds until its page stands", "steps of 8 ranks", points(rows, 4)),
    ]
    heads = ["steps of 8 ranks", "records, MB", "seconds", "of them on the processor", "its page opens in s"]
    text = f"{table(heads, rows, (0, 0, 1, 1, 2))}\n\nTime: {verdict(rows, 2)}. The page: {verdict(rows, 4)}."
    return Section(text, {"growth-of-reports.svg": chart("Reports (dotted: linear)", panels)})


def points(rows: Rows, column: int) -> list[tuple[float, float]]:
    return [(row[0], row[column]) for row in rows]
