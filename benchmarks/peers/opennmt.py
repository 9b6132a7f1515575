"""OpenNMT-py 3.5.1: its own encoder, decoder, embeddings, generator and loss, as its trainer calls them.

It pins an older torch and imports tokenisers that training on prepared ids does not touch: the environment installs it
without its dependencies, and those imports find an empty module here. It drops activations inside
the feed-forward too, as it always does: a little work that the others are not given.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import torch

from benchmarks import multi30k
from benchmarks.peers.participant import (
    BEAM,
    DROPOUT,
    LEARNING_RATE,
    NUM_STEPS,
    SIZES,
    SMOOTHING,
    autocast,
    padded,
    task,
)


class Empty(ModuleType):
    """A library that is imported but not used."""

    __path__: list[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> MagicMock:
        return MagicMock(name=name)


def pretend_tokenisers() -> None:
    """Put an empty module in the place of each library that it imports and that our measurements do not need."""
    names = ("pyonmttok", "spacy", "fasttext", "ahocorasick", "regex", "rapidfuzz", "sacrebleu", "ctranslate2")
    for name in (*names, "sentencepiece"):
        sys.modules[name] = Empty(name)


def model_of(preset: str) -> Any:
    """Its Transformer with all embeddings tied."""
    from onmt.decoders.transformer import TransformerDecoder
    from onmt.encoders.transformer import TransformerEncoder
    from onmt.models import NMTModel
    from onmt.modules import Embeddings

    width, inner, heads, layers = SIZES[preset]
    embeddings = Embeddings(width, multi30k.NUM_PIECES, multi30k.PAD, position_encoding=True, dropout=DROPOUT)
    encoder = TransformerEncoder(layers, width, heads, inner, DROPOUT, 0.0, embeddings, 0, 0)
    decoder = TransformerDecoder(
        *(layers, width, heads, inner, False, "scaled-dot", DROPOUT, 0.0, embeddings, 0, 0, False, False, None, 0)
    )
    model = NMTModel(encoder, decoder)
    model.generator = torch.nn.Linear(width, multi30k.NUM_PIECES)
    model.generator.weight = embeddings.word_lut.weight
    for name, weights in model.named_parameters():  # its layers leave this to its build_model
        if weights.dim() > 1:
            torch.nn.init.xavier_uniform_(weights)
        elif name.endswith("bias"):
            torch.nn.init.zeros_(weights)
    return model


def decoder(preset: str, threads: int) -> Callable[[list[list[int]]], object]:
    """Its Translator for one batch, as it calls itself."""
    pretend_tokenisers()
    from onmt.constants import DefaultTokens
    from onmt.translate import GNMTGlobalScorer
    from onmt.translate.translator import Translator

    torch.set_num_threads(threads)

    class Pieces(dict[str, int]):
        """As much of its vocabulary as a search asks for."""

        def lookup_token(self, token: str) -> int:
            return self.get(token, multi30k.UNK)

    special = {DefaultTokens.PAD: multi30k.PAD, DefaultTokens.BOS: multi30k.BOS, DefaultTokens.EOS: multi30k.EOS}
    translator = Translator(
        model_of(preset).eval(), {"tgt": Pieces(special), "decoder_start_token": DefaultTokens.BOS}, beam_size=BEAM,
        min_length=NUM_STEPS - 1, max_length=NUM_STEPS, max_length_ratio=0, seed=1,
        global_scorer=GNMTGlobalScorer(0.0, 0.0, "none", "none"),
    )  # fmt: skip

    def decode(batch: list[list[int]]) -> object:
        source, lengths = torch.from_numpy(padded(batch))[:, :, None], torch.tensor([len(one) for one in batch])
        return translator.translate_batch({"src": source, "srclen": lengths}, attn_debug=False)

    return decode


def main() -> None:
    """Train for ever."""
    pretend_tokenisers()
    from onmt.utils.loss import LossCompute

    torch.set_num_threads(2)
    todo = task()
    model = model_of(todo.preset).train()
    generator = model.generator
    criterion = torch.nn.CrossEntropyLoss(ignore_index=multi30k.PAD, reduction="sum", label_smoothing=SMOOTHING)
    loss_of = LossCompute(criterion, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    for pairs in todo.batches():
        source = torch.from_numpy(padded([source for source, _ in pairs]))[:, :, None]
        target = torch.from_numpy(padded([[multi30k.BOS, *target] for _, target in pairs]))[:, :, None]
        lengths = torch.tensor([len(source) for source, _ in pairs])
        num_tokens = sum(len(target) for _, target in pairs)
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            hidden, attentions = model(source, target, lengths)
            loss, _ = loss_of({"src": source, "srclen": lengths, "tgt": target}, hidden, attentions)
        torch.autograd.backward(loss / num_tokens)
        optimizer.step()
        todo.done(num_tokens)


if __name__ == "__main__":
    main()
