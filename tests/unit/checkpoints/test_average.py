"""The mean of weights."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.checkpoints.average import average, mean
from dragoman.checkpoints.reading import PassedOver
from dragoman.checkpoints.store import Snapshot, Store
from dragoman.core.errors import UserError
from dragoman.core.paths import step_name


def weights(seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        "wide": torch.randn(40, 8, generator=generator),
        "half": torch.randn(9, generator=generator).half(),
        "count": torch.tensor(7),
    }


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    store = Store(tmp_path, keep_last=9)
    for step, (loss, bleu) in enumerate([(3.0, 5.0), (1.0, 3.0), (2.0, 4.0), (4.0, 6.0)], start=1):
        store.save(Snapshot(step, weights(step), {}, {"scores": {"dev_loss": loss, "bleu": bleu}}))
    assert all(saved.is_whole for saved in store.wait())
    return tmp_path


def test_the_mean_is_that_of_64_bits(checkpoints: Path) -> None:
    found = average(checkpoints, 3)
    assert found.steps == (4, 3, 2) and found.passed_over == ()
    for name in ("wide", "half"):
        tensors = torch.stack([weights(step)[name].double() for step in (4, 3, 2)])
        expected = tensors.mean(dim=0).to(weights(1)[name].dtype)
        assert found.model[name].dtype == expected.dtype
        torch.testing.assert_close(found.model[name], expected, rtol=1e-7, atol=0)
    assert torch.equal(found.model["count"], torch.tensor(7))


def test_small_differences_survive_many_terms() -> None:
    terms = [{"x": torch.tensor([1.0])}] + [{"x": torch.tensor([1e-8])}] * 999
    assert mean(terms)["x"].item() == pytest.approx((1 + 999e-8) / 1_000, rel=1e-7)


def test_the_mean_of_one_is_that_one(checkpoints: Path) -> None:
    found = average(checkpoints, 1)
    assert all(torch.equal(tensor, weights(4)[name]) for name, tensor in found.model.items())


@pytest.mark.parametrize(("by", "steps"), [("last", (4, 3)), ("dev_loss", (2, 3)), ("bleu", (4, 1))])
def test_the_last_or_the_best_are_taken(checkpoints: Path, by: str, steps: tuple[int, ...]) -> None:
    assert average(checkpoints, 2, by).steps == steps


def test_of_fewer_all_are_taken(checkpoints: Path) -> None:
    assert average(checkpoints, 99).steps == (4, 3, 2, 1)


def test_a_damaged_one_is_passed_over_and_told(checkpoints: Path) -> None:
    (checkpoints / step_name(3) / "model.safetensors").write_bytes(b"")
    found = average(checkpoints, 2)
    assert found.steps == (4, 2)
    assert found.passed_over == (PassedOver(3, "model.safetensors is not as it was written"),)


def test_the_given_tensors_stay_as_they_are() -> None:
    given = {"x": torch.ones(3, dtype=torch.float64)}
    assert mean([given, given, given])["x"].tolist() == [1.0, 1.0, 1.0]
    assert given["x"].tolist() == [1.0, 1.0, 1.0]


def test_nothing_to_average_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no checkpoint to average; train first"):
        average(tmp_path, 3)
    with pytest.raises(UserError, match="only checkpoints with a bleu can be judged by it"):
        average(tmp_path, 3, "bleu")


def test_models_of_different_shapes_are_told() -> None:
    with pytest.raises(UserError, match="among those to average does not fit: x is "):
        mean([{"x": torch.zeros(2)}, {"x": torch.zeros(3)}])
