"""All gradients of a model as one flat row of numbers.

Each parameter's `.grad` is a view of it, so zeroing, norm, scaling and the exchange between ranks are single
operations, and the order in which ranks add up never changes: a resumed run is equal to the byte. Behind the gradients
lie a few numbers more, which travel with them: loss sums and votes cost no exchange of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

EXTRAS = ("smoothed_loss", "plain_loss", "stop", "hurry", "evaluate", "save")


@dataclass(frozen=True)
class Gradients:
    """The flat row."""

    flat: Tensor
    num_parameters: int

    @staticmethod
    def of(model: nn.Module) -> "Gradients":
        """Give every parameter its place in a new row."""
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        num_parameters = sum(parameter.numel() for parameter in parameters)
        flat = torch.zeros(num_parameters + len(EXTRAS), dtype=torch.float32, device=parameters[0].device)
        start = 0
        for parameter in parameters:
            parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()
        return Gradients(flat, num_parameters)

    @property
    def own(self) -> Tensor:
        return self.flat[: self.num_parameters]

    def zero(self) -> None:
        self.flat.zero_()

    def set_extras(self, losses: Tensor, votes: Sequence[bool]) -> None:
        self.flat[self.num_parameters : self.num_parameters + len(losses)] = losses
        self.flat[self.num_parameters + len(losses) :] = torch.tensor(votes, dtype=torch.float32)

    def extras(self) -> dict[str, float]:
        return dict(zip(EXTRAS, self.flat[self.num_parameters :].tolist(), strict=True))
