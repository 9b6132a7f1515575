"""Decoding speed against peers: `python -m benchmarks.decoding`.

Multi30k sentences of 15 pieces, random weights, beam 5, always 15 steps, two threads. Every engine runs in a process of
its own, is handed 256 sentences at a time, and batches them in its own way; all take turns. Only ratios inside one
table mean anything.
"""

import argparse
import statistics
from collections.abc import Sequence

from benchmarks.peers.decoders import ENGINES
from benchmarks.peers.roster import python_of
from benchmarks.turns import Clock, Participant, Start, race

REFERENCE = "ctranslate2"


def start_of(engine: str, preset: str, threads: int) -> Start:
    """How an engine is started; it sets its threads itself: MKL_NUM_THREADS=2 would give two to each worker."""
    _, peer, _ = ENGINES[engine]
    command = [python_of(peer), "-m", "benchmarks.peers.decoders", engine, "--preset", preset]
    return Start([*command, "--threads", str(threads)])


def table(participants: Sequence[Participant], title: str) -> str:
    """Markdown: sentences a second and the rounds' ratios to the reference, by the wall clock and by CPU time."""
    reference = next((each for each in participants if each.name == REFERENCE), participants[-1])
    lines = [
        f"| {title} | sentences/s: median (min–max) | × {reference.name} | by CPU time | × | peak RSS MB |",
        "|---|---|---|---|---|---|",
    ]
    clocks: tuple[Clock, Clock] = "wall_s", "cpu_s"
    for each in sorted(participants, key=lambda participant: -participant.rate("wall_s")):
        cells = [each.name]
        for clock in clocks:
            rates = each.rates(clock)
            ratios = [ours / theirs for ours, theirs in zip(rates, reference.rates(clock), strict=True)]
            cells += [spread(rates, 1), spread(ratios, 2)]
        lines.append(f"| {' | '.join([*cells, f'{each.peak_rss_mb:,.0f}'])} |")
    return "\n".join(lines)


def spread(values: Sequence[float], digits: int) -> str:
    """Median, least and greatest."""
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def main() -> None:
    """Read the command line, measure, print a table after every round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="small", choices=("small", "base"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--slice-s", type=float, default=4.0)
    parser.add_argument("--only", nargs="*", default=list(ENGINES), choices=tuple(ENGINES), help="who takes part")
    arguments = parser.parse_args()
    title = f"{arguments.preset}, threads: {arguments.threads}"
    starts = {name: start_of(name, arguments.preset, arguments.threads) for name in arguments.only}
    for now in race(starts, arguments.rounds, arguments.slice_s, warm_up_s=1.0):
        print(table(now.participants, title), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
