"""A run, put together: corpus, model, optimizer, evaluator, checkpoints and journal, ready for the loop.

Also how it starts and goes on: a fresh start builds everything from the seed; a later one takes the newest whole
checkpoint, and tells which ones it had to pass over.
"""

import dataclasses
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

import dragoman
from dragoman.batching.plan import Plan
from dragoman.batching.stream import Stream, open_stream
from dragoman.checkpoints import reading
from dragoman.checkpoints.store import Saved, Snapshot, Store
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of, write_atomically
from dragoman.core.paths import RunPaths
from dragoman.core.units import counted
from dragoman.corpus.shards import Corpus, open_corpus
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.load import build_model
from dragoman.decoding.translate import Translator
from dragoman.theory.schedule import dropout_share, learning_rate, num_single_steps
from dragoman.theory.wire import Layout
from dragoman.training import handover, limits
from dragoman.training.communication.choice import Chosen, choose
from dragoman.training.communication.groups import hosts_of
from dragoman.training.evaluate import Evaluation, Evaluator
from dragoman.training.first_weights import NOBODY
from dragoman.training.gradients import Gradients
from dragoman.training.guards import MOST_ROLLBACKS, RATE_CUT, Signals, Watchdog
from dragoman.training.journal import Journal
from dragoman.training.optimizer import Optimizer
from dragoman.training.precision import LossScale, Precision, agreed_precision
from dragoman.training.rungs import on_rung
from dragoman.training.state import TrainState
from dragoman.training.status import Status
from dragoman.training.step import Stepper
from dragoman.training.world import World


