"""Time and memory of `dragoman prepare`, subword training included, against the number of sentence pairs."""

import json
import tempfile
import time
from pathlib import Path

from benchmarks.ground import CACHE
from benchmarks.prepare import own_command, repeated
from benchmarks.watched import watch

COPIES = (1, 3, 10)
"""Of the 300,000 pairs of Europarl."""


def measured(rounds: int) -> list[list[float]]:
    """Rows (pairs, seconds, the same without subword training, MB); the best of the rounds."""
    runs: dict[int, list[tuple[float, float, float]]] = {copies: [] for copies in COPIES}
    for _ in range(rounds):
        for copies, results in runs.items():
            results.append(one(copies))
            print(f"{300_000 * copies:,} pairs: {results[-1][0]:.1f} s, {results[-1][2]:,.0f} MB", flush=True)
    rows: list[list[float]] = []
    for copies, results in runs.items():
        seconds, without_subwords, peaks_mb = zip(*results, strict=True)
        rows.append([300_000 * copies, min(seconds), min(without_subwords), max(peaks_mb)])
    return rows


def one(copies: int) -> tuple[float, float, float]:
    stem = repeated("europarl/train300k", copies)
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        corpus = Path(directory) / "corpus"
        start = time.monotonic()
        peak_mb = watch(own_command(stem, corpus, None))
        seconds = time.monotonic() - start
        stages = json.loads((corpus / "manifest.json").read_text())["seconds"]
    return seconds, seconds - stages["subwords"], peak_mb
