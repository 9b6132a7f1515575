"""Ours: the training step of this project."""

import os

import torch

from benchmarks import multi30k
from benchmarks.peers.participant import DROPOUT, LEARNING_RATE, SMOOTHING, is_half, task
from dragoman.core.config import ModelConfig
from dragoman.model.batch import Batch, SpecialIds
from dragoman.model.machine import prepare_cpu
from dragoman.model.transformer import Transformer
from dragoman.training.precision import precision_for

MICRO_BATCH_TOKENS = int(os.environ.get("MICRO_BATCH_TOKENS", 2_048))
"""Half of a batch: a quarter of a gigabyte less memory than the whole, and no slower that we could measure."""


def main() -> None:
    """Train for ever."""
    prepare_cpu(2)
    todo = task()
    ids = SpecialIds(multi30k.PAD, multi30k.BOS, multi30k.EOS)
    config = ModelConfig(preset=todo.preset, dropout=DROPOUT, label_smoothing=SMOOTHING)
    model = Transformer(config, multi30k.NUM_PIECES, multi30k.NUM_PIECES, ids)
    model.outputs.restrict(multi30k.load().written_pieces)  # as `dragoman train` does
    model.accumulate_in_place = True
    model.multiplied_in = precision_for("bf16" if is_half() else "fp32", torch.device("cpu")).multiplied_in
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), fused=True)
    for step, pairs in enumerate(todo.batches()):
        model.seed_dropout(step)
        batch = Batch.of(pairs, ids.pad)
        for micro_batch in batch.split(MICRO_BATCH_TOKENS):
            (model(micro_batch).smoothed_sum / batch.num_target_tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        todo.done(batch.num_target_tokens)


if __name__ == "__main__":
    main()
