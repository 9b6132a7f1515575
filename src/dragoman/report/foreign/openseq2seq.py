"""OpenSeq2Seq logs: what its hooks print beside whatever mpirun and TensorFlow print between.

Lines of several ranks may be mixed, one file may hold several starts, and any line may be broken by another, so
numbers are found by the words around them and put together in the order in which they come. Sentences that the log
shows are set aside first, because a sentence may contain any words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dragoman.report.foreign import openseq2seq_settings
from dragoman.report.foreign.text import NUMBER, lines_of, number
from dragoman.report.foreign.transcript import (
    ForeignEvaluation,
    ForeignEvent,
    Point,
    Sample,
    Settings,
    Transcript,
)

SYSTEM = "OpenSeq2Seq"
MARK = re.compile(r"[Gg]lobal step \d+:|\*\*\* Training config|time per step = \d+:\d+:|Eval BLUE score:")
"""Words by which such a log is known."""

RANK_PREFIX = re.compile(r"^.{0,40}?\[\d+,(\d+)\]<std(?:out|err)>:\s?")
SAMPLE = re.compile(r"(Train|EVAL) (Source|Target|Prediction)\[\d+\]:\s*(.*)")
TOKEN = re.compile(
    rf"[Gg]lobal step (?P<step>\d+):"
    rf"|Validation loss:\s*(?P<eval_loss>{NUMBER})"
    rf"|(?:Train |(?<=\d: ))loss\s*[:=]\s*(?P<loss>{NUMBER})"
    rf"|time per step = (?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+\.\d+)"
    rf"|Eval BL(?:UE|EU) score:\s*(?P<bleu>{NUMBER})"
    rf"|(?P<evaluating>Running evaluation on a validation set)"
    rf"|(?P<fresh>Starting training from)"
    rf"|(?P<resumed>Restored checkpoint from|Resuming training)"
    rf"|(?P<finished>Finished training)"
    rf"|Avg objects per second: (?P<objects>{NUMBER})"
    rf"|(?P<stalled>Stalled ops:)"
    rf"|(?P<no_memory>OOM when allocating tensor|ResourceExhaustedError)"
    rf"|(?P<refused>Log directory is not empty)"
)
MAX_SAMPLES = 200


@dataclass
class _Reading:
    """What has been seen so far."""

    settings: Settings
    points: list[Point] = field(default_factory=list)
    evaluations: list[ForeignEvaluation] = field(default_factory=list)
    events: list[ForeignEvent] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    step: int | None = None
    loss: float | None = None
    is_first_of_session: bool = True
    """The first line of a session measures its start, not a step."""
    evaluation_step: int | None = None
    """Of the last evaluation of this session."""
    seconds: float = 0.0
    timed_step: int | None = None
    """Of the last line with a time."""
    objects_per_s: float | None = None
    is_finished: bool = False


def parse(text: str) -> Transcript:
    """A log, or a part of one; where several runs follow each other, the last of them."""
    lines = [RANK_PREFIX.sub("", line) for line in lines_of(text)]
    first, earlier = _last_run(lines)
    lines = lines[first:]
    reading = _Reading(openseq2seq_settings.find("\n".join(lines)))
    for line in lines:
        if match := SAMPLE.search(line):
            _take_sample(reading, match)
            continue
        for token in TOKEN.finditer(line):
            _take(reading, token)
    return Transcript(
        system=SYSTEM,
        points=tuple(reading.points),
        evaluations=tuple(_last_of_each_step(reading.evaluations)),
        settings=reading.settings,
        events=tuple(reading.events),
        samples=tuple(reading.samples),
        bleu_kind="teacher-forced" if any(e.bleu is not None for e in reading.evaluations) else None,
        duration_s=reading.seconds or None,
        is_finished=reading.is_finished,
        remarks=(*_remarks(reading), *earlier),
    )


def _last_run(lines: list[str]) -> tuple[int, list[str]]:
    """Where the last run begins, and what came before it in a sentence.

    A run begins where training starts from scratch and the steps count anew. A start that was refused, while another
    run goes on writing, begins nothing.
    """
    first, start, last_step, earlier = 0, None, None, []
    for place, line in enumerate(lines):
        if "Starting training from scratch" in line:
            start = place if start is None else start
        elif match := re.search(r"[Gg]lobal step (\d+):", line):
            step = int(match[1])
            if start is not None and last_step is not None and step < last_step:
                first = start
                earlier.append(f"{last_step:,}")
            start, last_step = None, step
    if not earlier:
        return 0, []
    runs = "an earlier run" if len(earlier) == 1 else f"{len(earlier)} earlier runs"
    return first, [f"the log holds {runs}, up to step {', '.join(earlier)}; only the last one is looked at"]


def _take(reading: _Reading, token: "re.Match[str]") -> None:
    kind = token.lastgroup
    if token["step"] is not None:
        _begin_point(reading, int(token["step"]))
    elif token["loss"] is not None:
        reading.loss = number(token["loss"])
        _store_point(reading, None)
    elif token["seconds"] is not None:
        seconds = 3600 * int(token["hours"]) + 60 * int(token["minutes"]) + float(token["seconds"])
        _end_point(reading, seconds)
    elif token["eval_loss"] is not None:
        _add_evaluation(reading, number(token["eval_loss"]))
    elif token["bleu"] is not None:
        _add_bleu(reading, number(token["bleu"]))
    elif token["objects"] is not None:
        reading.objects_per_s = number(token["objects"])
    elif kind == "finished":
        reading.is_finished = True
    elif kind in ("fresh", "resumed"):
        _begin_session(reading, kind)
    elif kind in EVENTS:
        reading.events.append(ForeignEvent(kind, EVENTS[kind], reading.step))


EVENTS = {
    "stalled": "Horovod says that ranks wait for others",
    "no_memory": "a device ran out of memory",
    "refused": "another start was refused because the log directory was not empty",
}


def _begin_session(reading: _Reading, kind: str) -> None:
    is_restart = bool(reading.points)
    text = "training starts from scratch" if kind == "fresh" else "training goes on from a checkpoint"
    name = "resumed" if kind == "resumed" or is_restart else "started"
    if not (reading.events and reading.events[-1].kind == name and reading.is_first_of_session):
        reading.events.append(ForeignEvent(name, text, reading.step))
    reading.is_first_of_session, reading.is_finished = True, False
    reading.step, reading.loss, reading.evaluation_step = None, None, None


def _begin_point(reading: _Reading, step: int) -> None:
    if reading.step is not None and step < reading.step:  # a new start that the log does not announce
        reading.is_first_of_session, reading.evaluation_step = True, None
        reading.events.append(ForeignEvent("resumed", "the steps count anew", step))
    _place_waiting_evaluation(reading, step)
    reading.step, reading.loss = step, None


def _store_point(reading: _Reading, step_s: float | None) -> None:
    if reading.step is not None:
        smoothing = reading.settings.label_smoothing
        is_plain = smoothing == 0
        reading.points.append(
            Point(
                step=reading.step,
                loss=reading.loss if is_plain else None,
                smoothed_loss=None if is_plain else reading.loss,
                step_s=step_s,
            )
        )


def _end_point(reading: _Reading, seconds: float) -> None:
    """The time comes last. In a session's first line it is the time of the start, shared out over steps."""
    if reading.step is None:
        return
    every = reading.settings.log_every_steps
    is_first = reading.is_first_of_session or reading.timed_step is None
    # Lines that are missing between two are taken as fast as the later one.
    num_steps = every if is_first else reading.step - (reading.timed_step or 0)
    reading.seconds += seconds * (num_steps or 0)
    _store_point(reading, None if reading.is_first_of_session else seconds)
    reading.is_first_of_session, reading.timed_step = False, reading.step


