"""The curves of all attempts as SVG text, light and dark: a colour a name, a line a seed."""

from collections.abc import Callable, Sequence
from html import escape
from math import floor

from benchmarks.growth.log_chart import STYLE
from benchmarks.multi30k_record.attempts import GOAL, Attempt, by_name
from dragoman.report.drawing import tick_label, ticks

PANEL_WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 460, 376, 44, 88, 348
RIGHT = PANEL_WIDTH - 46
COLOURS = (
    *("#2f6fde", "#b3371e", "#1a7f5a", "#9a6700", "#8250df"),
    *("#57606a", "#bf3989", "#00a0b0", "#e8590c", "#7cb518"),
)
LOWEST = 30.0
"""BLEU below this is not shown: all that is worth seeing is far above."""
OWN_STYLE = (
    "<style>circle.test { fill: none; stroke-width: 2 } .goal { stroke: #8c959f; stroke-dasharray: 2 4 }</style>"
)
CLIP = f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/></clipPath>'

Point = tuple[float, float]


def chart(attempts: Sequence[Attempt]) -> str:
    """BLEU on val against minutes and against tokens, with the look at the test set at each end."""
    title = "BLEU on val on the way, and on the test set at the end (rings)"
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(by_name(attempts))}
    panels = [
        _panel("against minutes of training", attempts, colours, lambda minutes, _: minutes),
        _panel("against millions of target tokens", attempts, colours, lambda _, tokens: tokens / 1e6),
    ]
    groups = [f'<g transform="translate({place * PANEL_WIDTH} 0)">{panel}</g>' for place, panel in enumerate(panels)]
    width = PANEL_WIDTH * len(panels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" role="img">'
    names = "".join(f'<tspan dx="14" style="fill: {colours[name]}">{escape(name)}</tspan>' for name in colours)
    return "\n".join(
        [
            *(head, f"<title>{escape(title)}</title>", STYLE, OWN_STYLE, CLIP),
            f'<text class="title" x="14" y="24">{escape(title)}</text>',
            f'<text class="panel" x="0" y="46">{names}</text>',
            f'<text x="{width - 14}" y="46" text-anchor="end">dotted: {GOAL}, published, on the test set</text>',
            *(*groups, "</svg>", ""),
        ]
    )


def _panel(
    name: str, attempts: Sequence[Attempt], colours: dict[str, str], across: Callable[[float, int], float]
) -> str:
    scores = [one.test_bleu for one in attempts]
    low = min(LOWEST, floor(min(scores)))
    high = max(GOAL, *scores, *(bleu for one in attempts for _, _, bleu in one.curve)) + 1.5
    far = max(across(one.minutes, one.tokens) for one in attempts) * 1.03 or 1.0

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * value / far

    def y(bleu: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (bleu - low) / (high - low)

    def level(kind: str, bleu: float) -> str:
        return f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{y(bleu):.1f}" y2="{y(bleu):.1f}"/>'

    parts = [f'<text class="panel" x="{LEFT}" y="{TOP - 14}">{escape(name)}</text>', level("axis", low)]
    for tick in ticks(low, high, 5):
        parts.append(level("grid", tick))
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick_label(tick)}</text>')
    for tick in ticks(0, far, 6):
        parts.append(f'<text x="{x(tick):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{tick_label(tick)}</text>')
    parts += [level("goal", GOAL), f'<text x="{RIGHT + 6}" y="{y(GOAL) + 4:.1f}">{GOAL}</text>']
    for one in attempts:
        points = [(x(across(minutes, tokens)), y(bleu)) for minutes, tokens, bleu in one.curve]
        parts.append(_line(points, colours[one.name]))
        end = x(across(one.minutes, one.tokens)), y(one.test_bleu)
        parts.append(f'<circle class="test" cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="5" '
                     f'style="stroke: {colours[one.name]}"/>')  # fmt: skip
    return "".join(parts)


def _line(points: Sequence[Point], colour: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" style="fill: {colour}"/>' for x, y in points)
    return f'<g clip-path="url(#plot)"><polyline style="stroke: {colour}" points="{line}"/>{dots}</g>'
