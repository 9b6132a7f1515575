"""One update: micro-batches forward and backward, an exchange that begins meanwhile, one move of the weights.

The loss is one sum over all target tokens of the step, on all ranks, divided once by their number; so how a step is
divided among ranks and micro-batches does not change it. Random numbers derive from (seed, step, rank, micro-batch).
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dragoman.model.batch import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.communication import keeping
from dragoman.training.communication.groups import everyone
from dragoman.training.communication.sums import Plain
from dragoman.training.communication.wire import Exchange, Wire
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.precision import LossScale
from dragoman.training.world import World

PROBE_EVERY = 200
FIRST_PROBE = 10
"""Early, so that short runs have one too, but not among the first steps, which are slow."""


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
    """What one step did. Losses are means over the target tokens of all ranks, in nats.

    With larger steps or local steps, ranks meet only at the end of a cycle of several steps: only there losses and
    votes are known, and they are those of the whole cycle.
    """

    smoothed_loss: float | None
    plain_loss: float | None
    gradient_norm: float | None
    is_finite: bool
    is_in_doubt: bool
    """Not finite, and no loss scale to blame."""
    votes: Votes
    forward_s: float
    backward_s: float
    optimizer_s: float
    exchange: Exchange
    is_cycle_end: bool = True
    """All ranks have the same weights now, and may evaluate, save and stop."""


@dataclass(frozen=True)
class Share:
    """This rank's part of a step."""

    number: int
    batches: Sequence[Batch]
    num_tokens: int
    """Target tokens of all ranks."""


