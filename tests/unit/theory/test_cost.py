"""The cost model against the real module."""

import itertools

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from dragoman.core.config import PRESETS, ModelConfig
from dragoman.model import geometry, kernel, loss
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.transformer import Transformer
from dragoman.theory import cost

IDS = SpecialIds(pad=0, bos=1, eos=2)
MULTI30K = {"written_pieces": 8_000, "source_length": 15.26, "target_length": 15.77}
"""Mean lengths with eos of the 29,000 training pairs, joint BPE of 8,000."""


def real_parameters(config: ModelConfig, source_vocabulary: int, target_vocabulary: int) -> int:
    model = Transformer(config, source_vocabulary, target_vocabulary, IDS)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("preset", ["tiny", "small", "base"])
def test_presets_have_the_parameters_of_the_real_model(preset: str) -> None:
    config = ModelConfig(preset=preset)
    assert cost.parameters(config, 500, 500) == real_parameters(config, 500, 500)


def test_parameters_follow_tying_norm_and_depth() -> None:
    for tied, norm, layers in itertools.product(("three", "two", "none"), ("pre", "post"), ((1, 2), (3, 1))):
        config = ModelConfig(
            width=8, heads=2, feed_forward=12, encoder_layers=layers[0], decoder_layers=layers[1], tied=tied, norm=norm
        )
        source_vocabulary = 20 if tied == "three" else 30
        assert cost.parameters(config, source_vocabulary, 20) == real_parameters(config, source_vocabulary, 20)


def test_muon_moves_the_matrices_inside_layers_of_the_real_model() -> None:
    for preset, tied in (("tiny", "three"), ("small", "none")):
        config = ModelConfig(preset=preset, tied=tied)
        model = Transformer(config, 50, 50, IDS)
        layers = [one for stack in (model.encoder, model.decoder) for one in stack.parameters()]
        assert cost.muon_parameters(config) == sum(one.numel() for one in layers if one.dim() == 2)


def test_base_with_the_vocabulary_of_the_five_runs_has_60_880_896_parameters() -> None:
    num_parameters = cost.parameters(ModelConfig(preset="base"), 32_768, 32_768)
    assert num_parameters == 60_880_896
    assert cost.gradient_bytes(num_parameters) == 243_523_584
    assert cost.checkpoint_bytes(num_parameters) == 730_570_752
    assert cost.training_state_bytes(num_parameters) == 974_094_336


def test_big_is_known_without_building_it() -> None:
    assert "big" in PRESETS
    assert cost.parameters(ModelConfig(preset="big"), 32_768, 32_768) == 209_842_176


@pytest.mark.parametrize(("preset", "million"), [("small", 45.2), ("base", 286.2)])
def test_multiplies_a_token_are_those_of_the_published_comparison(preset: str, million: float) -> None:
    flops = cost.flops_per_target_token(ModelConfig(preset=preset), **MULTI30K)  # type: ignore[arg-type]
    assert round(flops / 1e6, 1) == pytest.approx(million, abs=0.11)


def test_multiplies_are_those_that_torch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "built", lambda: None)  # torch counts its own operations only
    config = ModelConfig(preset="tiny", dropout=0.0)
    model = Transformer(config, 100, 100, IDS)
    pairs = [([3] * 16, [4] * 16)] * 5  # 16 keys: nothing is padded
    with FlopCounterMode(display=False) as counter:
        model(Batch.of(pairs, IDS.pad)).smoothed_sum.backward()
    predicted = 5 * 16 * cost.flops_per_target_token(config, 100, 16, 16)
    not_counted = 2 * 5 * 16 * 100 * 128  # torch 2.13 overlooks the one multiply that writes into a slice
    assert counter.get_total_flops() + not_counted == predicted


def test_constants_are_those_of_the_model() -> None:
    assert cost.LEAST_KEYS == geometry.LEAST_KEYS
    assert cost.CHUNK_TOKENS == loss.CHUNK_TOKENS


def test_logits_live_a_chunk_at_a_time() -> None:
    assert cost.logits_bytes(4_096, 8_000) == 512 * 8_000 * 4
    assert cost.logits_bytes(100, 8_000) == 100 * 8_000 * 4
    assert cost.logits_bytes(4_096, 8_000, chunk_tokens=4_096) == 4_096 * 8_000 * 4


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(("source_length", "target_length"), [(16, 16), (5, 40), (70, 9)])
def test_saved_activations_stay_below_the_estimate_and_near_it(
    activation: str, source_length: int, target_length: int
) -> None:
    """Of what autograd keeps, each storage once; the loss adds its chunk of logits.

    Masks are estimated, not measured: they are kept beside autograd's tensors, and where there is a kernel not at all.
    """
    config = ModelConfig(preset="tiny", activation=activation)
    model = Transformer(config, 300, 300, IDS)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    batch = Batch.of([([3] * source_length, [4] * target_length)] * 20, IDS.pad)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss_sum = model(batch).smoothed_sum
    measured = sum(kept.values()) + cost.logits_bytes(batch.num_target_tokens, 300)
    assert loss_sum.requires_grad
    estimate = cost.activation_bytes(config, 300, 20, source_length, target_length)
    assert measured <= estimate <= 1.3 * measured
