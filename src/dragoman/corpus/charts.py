"""Bar charts as SVG text: numbers in, a picture out that reads well on light and on dark pages.

Knows nothing of corpora and needs no plotting library.
"""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH = 720
_STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600; fill: #24292f }
.a { fill: #2f6fde } .b { fill: #e07b39 } .axis { stroke: #8c959f; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b3 } .title { fill: #e6edf3 } .a { fill: #6ea8ff } .b { fill: #ffa366 }
}
</style>"""


def bars(title: str, rows: Sequence[tuple[str, int, str]]) -> str:
    """Horizontal bars: (name, number, what to write behind the bar)."""
    most = max((number for _, number, _ in rows), default=0) or 1
    parts = []
    for place, (name, number, label) in enumerate(rows):
        y = 40 + 24 * place
        width = max(1, round(360 * number / most))
        parts.append(
            f'<text x="170" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="a" x="180" y="{y}" width="{width}" height="17" rx="2"/>'
            f'<text x="{188 + width}" y="{y + 13}">{escape(label)}</text>'
        )
    return _svg(title, 52 + 24 * len(rows), parts)


def histogram(title: str, axis: str, series: Mapping[str, Sequence[float]], bin_width: int) -> str:
    """Two series of shares side by side over one axis; bin n covers n·bin_width to (n+1)·bin_width - 1."""
    num_bins = max((len(values) for values in series.values()), default=0) or 1
    most = max((value for values in series.values() for value in values), default=0) or 1
    step = (WIDTH - 80) / num_bins
    parts = ['<line class="axis" x1="50" y1="220" x2="690" y2="220"/>']
    for number, (kind, values) in enumerate(zip("ab", series.values(), strict=False)):
        for place, value in enumerate(values):
            height, width = 170 * value / most, 0.42 * step
            x, y = 50 + step * (place + 0.08 + 0.42 * number), 220 - height
            parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>')
    every = max(1, num_bins // 10)
    for place in range(0, num_bins, every):
        parts.append(f'<text x="{50 + step * place:.1f}" y="236" text-anchor="middle">{place * bin_width}</text>')
    parts.append(f'<text x="690" y="254" text-anchor="end">{escape(axis)}</text>')
    parts.append(f'<text x="44" y="54" text-anchor="end">{100 * most:.0f} %</text>')
    for number, (kind, name) in enumerate(zip("ab", series, strict=False)):
        parts.append(f'<rect class="{kind}" x="{560 + 70 * number}" y="14" width="10" height="10"/>')
        parts.append(f'<text x="{575 + 70 * number}" y="24">{escape(name)}</text>')
    return _svg(title, 264, parts)


def _svg(title: str, height: int, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">\n'
        f"<title>{escape(title)}</title>\n{_STYLE}\n"
        f'<text class="title" x="12" y="24">{escape(title)}</text>\n{body}\n</svg>\n'
    )
