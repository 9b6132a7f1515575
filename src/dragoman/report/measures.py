"""What several questions need to know, worked out once from the facts: typical steps, work, exchange, layout."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dragoman.report import merging
from dragoman.report.columns import Column, StepColumns
from dragoman.report.facts import Facts
from dragoman.report.run_times import rows
from dragoman.theory import cost, statistics, wire
from dragoman.theory.link_fit import measured_link
from dragoman.theory.statistics import Estimate

WARM_UP_STEPS = 10
"""The first steps of a run allocate memory and fill caches; they are left out of speed."""
BEFORE_EXCHANGE = ("data_wait_s", "forward_s", "backward_s")
LARGER_STEP = re.compile(r"larger_step_(\d+)")
LEAST_STEPS = 5
"""Fewer steps say nothing about speed."""


@dataclass(frozen=True)
class Exchange:
    """Where the time of an exchange went, as shares of a step, each with its interval."""

    exposed: Estimate
    """All waiting for gradients: for the wire and for slower ranks."""
    wire: Estimate
    """The part that the wire takes."""
    skew: Estimate
    """The part that is waiting for the slowest rank."""
    whole_s: float
    """Median seconds of the whole exchange on the wire, hidden or not; waiting for ranks left out."""
    compute_s: float
    """Median seconds of a step without exchange."""
    step_s: float
    num_probes: int
    num_steps: int


@dataclass(frozen=True)
class Measures:
    """Views of one run's facts."""

    facts: Facts

    @cached_property
    def step_factor(self) -> int:
        """Steps of the recipe that make one update: more than 1 on the rungs of larger steps."""
        found = LARGER_STEP.fullmatch(self.facts.settings.wire_rung or "")
        return int(found[1]) if found else 1

    @cached_property
    def steady(self) -> StepColumns | None:
        """Steps that tell of speed: the first few left out, unless that leaves too few."""
        steps = self.facts.steps
        if steps is None or not np.isfinite(steps.step_s).any():
            return None
        is_steady = np.isfinite(steps.step_s) & (steps.step_s > 0)
        late = is_steady & (steps.step > steps.step[0] + WARM_UP_STEPS)
        return rows(steps, late if late.sum() >= LEAST_STEPS else is_steady)

    @cached_property
    def step_s(self) -> Estimate | None:
        """The median step."""
        if self.steady is not None:
            return statistics.median(self.steady.step_s)
        facts = self.facts
        if facts.training_s and facts.last_step:
            mean = facts.training_s / facts.last_step
            return Estimate(mean, mean, mean)
        return None

    @cached_property
    def tokens_per_s(self) -> float | None:
        """Target tokens of all ranks, while steps are made."""
        steps = self.steady
        if steps is not None and np.isfinite(steps.target_tokens).any():
            is_known = np.isfinite(steps.target_tokens)
            return float(steps.target_tokens[is_known].sum() / steps.step_s[is_known].sum())
        tokens = self.facts.settings.tokens_per_step
        return tokens / self.step_s.value if tokens and self.step_s else None

    @cached_property
    def flops_per_s(self) -> float | None:
        """Useful work of one rank in a second; where columns of the logits' gradient are drawn, without all of it."""
        settings, corpus = self.facts.settings, self.facts.corpus
        if self.tokens_per_s is None or settings.model is None or settings.target_vocabulary is None:
            return None
        if corpus is None or not corpus.source_tokens or not corpus.target_tokens or not corpus.train_pairs:
            return None
        source, target = corpus.source_tokens / corpus.train_pairs, corpus.target_tokens / corpus.train_pairs
        written = settings.written_pieces or settings.target_vocabulary
        each = cost.flops_per_target_token(
            settings.model, written, source, target, counts_gradient_of_logits=not self.draws_columns
        )
        return self.tokens_per_s * each / (settings.ranks or 1)

    @property
    def draws_columns(self) -> bool:
        """Whether training computed an unrecorded part of the logits' gradient, as it does on a CPU."""
        return self.facts.settings.is_gpu is False

    @cached_property
    def meets_always(self) -> bool:
        """In every step; not so, from some step on, with larger steps and local steps.

        The rung decides too: a run that went on with one rank for a while also has steps that send nothing.
        """
        is_seldom = (self.facts.settings.wire_rung or "").startswith(("larger_step", "local_steps"))
        return not (is_seldom and self.steady is not None and (self.steady.wire_bytes == 0).any())

    @cached_property
    def row_bytes(self) -> float | None:
        """What an exchange adds up, in the numbers that cross the wire."""
        settings = self.facts.settings
        if not settings.parameters:
            return None
        return settings.parameters * (settings.wire_bytes_per_parameter or cost.FLOAT_BYTES)

    @cached_property
    def sent_bytes(self) -> float | None:
        """By one rank in a step, as recorded; by the model of a ring where nothing was recorded."""
        if self.steady is not None and np.isfinite(self.steady.wire_bytes).any():
            typical = np.nanmedian if self.meets_always else np.nanmean
            return float(typical(self.steady.wire_bytes)) or None
        ranks = self.facts.settings.ranks
        return wire.ring_bytes(self.row_bytes, ranks) if self.row_bytes and ranks else None

    @cached_property
    def exchange_bytes(self) -> float | None:
        """By one rank in an exchange: more than in a step where several steps share one."""
        sent = self.steady.wire_bytes if self.steady is not None else np.empty(0)
        sent = sent[sent > 0]  # nothing is greater than NaN
        return float(np.median(sent)) if len(sent) else self.sent_bytes

    @cached_property
    def layout(self) -> wire.Layout | None:
        """Ranks and hosts, where both are known."""
        ranks, hosts = self.facts.settings.ranks, self.facts.settings.hosts
        return wire.Layout(ranks, hosts) if ranks and hosts and hosts <= ranks else None

    @cached_property
    def link(self) -> wire.Link | None:
        """What the preflight measured between hosts."""
        return measured_link(self.facts.preflight) if self.facts.preflight else None

    @cached_property
    def exchange(self) -> Exchange | None:
        """By intervention: probe steps against others. None for one rank, and without records of it."""
        steps = self.steady
        if steps is None or (self.facts.settings.ranks or len(self.facts.ranks)) < 2:
            return None
        if not np.isfinite(steps.exchange_s).any() or not np.nansum(steps.exchange_s) > 0:
            return None
        # Where ranks meet only at the end of some steps, single steps are not alike: sums over all of them count.
        probes = rows(steps, steps.is_probe & self.meets_always)
        others = rows(steps, ~(steps.is_probe & self.meets_always))
        if len(others) < LEAST_STEPS:  # nothing is hidden in any step: each is its own probe
            others = steps
        skews = self._skews(probes if len(probes) else steps)
        return _exchange(probes, others, skews)

    def _skews(self, steps: StepColumns) -> Column:
        """Mean seconds that a rank waits for the slowest, a row a step: as probes say, else by what ranks recorded."""
        if np.isfinite(steps.skew_s).sum() >= min(3, len(steps)):
            return np.where(np.isfinite(steps.skew_s), steps.skew_s, np.nanmedian(steps.skew_s))
        arrivals = self.arrivals(steps)
        if arrivals is None:
            return np.zeros(len(steps))
        skew: Column = np.nan_to_num(arrivals.max(axis=0) - arrivals.mean(axis=0))
        return np.minimum(skew, np.nan_to_num(steps.exchange_s))

    def arrivals(self, steps: StepColumns, parts: tuple[str, ...] = BEFORE_EXCHANGE) -> Column | None:
        """Seconds until each rank stood at the exchange, or of some parts of that: [rank, step]; None for one rank."""
        members = [self.facts.ranks[rank] for rank in sorted(self.facts.ranks)]
        if len(members) < 2:
            return None
        everything = merging.all_steps(members)
        chosen = np.isin(everything, steps.step)
        busy = sum(np.nan_to_num(merging.aligned(everything, members, name)) for name in parts)
        is_there = np.isfinite(merging.aligned(everything, members, "forward_s"))
        is_whole = is_there.all(axis=0)  # after a change of the world's size, steps without some ranks tell nothing
        table: Column = np.where(is_whole, busy, np.nan)[:, chosen]
        return table if np.isfinite(table).any() else None


