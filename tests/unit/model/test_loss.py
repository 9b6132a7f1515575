"""The chunked loss against `F.cross_entropy`."""

# N target tokens  D width  V vocabulary

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model import loss as loss_module
from dragoman.model.loss import cross_entropy


def example(num_tokens: int, spread: float = 1.0, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(num_tokens)
    hidden_ND = torch.randn(num_tokens, 32, generator=generator, dtype=dtype) * spread
    weight_VD = torch.randn(211, 32, generator=generator, dtype=dtype)
    target_N = torch.randint(0, 211, (num_tokens,), generator=generator)
    return hidden_ND.requires_grad_(), weight_VD.requires_grad_(), target_N


CASES = [(torch.float64, spread, 1e-12) for spread in (0.1, 1.0, 30.0)] + [(torch.float32, 0.2, 1e-6)]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("num_tokens", [1, 63, 64, 200])
@pytest.mark.parametrize(("dtype", "spread", "tolerance"), CASES)
def test_loss_and_gradients_are_exact(
    monkeypatch: pytest.MonkeyPatch,
    num_tokens: int,
    smoothing: float,
    dtype: torch.dtype,
    spread: float,
    tolerance: float,
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", 64)
    hidden_ND, weight_VD, target_N = example(num_tokens, spread, dtype)
    ours = cross_entropy(hidden_ND, weight_VD, target_N, smoothing)
    gradients = torch.autograd.grad(ours.smoothed_sum / 3, (hidden_ND, weight_VD))
    logits_NV = hidden_ND.double() @ weight_VD.double().t()
    expected = F.cross_entropy(logits_NV, target_N, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(ours.smoothed_sum.double(), expected, rtol=tolerance, atol=0)
    plain_sum = F.cross_entropy(logits_NV, target_N, reduction="sum")
    torch.testing.assert_close(ours.plain_sum.double(), plain_sum, rtol=tolerance, atol=tolerance)
    for gradient, exact in zip(gradients, torch.autograd.grad(expected / 3, (hidden_ND, weight_VD)), strict=True):
        assert (gradient - exact).norm() <= tolerance * exact.norm()
    assert ours.num_tokens == num_tokens


def test_a_hopeless_token_has_a_finite_exact_loss() -> None:
    hidden_ND, weight_VD = torch.tensor([[200.0]]), torch.tensor([[1.0], [-1.0]])
    loss = cross_entropy(hidden_ND, weight_VD, torch.tensor([1]), 0.0)
    assert loss.smoothed_sum == 400.0


def test_the_weight_gradient_is_added_to_what_is_there() -> None:
    hidden_ND, weight_VD, target_N = example(100)
    torch.autograd.backward(cross_entropy(hidden_ND, weight_VD, target_N, 0.1).smoothed_sum)
    assert weight_VD.grad is not None
    once, memory = weight_VD.grad.clone(), weight_VD.grad.data_ptr()
    loss = cross_entropy(hidden_ND, weight_VD, target_N, 0.1, accumulate_in_place=True)
    torch.autograd.backward(loss.smoothed_sum * 2)
    torch.testing.assert_close(weight_VD.grad, 3 * once)
    assert weight_VD.grad.data_ptr() == memory


def test_chunks_change_nothing() -> None:
    example_of = example(200, 0.2)
    whole, parts = cross_entropy(*example_of, 0.1, in_chunks=False), cross_entropy(*example_of, 0.1)
    torch.testing.assert_close(parts.smoothed_sum, whole.smoothed_sum)
    torch.testing.assert_close(parts.plain_sum, whole.plain_sum)


def test_evaluation_forms_no_gradient() -> None:
    hidden_ND, weight_VD, target_N = example(10)
    with torch.no_grad():
        loss = cross_entropy(hidden_ND, weight_VD, target_N, 0.1)
    assert not loss.smoothed_sum.requires_grad and not loss.plain_sum.requires_grad
