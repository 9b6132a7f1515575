"""The ceiling: multiplies of 2,048 x 2,048 matrices by the faster library, counted in floating-point operations."""

import torch

from benchmarks.peers.participant import is_half, task
from dragoman.model.machine import multiply_fast


def main() -> None:
    """Multiply for ever."""
    torch.set_num_threads(2)
    multiply_fast()
    size, counter = 2048, task()
    kind = torch.bfloat16 if is_half() else torch.float32
    left, right, product = (torch.randn(size, size).to(kind) for _ in range(3))
    while True:
        torch.mm(left, right, out=product)
        counter.done(2 * size**3)


if __name__ == "__main__":
    main()
