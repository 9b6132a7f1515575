"""Writes the tables and charts of `docs/WIRE.md`: `python -m benchmarks.wire.page [--quality ordinary|small DIR]`.

Speeds come from `benchmarks/wire/results.jsonl`, the medians of each link; qualities from the directory of a study.
What is not given stays as it was.
"""

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.marked_page import put
from benchmarks.wire.__main__ import RESULTS, table
from benchmarks.wire.quality import BASELINE, Trained
from benchmarks.wire.quality import table as quality_table
from dragoman.core import config_file, records
from dragoman.theory import wire as theory
from dragoman.theory.schedule import num_single_steps

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE, PICTURES = DOCS / "WIRE.md", DOCS / "images"
STUDY = Path(__file__).with_name("quality.toml")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 380, 64, 160, 56, 318
COLOURS = ("#2f6fde", "#b3371e", "#1a7f5a", "#9a6700", "#8250df", "#57606a")
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-size: 15px; font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: .25 } .predicted { stroke-dasharray: 4 4; stroke-opacity: .7 }
polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #9da7b3 } .title { fill: #e6edf3 } }
</style>"""


class Axes:
    """Logarithmic to the right; upwards logarithmic or not."""

    def __init__(self, xs: Sequence[float], ys: Sequence[float], *, is_log: bool) -> None:
        self._is_log = is_log
        self._low_x, self._high_x = log10(min(xs)), log10(max(xs))
        scaled = [self._scaled(y) for y in ys]
        margin = 0.06 * (max(scaled) - min(scaled)) or 1.0
        self._low_y, self._high_y = min(scaled) - margin, max(scaled) + margin

    def _scaled(self, y: float) -> float:
        return log10(y) if self._is_log else y

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (log10(value) - self._low_x) / (self._high_x - self._low_x)

    def y(self, value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (self._scaled(value) - self._low_y) / (self._high_y - self._low_y)

    def frame(self, title: str, x_axis: str, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> list[str]:
        parts = [f'<text class="title" x="14" y="24">{escape(title)}</text>']
        for tick in y_ticks:
            at = self.y(tick)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>')
        for tick in x_ticks:
            parts.append(f'<text x="{self.x(tick):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{tick:,g}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        return [*parts, f'<text x="{middle:.0f}" y="{BOTTOM + 40}" text-anchor="middle">{escape(x_axis)}</text>']


def svg(title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", STYLE, *parts, "</svg>", ""])


def combined(repeats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The medians of several measurements of one link; the words are those of the last."""
    rungs = {
        name: {key: median(one["rungs"][name][key] for one in repeats) for key in values}
        for name, values in repeats[-1]["rungs"].items()
    }
    numbers = {key: median(one[key] for one in repeats) for key in ("compute_s", "backward_s")}
    return {**repeats[-1], **numbers, "rungs": rungs}


def measured_links() -> list[dict[str, Any]]:
    """All of them, the slowest first."""
    links: dict[str, list[dict[str, Any]]] = {}
    for one in map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines()):
        links.setdefault(one["name"], []).append(one)
    return sorted(map(combined, links.values()), key=lambda one: one["mbit"] or float("inf"))


