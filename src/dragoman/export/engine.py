"""Translating with an exported model: texts in, texts out, in the same order.

Opens a folder that `dragoman export` wrote, checks its hashes, and hands pieces to CTranslate2: sorted by length, in
batches of similar length, to a worker a core. A text may be empty, long, or have many sentences and lines: it is split
into sentences and put together again. Safe to use from several threads. Knows no torch.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np

from dragoman.core.config import DecodingConfig
from dragoman.core.errors import UserError
from dragoman.core.paths import ExportPaths
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.split import cleaned, parts_of
from dragoman.documents.sentences import Unit, units_of
from dragoman.export.batches import batches_of
from dragoman.export.card import EXPORT_AGAIN, ExportCard, read_card, verify_sums

PIECES_AT_ONCE, PIECES_AT_ONCE_INT8 = 512, 256
"""Source pieces of a batch, padding included. A batch reads all weights at each step, and those of 8 bits are small.
256 sentences of 15 pieces, `small`, one process: in int8 0.64 s with 256, 0.71 s with 480, 0.83 s with 960; in float32
1.04, 1.07 and 1.21 s, but in processes of their own 16 sentences at once take 7 to 12 % more CPU time than 32."""
UNITS_AT_ONCE = 8192
"""Sentences that are sorted together: bounds memory, costs nothing in padding."""
KNOWN_WORDS = 20_000  # some 5 MB: a server runs for months and meets every number there is
SPACELESS = frozenset({"zh", "ja", "th", "lo", "km", "my", "yue", "wuu"})
"""Languages that put no space between sentences."""

Pieces = list[int]


@dataclass(frozen=True)
class Hypothesis:
    """One translation; the score is the mean log-probability of its pieces, the end of the sentence among them."""

    text: str
    score: float


@dataclass(frozen=True)
class Found:
    """One translation in pieces, without the end of the sentence, and as text; the sum of all log-probabilities."""

    pieces: Pieces
    text: str
    log_probability: float


@dataclass(frozen=True)
class _Part:
    """What the model translates in one go: `number` among all, None where there is nothing to translate."""

    unit: Unit
    number: int | None


class Translator:
    """A translation model in an exported folder."""

    def __init__(self, card: ExportCard, model: Any, source: Vocabulary, target: Vocabulary) -> None:
        self.card = card
        self.name = card.name
        self.source_language, self.target_language = card.source_language, card.target_language
        self._model, self._source, self._target = model, source, target
        self._source_tokens, self._target_tokens = piece_names(source), piece_names(target)
        self._target_ids = {name: number for number, name in enumerate(self._target_tokens)}
        special = target.special
        self._never = [[self._target_tokens[token]] for token in sorted({special.pad, special.bos} - {special.eos})]

    @classmethod
    def open(cls, directory: Path | str, *, threads: int = 0) -> "Translator":
        """Open an exported model; 0 threads are as many as this process may use. UserError says what is wrong."""
        directory = Path(directory)
        card = read_card(directory)
        verify_sums(directory)
        return cls.of_files(directory, card, threads=threads)

    @classmethod
    def of_files(cls, directory: Path, card: ExportCard, *, threads: int = 0) -> "Translator":
        """A model whose files nobody has hashed yet."""
        paths = ExportPaths(directory)
        source, target = (Vocabulary(paths.vocabulary(side), KNOWN_WORDS) for side in ("source", "target"))
        workers = threads or len(os.sched_getaffinity(0))
        try:
            # A worker of one thread a core: sentences are many and small. -1: the queue never makes a caller wait.
            model = ctranslate2.Translator(
                str(directory), inter_threads=workers, intra_threads=1, max_queued_batches=-1
            )
        except (RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"CTranslate2 cannot load {directory}: {reason}", EXPORT_AGAIN) from None
        return cls(card, model, source, target)

    def with_decoding(self, decoding: DecodingConfig) -> "Translator":
        """The same model, searched in another way."""
        card = replace(self.card, decoding=decoding)
        return Translator(card, self._model, self._source, self._target)

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The best translation of each text."""
        return [hypotheses[0].text for hypotheses in self.hypotheses(texts, 1)]

    def hypotheses(self, texts: Sequence[str], num: int) -> list[list[Hypothesis]]:
        """The best translations of each text, best first; of a text in parts, the n-th best of every part."""
        sources: list[Pieces] = []
        plan = [self._planned(text, sources) for text in texts]
        found = self.search(sources, num)
        return [self._joined(parts, found, num) for parts in plan]

    def sentences(self, text: str) -> list[tuple[str, str]]:
        """Each sentence and its translation, both with the white space that follows them.

        All first members put together are the text, all second ones its translation.
        """
        sources: list[Pieces] = []
        parts = self._planned(text, sources)
        found = self.search(sources, 1)
        return [(_whole(part.unit), self._written(parts, place, found, 0)) for place, part in enumerate(parts)]

    def alternatives(self, text: str, prefix: str, num: int) -> list[str]:
        """Other ways to go on after a prefix of the translation, most likely first; each begins with the prefix."""
        sources: list[Pieces] = []
        parts = self._planned(text, sources)
        found = self.search(sources, 1)
        written = [self._written(parts, place, found, 0) for place in range(len(parts))]
        place, before = 0, ""
        while place + 1 < len(parts) and prefix.startswith(before + written[place]):
            before += written[place]
            place += 1
        number = parts[place].number
        if not prefix.startswith(before) or number is None:
            return []
        start = prefix[len(before) :]
        ways = self._ways_on(sources[number], " ".join(start.split()), num, ends_word=start != start.rstrip())
        after = written[place][len(written[place].rstrip()) :] + "".join(written[place + 1 :])
        return [before + way + after for way in ways]

    def search(self, sources: Sequence[Pieces], num: int = 1) -> list[list[Found]]:
        """The best translations of sentences in pieces, without the end of the sentence; in their order."""
        found: list[list[Found]] = [[] for _ in sources]
        for first in range(0, len(sources), UNITS_AT_ONCE):
            waiting = []
            lengths = [len(source) for source in sources[first : first + UNITS_AT_ONCE]]
            for numbers in batches_of(lengths, self._model.num_translators, self.pieces_at_once):
                batch = [sources[first + number] for number in numbers]
                waiting.append((numbers, self._started(batch, num)))
            for numbers, results in waiting:
                for number, result in zip(numbers, results, strict=True):
                    found[first + number] = self._found(result.result(), self.limit(len(sources[first + number])))
        return found

    @property
    def pieces_at_once(self) -> int:
        """The size of a batch that is fastest with these weights."""
        return PIECES_AT_ONCE_INT8 if self._model.compute_type.startswith("int8") else PIECES_AT_ONCE

    def limit(self, num_source: int) -> int:
        """The most pieces that a translation of so many may have."""
        config = self.card.decoding
        longest = int(config.max_length_ratio * num_source) + config.max_length_extra
        return min(max(1, longest), self.card.max_target_pieces)

    def pieces(self, text: str) -> Pieces:
        """The source pieces of a sentence, without its end."""
        ids = self._source.encode([" ".join(text.split())])[0]
        pieces: Pieces = np.frombuffer(ids, dtype=self._source.id_type)[:-1].tolist()
        return pieces

    def text(self, pieces: Pieces) -> str:
        """What target pieces spell."""
        return " ".join(_visible(self._target.decode(pieces)).split())

    def _planned(self, text: str, sources: list[Pieces]) -> list[_Part]:
        """A text in parts; the pieces of each part are added to the sources."""
        parts: list[_Part] = []
        for unit in units_of(text):
            for smaller, pieces in self._fitting(unit):
                parts.append(_Part(smaller, len(sources) if pieces else None))
                if pieces:
                    sources.append(pieces)
        return parts

    def _fitting(self, unit: Unit) -> Iterator[tuple[Unit, Pieces]]:
        """A sentence as it is, or cut where it is too long for the model."""
        most = self.card.max_source_pieces
        pieces = self.pieces(_visible(unit.text))
        if len(pieces) <= most:
            yield unit, pieces
            return
        parts = parts_of(unit.text, lambda text: len(self.pieces(cleaned(text))), most)
        for place, part in enumerate(parts):
            before = unit.before if place == 0 else ""
            after = part.separator + (unit.after if place == len(parts) - 1 else "")
            yield Unit(before, part.text, after), self.pieces(cleaned(part.text))

    def _joined(self, parts: Sequence[_Part], found: Sequence[Sequence[Found]], num: int) -> list[Hypothesis]:
        lists = [found[part.number] for part in parts if part.number is not None]
        joined = []
        for rank in range(min(num, max((len(each) for each in lists), default=1))):
            chosen = [each[min(rank, len(each) - 1)] for each in lists]
            total = sum(each.log_probability for each in chosen)
            num_pieces = sum(len(each.pieces) + 1 for each in chosen)
            text = "".join(self._written(parts, place, found, rank) for place in range(len(parts)))
            joined.append(Hypothesis(text, total / max(1, num_pieces)))
        return joined

    def _written(self, parts: Sequence[_Part], place: int, found: Sequence[Sequence[Found]], rank: int) -> str:
        """One part in the other language, with the white space around it."""
        unit, number = parts[place].unit, parts[place].number
        if number is None:
            return _whole(unit)
        best = found[number]
        after = unit.after
        if place + 1 < len(parts) and "\n" not in after and "\r" not in after:
            after = "" if self.target_language in SPACELESS else after or " "
        return unit.before + best[min(rank, len(best) - 1)].text + after

    def _started(self, batch: Sequence[Pieces], num: int) -> Any:
        """Hand a batch to CTranslate2; the answers can be waited for."""
        return self._model.translate_batch(
            [[self._source_tokens[piece] for piece in source] for source in batch],
            asynchronous=True,
            return_scores=True,
            return_end_token=True,
            num_hypotheses=num,
            max_decoding_length=self.limit(max(len(source) for source in batch)),
            **self._options(num),
        )

    def _options(self, num: int) -> dict[str, Any]:
        config = self.card.decoding
        return {
            "beam_size": max(config.beam, num),
            "length_penalty": config.length_penalty,
            "min_decoding_length": config.min_length,
            "no_repeat_ngram_size": config.no_repeat_pieces,
            "suppress_sequences": self._never,
            "max_input_length": 0,
        }

    def _found(self, result: Any, limit: int) -> list[Found]:
        """What CTranslate2 found; it has one limit for a whole batch, we have one a sentence."""
        penalty, eos = self.card.decoding.length_penalty, self._target.special.eos
        found = []
        for tokens, score in zip(result.hypotheses, result.scores, strict=True):
            pieces = [self._target_ids[token] for token in tokens]
            total = score * max(1, len(pieces)) ** penalty
            if pieces and pieces[-1] == eos:
                pieces.pop()
            # Spelled here, while the workers translate the next batches.
            found.append(Found(pieces[:limit], self.text(pieces[:limit]), total))
        return found

    def _ways_on(self, source: Pieces, start: str, num: int, *, ends_word: bool) -> list[str]:
        ids = np.frombuffer(self._target.encode([start])[0], dtype=self._target.id_type)[:-1].tolist() if start else []
        result = self._model.translate_batch(
            [[self._source_tokens[piece] for piece in source]],
            target_prefix=[[self._target_tokens[piece] for piece in ids]],
            return_alternatives=True,
            num_hypotheses=min(4 * num, len(self._target_tokens)) if ends_word else num,
            max_decoding_length=self.limit(len(source)),
            **self._options(1),
        )[0]
        ways = dict.fromkeys(self.text([self._target_ids[token] for token in tokens]) for tokens in result.hypotheses)
        begins = f"{start} " if ends_word and start else start
        return [way for way in ways if way.startswith(begins)][:num]


def piece_names(vocabulary: Vocabulary) -> list[str]:
    """The pieces as CTranslate2 knows them: special ones by the names that its other models have, too."""
    names = [vocabulary.piece(number) for number in range(vocabulary.size)]
    special = vocabulary.special
    for number, name in ((special.pad, "<pad>"), (special.bos, "<s>"), (special.unk, "<unk>"), (special.eos, "</s>")):
        names[number] = name
    return names


def _visible(text: str) -> str:
    """What `cleaned` gives; most text has nothing that a reader does not see."""
    return text.strip() if text.isprintable() else cleaned(text)


def _whole(unit: Unit) -> str:
    return unit.before + unit.text + unit.after
