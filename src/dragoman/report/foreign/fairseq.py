"""fairseq logs: lines with pipes and commas, or JSON, of all its years.

    | epoch 001:    450 / 1891 loss=11.521, nll_loss=10.881, …, num_updates=445, lr=8.9e-05, gnorm=1.543, wall=882
    2020-07-17 06:48:46 | INFO | train_inner | epoch 001:    100 / 2000 loss=15.073, …
    2021-01-05 21:54:56 | INFO | train_inner | {"epoch": 1, "loss": "15.878", …, "num_updates": "100"}
    [2022-01-05 21:54:56,123][train_inner][INFO] - {"epoch": 1, "update": 0.05, "loss": "15.878", …}
    epoch 001:   5%|▌    | 100/2000 [01:40<31:40, 1.00it/s, loss=15.073, …, num_updates=100, …]

Its losses are bits a token; here they become nats. `loss` holds label smoothing where there is any, `nll_loss` none.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dragoman.report.foreign import fairseq_settings, scalars
from dragoman.report.foreign.scalars import LN2, bleu_scale
from dragoman.report.foreign.text import NUMBER, clock_s, lines_of, number, of_one_rank
from dragoman.report.foreign.transcript import ForeignEvaluation, ForeignEvent, Point, Settings, Transcript

SYSTEM = "fairseq"
MARK = re.compile(
    r"\| epoch \d+[: ]+\s*\d+ / \d+ \w+=|\| INFO \| (?:fairseq|train_inner|train|valid)|\| epoch \d+ \| (?:valid|loss) "
    r"|\]\[(?:fairseq[\w.]*|train_inner)\]\[INFO\] - |^\{\"epoch\": \d+, \"(?:update|loss|valid_loss)\""
    r"|epoch \d+:\s+\d+%\|.{0,40}\d+/\d+ \[.*?, loss=",
    re.MULTILINE,
)

INNER = re.compile(r"epoch (?P<epoch>\d+):?\s+(?P<place>\d+) / (?P<size>\d+) (?P<stats>\w+=.*)")
VALID = re.compile(r"epoch \d+ \| valid on '(?P<subset>[^']+)' subset \| (?P<stats>.*)")
EPOCH = re.compile(r"epoch \d+ \| (?P<stats>(?:train )?loss .*num_updates \d+.*)")
BAR = re.compile(
    r"epoch (?P<epoch>\d+):\s+\d+%\|.{0,80}?(?P<place>\d+)/(?P<size>\d+) \[[^,\]]*, (?P<stats>.*loss=.*)\]"
)
JSON = re.compile(r"(?:[|\]] ?(?:INFO \| |\[)(?P<tag>\w+)(?: \| |\]\[INFO\] - ))?(?P<stats>\{\"epoch\":.*\})\s*$")
COMMA_STAT = re.compile(rf"(\w+)=({NUMBER})")
PIPE_STAT = re.compile(rf"(?:^|\| )(?:valid[_ ])?(\w+) ({NUMBER})%?(?= \||\s*$)")
EVENTS = {
    "saved": re.compile(r"[Ss]aved checkpoint (?P<text>\S+)"),
    "resumed": re.compile(r"[Ll]oaded checkpoint (?P<text>\S+)"),
    "overflow": re.compile(r"(?P<text>overflow detected)"),
    "error": re.compile(r"(?P<text>FloatingPointError.*|OOM: Ran out of memory.*|RuntimeError.*)"),
}
FINISHED = re.compile(r"done training in ([\d.]+) seconds")
SURE_S = 20.0
"""Whole seconds of `wall` over a shorter time say too little about a step."""


@dataclass
class _Reading:
    settings: Settings
    points: list[Point] = field(default_factory=list)
    epoch_points: list[Point] = field(default_factory=list)
    evaluations: dict[int, ForeignEvaluation] = field(default_factory=dict)
    events: list[ForeignEvent] = field(default_factory=list)
    subsets: list[str] = field(default_factory=list)
    step: int | None = None
    wall_s: float | None = None
    """Of the line of progress before, in this session, where nothing but training came between."""
    session_wall_s: float = 0.0
    earlier_sessions_s: float = 0.0
    tokens: list[float] = field(default_factory=list)
    is_finished: bool = False
    num_overflows: int = 0
    is_dated: bool = False


def parse(text: str) -> Transcript:
    """A log, or a part of one; several starts may follow each other."""
    reading = _Reading(fairseq_settings.find(text))
    for line in of_one_rank(lines_of(text)):
        _take(reading, line)
    points = reading.points or reading.epoch_points
    duration_s = reading.earlier_sessions_s + reading.session_wall_s
    if not duration_s:  # some versions write wall=0 all along; their lines are dated
        duration_s = scalars.duration([p.time_s for p in points], [p.step for p in points])[0] or 0.0
    scores = [e.bleu for e in reading.evaluations.values() if e.bleu is not None]
    return Transcript(
        system=SYSTEM,
        points=tuple(points),
        evaluations=tuple(_scaled(reading, bleu_scale(scores))),
        settings=fairseq_settings.with_tokens(reading.settings, reading.tokens),
        events=tuple(reading.events),
        bleu_kind="free-running" if scores else None,
        duration_s=duration_s or None,
        is_finished=reading.is_finished,
        remarks=tuple(_remarks(reading)),
    )


def _take(reading: _Reading, line: str) -> None:
    if match := JSON.search(line):
        _take_json(reading, match["tag"], match["stats"], line)
    elif match := VALID.search(line):
        _take_evaluation(reading, match["subset"], _stats(PIPE_STAT, match["stats"]), line)
    elif (match := INNER.search(line) or BAR.search(line)) and "valid on" not in line:
        stats = _stats(COMMA_STAT, match["stats"])
        if "num_updates" not in stats:  # the oldest logs count only within the epoch
            stats["num_updates"] = (int(match["epoch"]) - 1) * int(match["size"]) + int(match["place"])
        _take_progress(reading, stats, line)
    elif match := EPOCH.search(line):
        _take_epoch(reading, _stats(PIPE_STAT, match["stats"]), line)
    elif match := FINISHED.search(line):
        reading.is_finished = True
        reading.session_wall_s = max(reading.session_wall_s, float(match[1]))
    else:
        _take_event(reading, line)


def _take_event(reading: _Reading, line: str) -> None:
    for kind, pattern in EVENTS.items():
        if match := pattern.search(line):
            reading.num_overflows += kind == "overflow"
            if kind != "overflow":
                reading.events.append(ForeignEvent(kind, match["text"][:200], reading.step))
            reading.wall_s = None if kind == "saved" else reading.wall_s
            return


def _take_json(reading: _Reading, tag: str | None, text: str, line: str) -> None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    stats = {}
    for name, value in found.items():
        words = str(value).rstrip("%")
        if re.fullmatch(NUMBER, words):
            stats[name] = number(words)
    if subset := _subset(tag, stats):
        bare = {name.removeprefix(f"{subset}_"): value for name, value in stats.items()}
        _take_evaluation(reading, subset, bare, line)
    elif tag == "train" or any(name.startswith("train_loss") for name in stats):
        bare = {name.removeprefix("train_"): value for name, value in stats.items() if name != "train_train_wall"}
        _take_epoch(reading, bare, line)
    elif "loss" in stats:
        _take_progress(reading, stats, line)


def _subset(tag: str | None, stats: Mapping[str, float]) -> str | None:
    """The name of the text that was evaluated: what stands before "_loss", unless that is the training's own."""
    names = [name.removesuffix("_loss") for name in stats if name.endswith("_loss")]
    if tag is not None and tag not in ("train", "train_inner"):
        return tag if tag in names else None
    return next((name for name in names if name.startswith("valid")), None)


