"""Results as a picture: a panel a column, a bar a participant, as SVG for light and for dark pages."""

from collections.abc import Sequence
from html import escape

from benchmarks.peers.page import TITLES, name_of
from benchmarks.peers.results import Column, Results, Row

PANEL_WIDTH, NAME_WIDTH, BAR, GAP, TOP = 490, 226, 14, 6, 62
_STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #24292f } .panel { font-size: 13px; font-weight: 600; fill: #24292f }
.own { fill: #b3371e } .peer { fill: #8c959f } rect.told { fill: none; stroke: #8c959f; stroke-dasharray: 3 3 }
.spread { stroke: #24292f; stroke-width: 1.5 } text.own { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b3 } .title, .panel { fill: #e6edf3 } .own { fill: #ff8a70 } .spread { stroke: #e6edf3 }
}
</style>"""


def chart(results: Results) -> str:
    """Speeds of all columns, then peak memory while training."""
    columns = [results.columns[name] for name in TITLES if name in results.columns]
    panels = [speed_panel(column) for column in columns]
    panels += [memory_panel(column) for column in columns if column.name.startswith("training")]
    parts, heights = [], [0.0, 0.0]
    for drawing, height in panels:
        side = 0 if heights[0] <= heights[1] else 1
        parts.append(f'<g transform="translate({side * PANEL_WIDTH} {TOP + heights[side]:.0f})">{drawing}</g>')
        heights[side] += height
    title = "Dragoman and its peers, on one machine, in turns"
    width, height = 2 * PANEL_WIDTH, TOP + max(heights)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" role="img">\n'
        f"<title>{title}</title>\n{_STYLE}\n"
        f'<text class="title" x="14" y="24">{title}</text>\n'
        '<text x="14" y="44">bar: median · line: least to most of all rounds · dashed: not measured here, '
        "told by what others did</text>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def speed_panel(column: Column) -> tuple[str, float]:
    """Rates, the fastest first, and the height that they take."""
    rows = sorted(column.rows, key=lambda row: row.times)
    bars = [(row, row.rate, min(row.rates), max(row.rates), f"{row.rate:,.0f}") for row in rows]
    return panel(f"{TITLES[column.name]}: {column.unit}", column.own_key, bars)


def memory_panel(column: Column) -> tuple[str, float]:
    """Peak memory, the least first."""
    known = [(row, row.peak_mb) for row in column.rows if row.peak_mb is not None]
    bars = [(row, peak, peak, peak, f"{peak:,.0f}") for row, peak in sorted(known, key=lambda pair: pair[1])]
    return panel(f"{TITLES[column.name]}: peak memory, MB", column.own_key, bars)


def panel(title: str, own_key: str, bars: Sequence[tuple[Row, float, float, float, str]]) -> tuple[str, float]:
    """A title and a bar each: its length, least, most, and what is written beside it."""
    longest = max((most for *_, most, _ in bars), default=1.0)
    room = PANEL_WIDTH - NAME_WIDTH - 90
    parts = [f'<text class="panel" x="14" y="14">{escape(title.replace("`", ""))}</text>']
    for number, (row, value, least, most, words) in enumerate(bars):
        y = 24 + number * (BAR + GAP)
        kind = "own" if row.key == own_key else "told" if row.is_converted else "peer"
        name = escape(name_of(row.key).replace("*", ""))
        middle, end = y + BAR / 2, NAME_WIDTH + room * most / longest
        own = ' class="own"' if kind == "own" else ""
        parts.append(f'<text{own} x="{NAME_WIDTH - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
        parts.append(
            f'<rect class="{kind}" x="{NAME_WIDTH}" y="{y}" width="{room * value / longest:.1f}" height="{BAR}"/>'
        )
        if most > least:
            x = NAME_WIDTH + room * least / longest
            parts.append(f'<line class="spread" x1="{x:.1f}" x2="{end:.1f}" y1="{middle}" y2="{middle}"/>')
        parts.append(f'<text x="{end + 6:.1f}" y="{y + 11}">{words}</text>')
    return "\n".join(parts), 24.0 + len(bars) * (BAR + GAP) + 22
