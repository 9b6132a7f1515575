"""Decoding speed against peers: `python -m benchmarks.decoding`.

1,000 Multi30k sentences in batches of 64, random weights, beam 5, always 15 steps, two threads. Every engine runs in a
process of its own; all are started, warmed up and stopped, then continued in turn for a slice of whole batches, in
reversed order every other round. Only ratios inside one table mean anything.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks.ground import ROOT, environment
from benchmarks.peers.decoders import ENGINES
from benchmarks.training import THREADS, Clock, Participant, entries

REFERENCE = "huggingface"


def python_of(engine: str) -> Path:
    """The interpreter that has the engine's libraries; Hugging Face shares the training benchmark's."""
    if engine.startswith("ctranslate2"):
        return environment("ctranslate2", (("ctranslate2", "numpy"),)) / "bin" / "python"
    return entries()[engine].python() if engine == REFERENCE else Path(sys.executable)


@contextmanager
def started(engine: str, preset: str, threads: int, directory: Path) -> Iterator[Participant]:
    """A participant from its start to its end."""
    file = directory / engine
    file.write_bytes(bytes(8))
    command: list[str | Path] = [python_of(engine), "-m", "benchmarks.peers.decoders", engine]
    command += ["--preset", preset, "--threads", str(threads), "--counter", file]
    variables = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    with (directory / f"{engine}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=log)
    try:
        participant = Participant(engine, process, np.memmap(file, dtype=np.int64, mode="r", shape=(1,)))
        try:
            participant.run(least_steps=2, least_s=1.0)
        except SystemExit:
            sys.stderr.write((directory / f"{engine}.log").read_text())
            raise
        yield participant
    finally:
        process.kill()
        process.wait()


def measure(engines: Sequence[str], preset: str, threads: int, rounds: int, slice_s: float) -> list[Participant]:
    """Let all take turns."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        participants = [stack.enter_context(started(name, preset, threads, Path(directory))) for name in engines]
        for number in range(rounds):
            for participant in participants if number % 2 == 0 else reversed(participants):
                participant.slices.append(participant.run(least_steps=1, least_s=slice_s))
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
        print(table(participants, f"{preset}, threads: {threads}"))
    return participants


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
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def main() -> None:
    """Read the command line, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="small", choices=("small", "base"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--slice-s", type=float, default=4.0)
    parser.add_argument("--only", nargs="*", default=list(ENGINES), choices=tuple(ENGINES), help="who takes part")
    arguments = parser.parse_args()
    measure(arguments.only, arguments.preset, arguments.threads, arguments.rounds, arguments.slice_s)


if __name__ == "__main__":
    main()
