"""OpenNMT-py 3.5.1: its own encoder, decoder, embeddings, generator and loss, as its trainer calls them.

It pins an older torch and imports tokenisers that training on prepared ids does not touch: the environment installs it
without its dependencies, and those imports find an empty module here. It drops activations inside
the feed-forward too, as it always does: a little work that the others are not given.
"""

import sys
from types import ModuleType
from unittest.mock import MagicMock

import torch

from benchmarks import multi30k
from benchmarks.peers.participant import DROPOUT, LEARNING_RATE, SIZES, SMOOTHING, padded, task


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


def main() -> None:
    """Train for ever."""
    pretend_tokenisers()
    from onmt.decoders.transformer import TransformerDecoder
    from onmt.encoders.transformer import TransformerEncoder
    from onmt.models import NMTModel
    from onmt.modules import Embeddings
    from onmt.utils.loss import LossCompute

    torch.set_num_threads(2)
    todo = task()
    width, inner, heads, layers = SIZES[todo.preset]
    embeddings = Embeddings(width, multi30k.NUM_PIECES, multi30k.PAD, position_encoding=True, dropout=DROPOUT)
    encoder = TransformerEncoder(layers, width, heads, inner, DROPOUT, 0.0, embeddings, 0, 0)
    decoder = TransformerDecoder(
        *(layers, width, heads, inner, False, "scaled-dot", DROPOUT, 0.0, embeddings, 0, 0, False, False, None, 0)
    )
    model = NMTModel(encoder, decoder).train()
    generator = torch.nn.Linear(width, multi30k.NUM_PIECES)
    generator.weight = embeddings.word_lut.weight
    model.generator = generator
    criterion = torch.nn.CrossEntropyLoss(ignore_index=multi30k.PAD, reduction="sum", label_smoothing=SMOOTHING)
    loss_of = LossCompute(criterion, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    for pairs in todo.batches():
        source = torch.from_numpy(padded([source for source, _ in pairs]))[:, :, None]
        target = torch.from_numpy(padded([[multi30k.BOS, *target] for _, target in pairs]))[:, :, None]
        lengths = torch.tensor([len(source) for source, _ in pairs])
        num_tokens = sum(len(target) for _, target in pairs)
        optimizer.zero_grad(set_to_none=True)
        hidden, attentions = model(source, target, lengths)
        loss, _ = loss_of({"src": source, "srclen": lengths, "tgt": target}, hidden, attentions)
        torch.autograd.backward(loss / num_tokens)
        optimizer.step()
        todo.done(num_tokens)


if __name__ == "__main__":
    main()
