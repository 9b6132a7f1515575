"""Which rung of the ladder a run stands on: the one that the recipe names, or what the measured wire asks for.

The main rank decides and tells the others, because only its machine has the preflight's record. A resumed run with as
many ranks as before stays where it was: another rung would round other numbers.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import torch

from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.run_records import PreflightRecord
from dragoman.theory import wire as theory
from dragoman.theory.link_fit import measured_link
from dragoman.theory.wire import PLAIN, Codecs, Layout, Rung
from dragoman.training.communication.codecs import EIGHT_BITS, HALF, Codec
from dragoman.training.gradients import Gradients
from dragoman.training.world import World

SAMPLE_NUMBERS = 1 << 20
"""As many as a bucket has."""
NUM_SAMPLES = 3
"""Each is new to the caches, as gradients are."""


@dataclass(frozen=True)
class Chosen:
    """A rung and the sentence that says why."""

    rung: Rung
    why: str


def choose(
    config: Config, world: World, layout: Layout, gradients: Gradients, preflight: Path, kept: str | None = None
) -> Chosen:
    """The rung of this session; `kept` is the one of the checkpoint that it goes on from. Every rank must call this."""
    if world.size == 1:
        return Chosen(PLAIN, "plain: there is nobody to exchange gradients with")
    rungs = {rung.name: rung for rung in _ladder(config, layout)}
    wanted = config.communication.mode
    if wanted != "auto":
        return Chosen(_named(wanted, rungs, config), f"{wanted}: the recipe says so")
    if kept in rungs:
        return Chosen(rungs[kept], f"{kept}: as before the run stopped")
    own = _from_preflight(config, layout, gradients, preflight) if world.is_main else Chosen(PLAIN, "")
    name, why = json.loads(world.from_main(json.dumps([own.rung.name, own.why]).encode()))
    return Chosen(rungs[name], why)


def _ladder(config: Config, layout: Layout) -> tuple[Rung, ...]:
    """Local steps are there only for those who name them."""
    _, is_local, steps = config.communication.mode.partition("local_steps_")
    return theory.ladder(layout, max_step_factor=max_step_factor(config), local_steps=int(steps) if is_local else 1)


def max_step_factor(config: Config) -> int:
    """How many steps of the recipe may make one update."""
    return max(1, config.communication.max_tokens_per_step // config.batching.tokens_per_step)


def _named(mode: str, rungs: dict[str, Rung], config: Config) -> Rung:
    """The rung that a recipe means by a mode."""
    name = f"larger_step_{max_step_factor(config)}" if mode == "larger_step" else mode
    if name in rungs:
        return rungs[name]
    if mode == "larger_step":
        raise UserError(
            "communication.mode = larger_step needs communication.max_tokens_per_step",
            f"set it to {2 * config.batching.tokens_per_step} or more: twice batching.tokens_per_step",
        )
    raise UserError(
        f"communication.mode = {mode} needs several hosts, and several ranks on one of them",
        "set communication.mode = auto",
    )


def _from_preflight(config: Config, layout: Layout, gradients: Gradients, preflight: Path) -> Chosen:
    """What the theory makes of the measurements."""
    if layout.num_hosts == 1:
        return Chosen(PLAIN, "plain: all ranks are on one machine")
    if not preflight.exists():
        return Chosen(PLAIN, "plain: the link was not measured (no preflight.json)")
    try:
        measured = records.from_json(PreflightRecord, json.loads(preflight.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        return Chosen(PLAIN, f"plain: preflight.json cannot be read ({error})")
    link = measured_link(measured)
    share = config.batching.tokens_per_step / layout.num_ranks
    compute = theory.Compute.measured(measured, max(1, round(share / config.batching.tokens_per_micro_batch)))
    if link is None or compute is None:
        return Chosen(PLAIN, "plain: the preflight measured no exchange or no step")
    codecs, stolen = measured_codecs(gradients.flat.device), measured.stolen_s_per_byte or 0.0
    wire = theory.Wire(layout, link, codecs=codecs, stolen_s_per_byte=stolen)
    choice = theory.choose(compute, row_of(gradients), wire, max_step_factor=max_step_factor(config))
    return Chosen(choice.rung, choice.why)


def row_of(gradients: Gradients) -> theory.Row:
    """The gradients as the theory sees them."""
    size = gradients.flat.element_size()
    last = gradients.buckets[-1]
    return theory.Row(gradients.flat.numel() * size, (last.end - last.start) * size, len(gradients.buckets))


def measured_codecs(device: torch.device) -> Codecs:
    """What packing costs on this machine: some milliseconds to find out."""
    return Codecs(_codec_s_per_byte(HALF, device), _codec_s_per_byte(EIGHT_BITS, device))


def _codec_s_per_byte(codec: Codec, device: torch.device) -> float:
    rows = torch.linspace(-1.0, 1.0, SAMPLE_NUMBERS, device=device).repeat(NUM_SAMPLES, 1)
    packed = torch.zeros(NUM_SAMPLES, codec.packed_bytes(SAMPLE_NUMBERS), dtype=torch.uint8, device=device)
    lost = torch.zeros(rows.shape, dtype=torch.bfloat16, device=device) if codec.loses_much else [None] * NUM_SAMPLES
    pack_s = median(_timed(partial(codec.pack, *one), device) for one in zip(rows, packed, lost, strict=True))
    unpack_s = median(_timed(partial(codec.unpack, *one), device) for one in zip(packed, rows, strict=True))
    # A rank packs its row once, and unpacks as much twice: what it adds up, and the sum.
    return (pack_s + 2 * unpack_s) / (SAMPLE_NUMBERS * rows.element_size())


def _timed(work: Callable[[], None], device: torch.device) -> float:
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start
