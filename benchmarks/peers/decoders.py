"""Participants of the decoding benchmark: each translates the same sentences for ever with random weights.

Beam 5, always 15 steps. Started as `python -m benchmarks.peers.decoders ENGINE --preset P --counter F`; counts
sentences. Every engine is handed a list of sentences and sorts, batches and shares them out in its own way. Its
libraries are imported only where it runs: each may have an environment of its own.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import multi30k
from benchmarks.ground import CACHE
from benchmarks.peers.participant import BEAM, NUM_STEPS, SIZES

AT_ONCE = 256
"""Sentences that an engine is handed at a time."""

BATCH = 64
"""Of these, how many go together in an engine that is called batch by batch: all are equally long."""

Decode = Callable[[list[list[int]]], object]
"""Translates sentences, each ending in eos."""
Engine = Callable[[str, int, str], Decode]
"""Takes preset, threads and the kind of numbers."""


def dragoman(preset: str, threads: int, kind: str) -> Decode:
    """Ours, exported: pieces to text."""
    from dragoman.export.engine import Translator

    translator = Translator.open(exported(preset, kind), threads=threads)
    return lambda sentences: translator.search([sentence[:-1] for sentence in sentences])


def ctranslate2(preset: str, threads: int, kind: str) -> Decode:
    """The same weights in CTranslate2 as a careful reader of its documentation calls it: a worker of one thread a core.

    With logits of the whole vocabulary. Pieces to pieces; it sorts the sentences and makes batches itself.
    """
    import ctranslate2 as engine
    import sentencepiece

    from dragoman.core.paths import ExportPaths

    directory = exported(preset, kind, writes_all=True)
    names = sentencepiece.SentencePieceProcessor(model_file=str(ExportPaths(directory).vocabulary("source")))
    translator = engine.Translator(str(directory), inter_threads=threads, intra_threads=1)

    def decode(sentences: list[list[int]]) -> object:
        return translator.translate_batch(
            [names.id_to_piece(sentence[:-1]) for sentence in sentences],
            beam_size=BEAM,
            max_batch_size=32,
            min_decoding_length=NUM_STEPS,
            max_decoding_length=NUM_STEPS,
        )

    return decode


def torch_search(preset: str, threads: int, kind: str) -> Decode:
    """Ours while it trains: the beam search that evaluations use."""
    from dragoman.core.config import ModelConfig
    from dragoman.decoding.beam import Rules, search
    from dragoman.model.batch import SpecialIds
    from dragoman.model.batch import padded as rectangle
    from dragoman.model.machine import prepare_cpu
    from dragoman.model.transformer import Transformer

    prepare_cpu(threads)
    ids = SpecialIds(multi30k.PAD, multi30k.BOS, multi30k.EOS)
    model = Transformer(ModelConfig(preset=preset), multi30k.NUM_PIECES, multi30k.NUM_PIECES, ids).eval()
    model.outputs.restrict(multi30k.load().written_pieces)
    bos, eos, pad = model.outputs.column_V[[ids.bos, ids.eos, ids.pad]].tolist()
    rules = Rules(bos, eos, beam=BEAM, never=(pad, bos))

    def decode(batch: list[list[int]]) -> object:
        source, packing = rectangle(batch, ids.pad)
        lengths = [NUM_STEPS - 1] * len(packing.lengths)  # the last step writes the end
        return search(model.step, model.encode(source, packing.lengths), lengths, lengths, rules)

    return in_batches(decode)


def marian(preset: str, threads: int, kind: str) -> Decode:
    """Marian's own translator."""
    from benchmarks.peers import marian as peer

    return peer.decoder(preset, threads, kind)


def huggingface(preset: str, threads: int, kind: str) -> Decode:
    """Hugging Face's generate."""
    from benchmarks.peers import huggingface as peer

    return in_batches(peer.decoder(preset, threads))


def opennmt(preset: str, threads: int, kind: str) -> Decode:
    """OpenNMT-py's Translator."""
    from benchmarks.peers import opennmt as peer

    return in_batches(peer.decoder(preset, threads))


def eole(preset: str, threads: int, kind: str) -> Decode:
    """Eole's Translator."""
    from benchmarks.peers import eole as peer

    return in_batches(peer.decoder(preset, threads))


def joeynmt(preset: str, threads: int, kind: str) -> Decode:
    """JoeyNMT's search."""
    from benchmarks.peers import joeynmt as peer

    return in_batches(peer.decoder(preset, threads))


ENGINES: dict[str, tuple[Engine, str, str]] = {
    "dragoman": (dragoman, "dragoman", "float32"),
    "dragoman-int8": (dragoman, "dragoman", "int8"),
    "dragoman-torch": (torch_search, "dragoman", "float32"),
    "ctranslate2": (ctranslate2, "dragoman", "float32"),
    "ctranslate2-int8": (ctranslate2, "dragoman", "int8"),
    "marian": (marian, "marian", "float32"),
    "marian-int8": (marian, "marian", "int8"),
    "huggingface": (huggingface, "huggingface", "float32"),
    "opennmt": (opennmt, "opennmt", "float32"),
    "eole": (eole, "eole", "float32"),
    "joeynmt": (joeynmt, "joeynmt", "float32"),
}
"""What makes each, in whose environment, with which numbers."""


def in_batches(decode: Decode) -> Decode:
    """For engines that make no batches themselves."""
    return lambda sentences: [decode(sentences[at : at + BATCH]) for at in range(0, len(sentences), BATCH)]


def exported(preset: str, kind: str, *, writes_all: bool = False) -> Path:
    """A model with random weights as `dragoman export` writes it, made if it is not there."""
    from benchmarks import random_model

    directory = CACHE / f"random-{preset}-{kind}{'-all' if writes_all else '-written'}"
    return directory if directory.exists() else random_model.write(directory, kind, preset, writes_all=writes_all)


def sentences() -> list[list[int]]:
    """Sources of Multi30k of as many pieces as the translations will have."""
    return [source for source, _ in multi30k.load().pairs if len(source) == NUM_STEPS]


def main() -> None:
    """Translate for ever."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=tuple(ENGINES))
    parser.add_argument("--preset", default="small", choices=tuple(SIZES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--counter", type=Path, required=True)
    arguments = parser.parse_args()
    counter = np.memmap(arguments.counter, dtype=np.int64, mode="r+", shape=(1,))
    given = sentences()
    make, _, kind = ENGINES[arguments.engine]
    decode = make(arguments.preset, arguments.threads, kind)
    while True:
        for first in range(0, len(given) - AT_ONCE, AT_ONCE):
            decode(given[first : first + AT_ONCE])
            counter[0] += AT_ONCE


if __name__ == "__main__":
    main()
