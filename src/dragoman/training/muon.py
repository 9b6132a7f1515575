"""Muon (Jordan et al. 2024): the momentum of a matrix, with all its singular values brought near one, is its step.

torch.optim.Muon multiplies in bfloat16, matrix by matrix, which is slow on CPUs that have none. This one multiplies in
the numbers it is told to, and takes all blocks of one shape at once.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ITERATIONS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic that takes singular values of (0, 1] to about 0.7 to 1.2 in five rounds."""
LIKE_ADAM = 0.2
"""Root mean square of Adam's usual step at a rate of 1 (Liu et al. 2025, arXiv 2502.16982): one rate serves both."""
STACKED = (".inputs", ".memory")
"""Endings of matrices that hold several projections: queries, keys and values."""
TINY = 1e-7


class Muon:
    """Moves matrices. Projections that lie in one matrix are blocks of their own."""

    def __init__(
        self, named: Mapping[str, nn.Parameter], weight_decay: float, multiplied_in: torch.dtype | None = None
    ) -> None:
        self._named = dict(named)
        self._weight_decay = weight_decay
        self._multiplied_in = multiplied_in
        self.momenta = {name: torch.zeros_like(parameter) for name, parameter in named.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        groups: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
        for name, parameter in self._named.items():
            momentum, gradient = self.momenta[name], parameter.grad
            assert gradient is not None, name
            momentum.lerp_(gradient, 1 - MOMENTUM)
            nesterov = gradient.lerp(momentum, MOMENTUM)
            for block, towards in zip(blocks(name, parameter), blocks(name, nesterov), strict=True):
                groups.setdefault(tuple(towards.shape), []).append((block, towards))  # type: ignore[arg-type]
        for shape, members in groups.items():
            step = -rate * LIKE_ADAM * math.sqrt(max(shape))
            stacked = torch.stack([towards for _, towards in members])
            directions = orthogonal(stacked.to(self._multiplied_in or stacked.dtype))
            for (block, _), direction in zip(members, directions, strict=True):
                block.mul_(1 - rate * self._weight_decay).add_(direction, alpha=step)


def blocks(name: str, matrix: Tensor) -> tuple[Tensor, ...]:
    """Views of what a matrix is made of, none with more rows than columns."""
    rows, columns = matrix.shape
    if rows <= columns:
        return (matrix,)
    size = columns if name.endswith(STACKED) else rows
    return tuple(part.t() for part in torch.split(matrix, size))


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (number, rows ≤ columns) with the same singular vectors and singular values near one."""
    a, b, c = COEFFICIENTS
    x: Tensor = matrices / matrices.flatten(1).norm(dim=1).clamp_min(TINY)[:, None, None]
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
