"""Where a run is: exactly what a checkpoint's `state.json` holds, and nothing that can be derived."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class EvalPoint:
    """One evaluation, as far as later decisions need it."""

    step: int
    dev_loss: float | None
    """None where it was not finite."""
    bleu: float


@dataclass(frozen=True)
class TrainState:
    """After `step` updates."""

    step: int = 0
    tokens: int = 0
    """Target tokens trained on."""
    training_s: float = 0.0
    """Time spent in all sessions of the run, evaluations and checkpoints included."""
    rate_factor: float = 1.0
    """Lowered by each roll-back."""
    num_skipped: int = 0
    """Steps left out because their gradients were not finite."""
    num_rollbacks: int = 0
    evaluations: tuple[EvalPoint, ...] = field(default=())

    def after_step(self, tokens: int, seconds: float, *, was_skipped: bool) -> "TrainState":
        return replace(
            self,
            step=self.step + 1,
            tokens=self.tokens + tokens,
            training_s=self.training_s + seconds,
            num_skipped=self.num_skipped + was_skipped,
        )

    def after_pause(self, seconds: float) -> "TrainState":
        """Time that went into something other than a step."""
        return replace(self, training_s=self.training_s + seconds)

    def after_evaluation(self, point: EvalPoint) -> "TrainState":
        return replace(self, evaluations=(*self.evaluations, point))
