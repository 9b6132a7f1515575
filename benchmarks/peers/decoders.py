"""Participants of the decoding benchmark: each translates the same 1,000 sentences for ever with random weights.

Beam 5, always 15 steps. Started as `python -m benchmarks.peers.decoders ENGINE --preset P --counter F`; counts
sentences. Every engine's libraries are imported only where it runs: each may have an environment of its own.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks import multi30k
from benchmarks.peers.participant import SIZES, padded

NUM_SENTENCES, BEAM, NUM_STEPS, AT_ONCE = 1_000, 5, 15, 64

Decode = Callable[[list[list[int]]], object]
"""Translates one batch."""


def dragoman(preset: str, threads: int) -> Decode:
    """Ours."""
    import torch

    from dragoman.core.config import ModelConfig
    from dragoman.decoding.beam import Rules, search
    from dragoman.model.batch import SpecialIds
    from dragoman.model.batch import padded as rectangle
    from dragoman.model.transformer import Transformer

    torch.set_num_threads(threads)
    ids = SpecialIds(multi30k.PAD, multi30k.BOS, multi30k.EOS)
    model = Transformer(ModelConfig(preset=preset), multi30k.NUM_PIECES, multi30k.NUM_PIECES, ids).eval()
    rules = Rules(ids.bos, ids.eos, beam=BEAM, never=(ids.pad, ids.bos))

    def decode(sentences: list[list[int]]) -> object:
        source, packing = rectangle(sentences, ids.pad)
        lengths = [NUM_STEPS - 1] * len(sentences)  # the last step writes the end
        return search(model.step, model.encode(source, packing.lengths), lengths, lengths, rules)

    return decode


def huggingface(preset: str, threads: int) -> Decode:
    """MarianMTModel.generate."""
    import torch
    from transformers import MarianConfig, MarianMTModel  # type: ignore[import-not-found,unused-ignore]

    torch.set_num_threads(threads)
    width, inner, heads, layers = SIZES[preset]
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", layers), ("ffn_dim", inner), ("attention_heads", heads))
    }
    config = MarianConfig(
        **sides,
        vocab_size=multi30k.NUM_PIECES,
        d_model=width,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=multi30k.PAD,
        eos_token_id=multi30k.EOS,
        decoder_start_token_id=multi30k.BOS,
        forced_eos_token_id=multi30k.EOS,
        attn_implementation="sdpa",
    )
    model = MarianMTModel(config).eval()

    def decode(sentences: list[list[int]]) -> object:
        source = torch.from_numpy(padded(sentences))
        mask = source.ne(multi30k.PAD).long()
        lengths = {"min_new_tokens": NUM_STEPS, "max_new_tokens": NUM_STEPS}
        with torch.inference_mode():
            return model.generate(source, attention_mask=mask, num_beams=BEAM, **lengths)

    return decode


def ctranslate2(preset: str, threads: int, workers: int = 1) -> Decode:
    """CTranslate2 in float32 in one worker."""
    import ctranslate2 as engine

    with tempfile.TemporaryDirectory() as directory:
        _ctranslate2_spec(preset).save(directory)
        translator = engine.Translator(directory, inter_threads=workers, intra_threads=threads // workers)

    def decode(sentences: list[list[int]]) -> object:
        return translator.translate_batch(
            [[str(piece) for piece in sentence] for sentence in sentences],
            beam_size=BEAM,
            max_batch_size=-(-len(sentences) // workers),
            min_decoding_length=NUM_STEPS,
            max_decoding_length=NUM_STEPS,
        )

    return decode


def ctranslate2_workers(preset: str, threads: int) -> Decode:
    """Its faster arrangement: workers of one thread."""
    return ctranslate2(preset, threads, workers=threads)


def _ctranslate2_spec(preset: str) -> Any:
    """A model with random weights."""
    from ctranslate2 import specs
    from ctranslate2.specs.model_spec import visit_spec

    width, inner, heads, layers = SIZES[preset]
    random = np.random.default_rng(1)
    shapes = {
        "decoder/embeddings": (multi30k.NUM_PIECES, width),
        "encoder/embeddings_0": (multi30k.NUM_PIECES, width),
        "decoder/projection": (multi30k.NUM_PIECES, width),
        "self_attention/linear_0": (3 * width, width),
        "attention/linear_1": (2 * width, width),
        "ffn/linear_0": (inner, width),
        "ffn/linear_1": (width, inner),
    }

    def fill(layer: Any, name: str, value: Any) -> None:
        *_, scope, place, kind = ("", *name.split("/")) if "/" in name else ("", "", name)
        if kind in ("gamma", "beta"):
            setattr(layer, kind, np.full(width, kind == "gamma", dtype=np.float32))
        elif kind == "weight":
            shape = shapes.get(f"{scope}/{place}", (width, width))
            layer.weight = random.normal(0, shape[1] ** -0.5, shape).astype(np.float32)

    spec = specs.TransformerSpec.from_config(layers, heads, pre_norm=True)
    visit_spec(spec, fill)
    spec.register_source_vocabulary([str(piece) for piece in range(multi30k.NUM_PIECES)])
    spec.register_target_vocabulary([str(piece) for piece in range(multi30k.NUM_PIECES)])
    for side, piece in (("bos", multi30k.BOS), ("eos", multi30k.EOS), ("unk", 3)):
        setattr(spec.config, f"{side}_token", str(piece))
    spec.config.decoder_start_token = str(multi30k.BOS)
    spec.validate()
    return spec


ENGINES = {engine.__name__: engine for engine in (dragoman, huggingface, ctranslate2, ctranslate2_workers)}


def main() -> None:
    """Translate for ever, sentences of similar length together."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=tuple(ENGINES))
    parser.add_argument("--preset", default="small", choices=tuple(SIZES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--counter", type=Path, required=True)
    arguments = parser.parse_args()
    counter = np.memmap(arguments.counter, dtype=np.int64, mode="r+", shape=(1,))
    sentences = sorted((source for source, _ in multi30k.load().pairs[:NUM_SENTENCES]), key=len)
    decode = ENGINES[arguments.engine](arguments.preset, arguments.threads)
    while True:
        for first in range(0, NUM_SENTENCES, AT_ONCE):
            batch = sentences[first : first + AT_ONCE]
            decode(batch)
            counter[0] += len(batch)


if __name__ == "__main__":
    main()