def speed_sections(found: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the page says of speed, by part."""
    whole = whole_runs(next(one for one in found if one["name"] == "75%"))
    return {"speed": "\n".join(map(table, found)).strip(), "whole runs": whole}


def speed_chart(found: Sequence[Mapping[str, Any]]) -> str:
    """Step time of every rung against the rate of the link, measured and predicted."""
    limited = sorted((one for one in found if one["mbit"]), key=lambda one: float(one["mbit"]))
    rates = [float(one["mbit"]) for one in limited]
    names = list(limited[0]["rungs"])
    every = [one["rungs"][name][kind] for one in limited for name in names for kind in ("measured_s", "predicted_s")]
    axes = Axes(rates, every, is_log=True)
    title = "Seconds a step of the recipe on two hosts: measured, and predicted (dashed)"
    parts = axes.frame(title, "Mb/s between the hosts", rates, [t for t in (1, 2, 3, 5, 8) if t <= max(every)])
    for name, colour in zip(names, COLOURS, strict=False):
        for kind in ("measured", "predicted"):
            points = [
                (axes.x(rate), axes.y(one["rungs"][name][f"{kind}_s"]))
                for rate, one in zip(rates, limited, strict=True)
            ]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline class="{kind}" style="stroke: {colour}" points="{line}"/>')
    order = sorted(names, key=lambda name: -float(limited[0]["rungs"][name]["measured_s"]))
    for place, name in enumerate(order):
        colour = COLOURS[names.index(name)]
        parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{TOP + 18 * place}" style="fill: {colour}">{name}</text>')
    return svg(title, parts)


def quality_chart(runs: Sequence[Trained]) -> str:
    """BLEU against megabytes sent for each step of the recipe: a dot a seed, each rung's name above its dots."""
    low, high = floor(min(run.bleu for run in runs)) - 1, ceil(max(run.bleu for run in runs)) + 2
    sent = {
        name: fmean(run.bytes_per_step / 1e6 for run in runs if run.rung == name) for name in {r.rung for r in runs}
    }
    axes = Axes(list(sent.values()), [low, high], is_log=False)
    title = "BLEU at equal tokens against megabytes that a host sends for a step"
    ticks = [tick for tick in (0.5, 1, 2, 3, 4, 5, 10) if min(sent.values()) <= tick <= max(sent.values())]
    parts = axes.frame(title, "MB a step", ticks, range(low, high + 1))
    for place, name in enumerate(sorted(sent, key=lambda name: sent[name])):
        scores = [run.bleu for run in runs if run.rung == name]
        x, name_y, colour = axes.x(sent[name]), TOP + 4 + 15 * place, COLOURS[place % len(COLOURS)]
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{name_y}" y2="{axes.y(max(scores)):.1f}"/>')
        parts.append(f'<text x="{x + 5:.1f}" y="{name_y + 4}" style="fill: {colour}">{name}</text>')
        parts += [f'<circle cx="{x:.1f}" cy="{axes.y(one):.1f}" r="4" style="fill: {colour}"/>' for one in scores]
    return svg(title, parts)


def whole_runs(link: Mapping[str, Any]) -> str:
    """The study's whole runs on a link: its first steps at their own pace, then those of the rung."""
    config = config_file.load(STUDY)
    num_steps = config.training.max_steps
    step_s = {name: float(measured["measured_s"]) for name, measured in link["rungs"].items()}
    lines = [
        "| rung | steps at first | as | s each | the rest, s each | tokens/s against plain |",
        "|---|--:|---|--:|--:|--:|",
    ]
    for rung in theory.ladder(theory.Layout(2, 2), max_step_factor=4, local_steps=16):
        cycle = rung.step_factor * rung.local_steps
        if rung.name not in step_s or cycle == 1:
            continue
        first = rung.at_first.codec  # with one rank a host, also the name of a rung
        num_first = num_single_steps(
            config.schedule, step_factor=rung.step_factor, local_steps=rung.local_steps, total_steps=num_steps
        )
        whole_s = num_first * step_s[first] + (num_steps - num_first) * step_s[rung.name]
        gain = num_steps * step_s["plain"] / whole_s
        cells = [
            rung.name,
            f"{num_first:,} of {num_steps:,}",
            first,
            f"{step_s[first]:.3f}",
            f"{step_s[rung.name]:.3f}",
            f"{gain:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quality", nargs=2, action="append", default=[], metavar=("STUDY", "DIR"))
    options = parser.parse_args()
    found = measured_links()
    for part, text in speed_sections(found).items():
        put(PAGE, part, text)
    (PICTURES / "wire-speed.svg").write_text(speed_chart(found), encoding="utf-8")
    for study, directory in options.quality:
        runs = list(records.read_lines(Path(directory) / "runs.jsonl", Trained))
        assert any(run.rung == BASELINE for run in runs)
        put(PAGE, f"quality of {study} steps", quality_table(Path(directory), runs))
        (PICTURES / f"wire-quality-{study}.svg").write_text(quality_chart(runs), encoding="utf-8")
        shutil.copy(Path(directory) / "runs.jsonl", STUDY.with_name(f"quality-{study}.jsonl"))


if __name__ == "__main__":
    main()
