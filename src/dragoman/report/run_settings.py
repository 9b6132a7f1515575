"""What was set in a run of ours, and what lies in its checkpoints: from the recipe, the corpus and the files."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.core.config import Config
from dragoman.core.paths import WRITTEN_PIECES, CheckpointPaths, RunPaths
from dragoman.core.run_records import EventRecord, PreflightRecord
from dragoman.report.columns import HostColumns
from dragoman.report.facts import Checkpoint, CheckpointFile, ComputeStep, CorpusFacts, Prediction, Settings
from dragoman.theory import cost, wire

MAX_HEADER_BYTES = 50_000_000
RUNG = re.compile(r"gradients cross the wire as (\w+)")
"""How a run tells its rung."""
RESIDUAL_BYTES = 2
"""What rounding to 8 bits lost of a parameter's gradient, which each rank sends with the next one."""


def settings_of(
    paths: RunPaths,
    config: Config | None,
    environment: Mapping[str, Any],
    preflight: PreflightRecord | None,
    hosts: Mapping[str, HostColumns],
    corpus: CorpusFacts | None,
    num_ranks: int,
    events: Sequence[EventRecord] = (),
) -> Settings:
    """The settings that questions ask for."""
    world = environment.get("world_size")
    ranks = num_ranks or (world if isinstance(world, int) else None)
    num_hosts = len(preflight.hosts) if preflight else len(hosts) or (1 if ranks == 1 else None)
    device = str(environment.get("device") or "") or None
    gpus = {gpu.name for host in hosts.values() for gpu in host.gpus.values() if gpu.name}
    if config is None:
        return Settings(ranks=ranks, hosts=num_hosts, device=device)
    model, training = config.model.sized(), config.training
    sizes = corpus.vocabularies if corpus else {}
    source, target = (sizes.get(side) or sizes.get("shared") for side in ("source", "target"))
    computed = cost.parameters(model, source, target) if source and target else None
    on_wire = _wire(paths, config, events)
    tensors = tensors_on_disk(paths.checkpoints)
    written = tensors.pop(WRITTEN_PIECES, None)
    parameters = sum(tensors.values()) or computed
    return Settings(
        model=model,
        source_vocabulary=source,
        target_vocabulary=target,
        written_pieces=written or target,
        parameters=parameters,
        tokens_per_step=config.batching.tokens_per_step,
        max_pieces=config.cleaning.max_pieces,
        cuts_long_pairs=False,
        ranks=ranks,
        hosts=num_hosts,
        device=device,
        is_gpu=device in gpus or environment.get("device_type") == "cuda" if device or gpus else None,
        schedule=config.schedule,
        **on_wire,
        label_smoothing=model.label_smoothing,
        precision=training.precision if training.precision != "auto" else None,
        checkpoint_bytes_per_parameter=_checkpoint_bytes(config, on_wire["wire_rung"] or "", ranks or 1, parameters),
        checkpoint_every_steps=training.save_every_steps or None,
        checkpoint_every_minutes=training.save_every_minutes or None,
        evaluate_every_steps=training.evaluate_every_steps or None,
        max_steps=training.max_steps or None,
        max_hours=training.max_hours or None,
        price_per_hour=training.price_per_hour or _price(preflight),
    )


def checkpoints_in(directory: Path) -> tuple[Checkpoint, ...]:
    """Those on disk now, in order of steps."""
    found = []
    for path in _checkpoint_directories(directory):
        try:
            files = tuple(CheckpointFile(file.name, file.stat().st_size) for file in sorted(path.iterdir()))
        except OSError:  # just being rotated away
            continue
        found.append(Checkpoint(int(path.name.removeprefix("step_")), files))
    return tuple(found)


def tensors_on_disk(directory: Path) -> dict[str, int]:
    """How many numbers each tensor of the newest checkpoint's weights has, by the header of the file."""
    for path in reversed(_checkpoint_directories(directory)):
        try:
            with CheckpointPaths(path).model.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(length)) if length <= MAX_HEADER_BYTES else {}
            sizes = {name: int(math.prod(one["shape"])) for name, one in header.items() if name != "__metadata__"}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        if sizes:
            return sizes
    return {}


def compute_step(preflight: PreflightRecord | None) -> ComputeStep | None:
    """What the preflight measured."""
    if preflight is None or not preflight.compute_step_s:
        return None
    return ComputeStep(preflight.compute_step_s, "the preflight")


def prediction_of(plan: Mapping[str, Any]) -> Prediction | None:
    """What `dragoman plan --out` wrote of the recipe as it is; None where no step time can be found in it."""
    now = plan.get("now")
    if not isinstance(now, dict) or not _number(now.get("step_s")):
        return None
    ends = now.get("step_range_s")
    low, high = (_number(end) for end in ends) if isinstance(ends, list) and len(ends) == 2 else (None, None)
    num_steps, num_bytes = (_number(plan.get(name)) for name in ("num_steps", "checkpoint_bytes"))
    machines = plan.get("machines")
    return Prediction(
        **{name: _number(now.get(name)) for name in ("step_s", "hours", "cost", "tokens_per_s", "exposed_share")},
        step_range_s=(low, high) if low is not None and high is not None else None,
        num_steps=int(num_steps) if num_steps else None,
        checkpoint_bytes=int(num_bytes) if num_bytes else None,
        machines=machines if isinstance(machines, str) else None,
    )


def _number(value: object) -> float | None:
    """A finite number that is not below zero."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value >= 0 else None  # type: ignore[arg-type,operator]


def _checkpoint_directories(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if re.fullmatch(r"step_\d+", path.name) and path.is_dir())
    except OSError:
        return []


def _checkpoint_bytes(config: Config, rung: str, ranks: int, parameters: int | None) -> float | None:
    """Of one parameter, in the mean: Muon keeps one moment of some and two of others. None where it is not known."""
    moments = float(cost.ADAM_MOMENTS)
    if config.optimizer.kind_for(config.model) == "muon":
        if not parameters:
            return None
        moments -= cost.muon_parameters(config.model) / parameters
    each = cost.FLOAT_BYTES * (1 + moments)
    if config.optimizer.average_decay:
        each += cost.FLOAT_BYTES
    if rung.startswith(("eight_bits", "larger_step", "local_steps")):
        each += RESIDUAL_BYTES * ranks
    if rung.startswith("local_steps"):  # each rank's own moments, and one that all share
        each += cost.FLOAT_BYTES * (moments * ranks + 1)
    return each


def _wire(paths: RunPaths, config: Config, events: Sequence[EventRecord]) -> dict[str, Any]:
    """The rung that the run stands on: by its newest checkpoint, else by what it said itself, else by the recipe."""
    found: str | None = None if config.communication.mode == "auto" else config.communication.mode
    for event in events:
        if event.kind == "communication" and (match := RUNG.search(event.text)):
            found = match[1]
    for path in reversed(_checkpoint_directories(paths.checkpoints)):
        try:
            state = json.loads(CheckpointPaths(path).state.read_text(encoding="utf-8"))
            found = str(state["rung"])
            break
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    codecs = {"plain": 1.0, "two_level": 1.0, "half": wire.HALF_BYTES, "two_level_half": wire.HALF_BYTES}
    factor = codecs.get(found or "")
    return {"wire_rung": found, "wire_bytes_per_parameter": factor and factor * cost.FLOAT_BYTES}


def _price(preflight: PreflightRecord | None) -> float | None:
    """Of all machines together; None unless every one has a price."""
    prices = [host.price_per_hour for host in preflight.hosts] if preflight else []
    known = [price for price in prices if price is not None]
    return sum(known) if known and len(known) == len(prices) else None
