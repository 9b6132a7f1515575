"""One of the two ranks: measures what it is told to, and rank 0 answers. One JSON line each way.

{"rungs": ["plain", …], "steps": 6} → {"compute_s": …, "backward_s": …, "link": …, "codecs": …, "rungs": {"plain": …}}
"""

import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from benchmarks import multi30k
from dragoman.core.config import ModelConfig, OptimizerConfig
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.machine import prepare_cpu
from dragoman.model.transformer import Transformer
from dragoman.theory import wire as theory
from dragoman.theory.link_fit import fitted_link
from dragoman.training.communication.choice import measured_codecs, row_of
from dragoman.training.communication.groups import hosts_of
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.preflight_worker import stolen_s_per_byte
from dragoman.training.rungs import on_rung
from dragoman.training.step import Stepper, Votes
from dragoman.training.world import World, joined

RATE = 1e-4
ADAMW = OptimizerConfig(kind="adamw")
EXCHANGED_BYTES = (1 << 18, 1 << 22, 1 << 24)
"""What the preflight times, about."""
NUM_BATCHES = 8
MOST_TAKEN = 0.05
"""Of the processors' time, by other guests of the machine: a measurement that lost more is made again."""
MOST_TRIES = 3
LAYOUT = theory.Layout(2, 2)

Share = tuple[list[Batch], int]
Measured = TypeVar("Measured")


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
        optimizer = Optimizer(model, ADAMW)
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


def undisturbed(ground: Ground, measure: Callable[[], Measured]) -> Measured:
    """What is measured while others leave the processors alone; after some tries, the least disturbed."""
    tries: list[tuple[float, Measured]] = []
    while len(tries) < MOST_TRIES and not (tries and tries[-1][0] < MOST_TAKEN):
        before = processor_times()
        found = measure()
        busy, taken = (now - then for now, then in zip(processor_times(), before, strict=True))
        [share] = ground.world.sums(taken / max(1, busy) / ground.world.size)
        tries.append((share, found))
    return min(tries, key=lambda one: one[0])[1]


def processor_times() -> tuple[int, int]:
    """Ticks in which this machine's processors worked or would have, and of these, in which others had them."""
    user, nice, system, _idle, _io, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return user + nice + system + irq + softirq + steal, steal


def on(ground: Ground, rung: theory.Rung) -> Stepper:
    ground.stepper = on_rung(ground.stepper, rung, ground.hosts, ADAMW)
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


def measure_compute(ground: Ground, num_steps: int) -> theory.Compute:
    """A step without any exchange, both ranks computing at once."""
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
    return theory.Compute(*slowest)


def measure_compute_bound(ground: Ground) -> tuple[float, float]:
    """Seconds of a large step on one host while the other rests, and on both with their exchange; in turns."""
    batches = 2 * [batch for share, _ in ground._shares for batch in share]
    num_tokens = 2 * sum(tokens for _, tokens in ground._shares)
    both, world = on(ground, theory.PLAIN), ground.world
    one = Stepper(both.model, both.optimizer, both.gradients, World(0, 1, 0, world.device), seed=1, probe_every=0)
    alone, together = [], []
    for number in range(1, 4):
        world.any(False)
        if world.is_main:
            alone.append(_timed(partial(one.step, number, batches, num_tokens, RATE, Votes())))
        world.any(False)
        together.append(_timed(partial(both.step, number, batches, num_tokens, RATE, Votes())))
    return statistics.median(alone or [0.0]), statistics.median(together)


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
    link = fitted_link(timed)
    assert link is not None
    return link


def measure_stolen(ground: Ground, step_s: float) -> float:
    """As the preflight does."""

    def step() -> None:
        batches, num_tokens = ground.share()
        stepper._shares.clear()
        stepper.step(1, batches, num_tokens, RATE, Votes())
        stepper._update(num_tokens, RATE)

    stepper = on(ground, theory.PLAIN)
    stepper.cycle = 1 << 30
    found = stolen_s_per_byte([step] * NUM_BATCHES, [step_s] * NUM_BATCHES, ground.world)
    return fmean(json.loads(part) for part in ground.world.gather_bytes(json.dumps(found).encode()))


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

    def computing() -> theory.Compute:
        return undisturbed(ground, lambda: measure_compute(ground, num_steps))

    compute = [computing()]
    link = undisturbed(ground, lambda: measure_link(ground.world))
    codecs = undisturbed(ground, lambda: measured_codecs(torch.device("cpu")))
    stolen = undisturbed(ground, lambda: measure_stolen(ground, compute[0].step_s))
    wire = theory.Wire(LAYOUT, link, codecs=codecs, stolen_s_per_byte=stolen)
    row = row_of(ground.stepper.gradients)
    answers: dict[str, list[dict[str, float]]] = {}
    for name in order["rungs"]:
        if name == "ddp":
            measured_s = undisturbed(ground, lambda: measure_ddp(ground, num_steps))
            answers.setdefault(name, []).append({"measured_s": measured_s})
            continue
        if name == "compute_bound":
            alone_s, together_s = undisturbed(ground, lambda: measure_compute_bound(ground))
            answers[name] = [{"alone_s": alone_s, "measured_s": together_s}]
            continue
        measured_s = undisturbed(ground, partial(measure_rung, ground, rungs[name], num_steps))
        # Before and after each: a machine that others share does not keep its pace.
        compute.append(computing())
        now = theory.Compute(*(fmean(both) for both in zip(astuple(compute[-2]), astuple(compute[-1]), strict=True)))
        predicted = theory.predict(rungs[name], now, row, wire)
        found = {
            "measured_s": measured_s, "compute_s": now.step_s, "predicted_s": predicted.step_s,
            "nic_bytes": predicted.nic_bytes,
        }  # fmt: skip
        answers.setdefault(name, []).append(found)
    choice = theory.choose(compute[0], row, wire, max_step_factor=order["max_step_factor"])
    return {
        "compute_s": fmean(one.step_s for one in compute),
        "backward_s": fmean(one.overlap_s for one in compute),
        "link": dataclasses.asdict(link),
        "codecs": dataclasses.asdict(codecs),
        "stolen_s_per_byte": stolen,
        "row": dataclasses.asdict(row),
        "auto": choice.rung.name,
        "why": choice.why,
        "rungs": {
            name: {key: fmean(one[key] for one in several) for key in several[0]} for name, several in answers.items()
        },
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
