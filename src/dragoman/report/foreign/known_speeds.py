"""What a step takes on known hardware when no network is in the way, from public measurements.

Only measurements of the same software are used, carried over to another batch or model by the work of a step, and to
the card before it by its peak. A device that nobody measured has no entry, and then nothing is said.
"""

from dataclasses import dataclass

from dragoman.core.config import ModelConfig
from dragoman.report.facts import ComputeStep
from dragoman.report.foreign.transcript import Settings
from dragoman.theory import cost

TYPICAL_LENGTH = 28.0
"""Tokens a side; only the ratio of two works at this length is used."""
FAR = 2.5
UNSURE, UNSURE_FAR = 0.15, 0.4
"""How far a step may be off that was measured elsewhere; and one of so many times more or less work, whose kernels are
of other sizes."""
BASE = ModelConfig(preset="base")
BASE_VOCABULARY = 32_768


@dataclass(frozen=True)
class Measured:
    """A step of Transformer base on one machine."""

    system: str
    device: str
    """A word of the device's name."""
    precision: str
    pairs_per_rank: int
    seconds: float
    source: str


MEASURED = (
    Measured("OpenSeq2Seq", "V100", "mixed", 256, 0.61, "OpenSeq2Seq's own plot for four V100 joined by NVLink"),
    Measured("OpenSeq2Seq", "V100", "fp32", 256, 0.935, "OpenSeq2Seq's own plot for four V100 joined by NVLink"),
    Measured(
        "OpenSeq2Seq", "P100", "fp32", 256, 0.935 * 14.0 / 9.3,
        "OpenSeq2Seq's own plot for four V100, carried over by the peaks of both cards (14.0 and 9.3 TFLOP/s)",
    ),
)  # fmt: skip


def compute_step(system: str, settings: Settings) -> ComputeStep | None:
    """Seconds of a step without exchange, or None where it is not known."""
    if settings.pairs_per_rank is None or not settings.devices or len(set(settings.devices)) != 1:
        return None
    for known in MEASURED:
        is_same = known.system == system and known.device in settings.devices[0]
        if is_same and known.precision == settings.precision:
            return _carried_over(known, settings)
    return None


def _carried_over(known: Measured, settings: Settings) -> ComputeStep:
    """In proportion to the pairs of a rank and, for another model, to the work of a pair."""
    assert settings.pairs_per_rank is not None
    passes = settings.forward_passes_per_step or 1
    pairs = settings.pairs_per_rank * passes / known.pairs_per_rank
    work = _work_of_a_pair(settings) / _work_of_a_pair(Settings(model=BASE, target_vocabulary=BASE_VOCABULARY))
    factor = pairs * work
    carried = "" if abs(factor - 1) < 0.005 else f", times {factor:.2f} for the work of this step"
    is_far = not 1 / FAR <= factor <= FAR
    return ComputeStep(known.seconds * factor, known.source + carried, UNSURE_FAR if is_far else UNSURE)


def _work_of_a_pair(settings: Settings) -> float:
    model = settings.model or BASE
    vocabulary = settings.target_vocabulary or BASE_VOCABULARY
    return cost.flops_per_target_token(model, vocabulary, TYPICAL_LENGTH, TYPICAL_LENGTH)
