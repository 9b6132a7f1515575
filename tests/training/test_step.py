"""One update, in one process."""

from dataclasses import replace

import pytest
import torch

from dragoman.core.config import ModelConfig, OptimizerConfig
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.loss import Loss
from dragoman.model.transformer import Transformer
from dragoman.training.gradients import Gradients
from dragoman.training.optimizer import Optimizer
from dragoman.training.precision import GROWS_AFTER_STEPS, LossScale
from dragoman.training.step import Stepper, Votes
from dragoman.training.world import World

SMALL = ModelConfig(width=16, feed_forward=32, heads=2, encoder_layers=1, decoder_layers=1, dropout=0.0)
PAIRS = [([5, 6, 7, 2], [8, 9, 2]), ([5, 2], [7, 7, 7, 2]), ([9, 8, 2], [5, 2]), ([4, 4, 4, 4, 2], [6, 5, 2])]
NUM_TOKENS = sum(len(target) for _, target in PAIRS)


class Hungry(Transformer):
    """Runs out of memory on more than six target tokens."""

    def forward(self, batch: Batch) -> Loss:
        if batch.num_target_tokens > 6:
            raise MemoryError
        return super().forward(batch)


def stepper_of(
    kind: type[Transformer], optimizer: OptimizerConfig | None = None, config: ModelConfig = SMALL
) -> Stepper:
    model = kind(config, 16, 16, SpecialIds(pad=0, bos=1, eos=2))
    model.train()
    gradients = Gradients.of(model)
    model.accumulate_in_place = True
    world = World(rank=0, size=1, local_rank=0, device=torch.device("cpu"))
    return Stepper(model, Optimizer(model, optimizer or OptimizerConfig()), gradients, world, seed=1)


def test_out_of_memory_makes_smaller_pieces_with_the_same_gradient_and_remembers() -> None:
    batch = Batch.of(PAIRS, pad=0)
    plain, hungry = stepper_of(Transformer), stepper_of(Hungry)
    expected = plain.step(1, [batch], NUM_TOKENS, 1e-3, Votes())
    result = hungry.step(1, [batch], NUM_TOKENS, 1e-3, Votes())
    assert result.gradient_norm == pytest.approx(expected.gradient_norm, rel=1e-5)
    assert result.plain_loss == pytest.approx(expected.plain_loss, rel=1e-5)
    assert hungry.most_tokens is not None and hungry.most_tokens <= 6


def test_votes_come_back() -> None:
    result = stepper_of(Transformer).step(1, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-3, Votes(stop=True, save=True))
    assert result.votes == Votes(stop=True, evaluate=False, save=True)


def test_gradients_that_are_not_finite_leave_the_weights_alone() -> None:
    stepper = stepper_of(Transformer)
    with torch.no_grad():
        next(stepper.model.parameters()).fill_(float("nan"))
    before = [parameter.clone() for parameter in stepper.model.parameters()]
    result = stepper.step(1, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-3, Votes())
    assert not result.is_finite
    for old, new in zip(before, stepper.model.parameters(), strict=True):
        assert torch.equal(torch.nan_to_num(old), torch.nan_to_num(new))


def test_dropout_is_what_it_is_to_be_in_each_step() -> None:
    plain, noisy = stepper_of(Transformer), stepper_of(Transformer, config=replace(SMALL, dropout=0.5))
    noisy.dropout_share = lambda step: 0.0 if step == 1 else 1.0
    pairs = [Batch.of(PAIRS, pad=0)]
    losses = [[one.step(step, pairs, NUM_TOKENS, 0.0, Votes()).plain_loss for step in (1, 2)] for one in (plain, noisy)]
    assert losses[0][0] == losses[1][0]
    assert losses[0][1] != losses[1][1]


def test_a_step_without_a_share_of_pairs_counts_nothing() -> None:
    result = stepper_of(Transformer).step(1, [], NUM_TOKENS, 1e-3, Votes())
    assert (result.plain_loss, result.gradient_norm, result.is_finite) == (0.0, 0.0, True)


def test_a_running_mean_follows_the_weights_and_comes_back() -> None:
    config = OptimizerConfig(average_decay=0.5)
    stepper = stepper_of(Transformer, config)
    first = {name: tensor.clone() for name, tensor in stepper.optimizer.weights_for_inference().items()}
    stepper.step(1, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-2, Votes())
    mean, weights = stepper.optimizer.weights_for_inference(), dict(stepper.model.named_parameters())
    for name, tensor in mean.items():
        assert torch.allclose(tensor, 0.1 * first[name] + 0.9 * weights[name])  # a first step may not hold on to chance
    other = stepper_of(Transformer, config)
    other.optimizer.load(mean, stepper.optimizer.state())
    for step in (2, 3):
        for one in (stepper, other):
            one.step(step, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-2, Votes())
    for name, parameter in other.model.named_parameters():
        assert torch.equal(parameter, weights[name])
        assert torch.equal(
            other.optimizer.weights_for_inference()[name], stepper.optimizer.weights_for_inference()[name]
        )


def test_a_running_mean_has_its_own_decay_after_some_steps() -> None:
    stepper = stepper_of(Transformer, OptimizerConfig(average_decay=0.5))
    for step in range(1, 10):
        before = {name: tensor.clone() for name, tensor in stepper.optimizer.weights_for_inference().items()}
        stepper.step(step, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-2, Votes())
    mean, weights = stepper.optimizer.weights_for_inference(), dict(stepper.model.named_parameters())
    for name, tensor in mean.items():
        assert torch.allclose(tensor, (before[name] + weights[name]) / 2)


def test_a_loss_scale_that_overflows_is_halved_and_no_reason_for_doubt() -> None:
    stepper, plain = stepper_of(Transformer), stepper_of(Transformer)
    stepper.loss_scale = LossScale(2.0**128, is_dynamic=True)  # beyond 32 bits
    batch, skipped = [Batch.of(PAIRS, pad=0)], 0
    result = stepper.step(1, batch, NUM_TOKENS, 1e-3, Votes())
    while not result.is_finite:
        assert not result.is_in_doubt
        skipped += 1
        result = stepper.step(1, batch, NUM_TOKENS, 1e-3, Votes())
    assert skipped > 0 and stepper.loss_scale.value == 2.0 ** (128 - skipped)
    expected = plain.step(1, batch, NUM_TOKENS, 1e-3, Votes())
    assert result.gradient_norm == pytest.approx(expected.gradient_norm, rel=1e-5)


def test_the_loss_scale_grows_after_many_good_steps_and_never_falls_below_one() -> None:
    scale = LossScale(4.0, is_dynamic=True)
    for _ in range(GROWS_AFTER_STEPS):
        scale = scale.after(is_finite=True)
    assert scale == LossScale(8.0, is_dynamic=True)
    for _ in range(10):
        scale = scale.after(is_finite=False)
    assert scale.value == 1.0 and not scale.may_be_too_large
    assert LossScale().after(is_finite=False) == LossScale()


def test_bad_numbers_without_a_scale_to_blame_are_a_reason_for_doubt() -> None:
    stepper = stepper_of(Transformer)
    with torch.no_grad():
        next(stepper.model.parameters()).fill_(float("nan"))
    assert stepper.step(1, [Batch.of(PAIRS, pad=0)], NUM_TOKENS, 1e-3, Votes()).is_in_doubt
