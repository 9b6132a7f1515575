"""A model of any size in the form that `dragoman export` writes, with random weights: speed does not need sense.

Translations always have as many pieces as they are told, so that every engine does the same work.
"""

import gzip
from pathlib import Path

import numpy as np

from benchmarks.ground import shared_data
from dragoman.core import records
from dragoman.core.config import DecodingConfig, ModelConfig, VocabularyConfig
from dragoman.core.files import write_atomically
from dragoman.core.paths import ExportPaths
from dragoman.corpus import vocab
from dragoman.corpus.vocab import Vocabulary
from dragoman.export.card import FORMAT, ExportCard, sums_of

NUM_PIECES, NUM_STEPS, BEAM = 8_000, 15, 5


def multi30k(name: str) -> list[str]:
    """The lines of a file of Multi30k, such as test_2016_flickr.en."""
    with gzip.open(shared_data() / "multi30k" / f"{name}.gz", "rt", encoding="utf-8") as file:
        return [line.strip() for line in file]


def write(directory: Path, quantization: str = "float32", preset: str = "small", *, writes_all: bool = False) -> Path:
    """Make the folder, with subwords of Multi30k: as a run of ours would, or with logits of the whole vocabulary."""
    from dragoman.decoding.translate import Translator
    from dragoman.export.convert import convert
    from dragoman.model.batch import SpecialIds
    from dragoman.model.transformer import Transformer

    directory.mkdir(parents=True)
    paths = ExportPaths(directory)
    words = vocab.count_words(multi30k("train.en") + multi30k("train.de"))
    pieces = vocab.train(words, VocabularyConfig(size=NUM_PIECES), "en-de")
    for side in ("source", "target"):
        paths.vocabulary(side).write_bytes(pieces)
    ours = Vocabulary(paths.vocabulary("target"))
    ids = SpecialIds(ours.special.pad, ours.special.bos, ours.special.eos)
    config, decoding = ModelConfig(preset=preset), DecodingConfig(beam=BEAM, min_length=NUM_STEPS)
    model = Transformer(config, ours.size, ours.size, ids, seed=1).eval()
    if not writes_all:
        encoded = (np.frombuffer(ids, dtype=ours.id_type).tolist() for ids in ours.encode(multi30k("train.de")))
        model.outputs.restrict(sorted({ids.pad, ids.bos, ours.special.unk}.union(*encoded)))
    convert(Translator(model, ours, ours, decoding), directory, quantization, 2_048)
    card = ExportCard(
        format=FORMAT,
        name=f"random-{preset}",
        source_language="en",
        target_language="de",
        quantization=quantization,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        steps=(0,),
        exported_at="1970-01-01T00:00:00+00:00",
        max_source_pieces=256,
        max_target_pieces=NUM_STEPS,
        model=config.sized(),
        decoding=decoding,
        data=None,
        check=None,
        versions={},
    )
    write_atomically(paths.card, records.dumps(card))
    write_atomically(paths.sums, sums_of(directory))
    return directory
