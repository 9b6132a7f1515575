"""Was one rank slower than the others: what the answers on ranks, machines and network all rest on."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dragoman.report.answers import UNDETERMINED, Advice, Answer, Bar, Bars, Number, percent, seconds
from dragoman.report.columns import Column
from dragoman.report.facts import Facts
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.exposure import exposure_of

STRAGGLES = 1.10
WINDOWS_SHARE = 0.8
FELT = 0.02
"""Of a step: less waiting for a slow rank is nothing to mend."""
UNEVEN = 0.10
"""Of a step: more waiting for one another is worth mending though no rank is to blame."""
WINDOW_STEPS = 50
QUESTION = "Was one rank slower than the others?"
RULE = (
    "A straggler: a rank that computes more than 10 % longer than the median of the others, in at least 80 % of "
    "windows of 50 steps, and for which the others wait 2 % of a step or more. Forward and backward are compared: "
    "waiting for gradients shows on the fast ranks, not on the slow one, and waiting for batches is the input's. "
    "Questions 4 and 5 blame a slow rank only where this one does."
)


@dataclass(frozen=True)
class Pace:
    """How evenly the ranks compute."""

    medians: tuple[tuple[int, float], ...]
    """(rank, median seconds of forward and backward), in order of ranks."""
    slowest: int
    factor: float
    """The slowest rank against the median of the others."""
    late_share: float
    """Of windows, in which the slowest is late."""
    lost: float
    """Of a step: what the typical rank waits for the last one, whichever that is."""

    @property
    def straggler(self) -> int | None:
        """The rank that is lastingly slower and felt; None where there is none."""
        return self.slowest if self.late_share >= WINDOWS_SHARE and self.lost >= FELT else None


@lru_cache(maxsize=2)
def pace_of(measures: Measures) -> Pace | None:
    """None where times of single ranks were not recorded, or there is one rank."""
    steady = measures.steady
    arrivals = measures.arrivals(steady, ("forward_s", "backward_s")) if steady is not None else None
    if arrivals is None or measures.step_s is None:
        return None
    arrivals = arrivals[:, np.isfinite(arrivals).all(axis=0)]
    late = (_window_ratios(arrivals) > STRAGGLES).mean(axis=1)
    medians = np.median(arrivals, axis=1)
    place = int(np.argmax(late + 1e-6 * medians / medians.max()))
    ranks = sorted(measures.facts.ranks)
    return Pace(
        medians=tuple(zip(ranks, medians.tolist(), strict=True)),
        slowest=ranks[place],
        factor=float(medians[place] / np.median(np.delete(medians, place))),
        late_share=float(late[place]),
        lost=float(np.median(arrivals.max(axis=0) - np.median(arrivals, axis=0)) / measures.step_s.value),
    )


def straggler_of(measures: Measures) -> int | None:
    """The rank that others lastingly wait for; None where there is none, or nobody knows."""
    pace = pace_of(measures)
    return pace.straggler if pace is not None else None


def was_a_rank_slow(facts: Facts) -> Answer:
    """Stragglers."""
    if facts.settings.ranks == 1 or len(facts.ranks) == 1:
        return Answer("straggler", None, QUESTION, "no", "No: there is one rank.", "good", rule=RULE)
    pace = pace_of(measures_of(facts))
    if pace is None:
        why = "Undetermined: times of single ranks were not recorded."
        return Answer("straggler", None, QUESTION, UNDETERMINED, why, "unknown", rule=RULE)
    bars = tuple(Bar(f"rank {rank}", (("computing", value),), seconds(value)) for rank, value in pace.medians)
    chart = Bars("Median time of forward and backward", "s", bars[:32])
    number = Number("slowest rank against the median of the others", pace.factor, "times", f"{pace.factor:.2f} ×")
    if pace.straggler is not None:
        sentence = (
            f"Yes: rank {pace.straggler} computed {percent(pace.factor - 1)} longer than the others, in "
            f"{percent(pace.late_share)} of the windows; the others waited {percent(pace.lost)} of every step."
        )
        advice = Advice(f"Look at the machine of rank {pace.straggler}: cores shared, throttled, or a slower kind.",
                        f"{percent(pace.lost)} of the time", pace.lost)  # fmt: skip
        return Answer("straggler", None, QUESTION, f"rank {pace.straggler}", sentence, "bad", (number,), (), RULE,
                      chart, (advice,))  # fmt: skip
    sentence = (
        f"No: the slowest, rank {pace.slowest}, took {pace.factor:.2f} times what the others took, and not lastingly "
        "more."
    )
    exposure = exposure_of(measures_of(facts))
    lost = exposure.skew.value if exposure is not None and exposure.skew is not None else pace.lost
    if lost < UNEVEN:
        return Answer("straggler", None, QUESTION, "no", sentence, "good", (number,), (), RULE, chart)
    sentence += f" Ranks waited {percent(lost)} of a step for one another, now for one, now for another."
    advice = Advice("Give every rank cores of its own, and keep other work off the machines.",
                    f"up to {percent(lost)} of the time", lost)  # fmt: skip
    return Answer("straggler", None, QUESTION, "no", sentence, "neutral", (number,), (), RULE, chart, (advice,))


def _window_ratios(arrivals: Column) -> Column:
    """Each rank's median against that of the others, window by window: [rank, window]."""
    num_windows = max(1, arrivals.shape[1] // WINDOW_STEPS)
    windows = [np.median(part, axis=1) for part in np.array_split(arrivals, num_windows, axis=1)]
    table = np.stack(windows, axis=1)
    others = np.stack([np.median(np.delete(table, rank, axis=0), axis=0) for rank in range(len(table))])
    ratios: Column = table / np.maximum(others, 1e-12)
    return ratios
