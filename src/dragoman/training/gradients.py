"""All gradients of a model as one flat row of numbers.

    | extras | embeddings | encoder, first layer to last | decoder, first layer to last |

Each parameter's `.grad` is a view of it, so zeroing, norm and scaling are single operations. The row is in the order of
the forward pass: backward fills it from its end, and the tied embedding, which is used first and last, comes last. It
is cut into buckets that never change, so the order in which ranks add up never does either: a resumed run is equal to
the byte. Before the gradients lie a few numbers more, which travel with the last bucket: loss sums and votes cost no
exchange of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

EXTRAS = ("smoothed_loss", "plain_loss", "skipped", "stop", "hurry", "evaluate", "save")
FIRST = 16
"""Where gradients begin: behind the extras, and where a cache line does."""
BUCKET_NUMBERS = 1 << 20
"""Of a bucket, at least, 4 MB: large enough for the wire's latency, small enough to leave early."""
ORDER = {"encoder": 1, "encoder_norm": 2, "decoder": 3, "decoder_norm": 4}
"""Of the parts in the forward pass, by the first word of a parameter's name; all else is an embedding."""


@dataclass(frozen=True)
class Bucket:
    """Gradients that cross the wire together: a slice of the row."""

    start: int
    end: int
    parameters: tuple[nn.Parameter, ...]
    """All that it holds: when their gradients are there, it may leave."""


@dataclass(frozen=True)
class Gradients:
    """The flat row."""

    flat: Tensor
    buckets: tuple[Bucket, ...]
    """In the order in which backward fills them; together they are the whole row."""

    @staticmethod
    def of(model: nn.Module, bucket_numbers: int = BUCKET_NUMBERS) -> "Gradients":
        """Give every parameter its place in a new row."""
        named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        named.sort(key=lambda entry: ORDER.get(entry[0].split(".")[0], 0))  # stable: layers keep their order
        parameters = [parameter for _, parameter in named]
        size = FIRST + sum(parameter.numel() for parameter in parameters)
        flat = torch.zeros(size, dtype=torch.float32, device=parameters[0].device)
        start = FIRST
        for parameter in parameters:
            parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()
        return Gradients(flat, _cut(parameters, size, bucket_numbers))

    @property
    def own(self) -> Tensor:
        return self.flat[FIRST:]

    @property
    def extra_numbers(self) -> Tensor:
        return self.flat[:FIRST]

    def zero(self) -> None:
        self.flat.zero_()

    def set_extras(self, values: Sequence[float | Tensor]) -> None:
        for place, value in enumerate(values):
            self.flat[place] = value

    def extras(self) -> dict[str, float]:
        return dict(zip(EXTRAS, self.flat[: len(EXTRAS)].tolist(), strict=True))


def _cut(parameters: Sequence[nn.Parameter], size: int, bucket_numbers: int) -> tuple[Bucket, ...]:
    """Buckets from the end of the row; a parameter that could be one by itself begins a new one."""
    buckets: list[Bucket] = []
    end, start, held = size, size, list[nn.Parameter]()
    for parameter in reversed(parameters):
        if held and (end - start >= bucket_numbers or parameter.numel() >= bucket_numbers):
            buckets.append(Bucket(start, end, tuple(held)))
            end, held = start, []
        held.append(parameter)
        start -= parameter.numel()
    return (*buckets, Bucket(0, end, tuple(held)))
