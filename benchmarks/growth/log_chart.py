"""Curves on two logarithmic axes as SVG text, light and dark: what is linear rises as the dotted line does."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

PANEL_WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 400, 330, 62, 70, 278
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #24292f } .panel { font-size: 13px; font-weight: 600; fill: #24292f }
.axis { stroke: #8c959f } .grid { stroke: #8c959f; stroke-opacity: .25 }
polyline { fill: none; stroke: #2f6fde; stroke-width: 2 } circle { fill: #2f6fde }
.linear { stroke: #8c959f; stroke-dasharray: 2 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b3 } .title, .panel { fill: #e6edf3 } polyline { stroke: #6ea8ff } circle { fill: #6ea8ff }
}
</style>"""


@dataclass(frozen=True)
class Panel:
    """One curve; both of its axes grow by factors of ten."""

    name: str
    x_axis: str
    points: Sequence[tuple[float, float]]


def chart(title: str, panels: Sequence[Panel]) -> str:
    """Panels side by side."""
    width = PANEL_WIDTH * len(panels) + 10
    groups = "\n".join(f'<g transform="translate({n * PANEL_WIDTH} 0)">{_panel(p)}</g>' for n, p in enumerate(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" role="img">\n'
        f"<title>{escape(title)}</title>\n{STYLE}\n"
        f'<text class="title" x="14" y="24">{escape(title)}</text>\n{groups}\n</svg>\n'
    )


def _panel(panel: Panel) -> str:
    xs, ys = [x for x, _ in panel.points], [y for _, y in panel.points]
    low_x, high_x = log10(min(xs)), log10(max(xs))
    low_y, high_y = floor(log10(min(ys))), max(ceil(log10(max(ys))), floor(log10(min(ys))) + 1)

    def x(value: float) -> float:
        return LEFT + (PANEL_WIDTH - LEFT - 24) * (log10(value) - low_x) / (high_x - low_x)

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (log10(value) - low_y) / (high_y - low_y)

    def line(kind: str, points: Sequence[tuple[float, float]]) -> str:
        return f'<polyline class="{kind}" points="{" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)}"/>'

    parts = [f'<text class="panel" x="{LEFT}" y="{TOP - 12}">{escape(panel.name)}</text>']
    for power in range(low_y, high_y + 1):
        at = y(10**power)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{PANEL_WIDTH - 24}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10**power:,g}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{PANEL_WIDTH - 24}" y1="{BOTTOM}" y2="{BOTTOM}"/>')
    for value in (xs[0], xs[-1]):
        anchor = "start" if value == xs[0] else "end"
        parts.append(f'<text x="{x(value):.1f}" y="{BOTTOM + 18}" text-anchor="{anchor}">{value:,g}</text>')
    middle = (LEFT + PANEL_WIDTH - 24) / 2
    parts.append(f'<text x="{middle:.0f}" y="{BOTTOM + 36}" text-anchor="middle">{escape(panel.x_axis)}</text>')
    # From the last point back: the curve lies above it where small sizes pay a fixed cost, below it where growth hurts.
    end_x = max(xs[0], xs[-1] * 10**low_y / ys[-1])
    parts.append(line("linear", [(end_x, ys[-1] * end_x / xs[-1]), (xs[-1], ys[-1])]))
    parts.append(line("measured", panel.points))
    parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5"/>' for a, b in panel.points]
    return "".join(parts)
