"""JoeyNMT 2.3.0: the model that its `build_model` makes and the loss inside it, called as its trainer calls them.

It drops activations inside the feed-forward too, and writes out a smoothed distribution for every target token.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
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


def main() -> None:
    """Train for ever."""
    from joeynmt.model import build_model

    torch.set_num_threads(2)
    todo = task()
    vocabulary = pieces()
    model = build_model(settings(todo.preset), vocabulary, vocabulary).train()
    model.loss_function = ("crossentropy", SMOOTHING)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    for pairs in todo.batches():
        batch = batch_of([source for source, _ in pairs], [target for _, target in pairs], vocabulary)
        batch.sort_by_src_length()
        with autocast():
            loss, *_ = model(return_type="loss", **vars(batch))
        torch.autograd.backward(batch.normalize(loss, normalization="tokens"))
        optimizer.step()
        optimizer.zero_grad()
        todo.done(sum(len(target) for _, target in pairs))


def decoder(preset: str, threads: int) -> Callable[[list[list[int]]], object]:
    """Its search for one batch, as its predict calls it."""
    from joeynmt.model import build_model
    from joeynmt.search import search

    torch.set_num_threads(threads)
    vocabulary = pieces()
    model = build_model(settings(preset), vocabulary, vocabulary).eval()

    def decode(batch: list[list[int]]) -> object:
        given = batch_of(batch, None, vocabulary)
        return search(model, given, NUM_STEPS, BEAM, 0.0, min_output_length=NUM_STEPS - 1)

    return decode


def batch_of(sources: list[list[int]], targets: list[list[int]] | None, vocabulary: Any) -> Any:
    """Its batch; without targets, one to translate."""
    from joeynmt.batch import Batch

    return Batch(
        src=moved(padded(sources)),
        src_length=torch.tensor([len(source) for source in sources]),
        src_prompt_mask=None,
        trg=moved(padded([[multi30k.BOS, *target] for target in targets])) if targets is not None else None,
        trg_prompt_mask=None,
        indices=torch.arange(len(sources)),
        device=torch.device("cpu"),
        pad_index=vocabulary.pad_index,
        eos_index=vocabulary.eos_index,
    )


def moved(ids: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> torch.Tensor:
    """Our ids as its own: unk, pad, bos, eos are 0 to 3 there, and cannot be elsewhere; ours are pad, bos, eos, unk."""
    return torch.from_numpy(np.where(ids < 4, (ids + 1) % 4, ids))


def pieces() -> Any:
    """Its vocabulary: numbers as words, after the special ones."""
    from joeynmt.vocabulary import Vocabulary

    special = ("unk", "pad", "bos", "eos")
    names = {f"{name}_token": f"<{name}>" for name in special}
    ids = {f"{name}_id": number for number, name in enumerate(special)}
    words = [str(number) for number in range(len(special), multi30k.NUM_PIECES)]
    return Vocabulary(words, SimpleNamespace(**names, **ids, sep_token=None, lang_tags=[]))


def settings(preset: str) -> dict[str, Any]:
    """The model section of its recipes."""
    width, inner, heads, layers = SIZES[preset]
    side = {
        "type": "transformer",
        "num_layers": layers,
        "num_heads": heads,
        "hidden_size": width,
        "ff_size": inner,
        "dropout": DROPOUT,
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": width, "scale": True, "dropout": DROPOUT},
    }
    return {
        "encoder": side,
        "decoder": side,
        "tied_embeddings": True,
        "tied_softmax": True,
        "initializer": "xavier_uniform",
        "embed_initializer": "xavier_uniform",
    }


if __name__ == "__main__":
    main()