@dataclass
class Stepper:
    """Model, optimizer and gradients, joined for training."""

    model: Transformer
    optimizer: Optimizer
    gradients: Gradients
    world: World
    seed: int
    autocast: Callable[[], AbstractContextManager[object]] = nullcontext
    loss_scale: LossScale = field(default_factory=LossScale)
    waiting: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while other ranks are waited for."""
    dropout_share: Callable[[int], float] = lambda _step: 1.0
    """Of the model's dropout, in a step."""
    most_tokens: int | None = None
    """Of a micro-batch; learned from running out of memory."""
    wire: Wire = field(init=False)
    cycle: int = 1
    """Steps whose gradients make one update: a larger step."""
    num_single_steps: int = 0
    """So many first steps are cycles of their own; a multiple of the cycle."""
    probe_every: int = PROBE_EVERY
    """Updates between probes; 0 is never."""
    _shares: list[Share] = field(init=False, default_factory=list)
    _losses: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.wire = Wire(self.gradients, self.world, Plain(everyone(self.world)))
        self._losses = torch.zeros(2, dtype=torch.float64, device=self.world.device)

    def step(self, number: int, batches: Sequence[Batch], num_tokens: int, rate: float, votes: Votes) -> StepResult:
        """Update `number` on this rank's share of a step of `num_tokens` target tokens. Every rank must call this."""
        start = time.monotonic()
        is_end, is_probe = number % self.cycle_at(number) == 0, self._is_probe(number)
        self._shares.append(Share(number, batches, num_tokens))
        forward_s = self._forward_backward(votes, leaves_early=is_end and not is_probe)
        computed = time.monotonic()
        if not is_end:
            return between_meetings(forward_s, computed - start - forward_s)
        with self.waiting():
            crossed = self.wire.close(is_probe=is_probe)
        exchanged = time.monotonic()
        cycle_tokens = sum(share.num_tokens for share in self._shares)
        self._shares.clear()
        norm, is_finite = self._update(cycle_tokens, rate)
        was_scaled = self.loss_scale
        self.loss_scale = was_scaled.after(is_finite)
        if self.wire.residual is not None and self.loss_scale.value != was_scaled.value:
            self.wire.residual.mul_(self.loss_scale.value / was_scaled.value)
        extras = self.gradients.extras()
        return StepResult(
            smoothed_loss=extras["smoothed_loss"] / cycle_tokens,
            plain_loss=extras["plain_loss"] / cycle_tokens,
            gradient_norm=norm,
            is_finite=is_finite,
            is_in_doubt=not is_finite and not was_scaled.may_be_too_large,
            votes=votes_in(extras),
            forward_s=forward_s,
            backward_s=computed - start - forward_s,
            optimizer_s=time.monotonic() - exchanged,
            exchange=crossed,
        )

    def own_state(self) -> dict[str, Tensor]:
        """What a checkpoint needs of all ranks, beside the optimizer's; on the main rank. Every rank must call this."""
        residual = self.wire.residual
        return {} if residual is None else keeping.gathered("residual", residual, self.world)

    def load(self, inference: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
        """Back to a checkpoint: weights, optimizer, and this rank's own."""
        self.optimizer.load(inference, saved)
        self._shares.clear()
        if self.wire.residual is not None:
            own = keeping.own_of("residual", saved, self.world, keeps_sum=True)
            _ = self.wire.residual.zero_() if own is None else self.wire.residual.copy_(own)

    def end(self) -> None:
        """Let go of what it holds beside tensors."""
        self.wire.end()

    def cycle_at(self, number: int) -> int:
        """Steps of the update that a step belongs to."""
        return 1 if number <= self.num_single_steps else self.cycle

    def is_watched(self, number: int) -> bool:
        """A probe, or the update after one: its buckets are written down one by one."""
        cycle = self.cycle_at(number)
        return number % cycle == 0 and (self._is_probe(number) or self._is_probe(number - cycle))

    def _is_probe(self, number: int) -> bool:
        """The same on all ranks."""
        first = min(FIRST_PROBE, self.probe_every - 1)
        single = min(number, self.num_single_steps)
        num_updates = single + (number - single) // self.cycle
        return self.probe_every > 0 and num_updates % self.probe_every == first

    def _update(self, num_tokens: int, rate: float) -> tuple[float, bool]:
        """Move the weights along the sum of gradients; its length, and whether it was finite."""
        self.gradients.own.mul_(1.0 / (num_tokens * self.loss_scale.value))
        norm = float(torch.linalg.vector_norm(self.gradients.own))
        # The row is the same on all ranks now, so they all see the same norm and decide alike.
        is_finite = norm < float("inf")
        if is_finite:
            self.optimizer.step(self.gradients, rate, norm)
        return norm, is_finite

    def _forward_backward(self, votes: Votes, *, leaves_early: bool) -> float:
        """Add the gradients of the newest share to those of the cycle; the seconds of the forward passes.

        Out of memory: the whole cycle again, in smaller pieces. Where buckets have left already, that is too late:
        then this step counts for nothing, on all ranks, and the next ones are made in smaller pieces.
        """
        shares = self._shares[-1:]
        while True:
            if shares[0] is self._shares[0]:
                self.gradients.zero()
                self._losses.zero_()
            try:
                forward_s = self._add_gradients(shares, votes, leaves_early=leaves_early)
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                shares = list(self._shares)
                pieces = [p for share in shares for p in self._pieces(share.batches) if p.num_sentences > 1]
                if not pieces:
                    raise
                self.most_tokens = max(piece.num_target_tokens for piece in pieces) // 2
                if self.wire.has_left:
                    self.wire.spoil()
                    return 0.0
            else:
                self._set_extras(votes)
                return forward_s

    def _add_gradients(self, shares: Sequence[Share], votes: Votes, *, leaves_early: bool) -> float:
        pieces = [
            (share.number, place, piece) for share in shares for place, piece in enumerate(self._pieces(share.batches))
        ]
        forward_s = 0.0
        for index, (number, place, piece) in enumerate(pieces):
            self.model.dropout_share = self.dropout_share(number)
            self.model.seed_dropout(random_seed(self.seed, number, self.world.rank, place))
            start = time.monotonic()
            with self.autocast():
                loss = self.model(piece.to(self.world.device))
            forward_s += time.monotonic() - start
            self._losses += torch.stack((loss.smoothed_sum.detach().double(), loss.plain_sum))
            if leaves_early and index == len(pieces) - 1:
                self._set_extras(votes)  # before the last bucket leaves with them
                self.wire.open()
            (loss.smoothed_sum * self.loss_scale.value).backward()
        return forward_s

    def _set_extras(self, votes: Votes, skipped: int = 0) -> None:
        if not self.wire.has_left:
            self.gradients.set_extras([*self._losses, skipped, votes.stop, votes.hurry, votes.evaluate, votes.save])

    def _pieces(self, batches: Sequence[Batch]) -> list[Batch]:
        if self.most_tokens is None:
            return list(batches)
        return [piece for batch in batches for piece in batch.split(self.most_tokens)]


def votes_in(extras: Mapping[str, float]) -> Votes:
    """What the ranks voted for together."""
    return Votes(*(extras[name] > 0 for name in ("stop", "hurry", "evaluate", "save")))


def between_meetings(
    forward_s: float, backward_s: float, norm: float | None = None, optimizer_s: float = 0.0
) -> StepResult:
    """A step inside a cycle: nothing was exchanged, so of the other ranks nothing is known."""
    return StepResult(
        smoothed_loss=None,
        plain_loss=None,
        gradient_norm=norm,
        is_finite=True,
        is_in_doubt=False,
        votes=Votes(),
        forward_s=forward_s,
        backward_s=backward_s,
        optimizer_s=optimizer_s,
        exchange=Exchange(),
        is_cycle_end=False,
    )


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error)


def random_seed(*numbers: int) -> int:
    """A seed that is different for different numbers, and the same on every machine."""
    digest = hashlib.blake2b(",".join(map(str, numbers)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
