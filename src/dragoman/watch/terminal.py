"""The live view in a terminal, and the same once as plain text."""

import io
import time
from collections.abc import Sequence
from itertools import groupby
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dragoman.watch.charts import Chart, charts, part_label
from dragoman.watch.drawing import picture, spark, stacked
from dragoman.watch.observer import Observer
from dragoman.watch.sentences import (
    account_line,
    evaluation_line,
    event_line,
    figure,
    gpu_line,
    host_line,
    lines,
    pace_line,
    progress_line,
    slowest,
)
from dragoman.watch.view import PARTS, RankView, View

EVERY_S = 1.0
SPARK_WIDTH = 40
CHART_HEIGHT = 6
LEAST_WIDTH = 60
COLOURS = {"running": "green", "waiting": "yellow", "stopped": "cyan", "silent": "red"}
LINE_COLOURS = ("bright_cyan", "bright_yellow", "bright_magenta", "bright_green", "bright_blue")


def print_once(observer: Observer, out: TextIO) -> None:
    """The view as plain text, for files, pipes and people who look once."""
    view = observer.look()
    for line in lines(view):
        out.write(line + "\n")
    for chart in charts(observer):
        for series in chart.series:
            values = [point.y for point in observer.curves()[series.origin].points(series.name)]
            known = [value for value in values if value is not None]
            label = chart.title if len(chart.series) == 1 else f"{chart.title}: {series.label}"
            out.write(f"{label:<42} {spark(values, SPARK_WIDTH)}  {figure(known[0])} → {figure(known[-1])}\n")
    out.flush()


def follow(observer: Observer, console: Console) -> None:
    """Until the run has stopped; then its last view stays on the screen. UserError when the run vanishes."""
    view = observer.look()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while view.status.kind != "stopped":
            live.update(screen(observer, view, console.width, console.height), refresh=True)
            time.sleep(EVERY_S)
            view = observer.look()
    console.print(screen(observer, view, console.width, None))


def screen(observer: Observer, view: View, width: int, height: int | None) -> RenderableType:
    """Everything in one picture; a low screen has fewer charts, but at least one row of them."""
    below: list[RenderableType] = []
    if view.ranks:
        shown = slowest(view.ranks)
        title = f"Where a step's time goes{'' if shown == view.ranks else f', the slowest of {len(view.ranks)} ranks'}"
        below.append(Panel(_ranks(shown), title=title, title_align="left"))
    if view.hosts:
        rows = [Text(line) for host in view.hosts for line in (host_line(host), *map(gpu_line, host.gpus))]
        below.append(Panel(Group(*rows), title="Hosts", title_align="left"))
    below.extend(_words(view))
    head = _head(view)
    num_columns = 3 if width >= 150 else 2 if width >= LEAST_WIDTH * 1.5 else 1
    drawn = charts(observer)
    if height is not None:
        room = height - _height(Group(head, *below), width)
        drawn = drawn[: num_columns * max(1, room // (CHART_HEIGHT + 3))]
    return Group(head, _chart_grid(observer, drawn, width, num_columns), *below)


def _height(part: RenderableType, width: int) -> int:
    console = Console(width=width, file=io.StringIO())
    return len(console.render_lines(part))


def _head(view: View) -> Panel:
    colour = COLOURS[view.status.kind]
    rows: list[RenderableType] = [Text(view.status.sentence, style=colour)]
    if view.progress.step is not None:
        rows.append(Text(progress_line(view.progress), style="bold"))
    if view.progress.share is not None:
        rows.append(Padding(ProgressBar(total=1.0, completed=view.progress.share), 0))  # alone it ends no line
    if view.progress.step is not None:
        rows.append(Text(pace_line(view.pace)))
    if view.evaluation is not None:
        rows.append(Text(evaluation_line(view.evaluation)))
    if view.account is not None:
        rows.append(Text(account_line(view.account)))
    return Panel(Group(*rows), title=Text(view.name, style="bold"), title_align="left", border_style=colour)


def _chart_grid(observer: Observer, shown: Sequence[Chart], width: int, num_columns: int) -> RenderableType:
    grid = Table.grid(expand=True)
    for _ in range(num_columns):
        grid.add_column(ratio=1)
    panels: list[RenderableType] = [_chart(observer, chart, width // num_columns - 4) for chart in shown]
    for start in range(0, len(panels), num_columns):
        grid.add_row(*panels[start : start + num_columns])
    return grid


def _chart(observer: Observer, chart: Chart, width: int) -> Panel:
    """All curves of a chart on one scale, and below them the last value of each."""
    curves = observer.curves()
    found = [[(p.x, p.y) for p in curves[series.origin].points(series.name)] for series in chart.series]
    drawn = stacked(found) if chart.is_stacked else found
    body, words = Text(), Text()
    for row in picture(drawn, width, CHART_HEIGHT, (chart.floor, chart.ceiling)):
        for owner, cells in groupby(row, key=lambda cell: cell[1]):
            body.append("".join(character for character, _ in cells), style=_colour(owner))
        body.append("\n")
    for number, (series, points) in enumerate(zip(chart.series, found, strict=True)):
        last = next(y for _, y in reversed(points) if y is not None)
        words.append(f"{'  ' if number else ''}{series.label}: {figure(last)}", style=_colour(number))
    words.truncate(width, overflow="ellipsis")
    body.rstrip()
    return Panel(Group(body, words), title=Text(chart.title), title_align="left", border_style="dim")


def _colour(owner: int | None) -> str:
    return "dim" if owner is None else LINE_COLOURS[owner % len(LINE_COLOURS)]


def _ranks(ranks: Sequence[RankView]) -> Table:
    table = Table(box=None, padding=(0, 2))
    for name in ("rank", "step s", *map(part_label, PARTS), "padding"):
        table.add_column(name, justify="right")
    for rank in ranks:
        shares = [_percent(rank.parts[part], rank.step_s) for part in PARTS]
        seconds = f"{rank.step_s:.3f}" if rank.step_s is not None else "–"
        table.add_row(str(rank.rank), seconds, *shares, _percent(rank.padding_share, 1.0))
    return table


def _percent(part: float | None, whole: float | None) -> str:
    return f"{part / whole:.0%}" if part is not None and whole else "–"


def _words(view: View) -> list[RenderableType]:
    events = [Text(event_line(e.time, e.kind, e.step, e.text), overflow="ellipsis", no_wrap=True) for e in view.events]
    panels: list[RenderableType] = []
    if events:
        panels.append(Panel(Group(*events[-6:]), title="Events", title_align="left"))
    for sample in view.samples[:1]:
        rows = (sample.source, f"→ {sample.translation}", f"= {sample.reference}")
        title = f"A sentence of dev at step {sample.step:,}"
        panels.append(Panel(Group(*map(Text, rows)), title=title, title_align="left"))
    panels.extend(Panel(Text(note), border_style="yellow") for note in view.notes)
    return panels
