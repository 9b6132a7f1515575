"""Training speed against peers: `python -m benchmarks.training --preset small`.

Every participant trains in a process of its own. All are started, warmed up and stopped; then each is continued in turn
for a slice of whole steps, in reversed order every other round. A matrix-multiply loop takes part, so that the share of
peak is taken in the same minutes. Only ratios inside one table mean anything.
"""

import argparse
import dataclasses
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.multi30k import NUM_PIECES, load
from benchmarks.peers.participant import HALF_VARIABLE
from benchmarks.peers.roster import DRAGOMAN, HALF_PEERS, PEERS, python_of
from benchmarks.turns import Clock, Participant, Start, race
from dragoman.core.config import ModelConfig
from dragoman.theory.cost import flops_per_target_token

LENGTHS = 15.28, 15.77
"""Mean source and target tokens with end-of-sentence."""
CEILING = "matrices"
HALF = "-bf16"
"""Ending of who trains in bfloat16."""
THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}


@dataclass(frozen=True)
class Entry:
    """Who takes part: a module of `benchmarks.peers`, whose environment it needs, its environment variables."""

    module: str
    peer: str = DRAGOMAN
    variables: dict[str, str] = field(default_factory=dict)

    def start(self, preset: str) -> Start:
        command = [python_of(self.peer), "-m", f"benchmarks.peers.{self.module}", "--preset", preset]
        return Start(command, {**THREADS, **self.variables})


def entries(is_quiet: bool = False) -> dict[str, Entry]:
    """All that can take part; on a quiet machine ours and the ceiling pin their threads and let them wait actively."""
    own = {"GOMP_CPU_AFFINITY": "0-1", "OMP_WAIT_POLICY": "active"} if is_quiet else {}
    full = {
        CEILING: Entry("matrices", variables=own),
        DRAGOMAN: Entry("dragoman_training", variables=own),
        **{key: Entry(key, key) for key in PEERS if key != DRAGOMAN},
    }
    half = {
        key + HALF: replace(full[key], variables={**full[key].variables, HALF_VARIABLE: "1"})
        for key in (CEILING, DRAGOMAN, *HALF_PEERS)
    }
    return full | half


def flops_of(key: str, preset: str) -> float:
    """Useful floating-point operations of a target token, forward and backward, as a participant computes them."""
    num_logits = len(load().written_pieces) if key.startswith(DRAGOMAN) else NUM_PIECES
    return flops_per_target_token(ModelConfig(preset=preset), num_logits, *LENGTHS)


def table(participants: Sequence[Participant], preset: str) -> str:
    """Markdown: rates over all slices, the fastest against each, share of the multiplies' peak, by both clocks."""
    ceiling = next(p for p in participants if p.name == CEILING)
    racers = sorted((p for p in participants if p is not ceiling), key=lambda p: -p.rate("wall_s"))
    lines = [
        f"| {preset} | tok/s: median (min–max) | {racers[0].name} is × it | of peak"
        " | by CPU time: tok/s | × | of peak | peak RSS MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for racer in racers:
        flops = flops_of(racer.name, preset)
        rates = racer.rates("wall_s")
        cells = [racer.name, f"{statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})"]
        clocks: tuple[Clock, Clock] = "wall_s", "cpu_s"
        for clock in clocks:
            rate, share = racer.rate(clock), racer.rate(clock) * flops / ceiling.rate(clock)
            cells += [f"{rate:,.0f}"] * (clock == "cpu_s")
            cells += [f"{racers[0].rate(clock) / rate:.2f}", f"{100 * share:.0f} %"]
        lines.append(f"| {' | '.join([*cells, f'{racer.peak_rss_mb:,.0f}'])} |")
    rates = ceiling.rates("wall_s")
    peak = f"{ceiling.rate('wall_s') / 1e9:.0f} GFLOP/s ({min(rates) / 1e9:.0f}–{max(rates) / 1e9:.0f})"
    return "\n".join([*lines, "", f"Peak {peak}; {len(rates)} slices each."])


def variant(text: str) -> tuple[str, Entry]:
    """`name=module,VARIABLE=value,…` for measuring one change against the rest."""
    name, _, rest = text.partition("=")
    module, *variables = rest.split(",")
    pairs = (variable.partition("=") for variable in variables)
    return name, Entry(module, variables={key: value for key, _, value in pairs})


def main() -> None:
    """Read the command line, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="small", choices=("small", "base"))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--slice-s", type=float, default=6.0)
    parser.add_argument("--only", nargs="*", default=list(entries()), help="who takes part")
    parser.add_argument("--quiet", action="store_true", help="nothing else runs here: pin threads, wait actively")
    parser.add_argument("--also", nargs="*", default=[], type=variant, metavar="NAME=MODULE,VARIABLE=VALUE")
    parser.add_argument("--json", type=Path, help="also write every slice there")
    arguments = parser.parse_args()
    chosen = {name: entries(arguments.quiet)[name] for name in dict.fromkeys([CEILING, *arguments.only])} | dict(
        arguments.also
    )
    starts = {name: entry.start(arguments.preset) for name, entry in chosen.items()}
    for now in race(starts, arguments.rounds, arguments.slice_s):
        print(table(now.participants, arguments.preset), end="\n\n", flush=True)
        if arguments.json:
            slices = {p.name: [dataclasses.asdict(part) for part in p.slices] for p in now.participants}
            arguments.json.write_text(json.dumps(slices, indent=1) + "\n")


if __name__ == "__main__":
    main()
