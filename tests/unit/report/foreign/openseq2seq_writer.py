"""Writes logs as OpenSeq2Seq does, of runs whose truth is known: sizes, speed and losses as a test wants them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Truth:
    """One run."""

    num_steps: int = 40_000
    step_s: float = 1.7
    ranks: int = 4
    hosts: int = 2
    device: str = "Tesla V100-PCIE-16GB"
    width: int = 512
    layers: int = 6
    parameters: int = 60_880_896
    pairs: int = 256
    dtype: str = "'mixed'"
    log_every: int = 100
    eval_every: int = 2001
    max_steps: int = 300_000
    save_every: int = 1000
    seed: int = 0

    def dev_loss(self, step: int) -> float:
        noise = np.random.default_rng([self.seed, step]).normal(0, 0.003)
        return float(1.5 + 7.9 * (step / 300 + 1) ** -0.75 + noise)


def config(truth: Truth) -> str:
    sizes = f"'filter_size': {4 * truth.width}, 'hidden_size': {truth.width}, 'num_heads': 8"
    return (
        "*** Using horovod\n*** Starting training from scratch\n*** Training config:\n"
        f"{{'batch_size_per_gpu': {truth.pairs},\n"
        " 'data_layer_params': {'max_length': 56, 'source_file': 'train.en', 'target_file': 'train.de'},\n"
        " 'decoder': <class 'open_seq2seq.decoders.transformer_decoder.TransformerDecoder'>,\n"
        f" 'decoder_params': {{{sizes}, 'num_hidden_layers': {truth.layers}}},\n"
        f" 'dtype': {truth.dtype},\n"
        " 'encoder': <class 'open_seq2seq.encoders.transformer_encoder.TransformerEncoder'>,\n"
        f" 'encoder_params': {{'encoder_layers': {truth.layers}, {sizes}}},\n"
        f" 'eval_steps': {truth.eval_every},\n"
        " 'loss': <class 'open_seq2seq.losses.sequence_loss.PaddedCrossEntropyLossWithSmoothing'>,\n"
        " 'loss_params': {'label_smoothing': 0.1},\n"
        " 'lr_policy': <function transformer_policy at 0x7f0000000000>,\n"
        f" 'lr_policy_params': {{'d_model': {truth.width}, 'learning_rate': 2.0, 'warmup_steps': 8000}},\n"
        f" 'max_steps': {truth.max_steps},\n 'num_gpus': 1,\n 'print_loss_steps': {truth.log_every},\n"
        f" 'save_checkpoint_steps': {truth.save_every},\n 'use_horovod': True}}\n"
    )


def machines(truth: Truth) -> str:
    lines = [f"*** Building graph in Horovod rank: {rank}" for rank in reversed(range(truth.ranks))]
    lines.append(f"*** Total trainable parameters: {truth.parameters}")
    for rank in range(truth.ranks):
        lines.append(f"name: {truth.device} major: 7 minor: 0 memoryClockRate(GHz): 1.38")
        lines.append(f"pciBusID: 0000:00:0{7 + rank % (truth.ranks // truth.hosts)}.0")
    return "\n".join(lines) + "\n"


def evaluation(truth: Truth, step: int) -> str:
    return (
        "*** Running evaluation on a validation set:\n***     *****EVAL Source[0]:     <s> ▁loss = 99.0 </s>\n"
        f"***     Validation loss: {truth.dev_loss(step):.4f} \n***     Eval BLUE score: {0.94 if not step else 0.3}\n"
    )


def steps(truth: Truth, first: int = 0, last: int | None = None) -> str:
    """Lines of progress with the evaluations between them."""
    random = np.random.default_rng(truth.seed)
    parts = [evaluation(truth, 0)] if first == 0 else []
    for step in range(first, (last or truth.num_steps) + 1, truth.log_every):
        minutes, seconds = divmod(truth.step_s * float(np.exp(0.01 * random.standard_normal())), 60)
        loss = truth.dev_loss(step) + 0.05 * float(random.standard_normal())
        parts.append(f"*** Global step {step}: ***     Train loss: {loss:.4f} \n")
        parts.append(f"time per step = 0:{int(minutes):02}:{seconds:.3f}\n")
        # The hook counts from the first step, which it evaluates too.
        due = (step // truth.eval_every + 1) * truth.eval_every
        if step and due < step + truth.log_every:
            parts.append(evaluation(truth, due))
    return "".join(parts)


def log(truth: Truth) -> str:
    return config(truth) + machines(truth) + steps(truth)
