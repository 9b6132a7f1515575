"""Preparation speed and memory: `python -m benchmarks.prepare`.

Ours cleans, shuffles, encodes and writes raw text; beside it, in turns: SentencePiece's own `encode` of the same
text with 2 threads, which only splits, and Sockeye's prepare-data on text that is already split. All use one
vocabulary, and none trains it. Copies of a text are marked by numbers, so that no pair is a duplicate.
"""

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ground import CACHE, ROOT, environment, shared_data

CORPORA = {"multi30k": ("multi30k/train", 35), "europarl": ("europarl/train300k", 1)}
SOCKEYE = (("torch==2.13.0", "numpy<2", "pyyaml", "tqdm", "sacrebleu"), ("--no-deps", "sockeye==3.1.34"))


@dataclass(frozen=True)
class Measured:
    """One run of one participant."""

    pairs_per_s: float
    peak_mb: float
    busy: float
    """Share of both cores' time that was used, over the timed part."""


def main() -> None:
    """Read the command line, measure, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--corpora", nargs="*", default=sorted(CORPORA), choices=sorted(CORPORA))
    parser.add_argument("--without-sockeye", action="store_true")
    parser.add_argument("--growth", action="store_true", help="measure 0.3 to 3 million pairs instead")
    parser.add_argument("--participant", nargs=3, metavar=("NAME", "STEM", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.participant:
        _take_part(*options.participant)
    elif options.growth:
        print(growth(options.rounds))
    else:
        for corpus in options.corpora:
            print(speed(corpus, options.rounds, with_sockeye=not options.without_sockeye))


def speed(corpus: str, rounds: int, *, with_sockeye: bool) -> str:
    """Let all take turns on one corpus; a Markdown table of medians."""
    stem = repeated(*CORPORA[corpus])
    names = ["dragoman", "sentencepiece", *(["sockeye"] if with_sockeye else [])]
    runs: dict[str, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            runs[name].append(run(name, stem))
            print(f"{corpus} round {number + 1}: {name} {runs[name][-1].pairs_per_s:,.0f} pairs/s", file=sys.stderr)
    lines = [
        f"| {corpus}, {count_lines(stem):,} pairs | pairs/s, median (min–max) | × ours | cores busy | peak MB |",
        "|---|---|---|---|---|",
    ]
    for name in names:
        rates = [one.pairs_per_s for one in runs[name]]
        ratios = [one.pairs_per_s / ours.pairs_per_s for one, ours in zip(runs[name], runs["dragoman"], strict=True)]
        lines.append(
            f"| {name} | {statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})"
            f" | {statistics.median(ratios):.2f} | {statistics.median(one.busy for one in runs[name]):.0%}"
            f" | {max(one.peak_mb for one in runs[name]):,.0f} |"
        )
    return "\n".join(lines)


def growth(rounds: int) -> str:
    """Time and memory of the whole verb from 0.3 to 3 million pairs, and its time without subword training."""
    lines = [
        "| Europarl pairs | seconds | without subwords | the same per million | peak MB |",
        "|---|---|---|---|---|",
    ]
    runs: dict[int, list[tuple[float, float, float]]] = {1: [], 3: [], 10: []}
    for _ in range(rounds):
        for times, results in runs.items():
            stem = repeated("europarl/train300k", times)
            with tempfile.TemporaryDirectory(dir=CACHE) as directory:
                corpus = Path(directory) / "corpus"
                start = time.monotonic()
                peak_mb = _watch(_own_command(stem, corpus, None))
                seconds = time.monotonic() - start
                stages = json.loads((corpus / "manifest.json").read_text())["seconds"]
            results.append((seconds, seconds - stages["subwords"], peak_mb))
            print(f"{300_000 * times:,} pairs: {seconds:.1f} s", file=sys.stderr)
    for times, results in runs.items():
        seconds, without, peak_mb = (statistics.median(column) for column in zip(*results, strict=True))
        million = 0.3 * times
        lines.append(
            f"| {300_000 * times:,} | {seconds:.1f} | {without:.1f} | {without / million:.1f} | {peak_mb:,.0f} |"
        )
    return "\n".join(lines)


def repeated(name: str, times: int) -> Path:
    """The text `times` times over, the lines of each copy marked with their number: `STEM.en` and `STEM.de`."""
    stem = CACHE / f"{name.replace('/', '-')}-x{times}"
    for language in ("en", "de"):
        path = stem.with_name(f"{stem.name}.{language}")
        if not path.exists():
            with gzip.open(shared_data() / f"{name}.{language}.gz", "rt", encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            with partial.open("w", encoding="utf-8") as out:
                for copy in range(times):
                    out.writelines(
                        f"{line} {copy * len(lines) + n}\n" if copy else f"{line}\n" for n, line in enumerate(lines)
                    )
            partial.rename(path)
    return stem


def count_lines(stem: Path) -> int:
    with Path(f"{stem}.en").open("rb") as file:
        return sum(1 for _ in file)


def vocabulary(stem: Path) -> Path:
    """One model for all participants, trained once on the text."""
    model = stem.with_suffix(".model")
    if not model.exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            subprocess.run(_own_command(stem, Path(directory) / "corpus", None), check=True)
            (Path(directory) / "corpus" / "vocab.model").rename(model)
    return model


def _own_command(stem: Path, out: Path, model: Path | None) -> list[str]:
    command = [sys.executable, "-m", "dragoman.cli.main", "prepare", "--source", f"{stem}.en", "--target", f"{stem}.de"]
    command += ["--out", str(out), "--set", "vocabulary.size=8000"]
    return command + (["--set", f"vocabulary.model={model}"] if model else [])


def run(name: str, stem: Path) -> Measured:
    """One participant from start to end; its own clock leaves out what the others do not do either."""
    vocabulary(stem)
    python = sys.executable
    if name == "sockeye":
        split_text(stem)
        python = str(environment("sockeye", SOCKEYE) / "bin" / "python")
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        command = [python, "-m", "benchmarks.prepare", "--participant", name, str(stem), directory]
        peak_mb = _watch(command)
        seconds, busy_s = json.loads((Path(directory) / "seconds").read_text())
    return Measured(count_lines(stem) / seconds, peak_mb, busy_s / (2 * seconds))


def _take_part(name: str, stem: str, out: str) -> None:
    """What a participant's process does; writes seconds and processor seconds to OUT/seconds."""
    clock = Clock()
    if name == "dragoman":
        _dragoman(stem, out, clock)
    elif name == "sentencepiece":
        _sentencepiece(stem, clock)
    else:
        shape = ["--shared-vocab", "--max-processes", "2", "--max-seq-len", "255:255", "--quiet"]
        files = ["--source", f"{stem}.pieces.en", "--target", f"{stem}.pieces.de", "--output", f"{out}/prepared"]
        with clock.running():
            subprocess.run([sys.executable, "-m", "sockeye.prepare_data", *files, *shape], check=True)
    (Path(out) / "seconds").write_text(json.dumps([clock.seconds, clock.busy_s]))


