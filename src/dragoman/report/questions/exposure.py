"""How much of a step was waiting for the wire: what several questions rest on."""

from dataclasses import dataclass

from dragoman.report.answers import seconds
from dragoman.report.measures import Measures
from dragoman.theory.statistics import Estimate


@dataclass(frozen=True)
class Exposure:
    """Waiting for the wire as a share of a step, and what it rests on."""

    wire: Estimate
    skew: Estimate | None
    """None where ranks cannot be told apart."""
    step_s: float
    compute_s: float
    whole_s: float | None
    """Seconds of the whole exchange on the wire, hidden or not."""
    basis: str


def exposure_of(measures: Measures) -> Exposure | None:
    """From the run's own records, else from what a step takes without a network; None where neither is known."""
    facts, found = measures.facts, measures.exchange
    if found is not None:
        basis = f"{found.num_steps:,} steps" + (f" and {found.num_probes:,} probes" if found.num_probes else "")
        return Exposure(found.wire, found.skew, found.step_s, found.compute_s, found.whole_s, basis)
    known, step = facts.compute_step, measures.step_s
    if known is None or step is None or (facts.settings.ranks or 1) < 2:
        return None
    value, low, high = (
        max(0.0, 1 - factor * known.seconds / step.value) for factor in (1, 1 + known.unsure, 1 - known.unsure)
    )
    basis = f"{known.seconds:.2f} s without a network ({known.source}) against {seconds(step.value)}"
    return Exposure(Estimate(value, low, high), None, step.value, known.seconds, None, basis)
