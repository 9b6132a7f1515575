"""Sockeye 3.1.34: its own model, traced as its trainer does it, its own loss and its own choice of optimizer."""

from typing import Any

import numpy as np
import torch

from benchmarks import multi30k
from benchmarks.peers.participant import DROPOUT, LEARNING_RATE, SIZES, SMOOTHING, padded, task

MOST_PIECES = 256


def main() -> None:
    """Train for ever."""
    from sockeye import constants, loss, optimizers, training

    assert multi30k.PAD == constants.PAD_ID, "Sockeye cannot be told another padding"
    torch.set_num_threads(2)
    todo = task()
    network = model(todo.preset)
    criterion = loss.CrossEntropyLoss(label_smoothing=SMOOTHING)
    chosen = optimizers.OptimizerConfig(
        name=constants.OPTIMIZER_ADAM, running_on_gpu=False, lr=LEARNING_RATE, betas=(0.9, 0.98)
    )
    kind, options, zero_options = optimizers.get_optimizer(chosen)
    optimizer = kind(network.parameters(), **options)
    step: Any = None
    for pairs in todo.batches():
        given = batch(pairs)
        inputs = given.source, given.source_length, given.target, given.target_length
        if step is None:
            traced = torch.jit.trace(network, inputs, strict=False)  # type: ignore[no-untyped-call]
            step = training.ModelWithLoss(traced, [criterion])
        total, *_ = step(*inputs, given.labels)
        torch.autograd.backward(total)
        optimizer.step()
        optimizer.zero_grad(**zero_options)
        todo.done(sum(len(target) for _, target in pairs))


def batch(pairs: list[multi30k.Pair]) -> Any:
    """One batch as its data loader makes it: padded, with bos, a last dimension for factors."""
    from sockeye import data_io

    sides = ([source for source, _ in pairs], [[multi30k.BOS, *target[:-1]] for _, target in pairs])
    labels = [target for _, target in pairs]
    tensors = (torch.from_numpy(padded(ids).astype(np.int32))[:, :, None] for ids in (*sides, labels))
    return data_io.create_batch_from_parallel_sample(*tensors)


def model(preset: str) -> torch.nn.Module:
    """Its model with its own starting weights."""
    from sockeye import constants, data_io, encoder, transformer
    from sockeye.model import ModelConfig, SockeyeModel, initialize_parameters

    width, inner, heads, layers = SIZES[preset]
    side = transformer.TransformerConfig(
        model_size=width,
        attention_heads=heads,
        feed_forward_num_hidden=inner,
        act_type=constants.RELU,
        num_layers=layers,
        dropout_attention=0.0,
        dropout_act=0.0,
        dropout_prepost=DROPOUT,
        positional_embedding_type=constants.FIXED_POSITIONAL_EMBEDDING,
        preprocess_sequence="n",
        postprocess_sequence="dr",
        max_seq_len_source=MOST_PIECES,
        max_seq_len_target=MOST_PIECES,
        depth_key_value=width,
    )
    embedding = encoder.EmbeddingConfig(vocab_size=multi30k.NUM_PIECES, num_embed=width, dropout=DROPOUT)
    config = ModelConfig(
        config_data=data_io.DataConfig(None, MOST_PIECES, MOST_PIECES, num_source_factors=1, num_target_factors=1),
        vocab_source_size=multi30k.NUM_PIECES,
        vocab_target_size=multi30k.NUM_PIECES,
        config_embed_source=embedding,
        config_embed_target=embedding,
        config_encoder=side,
        config_decoder=side,
        weight_tying_type=constants.WEIGHT_TYING_SRC_TRG_SOFTMAX,
    )
    network = SockeyeModel(config)
    network.apply(initialize_parameters)
    trained: torch.nn.Module = network.train()
    return trained


if __name__ == "__main__":
    main()