class Clock:
    """Adds up time, and what the machine's cores worked in that time."""

    def __init__(self) -> None:
        self.seconds = self.busy_s = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        start, busy = time.monotonic(), _busy_s()
        yield
        self.seconds += time.monotonic() - start
        self.busy_s += _busy_s() - busy


def _dragoman(stem: str, out: str, clock: Clock) -> None:
    from dragoman.core import config_file
    from dragoman.core.progress import Silent
    from dragoman.corpus.prepare import prepare

    text = f'corpus.texts=[{{source="{stem}.en", target="{stem}.de"}}]'
    model = f"vocabulary.model={vocabulary(Path(stem))}"
    config = config_file.load(None, [text, model, f"corpus.directory={out}/corpus"])
    with clock.running():
        prepare(config, mirror=None, progress=Silent())


def _sentencepiece(stem: str, clock: Clock) -> None:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary(Path(stem))))
    for language in ("en", "de"):
        lines = Path(f"{stem}.{language}").read_text(encoding="utf-8").split("\n")[:-1]
        with clock.running():
            for first in range(0, len(lines), 100_000):
                processor.encode(lines[first : first + 100_000], num_threads=2)


def split_text(stem: Path) -> None:
    """The text as pieces between spaces, as Sockeye wants it."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary(stem)))
    for language in ("en", "de"):
        path = Path(f"{stem}.pieces.{language}")
        if not path.exists():
            lines = Path(f"{stem}.{language}").read_text(encoding="utf-8").split("\n")[:-1]
            partial = path.with_suffix(".partial")
            with partial.open("w", encoding="utf-8") as out:
                out.writelines(
                    " ".join(pieces) + "\n" for pieces in processor.encode(lines, out_type=str, num_threads=2)
                )
            partial.rename(path)


def _watch(command: Sequence[str]) -> float:
    """Run a command; the most memory that it and its children held together, in MB (shared pages counted once)."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak_kb = 0
    ended = threading.Event()

    def sample() -> None:
        nonlocal peak_kb
        while not ended.wait(0.1):
            peak_kb = max(peak_kb, sum(_proportional_kb(pid) for pid in _family(process.pid)))

    thread = threading.Thread(target=sample)
    thread.start()
    code = process.wait()
    ended.set()
    thread.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with code {code}")
    return peak_kb / 1000


def _family(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(child))]


def _proportional_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _busy_s() -> float:
    """Processor seconds that the machine has spent working since it started."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / 100


if __name__ == "__main__":
    main()
