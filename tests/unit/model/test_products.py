"""Products in bfloat16, and in float32 with rows filled up, beside torch's: alone, in the loss and in a whole model."""

# N rows  I inner  O outer width of a product  D width  V vocabulary

import dataclasses
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from dragoman.core.config import ModelConfig
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.loss import cross_entropy
from dragoman.model.products import (
    ROWS_AT_ONCE,
    add_product,
    operand,
    operand_like,
    product,
    room,
    weight,
    write_product,
)
from dragoman.model.transformer import Transformer

BF16, FP32 = torch.bfloat16, torch.float32
INNER, OUTER = 24, 40
NUM_ROWS = [1, 63, 64, 65, 200]
ROUNDING = 2.0**-7
"""Of a product of absolute values: half a last place, 2^-9, for each factor, the result and the number before it."""

IDS = SpecialIds(pad=0, bos=1, eos=2)
SMALL = ModelConfig(
    width=32, feed_forward=48, heads=2, encoder_layers=2, decoder_layers=2, dropout=0.0, label_smoothing=0.1
)
NEAR = {"relu": 0.06, "gelu": 0.015, "swish": 0.015}
"""Gradients, by activation: a relu whose input is rounded across 0 passes all of a gradient or nothing."""
CHANGES: list[dict[str, object]] = [
    {},
    {"norm": "post", "tied": "none"},
    {"activation": "gelu", "tied": "two"},
    {"activation": "swish", "heads": 4},
    {"dropout": 0.2, "attention_dropout": 0.1, "activation_dropout": 0.1},
    {"activation": "gelu", "heads": 4, "dropout": 0.2, "attention_dropout": 0.1, "activation_dropout": 0.1},
]
LENGTHS = [(3, 5), (1, 1), (20, 2), (4, 18), (7, 7)]


@pytest.fixture(autouse=True)
def _unwritten_memory_is_not_a_number() -> Iterator[None]:
    """So that what nobody wrote, beyond the last row, shows in whatever it leaks into."""
    threads = torch.get_num_threads()
    torch.use_deterministic_algorithms(True)  # fills what `empty` gives
    torch.set_num_threads(1)  # matrices this small only wait for a second thread
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


def fractions(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def whole_numbers(*shape: int) -> Tensor:
    """So small that their products and sums have an exact bfloat16: any difference is a mistake, not rounding."""
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(sum(shape))).float()


def example_model(config: ModelConfig = SMALL) -> tuple[Transformer, Batch]:
    """With numbers of tokens that are no multiple of `ROWS_AT_ONCE`."""
    generator = torch.Generator().manual_seed(1)

    def sentence(length: int) -> list[int]:
        return [*torch.randint(3, 50, (length - 1,), generator=generator).tolist(), IDS.eos]

    model = Transformer(config, 50, 50, IDS)
    return model, Batch.of([(sentence(source), sentence(target)) for source, target in LENGTHS], IDS.pad)


def loss_and_gradients(model: Transformer, batch: Batch, kind: torch.dtype | None) -> tuple[Tensor, list[Tensor]]:
    model.multiplied_in = kind
    model.seed_dropout(1)
    model.zero_grad(set_to_none=False)
    loss = model(batch).smoothed_sum
    loss.backward()
    return loss.detach(), [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]


def distance(ours: list[Tensor], exact: list[Tensor]) -> float:
    """Between gradients, as a share of the exact one."""
    one, other = (torch.cat([gradient.flatten() for gradient in gradients]) for gradients in (ours, exact))
    return float((one - other).norm() / other.norm())


def test_in_the_numbers_of_the_weights_an_operand_is_the_matrix_itself() -> None:
    matrix_NI = fractions(33, INNER)
    assert operand(matrix_NI, None) is matrix_NI
    assert weight(matrix_NI, None) is matrix_NI


@pytest.mark.parametrize("factor", [1.0, 1.3])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_in_float32_products_are_those_of_torch(num_rows: int, factor: float) -> None:
    left_NI, right_IO = fractions(num_rows, INNER), fractions(INNER, OUTER)
    out_NO = left_NI.new_empty(num_rows, OUTER)
    expected_NO = torch.addmm(fractions(OUTER), left_NI, right_IO, beta=0.0, alpha=factor)
    assert write_product(left_NI, right_IO, out_NO, factor) is out_NO
    assert torch.equal(out_NO, expected_NO)
    assert torch.equal(product(left_NI, right_IO, factor), expected_NO)
    before_NO = fractions(num_rows, OUTER)
    after_NO = add_product(out_NO.copy_(before_NO), left_NI, right_IO, factor)
    assert torch.equal(after_NO, torch.addmm(before_NO, left_NI, right_IO, alpha=factor))


