"""How weights move: Muon beside Adam, and both after a checkpoint."""

import pytest
import torch

from dragoman.core.config import ModelConfig, OptimizerConfig
from dragoman.model.batch import SpecialIds
from dragoman.model.transformer import Transformer
from dragoman.theory import cost
from dragoman.training.gradients import Gradients
from dragoman.training.muon import LIKE_ADAM, MOMENTUM, blocks, orthogonal
from dragoman.training.optimizer import Optimizer

MUON = OptimizerConfig(kind="muon", clip_norm=0.0)


def transformer(tied: str = "three") -> Transformer:
    config = ModelConfig(preset="tiny", width=16, heads=2, feed_forward=32, tied=tied)
    return Transformer(config, 64, 64, SpecialIds(0, 1, 2))


def moved(model: Transformer, optimizer: Optimizer, gradients: Gradients, num_steps: int) -> None:
    for step in range(num_steps):
        torch.manual_seed(step)
        gradients.own.copy_(torch.randn_like(gradients.own))
        optimizer.step(gradients, 1e-3, norm=1.0)


def test_all_singular_values_come_near_one() -> None:
    torch.manual_seed(1)
    matrices = torch.randn(3, 16, 40) * torch.tensor([1e-4, 1.0, 1e4])[:, None, None]
    values = torch.linalg.svdvals(orthogonal(matrices))
    assert values.min() > 0.6 and values.max() < 1.3


def test_singular_vectors_stay() -> None:
    torch.manual_seed(1)
    matrix = torch.randn(8, 24)
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    around = left.T @ orthogonal(matrix[None])[0] @ right.T
    assert torch.allclose(around, torch.diag(torch.diag(around)), atol=1e-4)


def test_nothing_moves_where_there_is_no_gradient() -> None:
    assert torch.equal(orthogonal(torch.zeros(1, 4, 4)), torch.zeros(1, 4, 4))


def test_projections_that_share_a_matrix_are_apart() -> None:
    assert [tuple(part.shape) for part in blocks("encoder.0.attention.inputs", torch.zeros(48, 16))] == [(16, 16)] * 3
    assert [tuple(part.shape) for part in blocks("encoder.0.feed_forward.inner", torch.zeros(32, 16))] == [(16, 32)]
    assert [tuple(part.shape) for part in blocks("encoder.0.feed_forward.outer", torch.zeros(16, 32))] == [(16, 32)]


def test_the_first_step_of_muon_is_the_orthogonal_gradient_at_the_size_of_adams() -> None:
    model = transformer()
    gradients = Gradients.of(model)
    optimizer = Optimizer(model, MUON)
    outer = model.get_parameter("decoder.1.feed_forward.outer")
    before = outer.detach().clone()
    moved(model, optimizer, gradients, 1)
    assert outer.grad is not None
    towards = orthogonal(outer.grad[None] * (1 - MOMENTUM**2))[0]
    assert torch.allclose(before - outer.detach(), towards * (1e-3 * LIKE_ADAM * 32**0.5), atol=1e-7)


@pytest.mark.parametrize("tied", ["three", "none"])
def test_muon_leaves_embeddings_and_vectors_to_adam(tied: str) -> None:
    model, other = transformer(tied), transformer(tied)
    for each, kind in ((model, "muon"), (other, "adamw")):
        moved(each, Optimizer(each, OptimizerConfig(kind=kind, clip_norm=0.0)), Gradients.of(each), 3)
    pairs = zip(model.named_parameters(), other.parameters(), strict=True)
    same = {name: torch.equal(mine, others) for (name, mine), others in pairs}
    assert {name for name, is_same in same.items() if is_same} == {
        name
        for name, parameter in model.named_parameters()
        if parameter.dim() < 2 or "embedding" in name or name == "output"
    }


def test_an_optimizer_that_nobody_chose_is_muon_where_the_model_is_narrow() -> None:
    assert any(name.startswith("momentum.") for name in state_after_a_step(OptimizerConfig()))
    assert not any(name.startswith("momentum.") for name in state_after_a_step(OptimizerConfig(kind="adamw")))


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_moments_take_the_bytes_that_theory_says(kind: str) -> None:
    model = transformer()
    num_parameters = sum(parameter.numel() for parameter in model.parameters())
    num_muon = cost.muon_parameters(model.config) if kind == "muon" else 0
    state = state_after_a_step(OptimizerConfig(kind=kind))
    num_bytes = sum(tensor.nbytes for name, tensor in state.items() if name != "step")
    assert num_bytes == cost.checkpoint_bytes(num_parameters, num_muon) - cost.gradient_bytes(num_parameters)


def state_after_a_step(config: OptimizerConfig) -> dict[str, torch.Tensor]:
    model = transformer()
    optimizer = Optimizer(model, config)
    moved(model, optimizer, Gradients.of(model), 1)
    return optimizer.state()


def test_muon_goes_on_to_the_byte() -> None:
    model, resumed = transformer(), transformer()
    gradients, optimizer = Gradients.of(model), Optimizer(model, MUON)
    moved(model, optimizer, gradients, 3)
    saved = {name: tensor.clone() for name, tensor in optimizer.state().items()}
    weights = {name: tensor.clone() for name, tensor in optimizer.weights_for_inference().items()}
    moved(model, optimizer, gradients, 2)
    other_gradients, other = Gradients.of(resumed), Optimizer(resumed, MUON)
    moved(resumed, other, other_gradients, 1)
    other.load(weights, saved)
    moved(resumed, other, other_gradients, 2)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), resumed.parameters(), strict=True))


def test_decay_pulls_matrices_only() -> None:
    for kind in ("adamw", "muon"):
        model, other = transformer(), transformer()
        for each, decay in ((model, 0.0), (other, 0.5)):
            config = OptimizerConfig(kind=kind, clip_norm=0.0, weight_decay=decay)
            moved(each, Optimizer(each, config), Gradients.of(each), 1)
        for (name, mine), others in zip(model.named_parameters(), other.parameters(), strict=True):
            assert torch.equal(mine, others) == (mine.dim() < 2), (kind, name)
