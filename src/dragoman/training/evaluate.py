"""How good the model is now, measured honestly.

Loss in eval mode on dev and on a fixed slice of the training data; BLEU and chrF of free-running translations of dev,
detokenised, against the text as it was given. All ranks share the work, and get the same numbers.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from dragoman.batching.fixed import NumberedBatch, fixed_batches
from dragoman.corpus.shards import Corpus
from dragoman.decoding.score import Rows, Score, score_from, statistics, tokenizer_for
from dragoman.decoding.translate import Translator
from dragoman.model.transformer import Transformer
from dragoman.training.world import World

Losses = npt.NDArray[np.float64]
TRAIN_SLICE_PAIRS = 1000
NUM_SAMPLES = 8
FIRST_SENTENCES = 32
"""Translated before the first step: an untrained model writes every sentence to its longest, which took 161 s of an
hour for 2,000 sentences (`small`, 2 cores, 2026-11), and nobody learns more from it."""


@dataclass(frozen=True)
class Sample:
    """One sentence of dev, as a person reads it."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True)
class Evaluation:
    """What was measured; losses are cross-entropies a target token, in nats, without smoothing."""

    dev_loss: float
    train_loss: float
    score: Score
    samples: tuple[Sample, ...]
    sentence_losses: tuple[float, ...]
    """Of each sentence of dev: the sum over its target tokens."""
    sentence_tokens: tuple[int, ...]
    seconds: float


class Evaluator:
    """The fixed sentences of one corpus, divided over the ranks."""

    def __init__(self, corpus: Corpus, world: World, translator: Translator, tokens_per_batch: int) -> None:
        self._world, self._translator = world, translator
        pad = corpus.vocabularies["target"].special.pad
        place = {"rank": world.rank, "world_size": world.size, "tokens_per_micro_batch": tokens_per_batch}
        self._dev = fixed_batches(corpus.split("dev"), pad, **place)
        self._train = fixed_batches(corpus.split("train"), pad, first_pairs=TRAIN_SLICE_PAIRS, **place)
        self._sources, self._references = corpus.text("dev", 0), corpus.text("dev", 1)
        self._tokenizer = tokenizer_for(corpus.manifest.languages.partition("-")[2])

    def evaluate(self, model: Transformer, *, is_random: bool = False) -> Evaluation:
        """Measure the model as it is, on few translations where its weights are random. Every rank must call this."""
        start = time.monotonic()
        was_training = model.training
        model.eval()
        try:
            dev_losses, train_losses = self._losses(model, self._dev), self._losses(model, self._train)
            num_translated = min(FIRST_SENTENCES, len(self._sources)) if is_random else len(self._sources)
            own = range(self._world.rank, num_translated, self._world.size)
            translations = list(self._translator.translate([self._sources[number] for number in own]))
        finally:
            model.train(was_training)
        rows = statistics(translations, [self._references[number] for number in own], self._tokenizer)
        return Evaluation(
            dev_loss=_mean(dev_losses),
            train_loss=_mean(train_losses),
            score=score_from(self._gathered(rows, num_translated), self._tokenizer),
            samples=self._samples(translations),
            sentence_losses=tuple(dev_losses[:, 0].tolist()),
            sentence_tokens=tuple(dev_losses[:, 1].astype(int).tolist()),
            seconds=time.monotonic() - start,
        )

    @torch.no_grad()
    def _losses(self, model: Transformer, batches: Sequence[NumberedBatch]) -> Losses:
        """Loss sum and target tokens of every sentence, on all ranks."""
        own = [np.empty((0, 3))]
        for numbered in batches:
            plain = model(numbered.batch.to(self._world.device)).plain_N.double().cpu()
            lengths = torch.tensor(numbered.batch.target.lengths)
            sums = torch.segment_reduce(plain, "sum", lengths=lengths)
            own.append(np.column_stack((numbered.pairs, sums.numpy(), lengths.numpy())))
        everyone = self._world.gather_bytes(np.concatenate(own).tobytes())
        rows = np.concatenate([np.frombuffer(part).reshape(-1, 3) for part in everyone])
        return rows[np.argsort(rows[:, 0]), 1:]

    def _gathered(self, own: Rows, num_sentences: int) -> Rows:
        """The rows of all translated sentences, in their order."""
        everyone = self._world.gather_bytes(np.ascontiguousarray(own).tobytes())
        rows = np.empty((num_sentences, own.shape[1]), dtype=own.dtype)
        for rank, part in enumerate(everyone):
            rows[rank :: self._world.size] = np.frombuffer(part, dtype=own.dtype).reshape(-1, own.shape[1])
        return rows

    def _samples(self, own: Sequence[str]) -> tuple[Sample, ...]:
        """The first sentences of dev with their translations, on every rank."""
        num_each = -(-NUM_SAMPLES // self._world.size)
        everyone = self._world.gather_bytes("\n".join(own[:num_each]).encode())
        translations = [part.decode().split("\n") for part in everyone]
        samples = []
        for number in range(min(NUM_SAMPLES, len(self._sources))):
            place, rank = divmod(number, self._world.size)
            samples.append(Sample(self._sources[number], self._references[number], translations[rank][place]))
        return tuple(samples)


def _mean(losses: Losses) -> float:
    total, tokens = losses.sum(axis=0)
    return float(total / tokens) if tokens else float("nan")
