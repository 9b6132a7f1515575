"""Steps of each rank on its own, and now and then a meeting: DiLoCo (Douillard et al. 2023, arXiv 2311.08105).

    first          steps of all ranks together (8 bits on the wire), until weights no longer change so fast
    every rank     H steps of its own optimizer on its own share of the data, no exchange
    the meeting    how far each has moved since the last one, averaged over ranks (16 bits on the wire);
                   Nesterov's method takes that mean as a gradient and moves the common weights; all go on from there

The common weights and their momentum are the same on all ranks. Moments of the inner optimizers are not: a checkpoint
holds those of every rank. Checkpoints, evaluations and stops happen at meetings only.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from dragoman.model.batch import Batch
from dragoman.training.communication import keeping
from dragoman.training.communication.wire import Wire
from dragoman.training.gradients import FIRST
from dragoman.training.optimizer import MOMENTS
from dragoman.training.step import Share, Stepper, StepResult, Votes, between_meetings, votes_in

OUTER_RATE = 0.75
OUTER_MOMENTUM = 0.7
"""Best of five pairs that were tried with H = 16. The paper's 0.7 and 0.9, for H of hundreds, move the common weights
seven times as far as ranks go in the mean; at a good learning rate that ruins the model (docs/JOURNAL.md)."""


@dataclass
class LocalStepper(Stepper):
    """A stepper whose ranks meet at the end of each cycle only."""

    meetings: Wire = field(init=False)
    """Carries what ranks have moved; `wire` carries the gradients of the first steps."""
    _common: Tensor = field(init=False)
    """The weights of the last meeting, in the order of the gradients' row."""
    _momentum: Tensor = field(init=False)
    _skipped: int = field(init=False, default=0)
    """Of this rank's own updates since the last meeting."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.meetings = self.wire
        self._common = torch.empty_like(self.gradients.own)
        self._momentum = torch.zeros_like(self.gradients.own)
        self._remember_common()

    def step(self, number: int, batches: Sequence[Batch], num_tokens: int, rate: float, votes: Votes) -> StepResult:
        """Step `number` on this rank's share; with all others at the end of a cycle. Every rank must call this."""
        if number <= self.num_single_steps:
            result = super().step(number, batches, num_tokens, rate, votes)
            if number == self.num_single_steps:
                self._remember_common()
            return result
        start = time.monotonic()
        losses_before, share = self._losses.clone(), Share(number, batches, num_tokens)
        is_first = not self._shares
        forward_s = self._own_gradients(share, votes)
        self._losses += 0.0 if is_first else losses_before
        self._shares.append(share)
        computed = time.monotonic()
        norm = self._own_update(sum(batch.num_target_tokens for batch in batches), rate)
        moved = time.monotonic()
        if number % self.cycle:
            return between_meetings(forward_s, computed - start - forward_s, norm, moved - computed)
        self._set_row()
        self._set_extras(votes, self._skipped)
        with self.waiting():
            crossed = self.meetings.close()
        self._meet()
        cycle_tokens = sum(share.num_tokens for share in self._shares)
        self._shares.clear()
        self._skipped = 0
        extras = self.gradients.extras()
        is_finite = extras["skipped"] == 0
        return StepResult(
            smoothed_loss=extras["smoothed_loss"] / cycle_tokens,
            plain_loss=extras["plain_loss"] / cycle_tokens,
            gradient_norm=norm,
            is_finite=is_finite,
            is_in_doubt=not is_finite and not self.loss_scale.is_dynamic,
            votes=votes_in(extras),
            forward_s=forward_s,
            backward_s=computed - start - forward_s,
            optimizer_s=time.monotonic() - computed - crossed.wait_s,
            exchange=crossed,
        )

    def own_state(self) -> dict[str, Tensor]:
        """The common momentum, and the moments of every rank but the main one, whose are the checkpoint's."""
        state = self.optimizer.state()
        tensors = super().own_state() | {"outer_momentum": self._momentum}
        for moment in MOMENTS:
            rows = [state[name].reshape(-1) for name in sorted(state) if name.startswith(f"{moment}.")]
            if rows:
                tensors |= keeping.gathered(f"local.{moment}", torch.cat(rows), self.world)
        return tensors if self.world.is_main else {}

    def load(self, inference: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
        """Back to a checkpoint: its weights are the common ones, its optimizer state gets this rank's own moments."""
        momentum = saved.get("outer_momentum")
        _ = self._momentum.zero_() if momentum is None else self._momentum.copy_(momentum)
        state = dict(saved)
        for moment in MOMENTS:
            own = keeping.own_of(f"local.{moment}", saved, self.world)
            names = sorted(name for name in saved if name.startswith(f"{moment}."))
            if own is not None:
                parts = torch.split(own, [saved[name].numel() for name in names])
                state |= {name: part.view_as(saved[name]) for name, part in zip(names, parts, strict=True)}
        super().load(inference, state)
        self._skipped = 0
        self._remember_common()

    def end(self) -> None:
        super().end()
        self.meetings.end()

    def _own_gradients(self, share: Share, votes: Votes) -> float:
        """Gradients of this share alone, whatever came before it in the cycle."""
        before, self._shares = self._shares, [share]
        try:
            return self._forward_backward(votes, leaves_early=False)
        finally:
            self._shares = before

    def _own_update(self, num_tokens: int, rate: float) -> float | None:
        if not num_tokens:
            return None
        norm, is_finite = self._update(num_tokens, rate)
        self.loss_scale = self.loss_scale.after(is_finite)
        self._skipped += not is_finite
        return norm

    def _places(self) -> list[tuple[nn.Parameter, slice]]:
        """Every parameter, and where it lies in the rows."""
        places, end = [], len(self._common)
        for bucket in self.gradients.buckets:
            for parameter in bucket.parameters:
                places.append((parameter, slice(end - parameter.numel(), end)))
                end -= parameter.numel()
        return places

    @torch.no_grad()
    def _remember_common(self) -> None:
        for parameter, place in self._places():
            self._common[place] = parameter.reshape(-1)

    @torch.no_grad()
    def _set_row(self) -> None:
        """How far this rank has moved, in the place of its gradients."""
        row = self.gradients.flat[FIRST:]
        for parameter, place in self._places():
            torch.sub(self._common[place], parameter.reshape(-1), out=row[place])
        row.div_(self.world.size)

    @torch.no_grad()
    def _meet(self) -> None:
        """Move the common weights along the mean, and go on from there."""
        mean = self.gradients.own
        self._momentum.mul_(OUTER_MOMENTUM).add_(mean)
        self._common.sub_(mean.add_(self._momentum, alpha=OUTER_MOMENTUM), alpha=OUTER_RATE)
        for parameter, place in self._places():
            parameter.copy_(self._common[place].view_as(parameter))
