"""The data of the training benchmark: Multi30k en→de in pieces of a joint BPE, in batches of similar length.

Kept under the cache directory as plain arrays, so that every participant, in whatever environment, reads the same
batches with numpy alone.
"""

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.ground import CACHE, shared_data

NUM_PIECES = 8_000
TOKENS_PER_BATCH = 4_096
PAD, BOS, EOS, UNK = 0, 1, 2, 3

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Corpus:
    """All pairs, each side ending in eos, and which of them make each batch."""

    pairs: list[Pair]
    batches: list[list[int]]

    @property
    def written_pieces(self) -> list[int]:
        """The pieces that a translation can have: those of the target side, and the special ones."""
        return sorted({PAD, BOS, EOS, UNK}.union(*(target for _, target in self.pairs)))

    def forever(self, seed: int) -> Iterator[list[Pair]]:
        """Batches in a shuffled order, epoch after epoch."""
        random = np.random.default_rng(seed)
        while True:
            for number in random.permutation(len(self.batches)):
                yield [self.pairs[row] for row in self.batches[number]]


def load() -> Corpus:
    """The corpus of the cache, made if it is not there."""
    file = CACHE / f"multi30k-bpe{NUM_PIECES}.npz"
    if not file.exists():
        _make(file)
    arrays = np.load(file)
    sides = [
        [part.tolist() for part in np.split(arrays[side], arrays[f"{side}_ends"][:-1])] for side in ("source", "target")
    ]
    pairs = list(zip(*sides, strict=True))
    return Corpus(pairs, batches_of(pairs))


def batches_of(pairs: list[Pair]) -> list[list[int]]:
    """Sorted by length, then cut where the padded target would pass TOKENS_PER_BATCH."""
    order = sorted(range(len(pairs)), key=lambda row: (len(pairs[row][1]), len(pairs[row][0]), row))
    batches: list[list[int]] = [[]]
    for row in order:
        if (len(batches[-1]) + 1) * len(pairs[row][1]) > TOKENS_PER_BATCH:
            batches.append([])
        batches[-1].append(row)
    return batches


def _make(file: Path) -> None:
    import sentencepiece

    directory = shared_data() / "multi30k"
    lines = {}
    for language in ("en", "de"):
        with gzip.open(directory / f"train.{language}.gz", "rt", encoding="utf-8") as text:
            lines[language] = [line.strip() for line in text]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines["en"] + lines["de"]),
        model_writer=model,
        vocab_size=NUM_PIECES,
        model_type="bpe",
        character_coverage=1.0,
        pad_id=PAD,
        bos_id=BOS,
        eos_id=EOS,
        unk_id=UNK,
        minloglevel=1,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    arrays = {}
    for side, language in (("source", "en"), ("target", "de")):
        sentences = [[*ids, EOS] for ids in processor.encode(lines[language])]
        arrays[side] = np.concatenate([np.array(ids, dtype=np.int32) for ids in sentences])
        arrays[f"{side}_ends"] = np.cumsum([len(ids) for ids in sentences])
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial.npz")
    np.savez(partial, allow_pickle=False, **arrays)
    partial.rename(file)
