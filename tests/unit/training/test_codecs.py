"""Packed numbers come back within the bound of their codec, and what is not finite stays so."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.theory import wire as theory
from dragoman.training.communication.codecs import BLOCK, EIGHT_BITS, HALF, PIECE, Codec

BOTH = pytest.mark.parametrize("codec", [HALF, EIGHT_BITS], ids=["half", "eight_bits"])
LENGTHS = (1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, PIECE, PIECE + 1, 2 * PIECE + 8)


def there_and_back(codec: Codec, row: torch.Tensor, residual: torch.Tensor | None = None) -> torch.Tensor:
    packed = torch.full((codec.packed_bytes(len(row)) + 8,), 255, dtype=torch.uint8)
    aligned = packed[: codec.packed_bytes(len(row))]
    codec.pack(row, aligned, residual)
    back = torch.full_like(row, 7.0)
    codec.unpack(aligned, back)
    return back


def bound(codec: Codec, row: torch.Tensor) -> torch.Tensor:
    """Half a step of rounding: of each number at 16 bits, of the block's largest at 8."""
    if codec is HALF:
        tops = torch.cat([part.abs().max().expand(len(part)) for part in torch.split(row, codec.block)])
        return torch.maximum(row.abs() * 2.0**-11, tops * 2.0**-38) * 1.001
    tops = torch.cat([part.abs().max().expand(len(part)) for part in torch.split(row, codec.block)])
    return tops / 127 / 2 * 1.001 + 1e-32


@BOTH
@given(
    length=st.sampled_from(LENGTHS),
    seed=st.integers(0, 2**31),
    exponent=st.integers(-60, 60),
    spread=st.integers(0, 12),
)
@settings(max_examples=40, deadline=None)
def test_numbers_come_back_within_the_bound(codec: Codec, length: int, seed: int, exponent: int, spread: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    exponents = torch.randint(-spread, spread + 1, (length,), generator=generator) + exponent
    row = torch.ldexp(torch.randn(length, generator=generator), exponents)
    back = there_and_back(codec, row)
    assert bool(((back - row).abs() <= bound(codec, row)).all())


@BOTH
@pytest.mark.parametrize("length", [length for length in LENGTHS if length % 8 == 0])
def test_zeros_stay_zeros(codec: Codec, length: int) -> None:
    assert not there_and_back(codec, torch.zeros(length)).any()


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 300, PIECE + 3])
def test_what_is_not_finite_stays_not_finite(codec: Codec, bad: float, place: int) -> None:
    row = torch.randn(PIECE + 512, generator=torch.Generator().manual_seed(1))
    row[place] = bad
    residual = torch.full_like(row, 0.25)
    back = there_and_back(codec, row, residual)
    assert not math.isfinite(float(torch.linalg.vector_norm(back)))
    assert bool(torch.isfinite(residual).all()), "a residual that is not finite would spoil every later step"


@BOTH
def test_adding_adds(codec: Codec) -> None:
    row = torch.linspace(-3, 5, 1000)
    packed = torch.zeros(codec.packed_bytes(1000), dtype=torch.uint8)
    codec.pack(row, packed)
    total = torch.ones(1000)
    codec.unpack(packed, total, is_sum=True)
    assert torch.allclose(total, row + 1, atol=0.03)


def test_what_eight_bits_lose_is_sent_later() -> None:
    """Over many steps the mean of what arrives is the mean of what was sent: the error does not grow with them."""
    generator = torch.Generator().manual_seed(3)
    wanted = torch.randn(4 * BLOCK, generator=generator) * torch.logspace(-4, 0, 4 * BLOCK)
    residual, arrived, blind = torch.zeros(4 * BLOCK), torch.zeros(4 * BLOCK), torch.zeros(4 * BLOCK)
    steps = 200
    for _ in range(steps):
        arrived += there_and_back(EIGHT_BITS, wanted.clone(), residual)
        blind += there_and_back(EIGHT_BITS, wanted.clone())
    error, blind_error = ((total / steps - wanted).abs() for total in (arrived, blind))
    step = bound(EIGHT_BITS, wanted)
    assert bool((error <= 3 * step / steps).all())
    assert bool((error.mean() < 0.02 * blind_error.mean()).all())


def test_residual_and_what_was_sent_are_what_was_there() -> None:
    row = torch.randn(1000, generator=torch.Generator().manual_seed(5))
    residual = torch.full((1000,), 0.01)
    expected = row + residual
    back = there_and_back(EIGHT_BITS, row, residual)
    assert torch.allclose(back + residual, expected, atol=1e-6)


def test_bytes_are_those_that_the_theory_counts() -> None:
    numbers = 1 << 20
    assert EIGHT_BITS.packed_bytes(numbers) / (4 * numbers) == theory.EIGHT_BITS_BYTES
    assert HALF.packed_bytes(numbers) / (4 * numbers) == pytest.approx(theory.HALF_BYTES, rel=1e-4)
    assert BLOCK == theory.EIGHT_BIT_BLOCK