def _stats(pattern: "re.Pattern[str]", text: str) -> dict[str, float]:
    return {name: number(value) for name, value in pattern.findall(text)}


def _losses(reading: _Reading, stats: Mapping[str, float]) -> tuple[float | None, float | None]:
    """Plain and smoothed, in nats. Without smoothing `loss` is the plain one."""
    loss, plain = stats.get("loss"), stats.get("nll_loss")
    is_smoothed = plain is not None or reading.settings.label_smoothing != 0
    if not is_smoothed:
        return _nats(loss), None
    return _nats(plain), _nats(loss)


def _nats(bits: float | None) -> float | None:
    return None if bits is None else bits * LN2


def _take_progress(reading: _Reading, stats: Mapping[str, float], line: str) -> None:
    step = int(stats.get("num_updates", -1))
    if step < 0:
        return
    if (reading.step is not None and step < reading.step) or _clock_went_back(reading, stats):
        _begin_session(reading, step)
    elif step == reading.step:
        return  # another rank says the same
    plain, smoothed = _losses(reading, stats)
    reading.points.append(
        Point(
            step=step,
            loss=plain,
            smoothed_loss=smoothed,
            step_s=_step_seconds(reading, step, stats, is_dated="| INFO |" in line),
            learning_rate=stats.get("lr"),
            gradient_norm=stats.get("gnorm"),
            tokens_per_s=stats.get("wps") or None,
            time_s=clock_s(line),
        )
    )
    reading.tokens.append(stats.get("wpb", math.nan))
    reading.step, reading.wall_s = step, stats.get("wall")
    reading.session_wall_s = max(reading.session_wall_s, stats.get("wall", 0.0))


