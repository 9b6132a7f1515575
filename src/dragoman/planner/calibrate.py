"""What past runs of ours measured, in place of the catalogue's priors.

Takes run directories and gives the operations a second that one rank really did, and what its exchanges carried. Only
time spent computing counts: waiting for data and for the wire is taken out. The median of the later steps decides;
the quarters around it are the range.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from dragoman.core import config_file, records
from dragoman.core.errors import UserError
from dragoman.core.paths import CorpusPaths, RunPaths
from dragoman.core.run_records import StepRecord
from dragoman.corpus.manifest import Manifest, read_manifest
from dragoman.planner import workload
from dragoman.planner.estimate import Speed
from dragoman.planner.hardware import find_gpu

FEWEST_STEPS = 10
WARM_UP_SHARE = 0.2
"""First steps that are left out: memory is still being found, caches are cold."""


@dataclass(frozen=True)
class Calibration:
    """What one run says about its machines."""

    run: str
    device: str | None
    """The catalogue's name of its GPU; None for CPUs."""
    speed: Speed
    exchange_bytes_per_s: float | None
    """What one rank sent while nothing else went on, from probe steps; None where there were none."""
    num_steps: int


def calibrate(directory: Path) -> Calibration:
    """Learn from one run; a UserError says why that is not possible."""
    paths = RunPaths(directory)
    if not paths.config.is_file():
        raise UserError(f"{directory} is not a run: no config.toml", "name a run directory")
    config = config_file.load(paths.config)
    work = workload.of(config, manifest_of(Path(config.corpus.directory)), num_steps=1)
    ranks = sorted(paths.steps(0).parent.glob("rank*.jsonl"))
    steps = [step for rank in ranks for step in _steps(rank)]
    if len(steps) < FEWEST_STEPS:
        raise UserError(f"{directory} has {len(steps)} usable steps; {FEWEST_STEPS} are needed to learn from it")
    # Steps that exchange nothing before backward is done show computing alone.
    probes = [step for step in steps if step.is_probe]
    chosen = probes if len(probes) >= FEWEST_STEPS else steps
    rates = [work.flops_per_token * step.target_tokens / len(ranks) / _computing_s(step) for step in chosen]
    low, middle, high = quantiles(rates, n=4)
    source = f"{len(chosen):,} steps of {directory}"
    speed = Speed(middle, low, high, source, is_measured=True)
    return Calibration(str(directory), _device(paths), speed, _exchange_bytes_per_s(probes), len(chosen))


def _steps(rank: Path) -> list[StepRecord]:
    """Of a rank, the later of two records of a step, without the first few and what did not count."""
    try:
        found = {step.step: step for step in records.read_lines(rank, StepRecord)}
    except ValueError as error:
        raise UserError(f"cannot learn from {rank.parent.parent}: {error}") from None
    steps = [found[number] for number in sorted(found)]
    steps = steps[int(len(steps) * WARM_UP_SHARE) :]
    return [step for step in steps if not step.was_skipped and step.target_tokens > 0 and _computing_s(step) > 0]


def _computing_s(step: StepRecord) -> float:
    return step.step_s - step.data_wait_s - step.exchange_s


def _exchange_bytes_per_s(probes: list[StepRecord]) -> float | None:
    """Waiting for the slowest rank is no fault of the wire."""
    rates = [
        step.wire_bytes / (step.exchange_s - (step.skew_s or 0.0))
        for step in probes
        if step.wire_bytes and step.exchange_s > (step.skew_s or 0.0)
    ]
    return median(rates) if rates else None


def _device(paths: RunPaths) -> str | None:
    """The GPU that the run used, as the catalogue calls it."""
    try:
        name = json.loads(paths.environment.read_text(encoding="utf-8"))["device"]
        return find_gpu(name).name
    except (OSError, ValueError, KeyError, TypeError, UserError):
        return None


def manifest_of(directory: Path) -> Manifest | None:
    """The account of a prepared corpus, None where there is none."""
    return read_manifest(directory) if CorpusPaths(directory).manifest.is_file() else None
