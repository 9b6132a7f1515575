"""How good a plan is: padding, balance of the ranks, size of the micro-batches.

Walks the steps of an epoch as training would, by lengths alone, and counts. Reads no tokens.
"""

from dataclasses import dataclass

import numpy as np

from dragoman.batching.plan import TARGET, Plan
from dragoman.batching.shares import Padding, costs, micro_batches, padding_of, shares


@dataclass(frozen=True)
class Survey:
    """What was counted over some steps and all ranks."""

    num_steps: int
    num_micro_batches: int
    padding: Padding
    mean_imbalance: float
    """How much dearer the dearest rank is than the mean of the ranks, 0.03 is 3 %: the mean over the steps."""
    worst_imbalance: float
    least_target_tokens: int
    """Of a step."""
    most_target_tokens: int

    @property
    def target_tokens_per_micro_batch(self) -> float:
        return self.padding.target_tokens / self.num_micro_batches


def survey(plan: Plan, world_size: int, tokens_per_micro_batch: int, *, max_steps: int | None = None) -> Survey:
    """Count over the first epoch, or over its first steps."""
    num_steps = min(plan.steps_per_epoch, max_steps or plan.steps_per_epoch)
    padding, num_micro_batches = Padding(), 0
    imbalances, tokens = [], []
    for step in range(1, num_steps + 1):
        lengths = plan.lengths[plan.pairs(step)]
        cost, cost_of_ranks = costs(lengths), []
        for share in shares(lengths, world_size):
            cost_of_ranks.append(int(cost[share].sum()))
            for cut in micro_batches(lengths[share], tokens_per_micro_batch):
                padding += padding_of(lengths[share[cut]])
                num_micro_batches += 1
        imbalances.append(max(cost_of_ranks) * world_size / sum(cost_of_ranks) - 1)
        tokens.append(int(lengths[:, TARGET].sum(dtype=np.int64)))
    mean, worst = float(np.mean(imbalances)), max(imbalances)
    return Survey(num_steps, num_micro_batches, padding, mean, worst, min(tokens), max(tokens))
