"""Training speed against peers: `python -m benchmarks.training --preset small`.

Every participant trains in a process of its own. All are started, warmed up and stopped; then each is continued in turn
for a slice of whole steps, in reversed order every other round. A matrix-multiply loop takes part, so that the share of
peak is taken in the same minutes. Only ratios inside one table mean anything.
"""

import argparse
import dataclasses
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.ground import ROOT, environment
from benchmarks.multi30k import NUM_PIECES
from dragoman.core.config import ModelConfig
from dragoman.theory.cost import flops_per_target_token

LENGTHS = 15.28, 15.77
"""Mean source and target tokens with end-of-sentence."""
CEILING = "matrices"
Clock = Literal["wall_s", "cpu_s"]
"""CPU time is the fairer clock where others use the machine too; set OMP_WAIT_POLICY=passive for it."""
THREADS = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}


@dataclass(frozen=True)
class Entry:
    """Who takes part: a module of `benchmarks.peers`, the packages of its environment, its environment variables."""

    module: str
    packages: tuple[tuple[str, ...], ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def python(self) -> Path:
        """The interpreter of the entry's own environment, which is installed by name if it is not there."""
        if not self.packages:
            return Path(sys.executable)
        return environment(self.module, self.packages) / "bin" / "python"


def entries(is_quiet: bool = False) -> dict[str, Entry]:
    """All that can take part; on a quiet machine ours and the ceiling pin their threads and let them wait actively."""
    own = {"GOMP_CPU_AFFINITY": "0-1", "OMP_WAIT_POLICY": "active"} if is_quiet else {}
    return {
        CEILING: Entry("matrices", variables=own),
        "dragoman": Entry("dragoman_training", variables=own),
        "huggingface": Entry("huggingface", (("torch==2.13.0",), ("transformers", "numpy"))),
        "opennmt": Entry(
            "opennmt",
            (
                ("torch==2.13.0",),
                ("--no-deps", "OpenNMT-py==3.5.1"),
                ("numpy", "configargparse", "pyyaml", "tensorboard"),
            ),
        ),
    }


@dataclass(frozen=True)
class Slice:
    """What one participant did in one turn."""

    amount: int
    wall_s: float
    cpu_s: float


@dataclass
class Participant:
    """A running process and what it has done in its slices."""

    name: str
    process: "subprocess.Popen[bytes]"
    counter: "np.memmap[tuple[int], np.dtype[np.int64]]"
    slices: list[Slice] = field(default_factory=list)

    def run(self, least_steps: int, least_s: float) -> Slice:
        """Continue, and stop at the end of the first step after so many steps and seconds."""
        start_s, start_cpu_s, start_amount = time.monotonic(), self._cpu_s(), int(self.counter[0])
        done, steps = start_amount, 0
        self.process.send_signal(signal.SIGCONT)
        while True:
            if int(self.counter[0]) != done:
                done, steps = int(self.counter[0]), steps + 1
                if steps >= least_steps and time.monotonic() - start_s >= least_s:
                    break
            time.sleep(0.005)
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended with code {self.process.returncode}")
        self.process.send_signal(signal.SIGSTOP)
        return Slice(done - start_amount, time.monotonic() - start_s, self._cpu_s() - start_cpu_s)

    def rates(self, clock: Clock) -> list[float]:
        return [part.amount / getattr(part, clock) for part in self.slices]

    def rate(self, clock: Clock) -> float:
        seconds: float = sum(getattr(part, clock) for part in self.slices)
        return sum(part.amount for part in self.slices) / seconds

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def peak_rss_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000


@contextmanager
def started(name: str, entry: Entry, preset: str, directory: Path) -> Iterator[Participant]:
    """A participant from its start to its end."""
    file = directory / name
    file.write_bytes(bytes(8))
    command = [
        str(entry.python()),
        "-m",
        f"benchmarks.peers.{entry.module}",
        "--preset",
        preset,
        "--counter",
        str(file),
    ]
    variables = {**os.environ, **THREADS, **entry.variables}
    with (directory / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=log)
    try:
        yield Participant(name, process, np.memmap(file, dtype=np.int64, mode="r", shape=(1,)))
    finally:
        process.kill()
        process.wait()


def measure(chosen: dict[str, Entry], preset: str, rounds: int, slice_s: float) -> Iterator[list[Participant]]:
    """Let all take turns; yields after every round."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        participants = []
        for name, entry in chosen.items():
            participant = stack.enter_context(started(name, entry, preset, Path(directory)))
            participants.append(participant)
            try:
                participant.run(least_steps=2, least_s=2.0)
            except SystemExit:
                sys.stderr.write((Path(directory) / f"{name}.log").read_text())
                raise
        for number in range(rounds):
            for participant in participants if number % 2 == 0 else reversed(participants):
                participant.slices.append(participant.run(least_steps=1, least_s=slice_s))
            yield participants


def table(participants: Sequence[Participant], preset: str) -> str:
    """Markdown: rates over all slices, the fastest against each, share of the multiplies' peak, by both clocks."""
    flops = flops_per_target_token(ModelConfig(preset=preset), NUM_PIECES, *LENGTHS)
    ceiling = next(p for p in participants if p.name == CEILING)
    racers = sorted((p for p in participants if p is not ceiling), key=lambda p: -p.rate("wall_s"))
    lines = [
        f"| {preset} | tok/s: median (min–max) | {racers[0].name} is × it | of peak"
        " | by CPU time: tok/s | × | of peak | peak RSS MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for racer in racers:
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
    for participants in measure(chosen, arguments.preset, arguments.rounds, arguments.slice_s):
        print(table(participants, arguments.preset), end="\n\n", flush=True)
        if arguments.json:
            slices = {p.name: [dataclasses.asdict(part) for part in p.slices] for p in participants}
            arguments.json.write_text(json.dumps(slices, indent=1) + "\n")


if __name__ == "__main__":
    main()
