"""Subwords: SentencePiece models, trained here or taken as they are.

Takes counted words and gives a model file; takes sentences and gives token ids as bytes, ready for a shard.
SentencePiece never joins pieces across a space, so a sentence is the concatenation of its words and each distinct word
is split only once: on real text that is several times as fast as encoding sentences, with the same ids. Models for
which it does not hold are noticed and encode whole sentences.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sentencepiece

from dragoman.core.config import VocabularyConfig
from dragoman.core.errors import UserError

PAD_ID, EOS_ID, BOS_ID, UNK_ID = 0, 1, 2, 3  # of models trained here; those of the five runs' model are the same
MAX_KNOWN_WORDS = 400_000  # some 100 MB
TRAINING_THREADS = 8  # fixed, so that a unigram model does not depend on the machine's number of cores
MAX_TRAINING_WORDS = 2_000_000  # distinct ones, the commonest first; bounds the trainer's memory
MAX_WORD_CHARACTERS = 1_000  # the trainer passes over lines beyond 4,192 bytes
SPACE = "▁"


@dataclass(frozen=True)
class SpecialIds:
    """The ids that mean something by themselves. `pad` is only ever masked: a model without one pads with `eos`."""

    pad: int
    eos: int
    bos: int
    unk: int


class _KnownWords(dict[str, bytes]):
    """The ids of each word that has been met, found at the first meeting."""

    def __init__(self, model: sentencepiece.SentencePieceProcessor, id_type: npt.DTypeLike, most: int) -> None:
        self._model = model
        self._id_type = id_type
        self._most = most

    def __missing__(self, word: str) -> bytes:
        if len(self) >= self._most:
            self.clear()
        ids = self[word] = np.array(self._model.encode(word), dtype=self._id_type).tobytes()
        return ids


class Vocabulary:
    """One SentencePiece model; remembers the pieces of so many words."""

    def __init__(self, path: Path, most_known_words: int = MAX_KNOWN_WORDS) -> None:
        try:
            self._model = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
        except OSError as error:
            raise UserError(f"cannot read the vocabulary {path}: {error.strerror}") from None
        except (RuntimeError, ValueError):
            raise UserError(f"{path} is not a SentencePiece model") from None
        self.size: int = self._model.vocab_size()
        self.special = self._special_ids(path)
        self.id_type: npt.DTypeLike = np.uint16 if self.size <= 1 << 16 else np.uint32
        is_by_word = self._words_are_independent()
        self._known_words = _KnownWords(self._model, self.id_type, most_known_words) if is_by_word else None

    def _special_ids(self, path: Path) -> SpecialIds:
        eos, bos, unk, pad = (self._model.eos_id(), self._model.bos_id(), self._model.unk_id(), self._model.pad_id())
        if eos < 0 or unk < 0:
            raise UserError(f"{path} has no {'</s>' if eos < 0 else '<unk>'} piece", "train it with one")
        return SpecialIds(pad=pad if pad >= 0 else eos, eos=eos, bos=bos if bos >= 0 else eos, unk=unk)

    def _words_are_independent(self) -> bool:
        encode = self._model.encode
        probes = ["a", "b.", "Straße", "—", "x1"]
        has_inner_space = any(SPACE in self._model.id_to_piece(i)[1:] for i in range(self.size))
        joined = [piece for probe in probes for piece in encode(probe)]
        return not has_inner_space and encode(" ".join(probes)) == joined == encode("  ".join(probes) + " ")

    def encode(self, sentences: Sequence[str]) -> list[bytes]:
        """The ids of each sentence, followed by that of the sentence's end, as bytes of `id_type`."""
        end = np.array([self.special.eos], dtype=self.id_type).tobytes()
        if self._known_words is None:
            return [np.array(ids, dtype=self.id_type).tobytes() + end for ids in self._model.encode(list(sentences))]
        lookup = self._known_words.__getitem__
        # To most models a ▁ in the text is a space, to some a letter: only the model knows which words it makes.
        return [
            b"".join(map(lookup, sentence.split(" ") if SPACE not in sentence else [sentence])) + end
            for sentence in sentences
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence that the ids spell; special ids are passed over."""
        special = {self.special.pad, self.special.eos, self.special.bos}
        return str(self._model.decode([int(token) for token in ids if token not in special]))

    def piece(self, token: int) -> str:
        return str(self._model.id_to_piece(token))


def count_words(sentences: Iterable[str]) -> Counter[str]:
    """The words of a sample. All that training needs: pieces never cross a space."""
    words: Counter[str] = Counter()
    for sentence in sentences:
        words.update(sentence.split())
    return words


def train(words: Counter[str], config: VocabularyConfig, languages: str) -> bytes:
    """Train a model on counted words; the result is the content of a model file, the same for the same words."""
    # Sorted, because the trainer breaks ties by the order in which it meets the words.
    common = sorted(words.items(), key=lambda entry: (-entry[1], entry[0]))[:MAX_TRAINING_WORDS]
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"{word}\t{times}" for word, times in common if len(word) <= MAX_WORD_CHARACTERS),
            input_format="tsv",
            model_writer=model,
            model_type=config.kind,
            vocab_size=config.size,
            byte_fallback=config.byte_fallback,
            character_coverage=0.9995 if config.byte_fallback else 1.0,
            pad_id=PAD_ID,
            eos_id=EOS_ID,
            bos_id=BOS_ID,
            unk_id=UNK_ID,
            num_threads=TRAINING_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise _wrong_size(str(error), config.size, languages) from None
    return model.getvalue()


def _wrong_size(message: str, size: int, languages: str) -> UserError:
    """SentencePiece knows how many pieces the text needs and can give; say it in our words."""
    if needed := re.search(r"smaller than required_chars. \d+ vs (\d+)", message):
        problem = f"a vocabulary of {size:,} pieces has no room for the characters of the {languages} text"
        return UserError(problem, f"--set vocabulary.size={-(-int(needed[1]) // 8) * 8}")
    fix = "make it smaller, or prepare more text"
    if limit := re.search(r"<= (\d+)", message):
        most = int(limit[1]) // 8 * 8
        fix = f"--set vocabulary.size={most}" if most >= 64 else "prepare more text"
    return UserError(f"a vocabulary of {size:,} pieces is larger than the {languages} text supports", fix)
