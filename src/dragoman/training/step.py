"""One update: micro-batches forward and backward, one exchange, one move of the weights.

The loss is one sum over all target tokens of the step, on all ranks, divided once by their number; so how a step is
divided among ranks and micro-batches does not change it. Random numbers derive from (seed, step, rank, micro-batch).
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.model.batch import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.communication import exchange
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.world import World


@dataclass(frozen=True)
class Votes:
    """What this rank would like to happen after the step; any rank's wish is all ranks' command."""

    stop: bool = False
    hurry: bool = False
    """Stop without a last evaluation: somebody waits for the machine."""
    evaluate: bool = False
    save: bool = False


@dataclass(frozen=True)
class StepResult:
    """What one step did. Losses are means over the target tokens of all ranks, in nats."""

    smoothed_loss: float
    plain_loss: float
    gradient_norm: float
    is_finite: bool
    votes: Votes
    forward_s: float
    backward_s: float
    exchange_s: float
    optimizer_s: float
    wire_bytes: int


@dataclass
class Stepper:
    """Model, optimizer and gradients, joined for training."""

    model: Transformer
    optimizer: Optimizer
    gradients: Gradients
    world: World
    seed: int
    autocast: Callable[[], AbstractContextManager[object]] = nullcontext
    loss_scale: float = 1.0
    waiting: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while other ranks are waited for."""
    most_tokens: int | None = None
    """Of a micro-batch; learned from running out of memory."""

    def step(self, number: int, batches: Sequence[Batch], num_tokens: int, rate: float, votes: Votes) -> StepResult:
        """Update `number` on this rank's share of a step of `num_tokens` target tokens. Every rank must call this."""
        start = time.monotonic()
        losses, forward_s = self._forward_backward(number, batches)
        self.gradients.set_extras(losses, (votes.stop, votes.hurry, votes.evaluate, votes.save))
        computed = time.monotonic()
        with self.waiting():
            crossed = exchange(self.gradients, self.world)
        exchanged = time.monotonic()
        extras = self.gradients.extras()
        self.gradients.own.mul_(1.0 / (num_tokens * self.loss_scale))
        norm = float(torch.linalg.vector_norm(self.gradients.own))
        # The row is the same on all ranks now, so they all see the same norm and decide alike.
        is_finite = norm < float("inf")
        if is_finite:
            self.optimizer.step(self.gradients, rate, norm)
        return StepResult(
            smoothed_loss=extras["smoothed_loss"] / num_tokens,
            plain_loss=extras["plain_loss"] / num_tokens,
            gradient_norm=norm,
            is_finite=is_finite,
            votes=Votes(*(extras[name] > 0 for name in ("stop", "hurry", "evaluate", "save"))),
            forward_s=forward_s,
            backward_s=computed - start - forward_s,
            exchange_s=crossed.wait_s,
            optimizer_s=time.monotonic() - exchanged,
            wire_bytes=crossed.num_bytes,
        )

    def _forward_backward(self, number: int, batches: Sequence[Batch]) -> tuple[Tensor, float]:
        """Gradients of all micro-batches, added up; the two loss sums, and the seconds of the forward passes.

        Out of memory: again, in smaller pieces.
        """
        while True:
            self.gradients.zero()
            try:
                losses, forward_s = torch.zeros(2, dtype=torch.float64, device=self.world.device), 0.0
                for place, batch in enumerate(self._pieces(batches)):
                    self.model.seed_dropout(random_seed(self.seed, number, self.world.rank, place))
                    start = time.monotonic()
                    with self.autocast():
                        loss = self.model(batch.to(self.world.device))
                    forward_s += time.monotonic() - start
                    (loss.smoothed_sum * self.loss_scale).backward()
                    losses += torch.stack((loss.smoothed_sum.detach().double(), loss.plain_sum))
                return losses, forward_s
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                pieces = [piece for piece in self._pieces(batches) if piece.num_sentences > 1]
                if not pieces:
                    raise
                self.most_tokens = max(piece.num_target_tokens for piece in pieces) // 2

    def _pieces(self, batches: Sequence[Batch]) -> list[Batch]:
        if self.most_tokens is None:
            return list(batches)
        return [piece for batch in batches for piece in batch.split(self.most_tokens)]


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error)


def random_seed(*numbers: int) -> int:
    """A seed that is different for different numbers, and the same on every machine."""
    digest = hashlib.blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
