"""One of the two ranks: measures what it is told to, and rank 0 answers. One JSON line each way.

{"rungs": ["plain", …], "steps": 6} → {"compute_s": …, "backward_s": …, "link": …, "codecs": …, "rungs": {"plain": …}}
"""

import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from benchmarks import multi30k
from dragoman.core.config import ModelConfig, OptimizerConfig
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.machine import prepare_cpu
from dragoman.model.transformer import Transformer
from dragoman.theory import wire as theory
from dragoman.training.communication.choice import measured_codecs, row_of
from dragoman.training.communication.groups import hosts_of
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.rungs import on_rung
from dragoman.training.step import Stepper, Votes
from dragoman.training.world import World, joined

RATE = 1e-4
EXCHANGED_BYTES = (1 << 18, 1 << 22, 1 << 24)
"""What the preflight times, about."""
NUM_BATCHES = 8
LAYOUT = theory.Layout(2, 2)

Share = tuple[list[Batch], int]


class Ground:
    """The model and this rank's half of every batch."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids = SpecialIds(multi30k.PAD, multi30k.BOS, multi30k.EOS)
        batches = multi30k.load().forever(seed=1)
        self._shares = [self._share(next(batches)) for _ in range(NUM_BATCHES)]
        self._next = 0
        self.hosts = hosts_of(world)
        self.stepper = self._stepper()
        self.number = 0
        self.is_warm = False

    def model(self) -> Transformer:
        config = ModelConfig(preset="small")
        model = Transformer(config, multi30k.NUM_PIECES, multi30k.NUM_PIECES, self.ids)
        model.train()
        return model

    def _stepper(self) -> Stepper:
        model = self.model()
        gradients = Gradients.of(model)
        model.accumulate_in_place = True
        optimizer = Optimizer(model, OptimizerConfig())
        return Stepper(model, optimizer, gradients, self.world, seed=1, probe_every=0)

    def _share(self, pairs: list[multi30k.Pair]) -> Share:
        return [Batch.of(pairs[self.world.rank :: 2], multi30k.PAD)], sum(len(target) for _, target in pairs)

    def share(self) -> Share:
        """Always the same few, one after the other, so that every rung computes the same."""
        self._next = (self._next + 1) % NUM_BATCHES
        return self._shares[self._next]

    def steps(self, stepper: Stepper, num_steps: int) -> Iterator[float]:
        """Seconds of each step; ends on a meeting if it begins after one."""
        for _ in range(num_steps):
            self.number += 1
            batches, num_tokens = self.share()
            start = time.monotonic()
            stepper.step(self.number, batches, num_tokens, RATE, Votes())
            yield time.monotonic() - start


def on(ground: Ground, rung: theory.Rung) -> Stepper:
    ground.stepper = on_rung(ground.stepper, rung, ground.hosts, OptimizerConfig())
    ground.number = 0
    return ground.stepper


def measure_rung(ground: Ground, rung: theory.Rung, num_steps: int) -> float:
    """Seconds of a step of the recipe: the median of whole cycles, so that one disturbance does not count."""
    stepper = on(ground, rung)
    cycle = stepper.cycle
    list(ground.steps(stepper, cycle if cycle < 8 else 0) if cycle > 1 else ground.steps(stepper, 2))
    if cycle >= 8:  # the meeting alone to warm up: a whole cycle would take too long
        ground.number = cycle - 1
        list(ground.steps(stepper, 1))
    ground.world.any(False)
    cycles = [sum(ground.steps(stepper, cycle)) for _ in range(max(1, round(num_steps / cycle)))]
    return statistics.median(cycles) / cycle


def measure_compute(ground: Ground, num_steps: int) -> tuple[float, float]:
    """Seconds of a step without any exchange, both ranks computing at once, and of its backward."""
    stepper = on(ground, theory.PLAIN)
    stepper.cycle = 1 << 30
    seconds, backward = [], []
    ground.world.any(False)
    for number in range(num_steps + 2):
        batches, num_tokens = ground.share()
        stepper._shares.clear()
        start = time.monotonic()
        result = stepper.step(number + 1, batches, num_tokens, RATE, Votes())
        stepper._update(num_tokens, RATE)
        seconds.append(time.monotonic() - start)
        backward.append(result.backward_s)
    # The slower rank sets the pace.
    means = json.dumps([statistics.median(seconds[2:]), statistics.median(backward[2:])]).encode()
    slowest = max(json.loads(part) for part in ground.world.gather_bytes(means))
    return slowest[0], slowest[1]


def measure_alone(ground: Ground, num_steps: int) -> float:
    """The same on the main rank while the other one rests."""
    seconds = 0.0
    world, ground.world = ground.world, World(0, 1, 0, ground.world.device)
    ground.stepper.world = ground.world
    if world.is_main:
        seconds, _ = measure_compute(ground, num_steps)
    ground.world = ground.stepper.world = world
    ground.world.any(False)
    return seconds


def measure_ddp(ground: Ground, num_steps: int) -> float:
    """torch's own DDP around the same model and optimizer."""
    model = ground.model()
    wrapped = DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9, fused=True)
    seconds = []
    for number in range(num_steps + 3):
        batches, num_tokens = ground.share()
        start = time.monotonic()
        model.seed_dropout(number)
        optimizer.zero_grad()
        (wrapped(batches[0]).smoothed_sum * (2 / num_tokens)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds[3:])


