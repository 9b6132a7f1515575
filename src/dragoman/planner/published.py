"""The model against other people's runs: a table of public runs of one exercise, each predicted from the others.

Every row is Transformer-base trained with OpenSeq2Seq and Horovod on a few GPUs. A row gives GPUs, batch and the name
of its port; the rate that ports of that name really carry is the median of what the *other* rows imply, so nothing is
fitted to the row itself. How fast the GPUs compute comes from OpenSeq2Seq's own plot, scaled by the peaks of the
catalogue. A rate that somebody read from a monitor is no property of the port: it is bytes over step time.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from dragoman.core.config import ModelConfig
from dragoman.core.errors import UserError
from dragoman.planner import memory
from dragoman.planner.hardware import BUS_SHARE, Gpu, find_gpu
from dragoman.planner.offers import GBIT, MBIT, SINGLE_FLOW_BYTES_PER_S, payload
from dragoman.planner.workload import Workload
from dragoman.theory.wire import PLAIN, Compute, Layout, Link, Wire, predict, ring_bytes

VOCABULARY = 32_768
MAX_PIECES = 56
ANCHOR_GPU = "V100 SXM"
ANCHOR_PAIRS = 256
ANCHORS = {"mixed": 1 / 1.63, "fp32": 1 / 1.07}
"""Seconds a step of 256 pairs a GPU where no network is in the way: OpenSeq2Seq's documentation, plot of Transformer
on one DGX-1 (4 V100, NVLink): 1.63 steps a second in mixed precision, 1.07 in fp32."""
TOO_FAR = 0.25
WORK = Workload(
    model=ModelConfig(preset="base", attention_dropout=0.1, activation_dropout=0.1).sized(),
    source_vocabulary=VOCABULARY,
    target_vocabulary=VOCABULARY,
    source_length=MAX_PIECES,  # whole rectangles are computed and kept, so padding counts
    target_length=MAX_PIECES,
    tokens_per_step=4 * ANCHOR_PAIRS * MAX_PIECES,
    tokens_per_micro_batch=ANCHOR_PAIRS * MAX_PIECES,
    num_steps=1,
    precision="fp32",
)
FLOWING = replace(WORK.row, num_buckets=1)
"""Horovod sends what is ready every few milliseconds; it has no buckets that must fill."""


@dataclass(frozen=True)
class PublishedRun:
    """A row as its author gave it."""

    name: str
    gpu: Gpu
    is_gpu_assumed: bool
    layout: Layout
    pairs: int
    dtype: str
    port: str
    """The class of its link: rows with equal names are taken to have equal ports."""
    is_port_assumed: bool
    step_s: float | None

    @property
    def compute(self) -> Compute:
        precision = "fp32" if self.dtype == "fp32" else self.gpu.half_kind
        anchor = find_gpu(ANCHOR_GPU)
        seconds = ANCHORS[self.dtype] * self.pairs / ANCHOR_PAIRS
        return Compute.of(seconds * anchor.peak(precision) / self.gpu.peak(precision))

    @property
    def implied_bytes_per_s(self) -> float | None:
        """What its link carries if the exchange, less what backward hides, is what the step waits for."""
        compute = self.compute
        if self.step_s is None or self.step_s <= compute.step_s:
            return None
        exchange_s = self.step_s - (compute.step_s - compute.overlap_s)
        return ring_bytes(WORK.gradient_bytes, self.layout.num_ranks) / exchange_s


@dataclass(frozen=True)
class Replay:
    """What the model says of a row."""

    run: PublishedRun
    predicted_s: float | None
    """None where the run could not start."""
    link_bytes_per_s: float | None
    link_source: str
    is_misread: bool
    note: str

    @property
    def error(self) -> float | None:
        """Predicted over observed, less one."""
        if self.predicted_s is None or self.run.step_s is None:
            return None
        return self.predicted_s / self.run.step_s - 1


def read(path: Path) -> list[PublishedRun]:
    """The rows of a table like the one this module is about; a UserError names the row that does not fit."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    needed = {"run", "hardware", "nodes", "gpus", "batch_per_gpu", "dtype", "network", "sec_per_step"}
    if not rows or not needed <= set(rows[0]):
        raise UserError(f"{path} is no table of runs", f"its first line must name {', '.join(sorted(needed))}")
    runs = []
    for number, row in enumerate(rows, start=2):
        try:
            runs.append(_run(row))
        except (ValueError, KeyError, AttributeError) as error:
            raise UserError(f"{path}:{number} does not fit: {error}") from None
    return runs


def _run(row: dict[str, str]) -> PublishedRun:
    found = re.search(r"\b(P100|V100|T4)\b", row["hardware"])
    dtype = "mixed" if row["dtype"].startswith("mixed") else "fp32"
    # Of the rows that say fp32 and a port of 1000 Mbps, those that also name the GPU have P100s.
    gpu = find_gpu(found[1] if found else "V100" if dtype == "mixed" else "P100")
    layout = Layout(int(row["gpus"]), int(row["nodes"]))
    step_s = float(row["sec_per_step"]) if row["sec_per_step"] else None
    port = _port(row["network"], row["hardware"])
    is_port_assumed = re.search(r"\d|-", row["network"]) is None
    pairs = int(row["batch_per_gpu"])
    return PublishedRun(row["run"], gpu, found is None, layout, pairs, dtype, port, is_port_assumed, step_s)


