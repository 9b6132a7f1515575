"""Step time and peak memory against tokens a step, model size and vocabulary, each case in a process of its own.

The machine changes its speed twofold within minutes: all cases are measured in rounds, and the best of each counts.
"""

import dataclasses
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.core.config import PRESETS, ModelConfig

SENTENCE_PIECES = (6, 24)
"""Shortest and longest sentence, evenly: the lengths of Multi30k, about."""
WARM_UP, TIMED = 1, 3
MICRO_BATCH_TOKENS = 2_048


@dataclass(frozen=True)
class Case:
    """A model and a step of it."""

    axis: str
    preset: str = "small"
    tokens: int = 4_096
    pieces: int = 8_000

    @property
    def x(self) -> int:
        """Where the case stands on its axis."""
        return {"tokens": self.tokens, "size": multiplied(self.preset), "pieces": self.pieces}[self.axis]


def cases() -> Iterator[Case]:
    for tokens in (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768):
        yield Case("tokens", tokens=tokens)
    for preset in ("tiny", "small", "base", "big"):
        yield Case("size", preset=preset, tokens=1_024)
    for pieces in (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000):
        yield Case("pieces", pieces=pieces)


def multiplied(preset: str) -> int:
    """Numbers in the matrices that a target token and its source token meet, in thousands."""
    size = PRESETS[preset]
    width, inner = size["width"], size["feed_forward"]
    encoder = size["encoder_layers"] * (4 * width * width + 2 * width * inner)
    decoder = size["decoder_layers"] * (8 * width * width + 2 * width * inner)
    return (encoder + decoder + 8_000 * width) // 1_000


def one(case: Case) -> tuple[float, float]:
    """In this process: the seconds of the best step, and the peak of memory in MB."""
    import torch

    from dragoman.model.batch import Batch, SpecialIds
    from dragoman.model.machine import prepare_cpu
    from dragoman.model.transformer import Transformer

    prepare_cpu(2)
    chance = random.Random(1)
    pairs, left = [], case.tokens
    while left > 0:
        length = min(chance.randint(*SENTENCE_PIECES), left)
        source, target = ([*(chance.randrange(3, case.pieces) for _ in range(length - 1)), 2] for _ in range(2))
        pairs.append((source, target))
        left -= length
    pairs.sort(key=lambda pair: len(pair[1]))
    model = Transformer(ModelConfig(preset=case.preset), case.pieces, case.pieces, SpecialIds(0, 1, 2))
    model.accumulate_in_place = True
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch, seconds = Batch.of(pairs, 0), []
    for step in range(WARM_UP + TIMED):
        start = time.monotonic()
        model.seed_dropout(step)
        for micro_batch in batch.split(MICRO_BATCH_TOKENS):
            (model(micro_batch).smoothed_sum / case.tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        seconds.append(time.monotonic() - start)
    return min(seconds[WARM_UP:]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(rounds: int) -> dict[str, list[list[float]]]:
    """For each axis the rows (x, seconds, MB)."""
    best: dict[Case, tuple[float, float]] = {}
    for _ in range(rounds):
        for case in cases():
            words = [sys.executable, "-m", "benchmarks.growth.steps", json.dumps(dataclasses.asdict(case))]
            step_s, peak_mb = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(f"{case.axis} {case.x:,}: {step_s:.3f} s, {peak_mb:,.0f} MB", flush=True)
            before = best.get(case, (step_s, peak_mb))
            best[case] = min(before[0], step_s), max(before[1], peak_mb)
    rows: dict[str, list[list[float]]] = {}
    for case, (step_s, peak_mb) in best.items():
        rows.setdefault(case.axis, []).append([case.x, step_s, peak_mb])
    return rows


if __name__ == "__main__":
    print(json.dumps(one(Case(**json.loads(sys.argv[1])))))