@pytest.mark.parametrize("kind", [BF16, FP32])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_an_operand_of_a_kind_is_filled_up_with_rows_of_zeros(num_rows: int, kind: torch.dtype) -> None:
    matrix_NI = fractions(num_rows, INNER)
    ready_NI = operand(matrix_NI, kind)
    assert ready_NI.dtype == kind
    assert len(ready_NI) % ROWS_AT_ONCE == 0 and 0 <= len(ready_NI) - num_rows < ROWS_AT_ONCE
    assert torch.equal(ready_NI[:num_rows], matrix_NI.to(kind))
    assert not ready_NI[num_rows:].count_nonzero()
    assert torch.equal(weight(matrix_NI, kind), matrix_NI.to(kind)), "a weight keeps its size"
    room_NI = room(matrix_NI, kind)
    assert room_NI.shape == ready_NI.shape and not room_NI[num_rows:].count_nonzero()
    assert torch.equal(operand_like(matrix_NI, ready_NI), ready_NI)
    assert operand_like(matrix_NI, matrix_NI) is matrix_NI


@pytest.mark.parametrize("factor", [1.0, 1.3])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_in_bfloat16_products_are_close_to_those_of_float32(num_rows: int, factor: float) -> None:
    left_NI, right_OI = fractions(num_rows, INNER), fractions(OUTER, INNER)
    out_NO = left_NI.new_empty(num_rows, OUTER)
    assert write_product(operand(left_NI, BF16), weight(right_OI, BF16).t(), out_NO, factor) is out_NO
    exact_NO = left_NI @ right_OI.t() * factor
    allowed_NO = left_NI.abs() @ right_OI.abs().t() * factor * ROUNDING
    assert out_NO.dtype == torch.float32
    assert ((out_NO - exact_NO).abs() <= allowed_NO).all()
    assert not torch.equal(out_NO, exact_NO), "numbers that need no rounding would show nothing"


@pytest.mark.parametrize("kind", [BF16, FP32])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_a_product_of_a_kind_is_an_operand_itself(num_rows: int, kind: torch.dtype) -> None:
    left_NI, right_IO = whole_numbers(num_rows, INNER), whole_numbers(INNER, OUTER)
    result_NO = product(operand(left_NI, kind), weight(right_IO, kind), 0.5)
    assert torch.equal(result_NO, operand(left_NI @ right_IO * 0.5, kind)), "rows of zeros and all"


@pytest.mark.parametrize("kind", [BF16, FP32])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_a_product_of_a_kind_has_the_asked_rows_and_writes_no_other(num_rows: int, kind: torch.dtype) -> None:
    left_NI, right_IO = whole_numbers(num_rows, INNER), whole_numbers(INNER, OUTER)
    room_NO = torch.full((num_rows + 2, OUTER), 7.0)
    out_NO = room_NO[1:-1]
    result_NO = write_product(operand(left_NI, kind), weight(right_IO, kind), out_NO, 0.5)
    assert result_NO.data_ptr() == out_NO.data_ptr() and result_NO.shape == (num_rows, OUTER)
    assert torch.equal(out_NO, left_NI @ right_IO * 0.5)
    assert room_NO[0].eq(7.0).all() and room_NO[-1].eq(7.0).all()


@pytest.mark.parametrize("kind", [BF16, FP32])
@pytest.mark.parametrize("num_rows", NUM_ROWS)
def test_rows_filled_up_are_in_no_weight_gradient(num_rows: int, kind: torch.dtype) -> None:
    d_NO, x_NI = whole_numbers(num_rows, OUTER), whole_numbers(num_rows, INNER)
    left_ON, right_NI = operand(d_NO, kind).t(), operand(x_NI, kind)
    expected_OI = d_NO.t() @ x_NI * 0.5
    assert torch.equal(write_product(left_ON, right_NI, torch.empty_like(expected_OI), 0.5), expected_OI)
    before_OI = fractions(OUTER, INNER)
    torch.testing.assert_close(add_product(before_OI.clone(), left_ON, right_NI, 0.5), before_OI + expected_OI)


