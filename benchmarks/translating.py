"""Text to text against CTranslate2 called by hand: `python -m benchmarks.translating [MODEL TEXT]`.

MODEL is what `dragoman export` wrote, TEXT has a sentence a line; without them a `small` model with random weights
translates Multi30k, in float32 and in int8, always 15 pieces. All have the same weights, beam and cores (a worker of
one thread each); by hand means SentencePiece, one `translate_batch` that sorts and batches by itself, SentencePiece.
They take turns in one process, in reversed order every other round. Only ratios inside one table mean anything.
`python -m benchmarks.decoding` compares with the decoders of others.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ctranslate2
import sentencepiece

from benchmarks import random_model
from dragoman.core.paths import ExportPaths
from dragoman.export.card import read_card
from dragoman.export.engine import Translator

Translate = Callable[[list[str]], list[str]]


COMMON_BATCH = 1024
"""Pieces of a batch that CTranslate2's own examples take."""


def by_hand(directory: Path, threads: int, batch: int) -> Translate:
    """What a careful reader of CTranslate2's documentation writes."""
    card = read_card(directory)
    paths, decoding = ExportPaths(directory), card.decoding
    source = sentencepiece.SentencePieceProcessor(model_file=str(paths.vocabulary("source")))
    target = sentencepiece.SentencePieceProcessor(model_file=str(paths.vocabulary("target")))
    model = ctranslate2.Translator(str(directory), inter_threads=threads, intra_threads=1)

    def translate(lines: list[str]) -> list[str]:
        results = model.translate_batch(
            source.encode(lines, out_type=str),
            beam_size=decoding.beam,
            length_penalty=decoding.length_penalty,
            min_decoding_length=decoding.min_length,
            max_decoding_length=min(256, card.max_target_pieces),
            max_batch_size=batch,
            batch_type="tokens",
        )
        translations: list[str] = target.decode([result.hypotheses[0] for result in results])
        return translations

    return translate


Seconds = tuple[float, float]
"""By the wall clock, and of all cores together: the fairer one where others use the machine."""


def measure(entries: dict[str, Translate], lines: list[str], rounds: int) -> dict[str, list[Seconds]]:
    """What each round took, after one that warms up."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in entries}
    for translate in entries.values():
        translate(lines[:200])
    for number in range(rounds):
        for name in entries if number % 2 == 0 else reversed(entries):
            wall, cpu = time.perf_counter(), time.process_time()
            entries[name](lines)
            seconds[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return seconds


def table(seconds: dict[str, list[Seconds]], num_lines: int, reference: str) -> str:
    """Markdown: sentences a second, and how many times the reference's, by both clocks."""
    lines = ["| engine | sentences/s: median (min–max) | × by hand | × by CPU time |", "|---|---|---|---|"]
    for name, own in seconds.items():
        cells = [name, spread([num_lines / wall for wall, _ in own], 0)]
        for clock in (0, 1):
            pairs = zip(own, seconds[reference], strict=True)
            cells.append(spread([theirs[clock] / ours[clock] for ours, theirs in pairs], 2))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def spread(values: list[float], digits: int) -> str:
    """Median, least and most."""
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def compared(model: Path, lines: list[str], threads: int, rounds: int) -> str:
    """A sentence and a table on one model."""
    translator = Translator.open(model, threads=threads)
    reference = f"by hand, batches of {translator.pieces_at_once} pieces"
    entries: dict[str, Translate] = {
        "dragoman": translator.translate,
        reference: by_hand(model, threads, translator.pieces_at_once),
        f"by hand, batches of {COMMON_BATCH:,} pieces": by_hand(model, threads, COMMON_BATCH),
    }
    ours, theirs = (entries[name](lines) for name in ("dragoman", reference))
    same = sum(one == other for one, other in zip(ours, theirs, strict=True)) / len(lines)
    title = f"{read_card(model).quantization}: {len(lines):,} sentences, {threads} cores, {same:.1%} translated alike"
    return f"{title}\n\n{table(measure(entries, lines, rounds), len(lines), reference)}\n"


def main() -> None:
    """Read the command line, measure, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, nargs="?", metavar="MODEL")
    parser.add_argument("text", type=Path, nargs="?", metavar="TEXT")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if options.model and options.text:
        lines = options.text.read_text(encoding="utf-8").splitlines()[: options.lines]
        print(compared(options.model, lines, options.threads, options.rounds))
        return
    lines = random_model.multi30k("test_2016_flickr.en")[: options.lines]
    for quantization in ("float32", "int8"):
        with tempfile.TemporaryDirectory() as directory:
            model = random_model.write(Path(directory) / "model", quantization)
            print(compared(model, lines, options.threads, options.rounds), flush=True)


if __name__ == "__main__":
    main()