def _port(network: str, hardware: str) -> str:
    """AWS and 100 Mb/s ports say what they are; a "fast" one is no 1000 Mbps port; the rest are or look like one."""
    if "AWS" in hardware:
        return "AWS"
    if re.search(r"\b100 Mbps", network):
        return "100 Mb/s"
    if "fast" in network:
        return "fast"
    return "1000 Mbps" if network.strip() != "-" else "none"


KNOWN_PORTS = {
    "100 Mb/s": (payload(100 * MBIT), "100 Mb/s as given, less framing"),
    "AWS": (payload(SINGLE_FLOW_BYTES_PER_S), "AWS's limit of one connection, 5 Gb/s, less framing"),
    "fast": (payload(10 * GBIT), "unknown but fast: taken as 10 Gb/s, the next port above 1 Gb/s"),
}


def replay(runs: list[PublishedRun]) -> list[Replay]:
    """Every row, predicted without looking at its own step time."""
    misread = {run.name for run in runs if _is_upside_down(run, runs)}
    sound = [run for run in runs if run.name not in misread]
    return [_replay(run, sound, run.name in misread) for run in runs]


def _replay(run: PublishedRun, sound: list[PublishedRun], is_misread: bool) -> Replay:
    if run.layout.num_hosts > 1:
        rate, source = _link(run, sound)
    else:
        rate, source = None, "one host"
    need = memory.need(
        replace(WORK, precision=run.dtype),
        "fp32" if run.dtype == "fp32" else "fp16",
        run.gpu.memory_bytes,
        run.pairs * MAX_PIECES,
        memory.TENSORFLOW_1,
    )
    if not need.fits:
        return Replay(run, None, rate, source, False, need.sentence())
    wire = Wire(run.layout, Link(rate or float("inf")), Link(run.gpu.bus_bytes_per_s * BUS_SHARE))
    predicted_s = predict(PLAIN, run.compute, FLOWING, wire).update_s
    return Replay(run, predicted_s, rate, source, is_misread, "; ".join(_notes(run, is_misread)))


def _notes(run: PublishedRun, is_misread: bool) -> Iterator[str]:
    if is_misread and run.step_s:
        yield f"steps per second, read upside down: 1 / {run.step_s:g} = {1 / run.step_s:.2f} s"
    if run.is_gpu_assumed:
        yield f"GPU not named: taken as {run.gpu.name}"
    if run.is_port_assumed:
        yield "rate of the port not given: taken as " + ("10 Gb/s" if run.port == "fast" else "that of the others")


def _link(run: PublishedRun, others: list[PublishedRun]) -> tuple[float, str]:
    """The rate of the row's port: known, or the median of what other rows with such a port imply."""
    if run.port in KNOWN_PORTS:
        return KNOWN_PORTS[run.port]
    implied = [
        rate
        for other in others
        if other.port == run.port
        and other.name != run.name
        and not other.is_port_assumed
        and (rate := other.implied_bytes_per_s) is not None
    ]
    if not implied:
        raise UserError(f"{run.name}: no other run has a port like its {run.port}")
    return median(implied), f"median of {len(implied)} other runs with such a port"


def _is_upside_down(run: PublishedRun, runs: list[PublishedRun]) -> bool:
    """Its number is far from what all others imply, and one over its number is not."""
    if run.step_s is None or run.layout.num_hosts == 1:
        return False
    rate, _ = _link(run, runs)
    wire = Wire(run.layout, Link(rate), Link(run.gpu.bus_bytes_per_s * BUS_SHARE))
    predicted_s = predict(PLAIN, run.compute, FLOWING, wire).update_s
    return abs(predicted_s / run.step_s - 1) > TOO_FAR > 2 * abs(predicted_s * run.step_s - 1)


def median_error(replays: list[Replay]) -> float:
    """Of the rows that were read rightly."""
    return median(abs(found.error) for found in replays if found.error is not None and not found.is_misread)


NORM_PARAMETERS = 2 * WORK.model.width * (2 * WORK.model.encoder_layers + 3 * WORK.model.decoder_layers + 2)


def checkpoint_bytes(dtype: str) -> int:
    """The data file of an OpenSeq2Seq checkpoint, to the byte.

    Weights and two moments, the step number (8) and two running powers of Adam (4 each). Mixed precision adds weights
    in 16 bits, but not of norms, and what adapts the loss scale: two step numbers (8 each) and the scale (4).
    """
    plain = WORK.checkpoint_bytes + 8 + 2 * 4
    return plain if dtype == "fp32" else plain + 2 * (WORK.num_parameters - NORM_PARAMETERS) + 2 * 8 + 4
