"""Hugging Face Transformers: MarianMTModel in a plain loop with scaled-dot-product attention and AdamW."""

import torch

from benchmarks import multi30k
from benchmarks.peers.participant import DROPOUT, LEARNING_RATE, SIZES, SMOOTHING, padded, task


def main() -> None:
    """Train for ever."""
    from transformers import MarianConfig, MarianMTModel

    torch.set_num_threads(2)
    todo = task()
    width, inner, heads, layers = SIZES[todo.preset]
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
    model = MarianMTModel(config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98))
    for pairs in todo.batches():
        source = torch.from_numpy(padded([source for source, _ in pairs]))
        target = torch.from_numpy(padded([target for _, target in pairs]))
        before = torch.cat((torch.full_like(target[:, :1], multi30k.BOS), target[:, :-1]), dim=1)
        logits = model(input_ids=source, attention_mask=source.ne(multi30k.PAD), decoder_input_ids=before).logits
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), target.flatten(), ignore_index=multi30k.PAD, label_smoothing=SMOOTHING
        )
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        todo.done(sum(len(target) for _, target in pairs))


if __name__ == "__main__":
    main()
