"""A plan as people read it: sentences and a table; with colours in a terminal, bare in a pipe."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dragoman.core.units import count, counted, duration, size

if TYPE_CHECKING:
    from dragoman.planner.choices import Plan
    from dragoman.planner.estimate import Estimate
    from dragoman.planner.published import Replay

COLUMNS = ("choice", "s/step", "tokens/s", "time", "cost", "waiting", "exchange")


def headline(plan: "Plan") -> str:
    """The answer in one line."""
    now = plan.now
    cost = f", ${now.cost:,.2f}" if now.cost is not None else ""
    return (
        f"{count(plan.num_steps)} steps on {plan.machines}: {duration(3600 * now.hours)}{cost}, "
        f"{seconds(now.step_s)} a step, {count(round(now.tokens_per_s))} target tokens a second"
    )


def facts(plan: "Plan") -> Iterator[tuple[str, str]]:
    """The parts of the answer, each with its name."""
    parts = plan.now.parts
    low, high = plan.now.step_range_s
    named = (("forward", parts.forward_s), ("backward", parts.backward_s), ("optimizer", parts.optimizer_s))
    sum_of = " + ".join(f"{name} {seconds(part_s)}" for name, part_s in (*named, ("waiting", parts.exposed_s)))
    yield "step", f"{sum_of} = {seconds(parts.update_s)}"
    yield "range", f"{seconds(low)} to {seconds(high)} a step"
    yield "exchange", f"{seconds(parts.exchange_s)} for {size(plan.gradient_bytes)} of gradients; {plan.why}"
    yield "network", f"{size(plan.now.nic_bytes)} a step through each host's interface, each way"
    yield "speed", f"{plan.speed.flops_per_s / 1e12:.3g} TFLOP/s a rank at {plan.precision}; {plan.speed.source}"
    if plan.memory is not None:
        yield "memory", plan.memory.sentence()
    yield "checkpoint", f"{size(plan.checkpoint_bytes)} ({count(plan.num_parameters)} parameters)"


def row(found: "Estimate") -> tuple[str, ...]:
    """One line of the table."""
    cost = f"${found.cost:,.2f}" if found.cost is not None else "–"
    name = f"{found.name} *" if found.changes_recipe else found.name
    time, waiting = duration(3600 * found.hours), f"{found.exposed_share:.0%}"
    return name, f"{found.step_s:.3f}", count(round(found.tokens_per_s)), time, cost, waiting, found.rung


def verdicts(plan: "Plan") -> Iterator[str]:
    """What the table comes to."""
    yield f"fastest on these machines: {plan.fastest_here}"
    yield f"fastest of all: {plan.fastest}"
    if plan.cheapest is not None:
        yield f"cheapest: {plan.cheapest}"


NOTE = "* trains otherwise than the recipe says: larger steps, or steps of each rank on its own; not counted as choices"


def plain_lines(plan: "Plan") -> Iterator[str]:
    """All of it as text."""
    yield headline(plan)
    yield ""
    for name, text in facts(plan):
        yield f"{name + ':':<12}{text}"
    yield ""
    yield from table([COLUMNS, *(row(found) for found in plan.choices)])
    yield NOTE
    yield ""
    yield from verdicts(plan)
    for text in plan.advice:
        yield f"-> {text}"
    for text in plan.assumptions:
        yield f"assumed: {text}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as they must be; the first and the last to the left, numbers to the right."""
    widths = [max(len(line[place]) for line in rows) for place in range(len(rows[0]))]
    for line in rows:
        first, *middle, last = line
        cells = [cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells, last]).rstrip()


def show_plain(plan: "Plan") -> None:
    print("\n".join(plain_lines(plan)))


def show_rich(plan: "Plan") -> None:
    """For a terminal. Text from files is never read as markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(headline(plan), style="bold"))
    console.print()
    grid = Table.grid(padding=(0, 2))
    for name, text in facts(plan):
        grid.add_row(Text(name, style="cyan"), Text(text))
    console.print(grid)
    console.print()
    choices = Table(box=None, header_style="dim", pad_edge=False)
    for place, name in enumerate(COLUMNS):
        choices.add_column(name, justify="left" if place in (0, len(COLUMNS) - 1) else "right", no_wrap=place < 6)
    for found in plan.choices:
        is_named = found.name in (plan.fastest, plan.fastest_here, plan.cheapest)
        style = "bold green" if is_named else "dim" if found.changes_recipe else ""
        choices.add_row(*(Text(cell) for cell in row(found)), style=style)
    console.print(choices)
    console.print(Text(NOTE, style="dim"))
    console.print()
    for text in verdicts(plan):
        console.print(Text(text, style="green"))
    for text in plan.advice:
        console.print(Text(f"→ {text}", style="bold yellow"))
    for text in plan.assumptions:
        console.print(Text(f"assumed: {text}", style="dim"))


def replay_lines(replays: "list[Replay]") -> Iterator[str]:
    """The table of published runs beside what the model says of them."""
    from dragoman.planner.published import median_error

    rows = [("run", "GPUs", "batch", "link MB/s", "observed s", "predicted s", "error", "note")]
    for found in replays:
        run, rate, error = found.run, found.link_bytes_per_s, found.error
        rows.append(
            (
                run.name,
                f"{counted(run.layout.num_hosts, 'host')}, {run.layout.num_ranks} {run.gpu.name}",
                f"{run.pairs} {run.dtype}",
                f"{rate / 1e6:.1f}" if rate else "–",
                f"{run.step_s:g}" if run.step_s else "–",
                f"{found.predicted_s:.3f}" if found.predicted_s else "–",
                f"{error:+.1%}" if error is not None else "–",
                found.note,
            )
        )
    yield from table(rows)
    num_misread = sum(found.is_misread for found in replays)
    yield f"median error {median_error(replays):.1%} without the {num_misread} rows that were read upside down"


def seconds(value: float) -> str:
    """0.0342 -> '34 ms'; 1.682 -> '1.68 s'."""
    return f"{1000 * value:.3g} ms" if value < 0.1 else f"{value:.3g} s"
