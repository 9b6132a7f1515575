"""How a simulated run learned: a healthy curve that still falls, with the losses of every sentence."""

import numpy as np

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord, SentenceLosses
from tests.laboratory.simulated_hosts import Column, stamp

NUM_EVALUATIONS = 10
NUM_SENTENCES = 200
FLOOR, AMPLITUDE, EXPONENT = 2.0, 7.0, 0.4
GAP = 0.1
"""How far train loss lies below dev loss at the end; it grows with the steps."""
NOISE = 0.003


def write_evaluations(paths: RunPaths, ends: Column, random: np.random.Generator) -> None:
    """A sentence is as hard at every step, plus a little noise."""
    tokens = random.integers(5, 40, NUM_SENTENCES)
    hardness = 0.5 * random.standard_normal(NUM_SENTENCES)
    hardness -= float((hardness * tokens).sum() / tokens.sum())
    every = len(ends) // NUM_EVALUATIONS
    lines = []
    for step in range(every, len(ends) + 1, every):
        truth = FLOOR + AMPLITUDE * step**-EXPONENT
        each = truth + hardness + 0.05 * random.standard_normal(NUM_SENTENCES)
        losses = (each + NOISE * float(random.standard_normal())) * tokens
        dev_loss, train_loss = float(losses.sum() / tokens.sum()), truth - GAP * step / len(ends)
        lines.append(_evaluation(step, dev_loss, train_loss, float(ends[step - 1])))
        path = paths.sentence_losses(step)
        path.parent.mkdir(exist_ok=True)
        sentences = SentenceLosses(step, tuple(round(float(x), 4) for x in losses), tuple(int(n) for n in tokens))
        path.write_text(records.dumps(sentences))
    records.write_lines(paths.evals, lines)


def _evaluation(step: int, dev_loss: float, train_loss: float, second: float) -> EvalRecord:
    bleu = max(0.1, 40 * (1 - dev_loss / 9))
    return EvalRecord(
        step=step,
        time=stamp(second),
        tokens=25_000 * step,
        training_s=second,
        dev_loss=dev_loss,
        train_loss=train_loss,
        bleu=bleu,
        bleu_interval=(bleu - 1, bleu + 1),
        chrf=bleu + 20,
        bleu_signature="nrefs:1",
        chrf_signature="nrefs:1",
        num_sentences=NUM_SENTENCES,
        seconds=1.0,
    )
