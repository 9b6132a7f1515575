"""Preparation speed and memory: `python -m benchmarks.prepare`.

Ours cleans, shuffles, encodes and writes raw text; beside it, in turns: SentencePiece's own `encode` of the same
text with 2 threads, which only splits; on text that is already split Sockeye's prepare-data, and what OpenNMT-py and
Eole do before training, which is to count words. All use one vocabulary, and none trains it. Copies of a text are
marked by numbers, so that no pair is a duplicate.
"""

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ground import CACHE, shared_data
from benchmarks.peers.preparers import PREPARERS
from benchmarks.peers.roster import python_of
from benchmarks.turns import rounds_of
from benchmarks.watched import watch

CORPORA = {"multi30k": ("multi30k/train", 35), "europarl": ("europarl/train300k", 1)}


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
    parser.add_argument("--only", nargs="*", default=list(PREPARERS), choices=tuple(PREPARERS), help="who takes part")
    options = parser.parse_args()
    for corpus in options.corpora:
        stem = repeated(*CORPORA[corpus])
        for runs in measure(stem, list(dict.fromkeys(["dragoman", *options.only])), options.rounds):
            print(table(runs, f"{corpus}, {count_lines(stem):,} pairs"), end="\n\n", flush=True)


@dataclass
class Preparer:
    """Takes turns in preparing one text."""

    name: str
    stem: Path
    runs: list[Measured] = field(default_factory=list)

    def take_turn(self, slice_s: float) -> None:
        """One whole run: nobody can be asked to prepare for some seconds."""
        self.runs.append(run(self.name, self.stem))
        print(f"{self.stem.name}: {self.name} {self.runs[-1].pairs_per_s:,.0f} pairs/s", file=sys.stderr, flush=True)


def measure(stem: Path, names: Sequence[str], rounds: int) -> Iterator[dict[str, list[Measured]]]:
    """Let all take turns on one text; yields after every round."""
    preparers = [Preparer(name, stem) for name in names]
    for _ in rounds_of(preparers, rounds, 0.0):
        yield {preparer.name: preparer.runs for preparer in preparers}


def table(runs: Mapping[str, Sequence[Measured]], title: str) -> str:
    """Markdown: medians, and each against ours."""
    lines = [f"| {title} | pairs/s, median (min–max) | × ours | cores busy | peak MB |", "|---|---|---|---|---|"]
    for name, own in runs.items():
        rates = [one.pairs_per_s for one in own]
        ratios = [one.pairs_per_s / ours.pairs_per_s for one, ours in zip(own, runs["dragoman"], strict=True)]
        lines.append(
            f"| {name} | {statistics.median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})"
            f" | {statistics.median(ratios):.2f} | {statistics.median(one.busy for one in own):.0%}"
            f" | {max(one.peak_mb for one in own):,.0f} |"
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
            subprocess.run(own_command(stem, Path(directory) / "corpus", None), check=True)
            (Path(directory) / "corpus" / "vocab.model").rename(model)
    return model


def own_command(stem: Path, out: Path, model: Path | None) -> list[str]:
    command = [sys.executable, "-m", "dragoman.cli.main", "prepare", "--source", f"{stem}.en", "--target", f"{stem}.de"]
    command += ["--out", str(out), "--set", "vocabulary.size=8000"]
    return command + (["--set", f"vocabulary.model={model}"] if model else [])


def run(name: str, stem: Path) -> Measured:
    """One participant from start to end; its own clock leaves out what the others do not do either."""
    model = vocabulary(stem)
    split_text(stem)
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        words = ["-m", "benchmarks.peers.preparers", name, str(stem), str(model), directory]
        peak_mb = watch([python_of(name), *words])
        seconds, busy_s = json.loads((Path(directory) / "seconds").read_text())
    return Measured(count_lines(stem) / seconds, peak_mb, busy_s / (2 * seconds))


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


if __name__ == "__main__":
    main()
