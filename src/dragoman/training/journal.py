"""What a run writes down: records, samples, TensorBoard. Observing must never stop training.

JSONL is the truth and TensorBoard a view of it. A write that fails is told once and then left out.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import (
    BucketTimes,
    EvalRecord,
    EventRecord,
    ExchangeRecord,
    SentenceLosses,
    StepRecord,
)
from dragoman.telemetry.board import Board
from dragoman.training.communication.wire import Delivery, Exchange
from dragoman.training.evaluate import Evaluation
from dragoman.training.world import World

BOARD_EVERY_STEPS = 10


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _bucket(one: Delivery) -> BucketTimes:
    """To the microsecond."""
    times = (round(seconds, 6) for seconds in (one.ready_s, one.start_s, one.end_s, one.exposed_s))
    return BucketTimes(one.num_bytes, one.sent_bytes, *times)


class Journal:
    """One rank's pen. Every rank writes its steps and events; the main one also writes what all have in common."""

    def __init__(self, paths: RunPaths, world: World, resumed_step: int) -> None:
        self._paths, self._world = paths, world
        self._has_complained = False
        for path in (paths.steps(world.rank), paths.exchanges(world.rank), paths.samples(0)):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._board = Board(paths.tensorboard, resumed_at_step=resumed_step) if world.is_main else None

    def settings(self, config: Config) -> None:
        """The recipe, once a run."""
        if self._board:
            self._board.hyperparameters(config)

    def step(self, record: StepRecord) -> None:
        self._append(self._paths.steps(self._world.rank), record)
        if self._board and record.step % BOARD_EVERY_STEPS == 0:
            scalars = {
                "train/loss": record.loss,
                "train/smoothed_loss": record.smoothed_loss,
                "train/gradient_norm": record.gradient_norm,
                "train/learning_rate": record.learning_rate,
                "speed/tokens_per_s": record.target_tokens / max(record.step_s, 1e-9),
                "speed/step_s": record.step_s,
                "speed/forward_s": record.forward_s,
                "speed/backward_s": record.backward_s,
                "speed/optimizer_s": record.optimizer_s,
                "speed/padding_share": 1 - record.real_tokens / max(record.padded_tokens, 1),
                "speed/wire_mb": record.wire_bytes / 1e6,
                "speed/exchange_share": record.exchange_s / max(record.step_s, 1e-9),
                "speed/data_wait_share": record.data_wait_s / max(record.step_s, 1e-9),
            }
            for name, value in scalars.items():
                self._board.scalar(name, value, record.step)

    def exchange(self, step: int, crossed: Exchange) -> None:
        """Every bucket of one exchange."""
        buckets = tuple(_bucket(one) for one in crossed.deliveries)
        record = ExchangeRecord(step, now(), crossed.is_probe, crossed.wait_s, crossed.skew_s, buckets)
        self._append(self._paths.exchanges(self._world.rank), record)

    def evaluation(self, record: EvalRecord, evaluation: Evaluation) -> None:
        if not self._world.is_main:
            return
        self._append(self._paths.evals, record)
        text = "\n\n".join(
            f"source       {one.source}\nreference    {one.reference}\ntranslation  {one.translation}"
            for one in evaluation.samples
        )
        try:
            self._paths.samples(record.step).write_text(text + "\n", encoding="utf-8")
            losses = tuple(round(loss, 4) for loss in evaluation.sentence_losses)
            sentences = SentenceLosses(record.step, losses, evaluation.sentence_tokens)
            write_atomically(self._paths.sentence_losses(record.step), records.dumps(sentences))
        except OSError as error:
            self._complain(error)
        if self._board:
            for name in ("dev_loss", "train_loss", "bleu", "chrf"):
                self._board.scalar(f"eval/{name}", getattr(record, name), record.step)
            self._board.text("samples", "```\n" + text + "\n```", record.step)

    def event(self, kind: str, step: int, text: str) -> None:
        self._append(self._paths.events, EventRecord(now(), kind, step, self._world.rank, text))

    def close(self) -> None:
        if self._board:
            self._board.close()

    def _append(self, path: Path, record: object) -> None:
        try:
            records.append_line(path, record)
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if not self._has_complained:
            print(f"dragoman: cannot write records ({error.strerror}); training goes on", file=sys.stderr)
        self._has_complained = True
