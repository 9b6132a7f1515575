"""The chunked loss against `F.cross_entropy`."""

# N target tokens  D width  V vocabulary

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.model import loss as loss_module
from dragoman.model.loss import WHOLE_MASS, cross_entropy, drawn_columns


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


def chunk_of_gradients() -> tuple[Tensor, Tensor]:
    """Softmax minus targets of 40 tokens: a few columns hold nearly all of the mass."""
    generator = torch.Generator().manual_seed(3)
    logits_CV = torch.randn(40, 300, generator=generator) - torch.arange(300) / 10
    target_C1 = torch.randint(0, 300, (40, 1), generator=generator)
    return torch.softmax(logits_CV, dim=1).scatter_add_(1, target_C1, -torch.ones(40, 1)), target_C1


def test_targets_and_heavy_columns_always_count_as_they_are() -> None:
    d_logits_CV, target_C1 = chunk_of_gradients()
    heavy = (d_logits_CV.sum(dim=0) >= WHOLE_MASS).nonzero().squeeze(1).tolist()
    for seed in range(20):
        drawn = drawn_columns(d_logits_CV, target_C1, torch.Generator().manual_seed(seed))
        assert drawn is not None
        factors = dict(zip(drawn[0].tolist()[::-1], drawn[1].tolist()[::-1], strict=True))  # filling comes last
        assert all(factors[column] == 1.0 for column in {*heavy, *target_C1.flatten().tolist()})
        assert min(factors.values()) == 1.0 and len(factors) < 150


def test_a_light_column_counts_the_more_the_less_often_it_is_drawn() -> None:
    d_logits_CV, target_C1 = chunk_of_gradients()
    generator, total = torch.Generator().manual_seed(5), torch.zeros(300)
    for _ in range(4000):
        drawn = drawn_columns(d_logits_CV, target_C1, generator)
        assert drawn is not None
        total.index_add_(0, *drawn)
    chance = (d_logits_CV.sum(dim=0) / WHOLE_MASS).clamp(max=1.0)
    is_light = (chance > 0.01) & (chance < 1.0)
    is_light[target_C1.squeeze(1)] = False
    deviation = ((1 - chance) / chance / 4000).sqrt()
    assert is_light.sum() > 30
    assert ((total / 4000 - 1).abs()[is_light] < 5 * deviation[is_light]).all()


def test_drawing_changes_no_loss_and_no_gradient_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", 16)
    hidden_ND, weight_VD, target_N = example(60, 2.0)
    exact = cross_entropy(hidden_ND, weight_VD, target_N, 0.1)
    expected = torch.autograd.grad(exact.smoothed_sum, (hidden_ND, weight_VD))
    generator, distances = torch.Generator().manual_seed(1), list[float]()
    sums = [torch.zeros_like(gradient) for gradient in expected]
    for count in range(1, 401):
        ours = cross_entropy(hidden_ND, weight_VD, target_N, 0.1, drawn_by=generator)
        assert torch.equal(ours.smoothed_sum, exact.smoothed_sum) and torch.equal(ours.plain_N, exact.plain_N)
        for total, gradient in zip(sums, torch.autograd.grad(ours.smoothed_sum, (hidden_ND, weight_VD)), strict=True):
            total += gradient
        if count in (1, 400):
            distances += [float((t / count - e).norm() / e.norm()) for t, e in zip(sums, expected, strict=True)]
    assert all(distance > 1e-3 for distance in distances[:2]), "one draw is not all"
    assert all(last < first / 10 for first, last in zip(distances[:2], distances[2:], strict=True)), distances


def test_the_same_seed_draws_the_same() -> None:
    def gradient(seed: int) -> Tensor:
        hidden_ND, weight_VD, target_N = example(16, 2.0)
        loss = cross_entropy(hidden_ND, weight_VD, target_N, 0.1, drawn_by=torch.Generator().manual_seed(seed))
        return torch.autograd.grad(loss.smoothed_sum, weight_VD)[0]

    assert torch.equal(gradient(1), gradient(1))
    assert not torch.equal(gradient(1), gradient(2))


def test_where_most_columns_would_be_drawn_all_count() -> None:
    even_CV = torch.full((40, 300), 1 / 300)  # mass of each: 0.13
    assert drawn_columns(even_CV, torch.zeros(40, 1, dtype=torch.int64), torch.Generator()) is None
