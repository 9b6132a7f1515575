"""What docs/RECORD.md says was measured: a sentence a name, a line an attempt, the chart."""

import shlex
from collections.abc import Iterable, Sequence
from statistics import fmean

from benchmarks.ground import ROOT
from benchmarks.marked_page import put
from benchmarks.multi30k_record.attempts import GOAL, GOAL_TOKENS, Attempt, by_name
from benchmarks.multi30k_record.chart import chart
from dragoman.core.files import write_atomically

PAGE, CHART = ROOT / "docs" / "RECORD.md", ROOT / "docs" / "images" / "record.svg"
HEADS = (
    *("name", "seed", "cores", "minutes", "target tokens"),
    *("precision", "averaged checkpoints", "length penalty", "BLEU val", "BLEU test", f"against {GOAL}"),
)


def publish(attempts: Sequence[Attempt]) -> None:
    """Write the page and its chart; without attempts there is no chart."""
    put(PAGE, "measured", measured(attempts))
    if attempts:
        write_atomically(CHART, chart(attempts))
    else:
        CHART.unlink(missing_ok=True)


def measured(attempts: Sequence[Attempt]) -> str:
    """All that the page says of the attempts."""
    if not attempts:
        return "No attempt is recorded yet."
    names = by_name(attempts)
    return "\n\n".join(
        [
            "\n".join(f"- {summary(seeds)}" for seeds in names.values()),
            f"![BLEU on val of every attempt against minutes and tokens](images/{CHART.name})",
            table([one for seeds in names.values() for one in seeds]),
            f"Measured on {_each(one.machine for one in attempts)}. "
            f"BLEU of the table: `{_each(one.signature for one in attempts)}`; "
            f"of the curves: `{_each(one.curve_signature for one in attempts)}`.",
            "\n".join(f"- `{command(one)}`, {one.time[:10]}" for seeds in names.values() for one in seeds),
        ]
    )


def summary(seeds: Sequence[Attempt]) -> str:
    """One name in a sentence: its mean over all seeds against the goal."""
    scores = [one.test_bleu for one in seeds]
    tokens = fmean(one.tokens for one in seeds)
    reached = sum(score >= GOAL for score in scores)
    return (
        f"**{seeds[0].name}**, {len(seeds)} seed{'s' * (len(seeds) > 1)}: BLEU {_spread(scores, 2)} on the test set, "
        f"{standing(fmean(scores))}{' in the mean' * (len(seeds) > 1)}; {reached} of {len(seeds)} reached it. "
        f"{_spread([one.minutes for one in seeds], 1)} minutes on {_each(map(_cores, seeds))}, "
        f"{tokens / 1e6:.1f} million target tokens: {tokens / GOAL_TOKENS:.0%} of the most that the published run had."
    )


def standing(bleu: float) -> str:
    """Above the goal or below it, and by how much."""
    distance = bleu - GOAL
    return f"{distance:.2f} above {GOAL}" if distance >= 0 else f"**{-distance:.2f} short of {GOAL}**"


def table(attempts: Sequence[Attempt]) -> str:
    """A line an attempt."""
    lines = [f"| {' | '.join(HEADS)} |", "|---" + "|--:" * (len(HEADS) - 1) + "|"]
    for one in attempts:
        cells = (
            *(one.name, f"{one.seed}", f"{one.cores}", f"{one.minutes:.1f}", f"{one.tokens:,}"),
            *(one.precision, f"{one.averaged}", f"{one.length_penalty:g}"),
            *(f"{one.val_bleu:.2f}", f"{one.test_bleu:.2f}"),
            f"{one.test_bleu - GOAL:+.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def command(one: Attempt) -> str:
    """What made the attempt."""
    words = ["python", "-m", "benchmarks.multi30k_record", one.recipe, "--seed", str(one.seed)]
    words += ["--name", one.name] if one.name != one.recipe else []
    return shlex.join([*words, *(word for setting in one.settings for word in ("--set", setting))])


def _cores(one: Attempt) -> str:
    return f"{one.cores} core{'s' * (one.cores > 1)}"


def _spread(values: Sequence[float], digits: int) -> str:
    """Mean, least and most; one value as it is."""
    most = f" ({min(values):.{digits}f}–{max(values):.{digits}f})" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{most}"


def _each(words: Iterable[str]) -> str:
    """What is said, each once."""
    return "; ".join(dict.fromkeys(words))