class Run:
    """Everything that the loop needs, under the names that it uses."""

    def __init__(self, config: Config, paths: RunPaths, world: World, signals: Signals) -> None:
        self.config, self.paths, self.world, self.signals = config, paths, world, signals
        self.corpus = open_corpus(Path(config.corpus.directory))
        world.must_agree("corpus", self.corpus.manifest.fingerprint)
        source, target = (Vocabulary(paths.vocabulary(side)) for side in ("source", "target"))
        _refuse_other_vocabulary(self.corpus, paths)
        is_shared = len({vocabulary.file for vocabulary in self.corpus.vocabularies.values()}) == 1
        written = self.corpus.written_pieces()
        self.model = build_model(config, source, target, is_shared=is_shared, written=written).to(world.device)
        self.width = self.model.config.width
        self._train = self.corpus.split("train")
        self._pad = self.corpus.vocabularies["target"].special.pad
        self.plan = Plan(self._train.lengths(), config.training.seed, config.batching.tokens_per_step)
        self.end = limits.last_step(config.training, self.plan.steps_per_epoch, config.batching.tokens_per_step)
        gradients = Gradients.of(self.model)
        self.model.accumulate_in_place = self.model.draws_columns = world.device.type == "cpu"
        self._precision = precision = agreed_precision(config.training.precision, world)
        self.model.multiplied_in = precision.multiplied_in
        self.optimizer = Optimizer(self.model, config.optimizer, precision.multiplied_in)
        self.watchdog = Watchdog(paths.heartbeats, world.rank, world_size=world.size)
        self.stepper = Stepper(
            model=self.model,
            optimizer=self.optimizer,
            gradients=gradients,
            world=world,
            seed=config.training.seed,
            autocast=precision.autocast,
            loss_scale=precision.loss_scale,
            waiting=self.watchdog.waiting,
            dropout_share=lambda step: dropout_share(step, config.schedule, self.end),
        )
        translator = Translator(self.model, source, target, config.decoding)
        self._evaluator = Evaluator(self.corpus, world, translator, config.batching.tokens_per_micro_batch)
        self._store = (
            Store(paths.checkpoints, config.training.keep_last, config.training.keep_best) if world.is_main else None
        )
        self.status = Status(world.is_main)
        self._started_from = ""
        self._chosen: Chosen
        self.journal: Journal
        self._closing = ExitStack()

    def steps_since_meeting(self, step: int) -> int:
        """Of a step in which ranks meet. Only then they have the same weights, and may evaluate, save and stop."""
        return self.stepper.cycle_at(step)

    def rate(self, step: int) -> float:
        """By the recipe."""
        step_factor = self._chosen.rung.step_factor if step > self.stepper.num_single_steps else 1
        schedule, width = self.config.schedule, self.width
        return learning_rate(step, schedule, width=width, total_steps=self.end, step_factor=step_factor)

    def begin(self) -> TrainState:
        """The newest state, or the first. Every rank must call this."""
        with self.watchdog.waiting():  # a state may take minutes on a slow link
            loaded = handover.newest(self.paths.checkpoints, self.world)
        self._take_rung(loaded)
        state = self._restore(loaded) if loaded else TrainState()
        self.journal = Journal(self.paths, self.world, state.step)
        self._closing.callback(self.journal.close)
        for passed_over in loaded.passed_over if loaded else ():
            self.tell("passed over", state.step, f"checkpoint {passed_over.step:,} is damaged: {passed_over.reason}")
        if loaded and loaded.state["world_size"] != NOBODY:
            self.tell("resumed", state.step, f"going on from step {state.step:,}")
        else:
            self.journal.settings(self.config)
            origin = f"first weights from {self._started_from}" if self._started_from else "random first weights"
            self.tell("started", 0, f"{counted(self.world.size, 'rank')} on {self.world.device.type}, {origin}")
        if self.world.size > 1:
            self.tell("communication", state.step, f"gradients cross the wire as {self._chosen.why}")
        if self.world.is_main:
            write_atomically(self.paths.environment, records.dumps(environment(self.world, self._precision)))
        self.model.train()
        return state

    def _take_rung(self, loaded: reading.Loaded | None) -> None:
        """Decide how gradients cross the wire; a session with as many ranks as the one before does as that did."""
        hosts = hosts_of(self.world)
        is_same_world = loaded is not None and loaded.state["world_size"] == self.world.size
        kept = loaded.state.get("rung") if loaded is not None and is_same_world else None
        layout, gradients = Layout(self.world.size, len(hosts)), self.stepper.gradients
        self._chosen = choose(self.config, self.world, layout, gradients, self.paths.preflight, kept)
        if self.world.size > 1:
            rung, schedule = self._chosen.rung, self.config.schedule
            num_single = num_single_steps(
                schedule, step_factor=rung.step_factor, local_steps=rung.local_steps, total_steps=self.end
            )
            self.stepper = on_rung(self.stepper, rung, hosts, self.config.optimizer, num_single)
        if self.end is not None:  # the last step is one in which ranks meet
            self.end = -(-self.end // self.stepper.cycle) * self.stepper.cycle

    def _restore(self, loaded: reading.Loaded) -> TrainState:
        if loaded.state["corpus_fingerprint"] != self.corpus.manifest.fingerprint:
            raise UserError(
                f"the checkpoints of {self.paths.directory} come from another corpus than {self.corpus.directory}",
                "name another run directory with --run",
            )
        self.model.outputs.load(loaded.model)
        like = {**self.optimizer.weights_for_inference(), **self.model.outputs.saved()}
        reading.check(loaded.model, like, f"the model in {self.paths.checkpoints}")
        self._started_from = loaded.state.get("started_from", "")
        if "loss_scale" in loaded.state:
            self.stepper.loss_scale = records.from_json(LossScale, loaded.state["loss_scale"])
        self.stepper.load(loaded.model, loaded.optimizer)
        return records.from_json(TrainState, loaded.state["state"])

    def stream(self, after_step: int) -> Stream:
        """This rank's steps from `after_step` on."""
        return open_stream(
            self.plan,
            self._train,
            self._pad,
            rank=self.world.rank,
            world_size=self.world.size,
            tokens_per_micro_batch=self.config.batching.tokens_per_micro_batch,
            after_step=after_step,
        )

    def evaluate(self, *, is_first: bool) -> Evaluation:
        """Measure the weights that would be used. Every rank must call this."""
        is_random = is_first and not self._started_from
        with self.optimizer.inference_weights_in(self.model):
            return self._evaluator.evaluate(self.model, is_random=is_random)

    def save(self, state: TrainState) -> None:
        """Hand a checkpoint to the main rank's writer; what became of the ones before is told. For every rank."""
        of_all_ranks = self.stepper.own_state()
        if self._store is None:
            return
        self._tell_outcomes(self._store.finished(), state.step)
        newest = state.evaluations[-1] if state.evaluations else None
        scores = {"dev_loss": newest.dev_loss, "bleu": newest.bleu} if newest and newest.step == state.step else {}
        extras = {
            "loss_scale": records.to_json(self.stepper.loss_scale),
            "corpus_fingerprint": self.corpus.manifest.fingerprint,
            "world_size": self.world.size,
            "rung": self._chosen.rung.name,
            "started_from": self._started_from,
            "scores": scores,
        }
        self._store.save(
            Snapshot(
                step=state.step,
                model={**self.optimizer.weights_for_inference(), **self.model.outputs.saved()},
                optimizer={**self.optimizer.state(), **of_all_ranks},
                state={**extras, "state": records.to_json(state)},
            )
        )

    def _tell_outcomes(self, outcomes: Sequence[Saved], step: int) -> None:
        for outcome in outcomes:
            if outcome.problem:
                what = "with trouble" if outcome.is_whole else "not"
                self.tell("save", step, f"checkpoint {outcome.step:,} was {what} written: {outcome.problem}")
            else:
                self.journal.event("saved", outcome.step, f"checkpoint in {outcome.written_s:.2f} s")

    def roll_back(self) -> TrainState:
        """Back to the last good checkpoint, with a lower rate; UserError when that has not helped before."""
        self._finish_saving()
        loaded = handover.newest(self.paths.checkpoints, self.world)
        assert loaded is not None, "the loop saves before its first step"
        state = self._restore(loaded)
        rollbacks = state.num_rollbacks + 1
        if rollbacks > MOST_ROLLBACKS:
            trouble = (
                f"training diverges at step {state.step:,}: gradients are not finite, also after {MOST_ROLLBACKS} "
                "roll-backs with a lower learning rate"
            )
            self.journal.event("stopped", state.step, trouble)
            raise UserError(
                trouble,
                "lower schedule.factor or schedule.peak, raise schedule.warmup_steps, or set optimizer.clip_norm=1",
            )
        state = dataclasses.replace(state, num_rollbacks=rollbacks, rate_factor=state.rate_factor * RATE_CUT)
        self.tell("rolled back", state.step, f"gradients were not finite; back to step {state.step:,} at half the rate")
        self.save(state)
        return state

    def tell(self, kind: str, step: int, text: str) -> None:
        self.journal.event(kind, step, text)
        self.status.say(text)

    def close(self) -> None:
        """Wait until everything is on disk."""
        self._finish_saving()
        self.stepper.end()
        self._closing.close()
        self.status.close()
        self.watchdog.close()

    def _finish_saving(self) -> None:
        if self._store is not None:
            self._tell_outcomes(self._store.wait(), 0)


def _refuse_other_vocabulary(corpus: Corpus, paths: RunPaths) -> None:
    for side, vocabulary in corpus.vocabularies.items():
        if sha256_of(paths.vocabulary(side)) != vocabulary.sha256:
            raise UserError(
                f"{paths.directory} was started with another {side} vocabulary than {corpus.directory} has",
                "name another run directory with --run",
            )


def environment(world: World, precision: Precision) -> dict[str, Any]:
    """What the run ran on."""
    return {
        "dragoman": dragoman.__version__,
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "platform": platform.platform(),
        "host": world.host,
        "cores": len(os.sched_getaffinity(0)),
        "threads": torch.get_num_threads(),
        "world_size": world.size,
        "precision": precision.name,
        "device_type": world.device.type,
        "device": torch.cuda.get_device_name(world.device) if world.device.type == "cuda" else platform.processor(),
    }
