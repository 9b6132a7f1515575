"""Lines in, translations out, in the same order.

Takes a model, its vocabularies and how to search. Works on some lines at a time, sorted by length, so any number of
lines streams through in bounded memory. An empty line stays empty; one that is too long for the model is cut at the
ends of its sentences, translated in parts and joined again with what stood between them. Knows no files.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch

from dragoman.core.config import DecodingConfig
from dragoman.core.errors import UserError
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.beam import Hypothesis, Rules, search
from dragoman.decoding.split import Part, cleaned, parts_of
from dragoman.model.batch import padded
from dragoman.model.transformer import Transformer

BATCHES_AT_ONCE = 16
"""Batches that lines are read and sorted for: enough for little padding, few enough to stream."""
USUAL_PIECES = 32
"""Longer sentences are decoded fewer at once, so that memory is bounded."""


@dataclass(frozen=True)
class Candidate:
    """One translation of a line. The score of one joined from parts is that of all their tokens together."""

    text: str
    score: float
    log_probability: float


@dataclass(frozen=True)
class Translation:
    """What a line may be in the other language, best first; of a line in parts, the n-th best of every part."""

    candidates: tuple[Candidate, ...]

    @property
    def text(self) -> str:
        return self.candidates[0].text

    @property
    def score(self) -> float:
        return self.candidates[0].score


@dataclass(frozen=True)
class _Line:
    """The parts of a line, and which sentences of the chunk they are; None for a part without pieces."""

    parts: list[Part]
    sentences: list[int | None]


class Translator:
    """A model with all that it needs to translate text."""

    def __init__(
        self,
        model: Transformer,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        config: DecodingConfig,
        *,
        max_source_pieces: int = 256,
    ) -> None:
        for side, table, vocabulary in (
            ("source", model.source_table, source_vocabulary),
            ("target", model.target_embedding, target_vocabulary),
        ):
            if len(table) != vocabulary.size:
                raise UserError(
                    f"the model knows {len(table):,} {side} pieces, the vocabulary has {vocabulary.size:,}",
                    "take the vocabulary that the model was trained with",
                )
        self.model = model
        self.source_vocabulary = source_vocabulary
        self.target_vocabulary = target_vocabulary
        self.config = config
        self.max_source_pieces = max_source_pieces

    def stream(self, lines: Iterable[str], n_best: int = 1, lines_at_once: int = 0) -> Iterator[Translation]:
        """Translations in the order of the lines; `lines_at_once` are read before the first is given, 0 for many."""
        at_once = lines_at_once or BATCHES_AT_ONCE * self.config.sentences_at_once
        remaining = iter(lines)
        while chunk := list(itertools.islice(remaining, at_once)):
            yield from self._translations(chunk, n_best)

    def translate(self, lines: Iterable[str]) -> list[str]:
        """The best translation of each line."""
        return [translation.text for translation in self.stream(lines)]

    def search(self, sources: Sequence[Sequence[int]], n_best: int = 1) -> list[list[Hypothesis]]:
        """The best hypotheses of sentences in pieces, each ending in eos; in their order."""
        found: list[list[Hypothesis]] = [[] for _ in sources]
        with _evaluating(self.model):
            for numbers in self._batches([len(source) for source in sources]):
                hypotheses = self._searched([sources[number] for number in numbers], n_best)
                for number, best in zip(numbers, hypotheses, strict=True):
                    found[number] = best
        return found

    def _translations(self, lines: Sequence[str], n_best: int) -> list[Translation]:
        sources: list[list[int]] = []
        plan = [self._planned(line, sources) for line in lines]
        found = self.search(sources, n_best)
        return [self._joined(line, found, n_best) for line in plan]

    def _planned(self, line: str, sources: list[list[int]]) -> _Line:
        """A line in parts; the pieces of each part are added to the sources."""
        parts = parts_of(cleaned(line), lambda text: len(self._pieces(text)) - 1, self.max_source_pieces)
        sentences: list[int | None] = []
        for part in parts:
            pieces = self._pieces(part.text)
            sentences.append(len(sources) if len(pieces) > 1 else None)
            if len(pieces) > 1:
                sources.append(pieces)
        return _Line(parts, sentences)

    def _joined(self, line: _Line, found: Sequence[Sequence[Hypothesis]], n_best: int) -> Translation:
        lists = [[] if number is None else found[number] for number in line.sentences]
        num_candidates = min(n_best, max(1, *map(len, lists)))
        return Translation(tuple(self._candidate(line, lists, rank) for rank in range(num_candidates)))

    def _candidate(self, line: _Line, lists: Sequence[Sequence[Hypothesis]], rank: int) -> Candidate:
        """The parts' hypotheses of one rank (or their last) as one line."""
        text, total, num_tokens = "", 0.0, 0
        for part, number, hypotheses in zip(line.parts, line.sentences, lists, strict=True):
            if hypotheses:
                hypothesis = hypotheses[min(rank, len(hypotheses) - 1)]
                text += " ".join(cleaned(self.target_vocabulary.decode(hypothesis.tokens)).split())
                total += hypothesis.log_probability
                num_tokens += len(hypothesis.tokens) + 1
            elif number is not None:  # a model whose scores are not numbers
                total = -torch.inf
            text += part.separator
        return Candidate(text, total / max(1, num_tokens) ** self.config.length_penalty, total)

    def _pieces(self, text: str) -> list[int]:
        ids = self.source_vocabulary.encode([" ".join(text.split())])[0]
        pieces: list[int] = np.frombuffer(ids, dtype=self.source_vocabulary.id_type).tolist()
        return pieces

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Numbers of sentences of similar length."""
        at_once = self.config.sentences_at_once
        batch: list[int] = []
        for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
            pieces = (len(batch) + 1) * max(USUAL_PIECES, lengths[number])
            if batch and (len(batch) == at_once or pieces > at_once * USUAL_PIECES):
                yield batch
                batch = []
            batch.append(number)
        if batch:
            yield batch

    def _searched(self, sources: Sequence[Sequence[int]], n_best: int) -> list[list[Hypothesis]]:
        config, ids, device = self.config, self.model.ids, self.model.target_embedding.device
        outputs = self.model.outputs
        bos, eos, pad = (int(outputs.column_V[piece]) for piece in (ids.bos, ids.eos, ids.pad))
        source, packing = padded(sources, ids.pad)
        longest = [int(config.max_length_ratio * (len(each) - 1)) + config.max_length_extra for each in sources]
        rules = Rules(
            bos=bos,
            eos=eos,
            beam=max(config.beam, n_best),
            n_best=n_best,
            length_penalty=config.length_penalty,
            no_repeat=config.no_repeat_pieces,
            never=tuple({pad, bos} - {eos}),
        )
        shortest = [min(config.min_length, most) for most in longest]
        state = self.model.encode(source.to(device), packing.lengths)
        found = search(self.model.step, state, shortest, longest, rules, device)
        if outputs.are_all:
            return found
        pieces = outputs.piece_O.tolist()
        return [[replace(one, tokens=tuple(pieces[column] for column in one.tokens)) for one in best] for best in found]


@contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    """Without dropout, and afterwards as it was."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
