"""Charts as SVG text, drawn once and for all: they show without a script, print, and read well on light and dark.

Every curve carries its points as data, so that the page's script can show the numbers under the pointer.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from dragoman.report.answers import Bar, Bars, Chart, Curves, Line

WIDTH, HEIGHT = 760, 270
LEFT, RIGHT, TOP, FLOOR = 62, 16, 34, 228
"""Of the plot inside the picture."""
CUT_AT = 3.0
"""What lies so many times further from the lowest than nearly all points is cut, so that the rest can be seen."""
NUM_COLOURS = 6
COLOURS = {
    "computing": 0,
    "waiting": 1,
    "exposed communication": 1,
    "waiting for the wire": 1,
    "waiting for input": 2,
    "slower ranks": 3,
    "uneven ranks": 3,
    "waiting for slower ranks": 3,
    "padding": 4,
    "small batches": 4,
    "measured": 5,
    "the host, between the parts": 5,
}
"""What has the same meaning has the same colour in every chart of bars."""
BAR_HEIGHT, BAR_GAP, BAR_LEFT = 22, 10, 150
BAR_ROOM = 400


def drawn(chart: Chart) -> str:
    """The picture of a chart."""
    return _bars(chart) if isinstance(chart, Bars) else _curves(chart)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that cover a range: steps of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def tick_label(value: float) -> str:
    """Short: 106300 -> '106,300'; 0.00025 -> '2.5e-4'."""
    if value == 0:
        return "0"
    if abs(value) >= 1e7 or abs(value) < 1e-3:
        mantissa, exponent = (
            f"{value:.3g}".partition("e")[::2] if "e" in f"{value:.3g}" else (f"{value:.1e}").split("e")
        )
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:,.6g}" if abs(value) < 1000 else f"{value:,.0f}"


@dataclass(frozen=True)
class _Scale:
    """Where numbers are on the picture."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.x_low) / (self.x_high - self.x_low)

    def y(self, value: float) -> float:
        inside = min(max(value, self.y_low), self.y_high)
        return TOP + (FLOOR - TOP) * (1 - (inside - self.y_low) / (self.y_high - self.y_low))


def _curves(chart: Curves) -> str:
    known = [(x, y) for line in chart.lines for x, y in zip(line.x, line.y, strict=True) if y is not None]
    if not known:
        return ""
    x_low, x_high = min(x for x, _ in known), max(x for x, _ in known)
    y_low, y_high, is_cut = _y_range([y for _, y in known], chart.is_y_from_zero)
    scale = _Scale(x_low, x_high if x_high > x_low else x_low + 1, y_low, y_high)
    parts = [*_frame(chart, scale), *_marks(chart, scale)]
    if is_cut:
        most = tick_label(float(f"{max(y for _, y in known):.3g}"))
        parts.append(_text("marked", WIDTH - RIGHT, TOP - 14, f"cut off: up to {most}", "end"))
    for number, line in enumerate(chart.lines):
        points = [(scale.x(x), scale.y(y)) for x, y in zip(line.x, line.y, strict=True) if y is not None]
        parts.append(_path(points, line.kind, number % NUM_COLOURS))
    parts.append('<line class="cursor" x1="0" x2="0" y1="0" y2="0"/>')
    data = {
        "x": [scale.x_low, scale.x_high],
        "box": {"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": FLOOR, "width": WIDTH},
        "x_label": chart.x_label,
        "lines": [{"name": line.name, "x": line.x, "y": line.y} for line in chart.lines],
    }
    return _figure(chart.title, _summary_of(chart), HEIGHT, parts, _legend([line.name for line in chart.lines]), data)


def _frame(chart: Curves, scale: _Scale) -> list[str]:
    """Axis, grid and their numbers."""
    parts = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{FLOOR}" y2="{FLOOR}"/>']
    for value in ticks(scale.y_low, scale.y_high, 4):
        y = scale.y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text("tick", LEFT - 8, y + 4, tick_label(value), "end"))
    for value in ticks(scale.x_low, scale.x_high, 6):
        parts.append(_text("tick", scale.x(value), FLOOR + 18, tick_label(value), "middle"))
    parts.append(_text("label", WIDTH - RIGHT, HEIGHT - 4, chart.x_label, "end"))
    parts.append(_text("label", LEFT - 48, TOP - 14, chart.y_label, "start"))
    return parts


def _marks(chart: Curves, scale: _Scale) -> list[str]:
    parts = []
    for mark in chart.marks:
        x = scale.x(mark.x)
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{FLOOR}"/>')
        is_far_right = x > WIDTH - 110
        parts.append(_text("marked", x - 5 if is_far_right else x + 5, TOP + 10, mark.label,
                           "end" if is_far_right else "start"))  # fmt: skip
    return parts


