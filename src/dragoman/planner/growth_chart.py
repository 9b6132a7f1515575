"""Growing clusters as a picture: SVG text for light and for dark pages, without a plotting library."""

from collections.abc import Sequence
from html import escape
from math import log2, log10

from dragoman.planner.hardware import find_gpu
from dragoman.planner.offers import LINKS
from dragoman.planner.simulate import MOST_GPUS, Growth, grow, workload_for

GPU, GPUS_PER_HOST, TOKENS_PER_STEP = "A100 SXM", 8, 400_000
"""What the chart of the documentation shows: a step as large as translation is known to bear (Ott et al. 2018)."""
LINK_NAMES = ("1 Gb/s", "10 Gb/s", "100 Gb/s")

PANEL_WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 430, 430, 64, 74, 366
_STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #24292f } .panel { font-size: 13px; font-weight: 600; fill: #24292f }
.axis { stroke: #8c959f; stroke-width: 1 } .grid { stroke: #8c959f; stroke-opacity: .25 }
.a { stroke: #b3371e } .b { stroke: #2f6fde } .c { stroke: #2d8a4e } polyline { fill: none; stroke-width: 2 }
.plain { stroke-dasharray: 3 4; stroke-opacity: .7 } circle { fill: #fff; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b3 } .title, .panel { fill: #e6edf3 } circle { fill: #0d1117 }
  .a { stroke: #ff8a70 } .b { stroke: #6ea8ff } .c { stroke: #5fd08a }
}
</style>"""


def house_growths(preset: str) -> list[Growth]:
    """The clusters of the documentation."""
    work, gpu = workload_for(preset, TOKENS_PER_STEP), find_gpu(GPU)
    return [grow(preset, work, gpu, GPUS_PER_HOST, name, LINKS[name][0]) for name in LINK_NAMES]


def house_chart() -> str:
    """`docs/growth-of-a-cluster.svg`."""
    title = f"Where adding machines stops paying: {GPU}, {GPUS_PER_HOST} to a host, {TOKENS_PER_STEP:,} tokens a step"
    return growth_chart(title, [(f"Transformer {preset}", house_growths(preset)) for preset in ("base", "big")])


def growth_chart(title: str, panels: Sequence[tuple[str, Sequence[Growth]]]) -> str:
    """A panel a model: target tokens a second against GPUs, both by doubling; a line a link."""
    speeds = [size.plain_tokens_per_s for _, growths in panels for growth in growths for size in growth.sizes]
    speeds += [size.tokens_per_s for _, growths in panels for growth in growths for size in growth.sizes]
    low, high = int(log10(min(speeds))), -int(-log10(max(speeds)) // 1)
    parts = []
    for place, (name, growths) in enumerate(panels):
        parts.append(f'<g transform="translate({place * PANEL_WIDTH} 0)">{_panel(name, growths, low, high)}</g>')
    width = PANEL_WIDTH * len(panels) + 20
    legend = "solid: what auto chooses · dotted: plain exchange · circle: the last doubling that paid"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" role="img">\n'
        f"<title>{escape(title)}</title>\n{_STYLE}\n"
        f'<text class="title" x="14" y="24">{escape(title)}</text>\n<text x="14" y="44">{escape(legend)}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _panel(name: str, growths: Sequence[Growth], low: int, high: int) -> str:
    def x(num_gpus: int) -> float:
        return LEFT + (PANEL_WIDTH - LEFT - 20) * log2(num_gpus) / log2(MOST_GPUS)

    def y(speed: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (log10(speed) - low) / (high - low)

    parts = [f'<text class="panel" x="{LEFT}" y="{TOP - 8}">{escape(name)}</text>']
    for power in range(low, high + 1):
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{PANEL_WIDTH - 20}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}"/>'
        )
        parts.append(f'<text x="{LEFT - 6}" y="{y(10**power) + 4:.1f}" text-anchor="end">{_short(10**power)}</text>')
    for power in range(0, 11, 2):
        parts.append(f'<text x="{x(2**power):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{2**power:,}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{PANEL_WIDTH - 20}" y1="{BOTTOM}" y2="{BOTTOM}"/>')
    parts.append(
        f'<text x="{PANEL_WIDTH - 20}" y="{BOTTOM + 36}" text-anchor="end">GPUs · target tokens a second</text>'
    )
    for place, (kind, growth) in enumerate(zip("abc", growths, strict=False)):
        chosen = " ".join(f"{x(size.num_gpus):.1f},{y(size.tokens_per_s):.1f}" for size in growth.sizes)
        plain = " ".join(f"{x(size.num_gpus):.1f},{y(size.plain_tokens_per_s):.1f}" for size in growth.sizes)
        best = next(size for size in growth.sizes if size.num_gpus == growth.last_worth)
        parts.append(f'<polyline class="{kind} plain" points="{plain}"/><polyline class="{kind}" points="{chosen}"/>')
        parts.append(f'<circle class="{kind}" cx="{x(best.num_gpus):.1f}" cy="{y(best.tokens_per_s):.1f}" r="5"/>')
        at = LEFT + 118 * place
        parts.append(
            f'<line class="{kind}" stroke-width="3" x1="{at}" x2="{at + 18}" y1="{HEIGHT - 12}" y2="{HEIGHT - 12}"/>'
        )
        parts.append(f'<text x="{at + 24}" y="{HEIGHT - 8}">{escape(growth.link_name)}</text>')
    return "\n".join(parts)


def _short(number: int) -> str:
    return f"{number // 10**6} M" if number >= 10**6 else f"{number // 1000} k" if number >= 1000 else str(number)