def _clock_went_back(reading: _Reading, stats: Mapping[str, float]) -> bool:
    """`wall` counts from the start of the program, so a smaller one is a new start."""
    return reading.session_wall_s > 0 and stats.get("wall", math.inf) < reading.session_wall_s - SURE_S


def _begin_session(reading: _Reading, step: int) -> None:
    reading.earlier_sessions_s += reading.session_wall_s
    reading.session_wall_s, reading.wall_s, reading.is_finished = 0.0, None, False
    if not (reading.events and reading.events[-1].kind == "resumed"):
        reading.events.append(ForeignEvent("resumed", "the program started anew", step))


def _step_seconds(reading: _Reading, step: int, stats: Mapping[str, float], *, is_dated: bool) -> float | None:
    """Newer logs average speed between two lines, older ones since the epoch began: there the clock is better."""
    wall_s, words, words_per_s, per_s = (stats.get(name) for name in ("wall", "wpb", "wps", "ups"))
    if not is_dated and wall_s is not None and reading.wall_s is not None and reading.step is not None:
        passed_s, num_steps = wall_s - reading.wall_s, step - reading.step
        if passed_s >= SURE_S and num_steps > 0:
            return passed_s / num_steps
    if words and words_per_s:
        return words / words_per_s
    return 1 / per_s if per_s else None


def _take_epoch(reading: _Reading, stats: Mapping[str, float], line: str) -> None:
    """Means over an epoch: points only where the log has no others."""
    step = int(stats.get("num_updates", -1))
    if step >= 0 and "loss" in stats:
        plain, smoothed = _losses(reading, stats)
        seconds = _step_seconds(reading, step, stats, is_dated=True)
        rate, norm, speed = stats.get("lr"), stats.get("gnorm"), stats.get("wps")
        reading.epoch_points.append(Point(step, plain, smoothed, seconds, rate, norm, speed, clock_s(line)))
        reading.session_wall_s = max(reading.session_wall_s, stats.get("wall", 0.0))
    reading.wall_s = None


def _take_evaluation(reading: _Reading, subset: str, stats: Mapping[str, float], line: str) -> None:
    """Of the first subset that is evaluated; others are other texts."""
    reading.wall_s = None
    if subset not in reading.subsets:
        reading.subsets.append(subset)
    step = int(stats["num_updates"]) if "num_updates" in stats else reading.step
    if subset != reading.subsets[0] or step is None or "loss" not in stats:
        return
    plain, smoothed = _losses(reading, stats)
    bleu = next((stats[name] for name in ("bleu", "sacrebleu") if name in stats), None)
    reading.evaluations[step] = ForeignEvaluation(step, plain, smoothed, bleu, clock_s(line))


def _scaled(reading: _Reading, scale: float) -> Iterator[ForeignEvaluation]:
    for step in sorted(reading.evaluations):
        e = reading.evaluations[step]
        yield ForeignEvaluation(step, e.loss, e.smoothed_loss, None if e.bleu is None else scale * e.bleu, e.time_s)


def _remarks(reading: _Reading) -> Iterator[str]:
    yield "fairseq's losses are bits a token; they were made nats"
    if reading.num_overflows:
        yield f"{reading.num_overflows:,} steps overflowed in half precision and were left out by fairseq"
    if len(reading.subsets) > 1:
        yield f"of {len(reading.subsets)} sets that were evaluated only {reading.subsets[0]} is looked at"
    if not reading.points and reading.epoch_points:
        yield "the log has only means over epochs"