@pytest.mark.parametrize("num_tokens", [1, 33, 600])
def test_the_loss_in_bfloat16_is_close_to_that_of_float32(num_tokens: int) -> None:
    hidden_ND, weight_VD = fractions(num_tokens, 32).requires_grad_(), (fractions(211, 32) / 4).requires_grad_()
    target_N = torch.randint(0, 211, (num_tokens,), generator=torch.Generator().manual_seed(1))
    exact, rounded = (cross_entropy(hidden_ND, weight_VD, target_N, 0.1, multiplied_in=kind) for kind in (None, BF16))
    torch.testing.assert_close(rounded.smoothed_sum, exact.smoothed_sum, rtol=0.01, atol=0.0)
    torch.testing.assert_close(rounded.plain_N, exact.plain_N, rtol=0.02, atol=0.02)
    gradients, expected = (
        list(torch.autograd.grad(loss.smoothed_sum, (hidden_ND, weight_VD))) for loss in (rounded, exact)
    )
    assert [gradient.dtype for gradient in gradients] == [torch.float32, torch.float32]
    for ours, theirs in zip(gradients, expected, strict=True):
        assert distance([ours], [theirs]) < 0.01


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_model_in_bfloat16_learns_nearly_what_it_learns_in_float32(change: dict[str, object], in_place: bool) -> None:
    model, batch = example_model(dataclasses.replace(SMALL, **change))  # type: ignore[arg-type]
    exact_loss, exact = loss_and_gradients(model, batch, None)
    model.accumulate_in_place = in_place
    loss, gradients = loss_and_gradients(model, batch, BF16)
    assert loss.dtype == torch.float32 and {gradient.dtype for gradient in gradients} == {torch.float32}
    torch.testing.assert_close(loss, exact_loss, rtol=2e-3, atol=0.0)
    assert len(gradients) == len(exact) == len(list(model.parameters()))
    assert 0.0 < distance(gradients, exact) < NEAR[model.config.activation]
    for (name, _), ours, theirs in zip(model.named_parameters(), gradients, exact, strict=True):
        assert distance([ours], [theirs]) < 4 * NEAR[model.config.activation], name


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_model_with_rows_filled_up_learns_what_it_learns_without(change: dict[str, object], in_place: bool) -> None:
    model, batch = example_model(dataclasses.replace(SMALL, **change))  # type: ignore[arg-type]
    model.draws_columns = True
    exact_loss, exact = loss_and_gradients(model, batch, None)
    model.accumulate_in_place = in_place
    loss, gradients = loss_and_gradients(model, batch, FP32)
    torch.testing.assert_close(loss, exact_loss)
    assert len(gradients) == len(exact) == len(list(model.parameters()))
    for (name, _), ours, theirs in zip(model.named_parameters(), gradients, exact, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6, msg=name)


def test_gradients_of_micro_batches_in_bfloat16_add_up() -> None:
    model, batch = example_model(dataclasses.replace(SMALL, activation="gelu"))
    _, exact = loss_and_gradients(model, batch, None)
    model.multiplied_in, model.accumulate_in_place = BF16, True
    model.zero_grad(set_to_none=False)
    for part in batch.split(max_target_tokens=8):
        model(part).smoothed_sum.backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert distance(gradients, exact) < NEAR["gelu"]


def test_evaluation_is_in_float32_whatever_training_multiplies_in() -> None:
    model, batch = example_model()

    def numbers(kind: torch.dtype | None) -> list[Tensor]:
        model.multiplied_in = kind
        with torch.no_grad():
            loss = model(batch)
            state = model.encode(batch.source_BS, batch.source.lengths)
            step_RV, _ = model.step(torch.full((len(LENGTHS),), IDS.bos), state)
        return [loss.smoothed_sum, loss.plain_N, model.score(batch), step_RV]

    assert not any(torch.equal(one, other) for one, other in zip(numbers(BF16), numbers(None), strict=True))
    model.eval()
    assert all(torch.equal(one, other) for one, other in zip(numbers(BF16), numbers(None), strict=True))
