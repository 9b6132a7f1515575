"""Text to text against CTranslate2 called by hand: `python -m benchmarks.translating MODEL TEXT`.

MODEL is what `dragoman export` wrote, TEXT has a sentence a line. Both sides have the same weights, beam, cores (a
worker of one thread each) and size of batches in pieces; by hand means SentencePiece, one `translate_batch` that sorts
and batches by itself, SentencePiece. They take turns in one process, in reversed order every other round. Only ratios
inside one table mean anything. `python -m benchmarks.decoding` compares with the decoders of others.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import ctranslate2
import sentencepiece

from dragoman.core.paths import ExportPaths
from dragoman.export.card import read_card
from dragoman.export.engine import PIECES_AT_ONCE, Translator

Translate = Callable[[list[str]], list[str]]


def by_hand(directory: Path, threads: int) -> Translate:
    """What a careful reader of CTranslate2's documentation writes."""
    paths, decoding = ExportPaths(directory), read_card(directory).decoding
    source = sentencepiece.SentencePieceProcessor(model_file=str(paths.vocabulary("source")))
    target = sentencepiece.SentencePieceProcessor(model_file=str(paths.vocabulary("target")))
    model = ctranslate2.Translator(str(directory), inter_threads=threads, intra_threads=1)

    def translate(lines: list[str]) -> list[str]:
        results = model.translate_batch(
            source.encode(lines, out_type=str),
            beam_size=decoding.beam,
            length_penalty=decoding.length_penalty,
            max_batch_size=PIECES_AT_ONCE,
            batch_type="tokens",
        )
        translations: list[str] = target.decode([result.hypotheses[0] for result in results])
        return translations

    return translate


def measure(entries: dict[str, Translate], lines: list[str], rounds: int) -> dict[str, list[float]]:
    """Seconds of each round, after one that warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in entries}
    for translate in entries.values():
        translate(lines[:200])
    for number in range(rounds):
        for name in entries if number % 2 == 0 else reversed(entries):
            start = time.perf_counter()
            entries[name](lines)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def table(seconds: dict[str, list[float]], num_lines: int, reference: str) -> str:
    """Markdown: sentences a second, and how many times the reference's."""
    lines = ["| engine | sentences/s: median (min–max) | × by hand |", "|---|---|---|"]
    for name, own in seconds.items():
        rates = sorted(num_lines / each for each in own)
        ratios = sorted(theirs / ours for ours, theirs in zip(own, seconds[reference], strict=True))
        lines.append(
            f"| {name} | {statistics.median(rates):,.0f} ({rates[0]:,.0f}–{rates[-1]:,.0f}) |"
            f" {statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) |"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the command line, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("text", type=Path, metavar="TEXT")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    lines = options.text.read_text(encoding="utf-8").splitlines()[: options.lines]
    entries: dict[str, Translate] = {
        "dragoman": Translator.open(options.model, threads=options.threads).translate,
        "by hand": by_hand(options.model, options.threads),
    }
    pairs = zip(*(translate(lines) for translate in entries.values()), strict=True)
    same = sum(ours == theirs for ours, theirs in pairs) / len(lines)
    print(f"{len(lines):,} sentences, {options.threads} cores, {same:.1%} of the translations the same\n")
    print(table(measure(entries, lines, options.rounds), len(lines), "by hand"))


if __name__ == "__main__":
    main()
