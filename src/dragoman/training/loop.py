"""The story of a run: step after step, with pauses to measure and to save, until there is a reason to stop."""

import math
import time
from dataclasses import dataclass

from dragoman.batching.stream import Step
from dragoman.core.run_records import EvalRecord, StepRecord
from dragoman.core.units import count, duration
from dragoman.training import limits
from dragoman.training.guards import FiniteGuard
from dragoman.training.journal import now
from dragoman.training.run import Run
from dragoman.training.state import EvalPoint, TrainState
from dragoman.training.step import StepResult, Votes


@dataclass(frozen=True)
class Finished:
    """How it ended."""

    state: TrainState
    reason: str


def fit(run: Run, state: TrainState) -> Finished:
    """Train until a limit, a signal or the curve says stop. Every rank must call this."""
    if state.step == 0:
        state = evaluate(run, state)
        state = save(run, state)
    while run.end is None or state.step < run.end:
        attempt = _train(run, state)
        if attempt is not None:
            return attempt
        state = run.roll_back()
    return Finished(state, f"{count(state.step)} steps are done")


def _train(run: Run, state: TrainState) -> Finished | None:
    """Train on from `state`; None where numbers went bad and the run must go back."""
    began, guard = state, FiniteGuard()
    evaluated_at = saved_at = time.monotonic()
    with run.stream(state.step) as stream:
        for step in stream:
            clock = time.monotonic()
            votes = _votes(run, state, clock - evaluated_at, clock - saved_at)
            rate = state.rate_factor * run.rate(step.number)
            result = run.stepper.step(step.number, step.batches, step.num_target_tokens, rate, votes)
            seconds = step.waited_s + time.monotonic() - clock
            state = state.after_step(step.num_target_tokens, seconds, was_skipped=not result.is_finite)
            _record(run, began, state, step, result, rate, seconds)
            if not result.is_cycle_end:
                continue  # ranks have not met: there is nothing to agree on
            if guard.sees(not result.is_in_doubt):
                return None
            reason = _reason_to_stop(run, state, result.votes)
            cycle = run.steps_since_meeting(state.step)
            is_evaluation = (
                _is_due(state.step, run.config.training.evaluate_every_steps, cycle) or result.votes.evaluate
            )
            if (is_evaluation or reason) and not result.votes.hurry:
                state = evaluate(run, state)
                evaluated_at = time.monotonic()
                reason = reason or limits.buys_too_little(run.config.training, state, run.config.schedule.warmup_steps)
            is_save = _is_due(state.step, run.config.training.save_every_steps, cycle) or result.votes.save
            if (is_evaluation or is_save or reason) and result.is_finite:  # a state in doubt replaces none that is good
                state = save(run, state)
                saved_at = time.monotonic()
            if reason:
                return Finished(state, reason)
    raise AssertionError("the stream of steps has no end")


def _is_due(step: int, every: int, cycle: int = 1) -> bool:
    """Whether a multiple of `every` is among the `cycle` steps that end with `step`."""
    return every > 0 and step // every > (step - cycle) // every


def _votes(run: Run, state: TrainState, since_evaluation_s: float, since_save_s: float) -> Votes:
    """What this rank's clock and signals would like to happen after the step."""
    training = run.config.training
    return Votes(
        stop=limits.is_time_up(training, state.training_s) is not None,
        hurry=run.signals.received is not None,
        evaluate=0 < 60 * training.evaluate_every_minutes < since_evaluation_s,
        save=0 < 60 * training.save_every_minutes < since_save_s,
    )


def _reason_to_stop(run: Run, state: TrainState, votes: Votes) -> str | None:
    """The same on every rank: steps are counted alike, and votes were added up."""
    if run.end is not None and state.step >= run.end:
        return f"{count(state.step)} steps are done"
    if votes.hurry:
        return "it was asked to stop"
    if votes.stop:
        return limits.is_time_up(run.config.training, state.training_s) or "another rank's time is up"
    return None


def _record(
    run: Run, began: TrainState, state: TrainState, step: Step, result: StepResult, rate: float, seconds: float
) -> None:
    run.watchdog.moved(usual_s=seconds)
    run.journal.step(
        StepRecord(
            step=step.number,
            time=now(),
            loss=result.plain_loss,
            smoothed_loss=result.smoothed_loss,
            gradient_norm=result.gradient_norm,
            learning_rate=rate,
            target_tokens=step.num_target_tokens,
            real_tokens=step.padding.real_tokens,
            padded_tokens=step.padding.padded_tokens,
            data_wait_s=step.waited_s,
            forward_s=result.forward_s,
            backward_s=result.backward_s,
            exchange_s=result.exchange.wait_s,
            optimizer_s=result.optimizer_s,
            step_s=seconds,
            wire_bytes=result.exchange.num_bytes,
            was_skipped=not result.is_finite,
            is_probe=result.exchange.is_probe,
            skew_s=result.exchange.skew_s,
        )
    )
    if result.exchange.deliveries and run.stepper.is_watched(step.number):
        run.journal.exchange(step.number, result.exchange)
    if not result.is_finite:
        run.journal.event("skipped", step.number, f"gradient norm {result.gradient_norm}, loss {result.plain_loss}")
    training = run.config.training
    run.status.line(
        step=step.number,
        last_step=run.end,
        loss=result.plain_loss,
        rate=rate,
        tokens=step.num_target_tokens,
        step_s=seconds,
        waited_s=step.waited_s + result.exchange.wait_s,
        left_s=limits.seconds_left(training, began, state, run.end),
        cost=limits.cost_of(training, state.training_s),
        is_last=step.number == run.end,
    )


def evaluate(run: Run, state: TrainState) -> TrainState:
    """Measure, write it down, say it. Every rank must call this."""
    with run.watchdog.waiting():
        evaluation = run.evaluate(is_first=state.step == 0)
    score = evaluation.score
    state = state.after_pause(evaluation.seconds)
    record = EvalRecord(
        step=state.step,
        time=now(),
        tokens=state.tokens,
        training_s=state.training_s,
        dev_loss=evaluation.dev_loss,
        train_loss=evaluation.train_loss,
        bleu=score.bleu,
        bleu_interval=score.bleu_interval,
        chrf=score.chrf,
        bleu_signature=score.bleu_signature,
        chrf_signature=score.chrf_signature,
        num_sentences=score.num_sentences,
        seconds=evaluation.seconds,
    )
    run.journal.evaluation(record, evaluation)
    low, high = score.bleu_interval
    sample = evaluation.samples[0] if evaluation.samples else None
    run.status.say(
        f"step {count(state.step)}: dev loss {evaluation.dev_loss:.3f}, train loss {evaluation.train_loss:.3f}, "
        f"BLEU {score.bleu:.1f} ({low:.1f}–{high:.1f}), chrF {score.chrf:.1f}, in {duration(evaluation.seconds)}"
        + (f"\n    {sample.source}\n    → {sample.translation}\n    = {sample.reference}" if sample else "")
    )
    dev_loss = evaluation.dev_loss if math.isfinite(evaluation.dev_loss) else None
    return state.after_evaluation(EvalPoint(state.step, dev_loss, score.bleu))


def save(run: Run, state: TrainState) -> TrainState:
    """Hand a checkpoint to the writer. Every rank must call this."""
    start = time.monotonic()
    run.save(state)
    return state.after_pause(time.monotonic() - start)