def _text(kind: str, x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _y_range(values: Sequence[float], from_zero: bool) -> tuple[float, float, bool]:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    low = min(0.0, low) if from_zero else low
    usual = ordered[min(len(ordered) - 1, int(0.94 * len(ordered)))] - low
    is_cut = len(ordered) > 12 and usual > 0 and high - low > CUT_AT * usual
    high = low + 1.5 * usual if is_cut else high
    if high <= low:
        margin = abs(high) * 0.1 or 1.0
        return (low if from_zero else low - margin), high + margin, is_cut
    margin = 0.06 * (high - low)
    return (low if from_zero else low - margin), high + margin, is_cut


def _path(points: Sequence[tuple[float, float]], kind: str, colour: int) -> str:
    if kind == "points" or len(points) == 1:
        return "".join(f'<circle class="s{colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points)
    steps = " ".join(f"{'M' if place == 0 else 'L'}{x:.1f} {y:.1f}" for place, (x, y) in enumerate(points))
    dots = ""
    if kind == "line" and len(points) <= 40:
        dots = "".join(f'<circle class="s{colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points)
    return f'<path class="s{colour} {kind}" d="{steps}"/>{dots}'


def _summary_of(chart: Curves) -> str:
    """The chart in words, for those who cannot see it."""
    told = [f"{chart.title}."]
    for line in chart.lines:
        if ends := _ends(line):
            (x, y), (last_x, last_y) = ends
            told.append(f"{line.name}: {y:.4g} at {chart.x_label} {x:,.0f}, {last_y:.4g} at {last_x:,.0f}.")
    return " ".join(told)


def _ends(line: Line) -> tuple[tuple[float, float], tuple[float, float]] | None:
    known = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None]
    return (known[0], known[-1]) if known else None


def _bars(chart: Bars) -> str:
    most = max((sum(value for _, value in bar.parts) for bar in chart.bars), default=0.0)
    if not chart.bars or not most > 0:
        return ""
    names = list(dict.fromkeys(name for bar in chart.bars for name, _ in bar.parts))
    colours = {name: COLOURS.get(name, place % NUM_COLOURS) for place, name in enumerate(names)}
    parts = []
    for place, bar in enumerate(chart.bars):
        parts += _bar(bar, 8 + place * (BAR_HEIGHT + BAR_GAP), most, colours, chart.unit)
    height = 8 + len(chart.bars) * (BAR_HEIGHT + BAR_GAP)
    words = "; ".join(f"{bar.label}: {bar.text}" for bar in chart.bars)
    return _figure(chart.title, f"{chart.title}. {words}", height, parts, _legend(names, colours), None)


def _bar(bar: Bar, y: int, most: float, colours: dict[str, int], unit: str) -> list[str]:
    middle = y + BAR_HEIGHT / 2 + 4
    found = [f'<text class="name" x="{BAR_LEFT - 12}" y="{middle:.1f}" text-anchor="end">{escape(bar.label)}</text>']
    x = float(BAR_LEFT)
    for name, value in bar.parts:
        width = BAR_ROOM * value / most
        tip = f"{name}: {value:.4g} {unit}"
        found.append(
            f'<rect class="s{colours[name]}" x="{x:.1f}" y="{y}" width="{max(0.0, width):.1f}" height="{BAR_HEIGHT}" '
            f'rx="2"><title>{escape(tip)}</title></rect>'
        )
        x += width
    found.append(f'<text class="value" x="{x + 10:.1f}" y="{middle:.1f}">{escape(bar.text)}</text>')
    return found


def _legend(names: Sequence[str], colours: Mapping[str, int] | None = None) -> str:
    if len(names) < 2:
        return ""
    colours = colours or {name: place % NUM_COLOURS for place, name in enumerate(names)}
    entries = "".join(f'<li><i class="s{colours[name]}"></i>{escape(name)}</li>' for name in names)
    return f'<ul class="legend">{entries}</ul>'


def _figure(title: str, words: str, height: int, parts: Sequence[str], legend: str, data: object) -> str:
    points = ""
    if data is not None:  # "<" never ends the element early, whatever a run calls its things
        points = f'<script type="application/json">{json.dumps(data).replace("<", chr(92) + "u003c")}</script>'
    return (
        f'<figure><figcaption>{escape(title)}</figcaption>{legend}<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'tabindex="0" aria-label="{escape(words, quote=True)}">{"".join(parts)}</svg>{points}</figure>'
    )
