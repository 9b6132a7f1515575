"""The catalogue: GPUs and how much of their peak training reaches, each number with its source.

Peaks are dense (no sparsity) in TFLOP/s as the maker states them; whoever wants to know what training really gets
multiplies by an efficiency. Efficiencies are priors: `calibrate` replaces them by what a run of ours measured.
The datasheets could not be opened from where this was written: sources say where to check a number, not that it was.
"""

import difflib
import re
from dataclasses import dataclass

from dragoman.core.errors import UserError

GB = 10**9
TERA = 10**12


@dataclass(frozen=True)
class Gpu:
    """One kind of GPU."""

    name: str
    fp32: float
    """Peak FLOP/s of ordinary 32-bit arithmetic; tensor cores are not used for it here."""
    half: float
    """Peak FLOP/s of 16-bit multiplies added up in 32 bits; on tensor cores where there are some."""
    half_kind: str
    """What `training.precision = auto` takes on it: bf16 or fp16."""
    has_tensor_cores: bool
    memory_bytes: int
    memory_bytes_per_s: float
    bus_bytes_per_s: float
    """To the others of its host, each way, as its standard says."""
    power_w: float
    source: str

    def peak(self, precision: str) -> float:
        """FLOP/s at fp32, fp16 or bf16."""
        if precision == "bf16" and self.half_kind != "bf16":
            raise UserError(f"{self.name} has no bf16 arithmetic", "set training.precision = auto")
        return self.fp32 if precision == "fp32" else self.half


def _gpu(
    name: str,
    fp32: float,
    half: float,
    kind: str,
    memory_gib: int,
    memory_gb_per_s: float,
    bus: str,
    power_w: float,
    source: str,
) -> Gpu:
    return Gpu(
        name=name,
        fp32=fp32 * TERA,
        half=half * TERA,
        half_kind=kind,
        has_tensor_cores=kind == "bf16" or half > 2.5 * fp32,
        memory_bytes=memory_gib * 2**30,
        memory_bytes_per_s=memory_gb_per_s * GB,
        bus_bytes_per_s=BUSES[bus],
        power_w=power_w,
        source=source,
    )


BUSES = {
    "PCIe 3": 15.75 * GB,
    "PCIe 4": 31.5 * GB,
    "PCIe 5": 63.0 * GB,
    "NVLink 1": 80 * GB,
    "NVLink 2": 150 * GB,
    "NVLink 3": 300 * GB,
    "NVLink 4": 450 * GB,
}
"""Each way: 16 lanes after line coding (PCI-SIG specifications); of NVLink half of what datasheets give for both."""
BUS_SHARE = 0.6
"""Of that, what an all-reduce gets: an assumption."""

GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        _gpu("P100", 9.3, 18.7, "fp16", 16, 732, "PCIe 3", 250, "NVIDIA Tesla P100 PCIe datasheet, 2016-10"),
        _gpu("P100 SXM", 10.6, 21.2, "fp16", 16, 732, "NVLink 1", 300, "NVIDIA Tesla P100 SXM2 datasheet, 2016-10"),
        _gpu("V100", 14.0, 112.0, "fp16", 16, 900, "PCIe 3", 250, "NVIDIA V100 datasheet, PCIe, 2020-01"),
        _gpu("V100 32GB", 14.0, 112.0, "fp16", 32, 900, "PCIe 3", 250, "NVIDIA V100 datasheet, PCIe, 2020-01"),
        _gpu("V100 SXM", 15.7, 125.0, "fp16", 16, 900, "NVLink 2", 300, "NVIDIA V100 datasheet, SXM2, 2020-01"),
        _gpu("T4", 8.1, 65.0, "fp16", 16, 320, "PCIe 3", 70, "NVIDIA T4 datasheet, 2019-03"),
        _gpu(
            "RTX 2080 Ti",
            14.2,
            56.9,
            "fp16",
            11,
            616,
            "PCIe 3",
            260,
            "NVIDIA Turing whitepaper, Founders Edition, 2018-09",
        ),
        _gpu("RTX 3090", 35.6, 71.0, "bf16", 24, 936, "PCIe 4", 350, "NVIDIA GA102 whitepaper, 2020-09"),
        _gpu("RTX 4090", 82.6, 165.2, "bf16", 24, 1008, "PCIe 4", 450, "NVIDIA Ada whitepaper, 2022-09"),
        _gpu("A6000", 38.7, 154.8, "bf16", 48, 768, "PCIe 4", 300, "NVIDIA RTX A6000 datasheet, 2021-03"),
        _gpu("A10", 31.2, 125.0, "bf16", 24, 600, "PCIe 4", 150, "NVIDIA A10 datasheet, 2021-04"),
        _gpu("A10G", 35.0, 70.0, "bf16", 24, 600, "PCIe 4", 300, "NVIDIA A10G datasheet for AWS, 2022-02"),
        _gpu("A40", 37.4, 149.7, "bf16", 48, 696, "PCIe 4", 300, "NVIDIA A40 datasheet, 2021-04"),
        _gpu("L4", 30.3, 121.0, "bf16", 24, 300, "PCIe 4", 72, "NVIDIA L4 datasheet, 2023-03"),
        _gpu("L40S", 91.6, 362.0, "bf16", 48, 864, "PCIe 4", 350, "NVIDIA L40S datasheet, 2023-08"),
        _gpu("A100", 19.5, 312.0, "bf16", 40, 1555, "PCIe 4", 250, "NVIDIA A100 datasheet, PCIe 40 GB, 2020-11"),
        _gpu("A100 SXM", 19.5, 312.0, "bf16", 40, 1555, "NVLink 3", 400, "NVIDIA A100 datasheet, SXM4 40 GB, 2020-11"),
        _gpu("A100 80GB", 19.5, 312.0, "bf16", 80, 1935, "PCIe 4", 300, "NVIDIA A100 datasheet, PCIe 80 GB, 2021-06"),
        _gpu("H100", 51.0, 756.0, "bf16", 80, 2000, "PCIe 5", 350, "NVIDIA H100 datasheet, PCIe, 2022-10"),
        _gpu("H100 SXM", 67.0, 989.0, "bf16", 80, 3350, "NVLink 4", 700, "NVIDIA H100 datasheet, SXM5, 2023-03"),
    )
}

