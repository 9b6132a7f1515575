"""What watching a host costs its training: `python -m benchmarks.telemetry`.

One process trains the small model on made-up sentences. Its time is cut into slices with and without the monitor, in
the order off, on, on, off, so that a machine that slowly gets faster or slower favours neither. Beside the ratio of
step times, which is as noisy as the machine, the CPU time of one record is measured.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch

from dragoman.core.config import ModelConfig
from dragoman.core.paths import RunPaths
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.machine import prepare_cpu
from dragoman.model.transformer import Transformer
from dragoman.telemetry.monitor import EVERY_S, Monitor

NUM_PIECES, LENGTH, PAIRS = 8_192, 16, 128
RECORDS = 200
WARM_UP_STEPS = 2


def steps() -> Iterator[None]:
    """Train for ever; one item a step."""
    ids = SpecialIds(0, 1, 2)
    model = Transformer(ModelConfig(preset="small"), NUM_PIECES, NUM_PIECES, ids)
    model.accumulate_in_place = True
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    generator = torch.Generator().manual_seed(1)
    sentences = torch.randint(3, NUM_PIECES, (2 * PAIRS, LENGTH), generator=generator).tolist()
    batch = Batch.of(list(zip(sentences[:PAIRS], sentences[PAIRS:], strict=True)), ids.pad)
    for step in range(1_000_000):
        model.seed_dropout(step)
        (model(batch).smoothed_sum / batch.num_target_tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        yield


def usual_step_s(training: Iterator[None], slice_s: float, *, directory: Path | None) -> float:
    """The mean step of one slice without its slowest tenth, which belongs to others who use the machine.

    With a directory, the monitor writes into it and has begun before the slice does. A record falls into every other
    step or so: what it costs stays in the mean.
    """
    with Monitor(RunPaths(directory), "bench") if directory else nullcontext():
        for _ in range(WARM_UP_STEPS):
            next(training)
        seconds: list[float] = []
        while sum(seconds) < slice_s:
            start = time.perf_counter()
            next(training)
            seconds.append(time.perf_counter() - start)
    return statistics.mean(sorted(seconds)[: max(1, round(0.9 * len(seconds)))])


def record_cpu_s(directory: Path) -> float:
    """CPU time of one record, a point of TensorBoard every tenth included."""
    monitor = Monitor(RunPaths(directory), "bench")
    for _ in range(20):
        monitor.observe()
    start = time.thread_time()
    for _ in range(RECORDS):
        monitor.observe()
    seconds = (time.thread_time() - start) / RECORDS
    monitor.close()
    return seconds


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slice-s", type=float, default=3.0)
    arguments = parser.parse_args()
    prepare_cpu(2)
    training = steps()
    for _ in range(5):
        next(training)
    ratios, without = [], []
    with tempfile.TemporaryDirectory() as directory:
        cpu_s = record_cpu_s(Path(directory))
        for _ in range(arguments.rounds):
            off, on, on_again, off_again = (
                usual_step_s(training, arguments.slice_s, directory=Path(directory) if is_on else None)
                for is_on in (False, True, True, False)
            )
            without.append((off + off_again) / 2)
            ratios.append((on + on_again) / (off + off_again))
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    print("| step without (s) | with ÷ without: median (quartiles) | CPU of a record (ms) | share of one core |")
    print("|---|---|---|---|")
    print(
        f"| {statistics.median(without):.3f} | {statistics.median(ratios):.4f} ({low:.4f}–{high:.4f}) "
        f"| {1000 * cpu_s:.2f} | {cpu_s / EVERY_S:.3%} |"
    )


if __name__ == "__main__":
    main()
