"""Beam search with the real Transformer."""

# B sentences  S source tokens
# ruff: noqa: N806

import random
from collections.abc import Iterator, Sequence

import pytest
import torch

from dragoman.core.config import ModelConfig
from dragoman.decoding.beam import Hypothesis, Rules, search
from dragoman.model.batch import Batch, SpecialIds, padded
from dragoman.model.transformer import Transformer

BOS, EOS = 0, 1
IDS = SpecialIds(pad=3, bos=BOS, eos=EOS)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small only wait for a second thread
    yield
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)


def transformer(norm: str = "pre") -> Transformer:
    config = ModelConfig(width=16, feed_forward=24, heads=2, encoder_layers=2, decoder_layers=2, norm=norm, dropout=0.3)
    model = Transformer(config, 300, 300, IDS, seed=2).eval()
    with torch.no_grad():
        model.target_embedding.mul_(3.0)  # surer of itself than a new model is
    return model


def sources(number: int) -> list[list[int]]:
    generator = random.Random(7)
    return [[*(generator.randrange(4, 300) for _ in range(generator.randint(1, 12))), EOS] for _ in range(number)]


def translated(model: Transformer, sentences: Sequence[list[int]], rules: Rules) -> list[list[Hypothesis]]:
    source_BS, packing = padded(sentences, IDS.pad)
    longest = [len(sentence) + 5 for sentence in sentences]
    return search(model.step, model.encode(source_BS, packing.lengths), [0] * len(longest), longest, rules)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_score_of_a_hypothesis_is_that_of_teacher_forcing(norm: str) -> None:
    model, sentences = transformer(norm), sources(20)
    rules = Rules(BOS, EOS, beam=4, n_best=4, length_penalty=0.7, never=(IDS.pad, IDS.bos))
    lengths = set()
    for source, hypotheses in zip(sentences, translated(model, sentences, rules), strict=True):
        for hypothesis in hypotheses:
            batch = Batch.of([(source, [*hypothesis.tokens, EOS])], IDS.pad)
            total = float(model.score(batch).sum())
            assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)
            assert hypothesis.score == pytest.approx(total / (len(hypothesis.tokens) + 1) ** 0.7, abs=1e-4)
            lengths.add(len(hypothesis.tokens))
    assert len(lengths) > 3


@pytest.mark.parametrize("beam", [1, 5])
def test_the_model_translates_a_sentence_the_same_alone_and_among_others(beam: int) -> None:
    # Multiplying matrices of other sizes may round differently in the last bit: tokens are equal, scores to 1e-9.
    torch.set_default_dtype(torch.float64)
    model, sentences = transformer(), sources(24)
    rules = Rules(BOS, EOS, beam=beam, n_best=beam, never=(IDS.pad, IDS.bos))
    together = translated(model, sentences, rules)
    alone = [translated(model, [sentence], rules)[0] for sentence in sentences]
    for many, one in zip(together, alone, strict=True):
        assert [hypothesis.tokens for hypothesis in many] == [hypothesis.tokens for hypothesis in one]
        assert [hypothesis.score for hypothesis in many] == pytest.approx([h.score for h in one], abs=1e-9)