def measure_link(world: World) -> theory.Link:
    """As the preflight does."""
    timed = []
    for num_bytes in EXCHANGED_BYTES:
        row = torch.ones(num_bytes // 4)
        seconds = [_timed(lambda row=row: dist.all_reduce(row)) for _ in range(3)]  # type: ignore[misc]
        timed.append((float(num_bytes), 2, statistics.median(seconds)))
    link = theory.fitted_link(timed)
    assert link is not None
    return link


def _timed(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def answer(ground: Ground, order: dict[str, Any]) -> dict[str, Any]:
    rungs = {rung.name: rung for rung in theory.ladder(LAYOUT, max_step_factor=4, local_steps=order["local_steps"])}
    num_steps = order["steps"]
    if not ground.is_warm:
        measure_compute(ground, num_steps)  # the first steps of a process are slow: its memory is new
        ground.is_warm = True
    before = measure_compute(ground, num_steps)
    link, codecs = measure_link(ground.world), measured_codecs(torch.device("cpu"))
    wire = theory.Wire(LAYOUT, link, codecs=codecs)
    row = row_of(ground.stepper.gradients)
    answers: dict[str, dict[str, float]] = {}
    for name in order["rungs"]:
        if name == "ddp":
            answers[name] = {"measured_s": measure_ddp(ground, num_steps)}
            continue
        if name == "alone":
            answers[name] = {"measured_s": measure_alone(ground, num_steps)}
            continue
        answers[name] = {"measured_s": measure_rung(ground, rungs[name], num_steps)}
    # Before and after: a machine that others share does not keep its pace.
    after = measure_compute(ground, num_steps) if answers else before
    compute_s, backward_s = (statistics.fmean(both) for both in zip(before, after, strict=True))
    compute = theory.Compute(compute_s, backward_s)
    for name in answers.keys() & rungs.keys():
        predicted = theory.predict(rungs[name], compute, row, wire)
        answers[name] |= {"predicted_s": predicted.step_s, "nic_bytes": predicted.nic_bytes}
    choice = theory.choose(compute, row, wire, max_step_factor=order["max_step_factor"])
    return {
        "compute_s": compute_s,
        "backward_s": backward_s,
        "both_compute_s": [before[0], after[0]],
        "link": dataclasses.asdict(link),
        "codecs": dataclasses.asdict(codecs),
        "row": dataclasses.asdict(row),
        "auto": choice.rung.name,
        "why": choice.why,
        "rungs": answers,
    }


def main() -> None:
    prepare_cpu(1)
    with joined() as world:
        ground = Ground(world)
        while True:
            line = sys.stdin.readline() if world.is_main else ""
            order = world.from_main(line.encode())
            if not order.strip():
                return
            found = answer(ground, json.loads(order))
            if world.is_main:
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
