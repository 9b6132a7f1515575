"""The memory formula against what autograd really keeps; on a CPU, since there is no GPU here."""

from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

from dragoman.core.config import ModelConfig
from dragoman.model import plain, transformer
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.transformer import Transformer
from dragoman.planner import memory
from dragoman.planner.workload import Workload

IDS = SpecialIds(pad=0, bos=1, eos=2)
VOCABULARY = 413


def work(length: float, target_length: float | None = None, preset: str = "tiny", **settings: object) -> Workload:
    model = ModelConfig(preset=preset, **settings).sized()  # type: ignore[arg-type]
    target = target_length or length
    return Workload(model, VOCABULARY, VOCABULARY, length, target, 4096, 2048, 100, "auto")


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sub-layers that run on GPUs."""

    def chosen(_device: torch.device) -> ModuleType:
        return plain

    monkeypatch.setattr(transformer, "sublayers", chosen)
    yield


def kept_bytes(found: Workload, num_pairs: int) -> int:
    """All that autograd holds after forward, each storage once, without parameters and without the loss's own."""
    model = Transformer(found.model, VOCABULARY, VOCABULARY, IDS)
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}
    held = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and VOCABULARY not in tensor.shape:
            # Masks are floats on a CPU and bytes on a GPU.
            is_mask = tensor.is_floating_point() and set(tensor.flatten()[:64].tolist()) <= MASK_VALUES
            kept[storage.data_ptr()] = storage.nbytes() // (4 if is_mask else 1)
            held.append(tensor)
        return tensor

    pairs = [([3] * int(found.source_length), [4] * int(found.target_length))] * num_pairs
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss_sum = model(Batch.of(pairs, IDS.pad)).smoothed_sum
    assert loss_sum.requires_grad
    return sum(kept.values())


RATE = 0.25
NUM_PAIRS = 6
MASK_VALUES = {0.0, 1.0, float(torch.tensor(1 / (1 - RATE)))}


@pytest.mark.usefixtures("as_on_a_gpu")
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(("source_length", "target_length"), [(20, 20), (16, 40), (60, 18)])
def test_kept_activations_are_those_of_the_formula(activation: str, source_length: int, target_length: int) -> None:
    found = work(source_length, target_length, activation=activation, dropout=RATE)
    measured = kept_bytes(found, num_pairs=NUM_PAIRS)
    predicted = NUM_PAIRS * target_length * memory.kept_bytes_per_token(found, "fp32", memory.PYTORCH)
    assert 0.9 * measured < predicted < 1.25 * measured


def test_the_parts_add_up_and_the_largest_batch_just_fits() -> None:
    found = work(30, preset="base")
    need = memory.need(found, "fp16", 16 * 2**30, 4096)
    assert need.total_bytes == pytest.approx(need.state_bytes + need.activation_bytes + need.loss_bytes, abs=2)
    assert need.fits and need.largest_tokens is not None
    assert memory.need(found, "fp16", 16 * 2**30, need.largest_tokens).fits
    assert not memory.need(found, "fp16", 16 * 2**30, need.largest_tokens + 2).fits


def test_half_precision_keeps_less_and_more_tokens_need_more() -> None:
    found = work(30, preset="base")
    assert memory.kept_bytes_per_token(found, "fp16", memory.PYTORCH) < memory.kept_bytes_per_token(
        found, "fp32", memory.PYTORCH
    )
    assert memory.need(found, "fp32", None, 200).total_bytes > memory.need(found, "fp32", None, 100).total_bytes


def test_sentences_about_memory() -> None:
    found = Workload(ModelConfig(preset="base").sized(), 32_768, 32_768, 56, 56, 25_000, 8192, 1, "fp32")
    logits = "logits alone need 1.88 GB"
    fits, fails = (memory.need(found, "fp32", gib * 2**30, 14_336) for gib in (32, 11))
    assert fits.sentence() == (
        f"a micro-batch of 14,336 target tokens needs 13.3 GB a GPU of 33.4 GB; {logits}; up to 37,673 tokens fit"
    )
    assert fails.sentence() == (
        "a micro-batch of 14,336 target tokens needs 13.3 GB a GPU, which has 10.8 GB: it will run out of memory; "
        f"{logits}; at most 11,443 tokens fit"
    )
    tiny = memory.need(found, "fp32", 2 * 2**30, 14_336)
    assert tiny.largest_tokens is not None and tiny.largest_tokens > 56
    none = memory.need(found, "fp32", 10**9, 14_336)
    assert none.largest_tokens == 0 and none.sentence().endswith("not even one sentence fits")
    unknown = memory.need(found, "fp32", None, 14_336)
    assert unknown.fits is None and unknown.sentence().endswith(f"a GPU; {logits}")