ALIASES = {
    "A100 40GB": "A100",
    "RTX A6000": "A6000",
    "V100 PCIE": "V100",
    "P100 PCIE": "P100",
    "V100 16GB": "V100",
    "P100 16GB": "P100",
    "V100 PCIE 16GB": "V100",
    "P100 PCIE 16GB": "P100",
    "V100 PCIE 32GB": "V100 32GB",
    "V100 SXM2 16GB": "V100 SXM",
    "P100 SXM2 16GB": "P100 SXM",
    "A100 PCIE 40GB": "A100",
    "A100 SXM4 40GB": "A100 SXM",
    "A100 PCIE 80GB": "A100 80GB",
    "A100 SXM4 80GB": "A100 80GB",
    "H100 PCIE": "H100",
    "H100 80GB HBM3": "H100 SXM",
}
"""Other names for the same card, as drivers and people write them."""


def find_gpu(name: str) -> Gpu:
    """A GPU by any of its names; a UserError suggests the nearest one."""
    known = {_bare(key): key for key in GPUS} | {_bare(other): key for other, key in ALIASES.items()}
    if (key := known.get(_bare(name))) is not None:
        return GPUS[key]
    near = difflib.get_close_matches(_bare(name), list(known), n=1, cutoff=0.5)
    hint = f"did you mean {known[near[0]]}?" if near else f"known are {', '.join(GPUS)}"
    raise UserError(f"the catalogue has no GPU {name.strip()!r}", hint)


def _bare(name: str) -> str:
    """'Tesla V100-PCIE-16GB' -> 'V100PCIE16GB': makers' words, case, spaces and dashes carry no meaning."""
    words = re.sub(r"\b(NVIDIA|TESLA|GEFORCE|QUADRO)\b", "", name.upper())
    return re.sub(r"[^A-Z0-9]", "", words)


@dataclass(frozen=True)
class Efficiency:
    """The share of its peak that a device reaches while it computes, and how sure that is."""

    share: float
    low: float
    high: float
    source: str


_NVIDIA = "NVIDIA DeepLearningExamples, Transformer README of 2022-06, one GPU, big"
_SMALL = "a guess of ours for models narrower than big"

PRIORS: dict[tuple[str, bool], Efficiency] = {
    ("tensor", True): Efficiency(0.33, 0.28, 0.40, f"{_NVIDIA}: V100 0.33 to 0.40 of 125, A100 0.33 of 312 TFLOP/s"),
    ("tensor", False): Efficiency(0.20, 0.15, 0.25, f"{_SMALL}, which reaches 0.33 ({_NVIDIA})"),
    ("fp32", True): Efficiency(0.60, 0.38, 0.70, f"{_NVIDIA}: V100 0.70; Vaswani et al. 2017: P100 SXM 0.38"),
    ("fp32", False): Efficiency(0.42, 0.27, 0.50, f"{_SMALL}; Vaswani et al. 2017, base: P100 SXM 0.27 with padding"),
    ("half", True): Efficiency(0.35, 0.25, 0.50, "a guess of ours: 16 bits without tensor cores, no published run"),
    ("half", False): Efficiency(0.25, 0.15, 0.40, "a guess of ours: 16 bits without tensor cores, no published run"),
}
"""By what multiplies (tensor cores, 32-bit units, 16-bit units) and whether the model is as wide as big."""
WIDE = 1024


def prior(gpu: Gpu, precision: str, width: int) -> Efficiency:
    """What share of the peak to expect before anything was measured."""
    units = "fp32" if precision == "fp32" else "tensor" if gpu.has_tensor_cores else "half"
    return PRIORS[units, width >= WIDE]
