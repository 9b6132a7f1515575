"""Small models with random weights, exported without a run: what the engines compute must agree whatever they are."""

from pathlib import Path

import numpy as np

from dragoman.core import records
from dragoman.core.config import DecodingConfig, ModelConfig, VocabularyConfig
from dragoman.core.files import write_atomically
from dragoman.core.paths import ExportPaths
from dragoman.corpus import phrasebook, vocab
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.translate import Translator as Trained
from dragoman.export.card import FORMAT, ExportCard, sums_of
from dragoman.export.convert import convert
from dragoman.export.readme import readme
from dragoman.model.batch import SpecialIds
from dragoman.model.transformer import Transformer

PAIRS = list(phrasebook.pairs("train", num_pairs=300))
SIZES = ModelConfig(width=32, feed_forward=64, heads=4, encoder_layers=2, decoder_layers=2)
DECODING = DecodingConfig(beam=3, max_length_ratio=1.0, max_length_extra=4)


def make_vocabulary(directory: Path, side: int | None) -> Path:
    """Subwords of one side, or of both."""
    path = directory / f"vocab{side}.model"
    sentences = [text for pair in PAIRS for text in (pair if side is None else pair[side : side + 1])]
    config = VocabularyConfig(size=400 if side is None else 384)
    path.write_bytes(vocab.train(vocab.count_words(sentences), config, "en-de"))
    return path


def trained_model(config: ModelConfig, source: Path, target: Path) -> Trained:
    """A model whose output is not always the same piece: embeddings are larger than at the start of a training."""
    ours = Vocabulary(source), Vocabulary(target)
    special = ours[1].special
    ids = SpecialIds(special.pad, special.bos, special.eos)
    model = Transformer(config, ours[0].size, ours[1].size, ids, seed=3).eval()
    for parameter in model.parameters():
        parameter.data.mul_(1.7 if parameter.dim() == 2 else 1.0)
    # Sentences shall end now and then, and shall be words, not the bytes that unknown characters are spelled in.
    model.output_table.data[special.eos] *= 2
    model.output_table.data[[number for number in range(ours[1].size) if ours[1].piece(number)[:3] == "<0x"]] *= 0.1
    return Trained(model, *ours, DECODING)


def write_export(
    trained: Trained, source: Path, target: Path, directory: Path, quantization: str = "float32"
) -> ExportCard:
    """What `dragoman export` writes, without the check."""
    directory.mkdir()
    paths = ExportPaths(directory)
    for side, file in (("source", source), ("target", target)):
        paths.vocabulary(side).write_bytes(file.read_bytes())
    convert(trained, directory, quantization, 301)
    card = ExportCard(
        format=FORMAT,
        name="tiny",
        source_language="en",
        target_language="de",
        quantization=quantization,
        parameters=1,
        steps=(1,),
        exported_at="2026-11-15T00:00:00+00:00",
        max_source_pieces=40,
        max_target_pieces=300,
        model=trained.model.config,
        decoding=trained.config,
        data=None,
        check=None,
        versions={"dragoman": "0"},
    )
    write_atomically(paths.card, records.dumps(card))
    write_atomically(paths.readme, readme(card))
    write_atomically(paths.sums, sums_of(directory))
    return card


def ids_of(vocabulary: Vocabulary, text: str) -> list[int]:
    """Pieces with the end of the sentence."""
    ids: list[int] = np.frombuffer(vocabulary.encode([text])[0], dtype=vocabulary.id_type).tolist()
    return ids
