"""What a rank does before a run: `python -m dragoman.training.preflight_worker ORDER`, with ORDER a JSON object.

Meets the others as training would, sees that sums over the wire are right, times them, and times a few steps of the
recipe on this rank's share: first without any exchange, then beside one. Says what it found in lines `PREFLIGHT {…}`;
writes no file.
"""

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
import torch.distributed as dist

from dragoman.batching.plan import Plan
from dragoman.batching.stream import open_stream
from dragoman.core import config_file, records
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.corpus.shards import open_corpus
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.load import build_model
from dragoman.model.batch import Batch
from dragoman.model.machine import prepare_cpu
from dragoman.theory.wire import ring_bytes
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.precision import agreed_precision
from dragoman.training.world import World, joined

MARK = "PREFLIGHT "
TIMED_STEPS = 3
BESIDE_S = 1.0
"""About how long steps run beside an exchange."""
BESIDE_BYTES = 4 << 20
"""Of the rows that are then summed: about a bucket of gradients."""
REPETITIONS = 3
FLOAT_BYTES = 4


@dataclass(frozen=True)
class Order:
    """What to measure."""

    leaders: tuple[int, ...]
    """The first rank of each host."""
    sizes: tuple[int, ...]
    """Bytes of the rows to sum, ascending."""
    longest_s: float
    """A size beyond the second that would take longer than this, by the size before, is left out."""
    run: str | None = None
    """A run directory with a recipe whose steps are to be timed."""


def tell(kind: str, **values: Any) -> None:
    print(MARK + json.dumps({"kind": kind, **values}), flush=True)


def main(order: Order) -> int:
    prepare_cpu(torch.get_num_threads())
    if problem := device_problem():
        tell("device", problem=problem)
        return 2
    tell("device", name=torch.cuda.get_device_name() if torch.cuda.is_available() else None)
    try:
        with joined() as world:
            groups = [dist.new_group(list(pair)) for pair in _pairs(order.leaders)]
            leaders = dist.new_group(list(order.leaders)) if len(order.leaders) > 1 else None
            tell("sum", is_right=is_sum_right(world))
            if leaders is not None:
                for size, seconds in timed_sums(world, leaders, order):
                    tell("exchange", ranks=order.leaders, num_bytes=size, seconds=seconds)
                for pair, group in zip(_pairs(order.leaders), groups, strict=True):
                    for size, seconds in timed_sums(world, group, order, is_member=world.rank in pair):
                        tell("exchange", ranks=pair, num_bytes=size, seconds=seconds)
            if order.run is not None:
                for kind, values in timed_steps(Path(order.run), world, num_hosts=len(order.leaders)):
                    tell(kind, **values)
            world.any(True)  # nobody leaves before all are done
    except UserError as error:
        tell("refused", problem=error.problem, fix=error.fix)
        return 2
    return 0


def _pairs(leaders: Sequence[int]) -> list[tuple[int, int]]:
    """Every pair of hosts; with two hosts the pair is all there is."""
    return list(itertools.combinations(leaders, 2)) if len(leaders) > 2 else []


def device_problem() -> str | None:
    """Why torch cannot use this host's GPU; None if it can, or if there is none."""
    if not torch.cuda.is_available():
        if Path("/proc/driver/nvidia/gpus").is_dir():
            return "there is a GPU, but this torch cannot use it: it was built without CUDA or needs another driver"
        return None
    capability, built_for = torch.cuda.get_device_capability(), torch.cuda.get_arch_list()
    return architecture_problem(torch.cuda.get_device_name(), capability, built_for)


def architecture_problem(name: str, capability: tuple[int, int], built_for: Sequence[str]) -> str | None:
    """Binaries for sm_80 run on 8.x from 8.0 up; `compute_` code is translated for anything newer."""
    major, minor = capability
    for architecture in built_for:
        kind, _, digits = architecture.partition("_")
        digits = digits.rstrip("abf")
        built_major, built_minor = int(digits[:-1]), int(digits[-1])
        if kind == "sm" and built_major == major and built_minor <= minor:
            return None
        if kind == "compute" and (built_major, built_minor) <= (major, minor):
            return None
    return f"{name} (sm_{major}{minor}) is not among what this torch was built for: {', '.join(built_for)}"


def is_sum_right(world: World) -> bool:
    """A sum over all ranks that could not come out right by chance."""
    row = torch.arange(1000, dtype=torch.float32, device=world.device) * (world.rank + 1)
    expected = torch.arange(1000, dtype=torch.float32, device=world.device) * (world.size * (world.size + 1) / 2)
    return bool(torch.equal(world.sum_(row), expected))