WAITING = -1
"""The step of an evaluation that came before any line of progress of its session."""


def _add_evaluation(reading: _Reading, loss: float) -> None:
    every = reading.settings.evaluate_every_steps
    step = WAITING if reading.step is None else reading.step
    if reading.evaluation_step is not None and every and reading.step is not None:
        expected = reading.evaluation_step + every
        if reading.step <= expected <= reading.step + (reading.settings.log_every_steps or 0):
            step = expected
    is_plain = reading.settings.label_smoothing == 0
    reading.evaluation_step = step
    reading.evaluations.append(
        ForeignEvaluation(step, loss=loss if is_plain else None, smoothed_loss=None if is_plain else loss)
    )


def _add_bleu(reading: _Reading, score: float) -> None:
    """The score follows its loss; OpenSeq2Seq writes 0 to 1."""
    if reading.evaluations and reading.evaluations[-1].bleu is None:
        last = reading.evaluations[-1]
        reading.evaluations[-1] = ForeignEvaluation(last.step, last.loss, last.smoothed_loss, 100 * score)


def _place_waiting_evaluation(reading: _Reading, step: int) -> None:
    if reading.evaluations and reading.evaluations[-1].step == WAITING:
        last = reading.evaluations[-1]
        reading.evaluations[-1] = ForeignEvaluation(step, last.loss, last.smoothed_loss, last.bleu)
        reading.evaluation_step = step


def _last_of_each_step(evaluations: list[ForeignEvaluation]) -> Iterator[ForeignEvaluation]:
    latest = {evaluation.step: evaluation for evaluation in evaluations if evaluation.step != WAITING}
    yield from (latest[step] for step in sorted(latest))


def _take_sample(reading: _Reading, match: "re.Match[str]") -> None:
    if len(reading.samples) >= MAX_SAMPLES:
        return
    _, part, words = match.groups()
    if part == "Source" or not reading.samples or getattr(reading.samples[-1], part.lower()) is not None:
        reading.samples.append(Sample(reading.step, None, None, None))
    last = reading.samples.pop()
    reading.samples.append(
        Sample(
            last.step,
            words if part == "Source" else last.source,
            words if part == "Target" else last.target,
            words if part == "Prediction" else last.prediction,
        )
    )


def _remarks(reading: _Reading) -> Iterator[str]:
    if reading.settings.label_smoothing is None:
        yield "the log does not say whether its losses are label-smoothed; they are taken as smoothed"
    if reading.seconds:
        yield "the log has no clock: times are the sum of the times per step that it prints, evaluations included"
    if reading.objects_per_s is not None:
        yield f"the log counts {reading.objects_per_s:,.0f} objects a second at its end"
