"""Marian training logs: `[time] Ep. 1 : Up. 1000 : Sen. 64,000 : Cost 4.1 : Time 95.1s : 21000 words/s : L.r. 3e-4`.

What `Cost` means depends on `cost-type`, which the log prints among its settings: a mean over words, a mean over
sentences, or a sum. Where it is no mean over words it is made one with the log's own counts, or left out.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dragoman.report.foreign import marian_settings
from dragoman.report.foreign.scalars import bleu_scale
from dragoman.report.foreign.text import NUMBER, clock_s, lines_of, number, of_one_rank
from dragoman.report.foreign.transcript import ForeignEvaluation, ForeignEvent, Point, Settings, Transcript

SYSTEM = "Marian"
MARK = re.compile(r"Ep\. [\d.]+ : Up\. \d+ : |\] \[marian\] Marian v|\] \[config\] [\w-]+:")

PROGRESS = re.compile(r"(?<!\[valid\] )Ep\. [\d.]+ : Up\. (?P<step>\d+) : Sen\. (?P<sentences>[\d,]+) : (?P<rest>.*)")
COST = re.compile(rf"Cost (?P<cost>{NUMBER})(?: \* (?P<labels>[\d,]+))?")
TIME = re.compile(rf"Time (?P<seconds>{NUMBER})s")
WORDS = re.compile(rf"(?P<words>{NUMBER}) words/s")
NORM = re.compile(rf"gNorm (?P<norm>{NUMBER})")
RATE = re.compile(rf"L\.r\. (?P<rate>{NUMBER})")
VALID = re.compile(rf"\[valid\] Ep\. [\d.]+ : Up\. (?P<step>\d+) : (?P<metric>[\w-]+) : (?P<value>{NUMBER})")
EVENTS = {
    "started": re.compile(r"\] Training started"),
    "resumed": re.compile(r"Loading (?:model from|Adam parameters)|\[training\] Model reloaded|Reloading model"),
    "saved": re.compile(r"Saving model (?:weights and runtime parameters )?to"),
    "error": re.compile(r"\[\w+\] (?:Error:|Aborted)|\] Error:"),
}
WORD_METRICS = ("ce-mean-words", "perplexity")
"""Validation metrics that are, or can be made, nats a word."""
BLEU_METRICS = ("bleu-detok", "bleu", "sacrebleu", "bleu-segmented", "translation")
"""Of free-running translations; the first that is there is taken. `translation` is whatever a script prints."""


@dataclass
class _Reading:
    settings: Settings
    cost_type: str | None
    points: list[Point] = field(default_factory=list)
    metrics: dict[int, dict[str, float]] = field(default_factory=dict)
    events: list[ForeignEvent] = field(default_factory=list)
    sentences: int | None = None
    step: int | None = None
    seconds: float = 0.0
    is_first_of_session: bool = True
    is_finished: bool = False


def parse(text: str) -> Transcript:
    """A log, or a part of one; several starts may follow each other."""
    lines = of_one_rank(lines_of(text))
    settings, cost_type = marian_settings.find(lines)
    reading = _Reading(settings, cost_type)
    for line in lines:
        if match := VALID.search(line):
            reading.metrics.setdefault(int(match["step"]), {})[match["metric"]] = number(match["value"])
        elif match := PROGRESS.search(line):
            _take_progress(reading, match, clock_s(line))
        elif "] Training finished" in line:
            reading.is_finished = True
        else:
            _take_event(reading, line)
    score = next((m for m in BLEU_METRICS if any(m in found for found in reading.metrics.values())), None)
    return Transcript(
        system=SYSTEM,
        points=tuple(reading.points),
        evaluations=tuple(_evaluations(reading, score)),
        settings=marian_settings.with_tokens(settings, reading.points),
        events=tuple(reading.events),
        bleu_kind="free-running" if score else None,
        duration_s=reading.seconds or None,
        is_finished=reading.is_finished,
        remarks=tuple(_remarks(reading, score)),
    )


def _take_event(reading: _Reading, line: str) -> None:
    for kind, pattern in EVENTS.items():
        if pattern.search(line):
            if kind == "started":
                reading.is_first_of_session, reading.is_finished = True, False
                kind = "resumed" if reading.points else kind
            if kind == "saved" and ".npz.orig" in line:
                return
            words = re.sub(r"^\[[^\]]*\]\s*", "", line)
            if not (reading.events and reading.events[-1].kind == kind and reading.events[-1].step == reading.step):
                reading.events.append(ForeignEvent(kind, words[:200], reading.step))
            return


def _take_progress(reading: _Reading, match: "re.Match[str]", time_s: float | None) -> None:
    step, sentences, rest = int(match["step"]), int(match["sentences"].replace(",", "")), match["rest"]
    if reading.step is not None and step == reading.step:
        return
    if reading.step is not None and step < reading.step:
        reading.is_first_of_session = True
        reading.events.append(ForeignEvent("resumed", "the updates count anew", step))
    found = {name: _number(pattern, rest) for name, pattern in PARTS.items()}
    seconds, words_per_s = found["seconds"], found["words"]
    num_steps = _steps_since(reading, step)
    num_sentences = sentences - reading.sentences if reading.sentences is not None else None
    is_per_label = (COST.search(rest) or {"labels": None})["labels"] is not None
    loss = _per_word(reading, found["cost"], is_per_label, num_sentences, num_steps, seconds, words_per_s)
    is_plain = reading.settings.label_smoothing == 0
    reading.points.append(
        Point(
            step=step,
            loss=loss if is_plain else None,
            smoothed_loss=None if is_plain else loss,
            step_s=seconds / num_steps if seconds is not None and num_steps else None,
            learning_rate=found["rate"],
            gradient_norm=found["norm"],
            tokens_per_s=words_per_s,
            time_s=time_s,
        )
    )
    reading.seconds += seconds or 0.0
    reading.step, reading.sentences = step, sentences
    reading.is_first_of_session = False


PARTS = {"cost": COST, "seconds": TIME, "words": WORDS, "norm": NORM, "rate": RATE}


def _number(pattern: "re.Pattern[str]", text: str) -> float | None:
    match = pattern.search(text)
    return number(match[1]) if match else None


def _steps_since(reading: _Reading, step: int) -> int | None:
    """Updates since the line before; the first line of a session stands for `disp-freq` of them."""
    if not reading.is_first_of_session and reading.step is not None:
        return step - reading.step
    every = reading.settings.log_every_steps
    return min(every, step) if every and not (reading.points and reading.is_first_of_session) else None


def _per_word(
    reading: _Reading,
    cost: float | None,
    is_per_label: bool,
    num_sentences: int | None,
    num_steps: int | None,
    seconds: float | None,
    words_per_s: float | None,
) -> float | None:
    """The cost in nats a word, or None where that cannot be known. A cost that is no number stays none."""
    if cost is None or not math.isfinite(cost):
        return cost
    kind = reading.cost_type
    if kind == "ce-mean-words" or is_per_label:
        return cost
    if kind == "perplexity":
        return math.log(cost) if cost > 0 else None
    num_words = seconds * words_per_s if seconds and words_per_s else None
    counts = {"ce-mean": num_sentences, "cross-entropy": num_sentences, "ce-sum": num_steps}
    count = counts.get(kind or "")
    return cost * count / num_words if num_words and count and count > 0 else None


def _evaluations(reading: _Reading, score: str | None) -> Iterator[ForeignEvaluation]:
    scores = [found[score] for found in reading.metrics.values() if score and score in found]
    scale = bleu_scale(scores)
    for step, found in sorted(reading.metrics.items()):
        metric = next((metric for metric in WORD_METRICS if metric in found), None)
        loss = None if metric is None else _nats(metric, found[metric])
        bleu = scale * found[score] if score and score in found else None
        if loss is not None or bleu is not None:
            yield ForeignEvaluation(step, loss=loss, bleu=bleu)


def _nats(metric: str, value: float) -> float:
    if metric == "ce-mean-words":
        return value
    return math.log(value) if value > 0 else math.nan


def _remarks(reading: _Reading, score: str | None) -> Iterator[str]:
    if score == "translation":
        yield "the score `translation` is whatever the validation script prints; it is taken for BLEU"
    if reading.cost_type is None and reading.points:
        yield "the log does not print cost-type, so the unit of its training cost is not known and it is left out"
    elif reading.cost_type in ("ce-mean", "cross-entropy", "ce-sum"):
        yield f"the training cost is {reading.cost_type}; it was made a mean over words with the log's own counts"
    metrics = {metric for found in reading.metrics.values() for metric in found}
    if metrics & {"cross-entropy"} and not metrics & set(WORD_METRICS):
        yield "the validation cross-entropy is a sum over a sentence; without a count of words it is left out"
    if reading.settings.label_smoothing is None and reading.points:
        yield "the log does not print label-smoothing; its training cost is taken as smoothed"
