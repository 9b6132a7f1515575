"""Matrix products of a training step on a CPU, in the numbers that it multiplies fastest.

A CPU with bfloat16 arithmetic multiplies such numbers at twice the speed of float32. An `operand` is a matrix made
ready for that once and used in several products. Sums are kept in float32 inside a product, and all between two
products is computed in float32. Where no kind of numbers is asked for, an operand is the matrix itself.
"""

# N rows  I inner  O outer width of a product

import torch
from torch import Tensor

ROWS_AT_ONCE = 64
"""Rows are filled up to a multiple of this: oneDNN builds code for every new shape, 0.3 to 0.7 ms each, and keeps it;
the number of tokens is another in every batch. 32 was no faster, and held a sixth more memory (2026-11)."""


def operand(matrix_NI: Tensor, kind: torch.dtype | None) -> Tensor:
    """Ready to be multiplied in `kind` of numbers, with rows of zeros after its last."""
    if kind is None or (kind == matrix_NI.dtype and len(matrix_NI) % ROWS_AT_ONCE == 0):
        return matrix_NI
    filled_NI = room(matrix_NI, kind)
    filled_NI[: len(matrix_NI)].copy_(matrix_NI)
    return filled_NI


def operand_like(matrix_NI: Tensor, other_NO: Tensor) -> Tensor:
    """Ready to be multiplied as another operand of as many real rows is."""
    is_one = (matrix_NI.dtype, len(matrix_NI)) == (other_NO.dtype, len(other_NO))
    return matrix_NI if is_one else operand(matrix_NI, other_NO.dtype)


def room(like_NI: Tensor, kind: torch.dtype | None) -> Tensor:
    """Where an operand of this size can be written: its rows of zeros are there, the others are not yet."""
    if kind is None:
        return torch.empty_like(like_NI)
    num_rows = len(like_NI)
    filled_NI = like_NI.new_empty(-(-num_rows // ROWS_AT_ONCE) * ROWS_AT_ONCE, like_NI.shape[1], dtype=kind)
    filled_NI[num_rows:].zero_()
    return filled_NI


def weight(matrix_OI: Tensor, kind: torch.dtype | None) -> Tensor:
    """Ready to be multiplied in `kind` of numbers, as large as it was: its shape is the same in every batch."""
    return matrix_OI if kind is None else matrix_OI.to(kind)


def product(left_NI: Tensor, right_IO: Tensor, factor: float = 1.0) -> Tensor:
    """factor x left x right, of two operands: itself one, of the same kind and with as many rows as `left`."""
    return write_product(left_NI, right_IO, left_NI.new_empty(len(left_NI), right_IO.shape[1]), factor)


def write_product(left_NI: Tensor, right_IO: Tensor, out_NO: Tensor, factor: float = 1.0) -> Tensor:
    """out = factor x left x right, of two operands; as many rows as `out` has."""
    if (left_NI.dtype, len(left_NI)) == (out_NO.dtype, len(out_NO)):
        return torch.addmm(out_NO, left_NI, right_IO, beta=0.0, alpha=factor, out=out_NO)
    return out_NO.copy_(product(left_NI, right_IO, factor)[: len(out_NO)])


def add_product(out_OI: Tensor, left_ON: Tensor, right_NI: Tensor, factor: float = 1.0) -> Tensor:
    """out += factor x left x right, of two operands."""
    if left_ON.dtype == out_OI.dtype:
        return out_OI.addmm_(left_ON, right_NI, alpha=factor)
    return out_OI.add_(left_ON @ right_NI, alpha=factor)
