"""What watching a host costs its training, by the wall clock: `python -m benchmarks.telemetry`.

One process trains the small model on made-up sentences. Its time is cut into slices of about a second, in triples whose
order is drawn: nobody watches, the monitor writes a record a second, the monitor writes twenty. The slices of a triple
lie so close together that they see the same machine; each gives a ratio of step times, and the median over all triples
counts, with the interval that resampling gives it. A record a second is what training pays: that row decides. What
twenty cost, divided by twenty, is known twenty times as well, but a record that comes seldom may find caches cold and
cost more: it is a hint, not the answer. Beside them stands the CPU time of a record.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch

from dragoman.core.config import ModelConfig
from dragoman.core.paths import RunPaths
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.machine import prepare_cpu
from dragoman.model.transformer import Transformer
from dragoman.telemetry.monitor import EVERY_S, Monitor
from dragoman.theory import statistics
from dragoman.theory.statistics import Estimate

NUM_PIECES, LENGTH, PAIRS = 8_192, 16, 16
DOSE = 20
"""Records a second of the eager monitor."""
RECORDS = 200
WARM_UP_STEPS = 20


class Switched(Monitor):
    """A monitor that looks away until it is asked to watch; its thread wakes all the same."""

    is_on = False

    def observe(self) -> None:
        if self.is_on:
            super().observe()


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


def mean_step_s(training: Iterator[None], slice_s: float, watcher: Switched | None) -> float:
    """Over one slice; nothing is left out, so that what a record costs is in it."""
    if watcher is not None:
        watcher.is_on = True
    start, num_steps = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < slice_s:
        next(training)
        num_steps += 1
    if watcher is not None:
        watcher.is_on = False
    return passed / num_steps


def paired_ratios(directory: Path, seconds: float, slice_s: float) -> tuple[list[float], list[float], list[float]]:
    """Step time without a monitor; ratios to it with a record a second, and with DOSE."""
    training, drawn = steps(), random.Random(1)
    without, usual_ratios, eager_ratios = [], [], []
    with ExitStack() as stack:
        usual = stack.enter_context(Switched(RunPaths(directory / "usual"), "bench"))
        eager = stack.enter_context(Switched(RunPaths(directory / "eager"), "bench", every_s=EVERY_S / DOSE))
        usual.is_on = eager.is_on = True  # the first record looks for GPUs and loads libraries: once a run
        for _ in range(WARM_UP_STEPS):
            next(training)
        time.sleep(1.5 * EVERY_S)
        usual.is_on = eager.is_on = False
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            order: list[Switched | None] = drawn.sample([None, usual, eager], 3)
            taken_s = {watcher: mean_step_s(training, slice_s, watcher) for watcher in order}
            without.append(taken_s[None])
            usual_ratios.append(taken_s[usual] / taken_s[None])
            eager_ratios.append(taken_s[eager] / taken_s[None])
    return without, usual_ratios, eager_ratios


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


def excess(ratios: list[float], records_per_s: int) -> Estimate:
    """Of a step, a record a second: triples are blocks of their own."""
    found = statistics.median((np.array(ratios) - 1) / records_per_s, block=1)
    assert found is not None
    return found


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--slice-s", type=float, default=1.0)
    arguments = parser.parse_args()
    prepare_cpu(2)
    with tempfile.TemporaryDirectory() as directory:
        cpu_s = record_cpu_s(Path(directory) / "cpu")
        without, usual, eager = paired_ratios(Path(directory), arguments.seconds, arguments.slice_s)
    print(f"{len(without)} triples; a step without a monitor takes {1000 * np.median(without):.1f} ms\n")
    print("| what a record a second adds to a step | median | 95 % interval |")
    print("|---|---|---|")
    for name, found in (("measured at one", excess(usual, 1)), (f"measured at {DOSE}, ÷ {DOSE}", excess(eager, DOSE))):
        print(f"| {name} | {found.value:+.3%} | {found.low:+.3%} to {found.high:+.3%} |")
    print(f"| CPU time of a record, {1000 * cpu_s:.2f} ms, of one core | {cpu_s / EVERY_S:.3%} | |")


if __name__ == "__main__":
    main()