@lru_cache(maxsize=2)
def measures_of(facts: Facts) -> Measures:
    """The measures of a run, worked out once for all questions."""
    return Measures(facts)


def _exchange(probes: StepColumns, others: StepColumns, skews: Column) -> Exchange | None:
    """Compare steps that hid their exchange with probes that could not; without probes, trust what ranks recorded."""
    step_s = float(np.median(others.step_s))
    skew_s = float(np.median(skews)) if len(skews) else 0.0
    if len(probes) >= LEAST_STEPS:
        exposed = statistics.share_lost(others.step_s, probes.step_s - probes.exchange_s)
        whole_s = max(0.0, float(np.nanmedian(probes.exchange_s)) - skew_s)
        compute_s = float(np.nanmedian(probes.step_s - probes.exchange_s))
    else:
        exposed = statistics.ratio(others.exchange_s, others.step_s)
        whole_s = max(0.0, float(np.nanmedian(others.exchange_s[others.exchange_s > 0])) - skew_s)
        compute_s = float(np.nanmedian(others.step_s - others.exchange_s))
    if exposed is None:
        return None
    exposed = Estimate(*(max(0.0, value) for value in (exposed.value, exposed.low, exposed.high)))
    skew = statistics.median(skews / step_s) if len(skews) else None
    skew = skew or Estimate(0.0, 0.0, 0.0)
    skew = Estimate(*(min(value, exposed.value) for value in (skew.value, skew.low, skew.high)))
    wait = Estimate(exposed.value - skew.value, max(0.0, exposed.low - skew.high), max(0.0, exposed.high - skew.low))
    return Exchange(exposed, wait, skew, whole_s, compute_s, step_s, num_probes=len(probes), num_steps=len(others))