def timed_sums(world: World, group: Any, order: Order, *, is_member: bool | None = None) -> list[tuple[int, float]]:
    """Median seconds of a sum over a group, for each size. Every rank must call this; who is no member waits."""
    member = world.rank in order.leaders if is_member is None else is_member
    if member:
        dist.all_reduce(torch.ones(1, device=world.device), group=group)  # opens the connections
    found: list[tuple[int, float]] = []
    for size in order.sizes:
        if len(found) > 1 and found[-1][1] * size / found[-1][0] > order.longest_s:
            break
        seconds = 0.0
        if member:
            work = partial(dist.all_reduce, torch.ones(size // FLOAT_BYTES, device=world.device), group=group)
            seconds = median(_timed(work, world) for _ in range(REPETITIONS))
        # All take the slowest rank's time, so that all leave out the same sizes.
        slowest = torch.tensor([seconds], dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        found.append((size, float(slowest)))
    return found if member else []


def _timed(work: Callable[[], object], world: World) -> float:
    if world.device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if world.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def timed_steps(directory: Path, world: World, num_hosts: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Seconds of a step on this rank's share, nothing exchanged; with several hosts, what an exchange beside it costs.

    A step is forward, backward and update. What is told of a few is their median.
    """
    paths = RunPaths(directory)
    config = config_file.load(paths.config)
    corpus = open_corpus(Path(config.corpus.directory))
    source, target = (Vocabulary(paths.vocabulary(side)) for side in ("source", "target"))
    is_shared = len({vocabulary.file for vocabulary in corpus.vocabularies.values()}) == 1
    written = corpus.written_pieces()
    model = build_model(config, source, target, is_shared=is_shared, written=written).to(world.device)
    precision = agreed_precision(config.training.precision, world)
    model.multiplied_in = precision.multiplied_in
    gradients, optimizer = Gradients.of(model), Optimizer(model, config.optimizer, precision.multiplied_in)
    model.accumulate_in_place = model.draws_columns = world.device.type == "cpu"
    model.seed_dropout(config.training.seed)
    train = corpus.split("train")
    plan = Plan(train.lengths(), config.training.seed, config.batching.tokens_per_step)
    stream = open_stream(
        plan, train, corpus.vocabularies["target"].special.pad, rank=world.rank, world_size=world.size,
        tokens_per_micro_batch=config.batching.tokens_per_micro_batch,
    )  # fmt: skip

    def backward_s(batches: Sequence[Batch]) -> float:
        """Makes a step and times the backward of its last micro-batch."""
        seconds = 0.0
        gradients.zero()
        for batch in batches:
            with precision.autocast():
                loss = model(batch.to(world.device))
            seconds = _timed(loss.smoothed_sum.backward, world)
        optimizer.step(gradients, 0.0, float(torch.linalg.vector_norm(gradients.own)))
        return seconds

    with stream:
        steps = [step.batches for step in itertools.islice(stream, TIMED_STEPS)]
    backward_s(steps[0])  # warms up
    backwards: list[float] = []
    alone = [_timed(lambda step=step: backwards.append(backward_s(step)), world) for step in steps]  # type: ignore[misc]
    yield "steps", {"seconds": median(alone), "last_backward_s": median(backwards)}
    if num_hosts > 1:
        yield "stolen", {"s_per_byte": stolen_s_per_byte([partial(backward_s, step) for step in steps], alone, world)}


def stolen_s_per_byte(steps: Sequence[Callable[[], object]], alone: Sequence[float], world: World) -> float:
    """How much longer steps take while ranks exchange gradients beside them, for each byte that a ring sends.

    Cores and caches are shared, and where a network card does little itself, packets cost more than the link. `alone`
    has the seconds that each step takes otherwise. Every rank must call this; it lasts about a second, or a step.
    """
    row = torch.zeros(BESIDE_BYTES // FLOAT_BYTES, device=world.device)
    [one_s] = world.sums(_timed(lambda: world.sum_(row), world) / world.size)
    num_sums = max(1, round(BESIDE_S / one_s))

    def exchange() -> None:
        for _ in range(num_sums):
            world.sum_(row)
        if world.device.type == "cuda":
            torch.cuda.synchronize()

    beside = threading.Thread(target=exchange, daemon=True)
    start, expected_s = time.perf_counter(), 0.0
    beside.start()
    for step, step_s in itertools.cycle(zip(steps, alone, strict=True)):
        expected_s += step_s
        _timed(step, world)
        if not beside.is_alive():
            break
    stolen_s = time.perf_counter() - start - expected_s
    return max(0.0, stolen_s / (num_sums * ring_bytes(BESIDE_BYTES, world.size)))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    sys.exit(main(records.from_json(Order, json.loads(sys.argv[1]))))
