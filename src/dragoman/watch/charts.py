"""Which charts there are: the terminal and the page draw the same ones from this list."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.watch.observer import Observer
from dragoman.watch.view import PARTS


@dataclass(frozen=True)
class Series:
    """One line of a chart: `name` among the curves that come from `origin`."""

    label: str
    origin: str
    name: str


@dataclass(frozen=True)
class Chart:
    """`axis` is step or time (milliseconds since 1970). A stacked chart piles its lines up.

    The scale always holds `floor` and `ceiling`: a CPU that goes from 79 to 81 % should not look like a storm.
    """

    title: str
    axis: str
    series: tuple[Series, ...]
    is_stacked: bool = False
    floor: float | None = None
    ceiling: float | None = None


def part_label(part: str) -> str:
    """'data_wait_s' -> 'data wait'."""
    return part.removesuffix("_s").replace("_", " ")


_FIXED = (
    Chart(
        "Loss (nats a token)",
        "step",
        (
            Series("train, each step", "steps", "loss"),
            Series("dev", "evals", "dev_loss"),
            Series("train, eval mode", "evals", "train_loss"),
        ),
    ),
    Chart(
        "BLEU and chrF on dev", "step", (Series("BLEU", "evals", "bleu"), Series("chrF", "evals", "chrf")), floor=0.0
    ),
    Chart("Target tokens a second", "step", (Series("tokens/s", "steps", "tokens_per_s"),), floor=0.0),
    Chart(
        "Seconds of a step, main rank",
        "step",
        tuple(Series(part_label(part), "steps", part) for part in PARTS),
        is_stacked=True,
        floor=0.0,
    ),
    Chart("Learning rate", "step", (Series("learning rate", "steps", "learning_rate"),)),
    Chart("Gradient norm", "step", (Series("gradient norm", "steps", "gradient_norm"),)),
)


def charts(observer: Observer) -> tuple[Chart, ...]:
    """All charts that have something to show."""
    sources = observer.curves()
    known = {(origin, name) for origin, curves in sources.items() for name in curves.names()}
    kept = []
    for chart in (*_FIXED, *_host_charts(observer)):
        series = tuple(one for one in chart.series if (one.origin, one.name) in known)
        if series:
            kept.append(dataclasses.replace(chart, series=series))
    return tuple(kept)


def _host_charts(observer: Observer) -> Iterator[Chart]:
    """One line a host, so that a machine that differs from the others stands out."""
    hosts = list(observer.hosts.by_name)
    for title, name, ceiling in (
        ("CPU (share of all cores)", "system/cpu_share", 1.0),
        ("Memory (share)", "system/memory_share", 1.0),
        ("Network sent (MB/s)", "sent_mb_per_s", None),
        ("Network received (MB/s)", "received_mb_per_s", None),
    ):
        series = tuple(Series(host, f"host {host}", name) for host in hosts)
        yield Chart(title, "time", series, floor=0.0, ceiling=ceiling)
    for title, what in (
        ("GPU utilisation (share of time)", "utilisation"),
        ("GPU power (share of cap)", "power_share"),
    ):
        series = tuple(one for host in hosts for one in _of_gpus(observer, host, what))
        yield Chart(title, "time", series, floor=0.0, ceiling=1.0)


def _of_gpus(observer: Observer, host: str, what: str) -> Iterator[Series]:
    for name in observer.hosts.by_name[host].curves.names():
        if name.startswith("gpu/") and name.endswith(f"_{what}"):
            index = name.removeprefix("gpu/").removesuffix(f"_{what}")
            yield Series(f"{host} GPU {index}", f"host {host}", name)
