"""Eole 0.6.4: the model, loss and optimizer that its configuration makes, called as its trainer calls them.

It drops activations inside the feed-forward too, as it always does: a little work that the others are not given.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

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


def training_settings() -> Any:
    """The training section of its recipes."""
    from eole.config.training import TrainingConfig

    return TrainingConfig(
        dropout=[DROPOUT],
        attention_dropout=[0.0],
        label_smoothing=SMOOTHING,
        optim="adam",
        adam_beta2=0.98,
        learning_rate=LEARNING_RATE,
        decay_method="none",
        max_grad_norm=0,
        compute_dtype="fp32",
        param_init_method="xavier_uniform",
        world_size=0,
        gpu_ranks=[],
    )


def decoder(preset: str, threads: int) -> Callable[[list[list[int]]], object]:
    """Its Translator for one batch, as it calls itself."""
    from eole.models.model import EncoderDecoderModel
    from eole.predict.beam_search import GNMTGlobalScorer
    from eole.predict.translator import Translator

    torch.set_num_threads(threads)
    config, vocabularies = settings(preset), pieces()
    model = EncoderDecoderModel.for_training(config, vocabularies, training_settings(), device_id=-1).eval()
    wanted: dict[str, Any] = {
        "beam_size": BEAM, "n_best": 1, "min_length": NUM_STEPS - 1, "max_length": NUM_STEPS, "max_length_ratio": 0,
        "top_k": 0, "top_p": 0.0, "temperature": 1.0, "seed": 1, "dump_beam": "", "data_type": "text",
        "transforms": [], "optional_eos": [], "ignore_when_blocking": [], "self_attn_backend": "pytorch",
        "parallel_gpu": 1, "self_speculative_num_tokens": 1, "block_ngram_repeat": 0, "ratio": 0.0,
    }  # fmt: skip
    translator = Translator(
        model, vocabularies, Defaults(**wanted), config, -1, GNMTGlobalScorer(0.0, 0.0, "none", "none")
    )

    def decode(batch: list[list[int]]) -> object:
        given = {"src": torch.from_numpy(padded(batch)), "srclen": torch.tensor([len(one) for one in batch])}
        return translator.predict_batch(given, attn_debug=False)

    return decode


class Defaults(SimpleNamespace):
    """What is not set is off."""

    def __getattr__(self, name: str) -> None:
        return None


def main() -> None:
    """Train for ever."""
    from eole.models.model import EncoderDecoderModel
    from eole.utils.loss import LossCompute
    from eole.utils.optimizers import Optimizer

    torch.set_num_threads(2)
    todo = task()
    training = training_settings()
    config, vocabularies = SimpleNamespace(model=settings(todo.preset), training=training), pieces()
    model = EncoderDecoderModel.for_training(config.model, vocabularies, training, device_id=-1).train()
    loss_of = LossCompute.from_config(config, model, vocabularies)
    optimizer = Optimizer.from_config(model, config)
    for pairs in todo.batches():
        source = torch.from_numpy(padded([source for source, _ in pairs]))
        target = torch.from_numpy(padded([[multi30k.BOS, *target] for _, target in pairs]))
        lengths = torch.tensor([len(source) for source, _ in pairs])
        rest = dict.fromkeys(("cid", "cid_line_number"), [0] * len(pairs))
        num_tokens = sum(len(target) for _, target in pairs)
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            hidden, attentions, _ = model(source, target, lengths)
            loss, *_ = loss_of({"src": source, "srclen": lengths, "tgt": target, **rest}, hidden, attentions)
        optimizer.backward(loss / num_tokens)
        optimizer.step()
        todo.done(num_tokens)


def pieces() -> dict[str, Any]:
    """Its vocabularies: numbers as words, special ones where ours are."""
    import pyonmttok

    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    words = [*special.values(), *(str(number) for number in range(len(special), multi30k.NUM_PIECES))]
    vocabulary = pyonmttok.build_vocab_from_tokens(words)
    assert vocabulary[special["pad_token"]] == multi30k.PAD
    return {"src": vocabulary, "tgt": vocabulary, "specials": special, "decoder_start_token": special["bos_token"]}


def settings(preset: str) -> Any:
    """The model section of its recipes, with a bias wherever the others have one."""
    from eole.config.models import TransformerModelConfig

    width, inner, heads, layers = SIZES[preset]
    return TransformerModelConfig(
        layers=layers,
        hidden_size=width,
        heads=heads,
        transformer_ff=inner,
        embeddings={"word_vec_size": width, "position_encoding_type": "SinusoidalInterleaved"},
        share_embeddings=True,
        share_decoder_embeddings=True,
        add_qkvbias=True,
        add_final_linear_bias=True,
        add_ffnbias=True,
    )


if __name__ == "__main__":
    main()
