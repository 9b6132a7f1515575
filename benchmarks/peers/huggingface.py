"""Hugging Face Transformers: MarianMTModel in a plain loop with scaled-dot-product attention and AdamW."""

from collections.abc import Callable
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


def main() -> None:
    """Train for ever."""
    torch.set_num_threads(2)
    todo = task()
    network = model(todo.preset).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    for pairs in todo.batches():
        source = torch.from_numpy(padded([source for source, _ in pairs]))
        target = torch.from_numpy(padded([target for _, target in pairs]))
        before = torch.cat((torch.full_like(target[:, :1], multi30k.BOS), target[:, :-1]), dim=1)
        with autocast():
            logits = network(input_ids=source, attention_mask=source.ne(multi30k.PAD), decoder_input_ids=before).logits
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), target.flatten(), ignore_index=multi30k.PAD, label_smoothing=SMOOTHING
            )
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        todo.done(sum(len(target) for _, target in pairs))


def decoder(preset: str, threads: int) -> Callable[[list[list[int]]], object]:
    """Its `generate`, for one batch."""
    torch.set_num_threads(threads)
    network = model(preset).eval()

    def decode(batch: list[list[int]]) -> object:
        source = torch.from_numpy(padded(batch))
        lengths = {"min_new_tokens": NUM_STEPS, "max_new_tokens": NUM_STEPS}
        with torch.inference_mode():
            return network.generate(source, attention_mask=source.ne(multi30k.PAD).long(), num_beams=BEAM, **lengths)

    return decode


def model(preset: str) -> Any:
    """MarianMTModel with random weights."""
    from transformers import MarianConfig, MarianMTModel

    width, inner, heads, layers = SIZES[preset]
    config = MarianConfig(
        vocab_size=multi30k.NUM_PIECES,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=inner,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        dropout=DROPOUT,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        pad_token_id=multi30k.PAD,
        eos_token_id=multi30k.EOS,
        decoder_start_token_id=multi30k.BOS,
        forced_eos_token_id=multi30k.EOS,
        attn_implementation="sdpa",
    )
    return MarianMTModel(config)


if __name__ == "__main__":
    main()
