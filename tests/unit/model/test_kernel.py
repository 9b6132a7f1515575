"""Attention in C against the one of torch's own operations, and what happens where it cannot be built."""

# N real target tokens, packed  D width

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from dragoman.core.config import ModelConfig
from dragoman.model import gathered, kernel
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.geometry import Geometries, Geometry
from dragoman.model.noise import SILENCE, Noise
from dragoman.model.transformer import Transformer

IDS = SpecialIds(pad=0, bos=1, eos=2)
LENGTHS = [(3, 5), (1, 1), (20, 2), (4, 37), (7, 7), (16, 16), (33, 17)]
HEADS, HEAD_WIDTH = 3, 32
CONFIG = ModelConfig(
    width=64, feed_forward=96, heads=2, encoder_layers=2, decoder_layers=2, dropout=0.1, attention_dropout=0.1
)

needs_kernel = pytest.mark.skipif(kernel.built() is None, reason="no C compiler here, or no AVX2")


def batch_of(lengths: list[tuple[int, int]]) -> Batch:
    return Batch.of([([5] * (source - 1) + [2], [6] * (target - 1) + [2]) for source, target in lengths], IDS.pad)


def close(ours: Tensor | None, theirs: Tensor | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return float((ours - theirs).norm()) < 1e-6 * float(theirs.norm())


def with_zeros(num_rows: int, width: int, generator: torch.Generator) -> Tensor:
    rows = torch.randn(num_rows + 1, width, generator=generator)
    rows[-1] = 0.0
    return rows


@needs_kernel
@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_kernel_equals_gathered_heads_forward_and_backward(kind: str, rate: float) -> None:
    geometry: Geometry = getattr(Geometries.of(batch_of(LENGTHS), HEADS), kind)
    generator, width = torch.Generator().manual_seed(1), HEADS * HEAD_WIDTH
    rows = with_zeros(geometry.queries.num_tokens, width if kind == "cross" else 3 * width, generator)
    memory = with_zeros(geometry.keys.num_tokens, 2 * width, generator) if kind == "cross" else None
    d_context = with_zeros(geometry.queries.num_tokens, width, generator)
    own = kernel.built()
    assert own is not None
    results = []
    for core in (own, gathered):
        noise = Noise(rate, torch.Generator().manual_seed(7)) if rate else SILENCE
        context, saved = core.forward(rows, memory, geometry, noise)
        results.append((context, *core.backward(d_context, saved, geometry)))
    assert [ours.shape for ours in results[0] if ours is not None] == [t.shape for t in results[1] if t is not None]
    assert all(close(ours, theirs) for ours, theirs in zip(*results, strict=True))


@needs_kernel
def test_large_scores_stay_finite_and_right() -> None:
    geometry = Geometries.of(batch_of([(9, 9)]), 1).encoder
    rows = with_zeros(9, 3 * 16, torch.Generator().manual_seed(2)) * 100.0
    own = kernel.built()
    assert own is not None
    ours, theirs = (core.forward(rows, None, geometry, SILENCE)[0] for core in (own, gathered))
    assert close(ours, theirs)


@needs_kernel
@pytest.mark.parametrize("vocabulary", [16, 37, 1000])
def test_the_gradient_of_logits_is_that_of_torch_to_the_last_bit_of_bfloat16(vocabulary: int) -> None:
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(9, vocabulary, generator=generator).mul_(5.0).bfloat16()
    target = torch.randint(0, vocabulary, (7,), generator=generator)  # two rows of filling have none
    expected = torch.softmax(logits.float(), dim=1)
    probability = expected[torch.arange(7), target]
    expected[torch.arange(7), target] += 0.1 - 1.0
    own, ours = kernel.built(), logits.clone()
    assert own is not None
    target_logit, ours_probability = own.loss_rows(ours, target, 0.1)
    assert torch.equal(target_logit, logits[torch.arange(7), target].float())
    assert torch.allclose(ours_probability, probability, rtol=1e-5)
    assert torch.allclose(ours[:7].float(), expected[:7], rtol=2**-8, atol=1e-30)
    assert torch.equal(ours[7:], logits[7:])


@needs_kernel
@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_bad_logits_stay_bad(bad: float) -> None:
    logits = torch.zeros(1, 40, dtype=torch.bfloat16)
    logits[0, 20] = bad
    own = kernel.built()
    assert own is not None
    assert own.loss_rows(logits, torch.tensor([3]), 0.1)[1].isnan().all()
    assert logits.isnan().all()


def gradients_of(threads: int = 1) -> dict[str, Tensor]:
    model = Transformer(CONFIG, 50, 50, IDS)
    model.seed_dropout(3)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        model(batch_of(LENGTHS)).smoothed_sum.backward()
    finally:
        torch.set_num_threads(before)
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@needs_kernel
def test_a_model_has_the_same_gradients_with_and_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = gradients_of()
    monkeypatch.setattr(kernel, "built", lambda: None)
    theirs = gradients_of()
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        assert (gradient - theirs[name]).norm() < 1e-5 * theirs[name].norm(), name


@needs_kernel
def test_its_results_do_not_depend_on_the_number_of_threads() -> None:
    geometry = Geometries.of(batch_of(LENGTHS * 5), HEADS).decoder
    rows = with_zeros(geometry.queries.num_tokens, 3 * HEADS * HEAD_WIDTH, torch.Generator().manual_seed(1))
    own, before, results = kernel.built(), torch.get_num_threads(), []
    assert own is not None
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        context, saved = own.forward(rows, None, geometry, SILENCE)
        results.append(torch.cat((context, own.backward(context, saved, geometry)[0]), dim=1))
    torch.set_num_threads(before)
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])


def test_other_precisions_and_narrow_heads_do_without_it() -> None:
    assert kernel.kernel_for(torch.empty(1, dtype=torch.float64), 64) is None
    assert kernel.kernel_for(torch.empty(1, dtype=torch.bfloat16), 64) is None
    assert kernel.kernel_for(torch.empty(1), 8) is None


def no_compiler(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(directory))


def failing_compiler(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = directory / "cc"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")


def no_place(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "cache").write_text("a file where a directory should be")


def fewer_registers(_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")


@pytest.mark.parametrize("trouble", [no_compiler, failing_compiler, no_place, fewer_registers])
def test_without_it_there_is_none_and_nobody_is_bothered(
    trouble: Callable[[Path, pytest.MonkeyPatch], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    trouble(tmp_path, monkeypatch)
    assert kernel.built.__wrapped__() is None
    assert not list(tmp_path.glob("cache/kernels/*"))
    assert capfd.readouterr() == ("", "")


@needs_kernel
def test_it_is_built_once_and_then_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path))
    assert kernel.built.__wrapped__() is not None
    assert [path.suffix for path in (tmp_path / "kernels").iterdir()] == [".so"]
    no_compiler(tmp_path, monkeypatch)
    assert kernel.built.__wrapped__() is not None
