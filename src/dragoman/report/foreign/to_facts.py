"""A transcript becomes facts: the same shape that a run of our own has, with what was assumed written down."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from dragoman.core.run_records import EventRecord
from dragoman.report import columns, facts
from dragoman.report.foreign.known_speeds import compute_step
from dragoman.report.foreign.opening import open_transcript
from dragoman.report.foreign.transcript import Point, Transcript

IMPOSSIBLE_BLEU = 50.0
"""Of an untrained model: no free-running score can be so high before the first step."""
BYTES_PER_NUMBER = 4


def read(path: Path, price_per_hour: float | None = None) -> facts.Facts:
    """The facts of a log, event file, table or folder of another system; `price_per_hour` is of all machines."""
    return from_transcript(open_transcript(path), path, price_per_hour)


def from_transcript(transcript: Transcript, path: Path, price_per_hour: float | None = None) -> facts.Facts:
    points, lost_steps, lost_s = _standing(transcript.points)
    bleu_kind = transcript.bleu_kind or _bleu_kind_by_evidence(transcript)
    times = [point.time_s for point in transcript.points if point.time_s is not None]
    return facts.Facts(
        source=facts.Source(
            name=path.name,
            system=transcript.system,
            files=(str(path),),
            assumptions=tuple(_assumptions(transcript)),
            remarks=(*transcript.remarks, *_oddities(transcript)),
        ),
        settings=_settings(transcript, price_per_hour),
        steps=_steps(points) if points else None,
        evaluations=_evaluations(transcript, points, bleu_kind) if transcript.evaluations else None,
        events=tuple(_events(transcript)),
        corpus=_corpus(transcript),
        started_s=min(times) if times else None,
        ended_s=max(times) if times else None,
        training_s=transcript.duration_s,
        last_step=points[-1].step if points else max(e.step for e in transcript.evaluations),
        redone_steps=lost_steps or None,
        redone_s=lost_s or None,
        is_running=False if transcript.is_finished else None,
        ended="training finished" if transcript.is_finished else None,
        compute_step=compute_step(transcript.system, transcript.settings),
    )


def standing(points: Sequence[Point]) -> list[Point]:
    """Those whose work still stands at the end: where a run went back to an earlier step, what came after is lost."""
    return _standing(points)[0]


def _standing(points: Sequence[Point]) -> tuple[list[Point], int, float]:
    """And how many steps were lost, and what they had taken as far as that was told."""
    kept: list[Point] = []
    lost_steps, lost_s = 0, 0.0
    for point in points:
        if kept and point.step < kept[-1].step:
            last = kept[-1].step
            while kept and kept[-1].step >= point.step:
                gone = kept.pop()
                span = gone.step - (kept[-1].step if kept else 0)
                lost_s += (gone.step_s or 0.0) * span
            lost_steps += last - (kept[-1].step if kept else 0)
        elif kept and point.step == kept[-1].step:
            kept.pop()
        kept.append(point)
    return kept, lost_steps, lost_s


def _steps(points: list[Point]) -> columns.StepColumns:
    def column(name: str) -> list[float | None]:
        return [getattr(point, name) for point in points]

    plain, smoothed = column("loss"), column("smoothed_loss")
    seconds, speeds = column("step_s"), column("tokens_per_s")
    tokens = [s * v if s is not None and v is not None else None for s, v in zip(seconds, speeds, strict=True)]
    said = [p if p is not None else s for p, s in zip(plain, smoothed, strict=True)]
    return columns.step_columns(
        np.array([point.step for point in points], dtype=np.int64),
        steps_per_row=_steps_per_row(points),
        time_s=_floats(column("time_s")),
        loss=_floats(said),
        smoothed_loss=_floats(smoothed),
        gradient_norm=_floats(column("gradient_norm")),
        learning_rate=_floats(column("learning_rate")),
        target_tokens=_floats(tokens),
        step_s=_floats(seconds),
        is_non_finite=np.array([value is not None and not np.isfinite(value) for value in said]),
    )


def _steps_per_row(points: list[Point]) -> int:
    gaps = np.diff([point.step for point in points])
    return max(1, int(np.median(gaps))) if len(gaps) else 1


def _floats(values: list[float | None]) -> columns.Column:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _evaluations(
    transcript: Transcript, points: list[Point], bleu_kind: columns.BleuKind | None
) -> columns.Evaluations:
    last = points[-1].step + _steps_per_row(points) if points else math.inf
    found = [e for e in transcript.evaluations if e.step <= last]
    is_smoothed = _is_dev_loss_smoothed(transcript)
    losses = [e.smoothed_loss if is_smoothed else e.loss for e in found]
    return columns.evaluations(
        [e.step for e in found],
        time_s=_floats([e.time_s for e in found]),
        dev_loss=_floats(losses),
        bleu=_floats([e.bleu for e in found]),
        is_non_finite=np.array([loss is not None and not np.isfinite(loss) for loss in losses]),
        bleu_kind=bleu_kind,
        is_loss_smoothed=is_smoothed,
    )


def _is_dev_loss_smoothed(transcript: Transcript) -> bool | None:
    if any(e.loss is not None for e in transcript.evaluations):
        return None if transcript.system == "TensorBoard" else False
    return True if any(e.smoothed_loss is not None for e in transcript.evaluations) else None


def _settings(transcript: Transcript, price_per_hour: float | None) -> facts.Settings:
    said = transcript.settings
    ranks, passes = said.num_ranks, said.forward_passes_per_step
    is_whole_batch = said.pairs_per_rank is not None and ranks is not None and passes is not None
    return facts.Settings(
        model=said.model.sized() if said.model else None,
        source_vocabulary=said.source_vocabulary,
        target_vocabulary=said.target_vocabulary,
        parameters=said.num_parameters,
        tokens_per_step=round(said.tokens_per_step) if said.tokens_per_step else None,
        pairs_per_step=(said.pairs_per_rank or 0) * (ranks or 0) * (passes or 0) if is_whole_batch else None,
        max_pieces=said.max_pieces,
        cuts_long_pairs=True if transcript.system == "OpenSeq2Seq" and said.max_pieces else None,
        ranks=ranks,
        hosts=said.num_hosts,
        loss_scaling=said.loss_scaling,
        device=said.devices[0] if said.devices else None,
        is_gpu=True if said.devices else None,
        schedule=said.schedule,
        label_smoothing=said.label_smoothing,
        precision=said.precision,
        wire_bytes_per_parameter=_wire_bytes(transcript),
        wire_rung="plain" if _wire_bytes(transcript) == BYTES_PER_NUMBER else None,
        checkpoint_bytes_per_parameter=_checkpoint_bytes(transcript),
        checkpoint_every_steps=said.save_every_steps,
        evaluate_every_steps=said.evaluate_every_steps,
        max_steps=said.max_steps,
        price_per_hour=price_per_hour,
    )


def _wire_bytes(transcript: Transcript) -> float | None:
    """OpenSeq2Seq adds up in 32 bits whatever it multiplies in; fairseq adds up what it multiplies in."""
    precision = transcript.settings.precision
    if transcript.system == "OpenSeq2Seq":
        return BYTES_PER_NUMBER
    if transcript.system == "fairseq" and precision is not None:
        return BYTES_PER_NUMBER if precision == "fp32" else BYTES_PER_NUMBER / 2
    return BYTES_PER_NUMBER if transcript.system == "Marian" and precision == "fp32" else None


def _checkpoint_bytes(transcript: Transcript) -> float | None:
    """Weights and two moments; OpenSeq2Seq in mixed precision keeps the half-precision weights beside them."""
    if transcript.system != "OpenSeq2Seq" or transcript.settings.precision is None:
        return None
    return {"mixed": 14.0, "fp32": 12.0}.get(transcript.settings.precision)


def _corpus(transcript: Transcript) -> facts.CorpusFacts | None:
    files = transcript.settings.train_files
    return facts.CorpusFacts(files=tuple(facts.CorpusFile(name, None, None) for name in files)) if files else None


def _events(transcript: Transcript) -> Iterator[EventRecord]:
    """An event before the first line of progress is at step 0; logs do not tell when it was."""
    times = {point.step: point.time_s for point in transcript.points}
    for event in transcript.events:
        step = event.step or 0
        time_s = times.get(step)
        time = datetime.fromtimestamp(time_s, UTC).isoformat() if time_s is not None and np.isfinite(time_s) else ""
        yield EventRecord(time=time, kind=event.kind, step=step, rank=0, text=event.text)


def _untrained_bleu(transcript: Transcript) -> float | None:
    first = min(transcript.evaluations, key=lambda e: e.step, default=None)
    return first.bleu if first is not None and first.step <= 1 else None


def _bleu_kind_by_evidence(transcript: Transcript) -> columns.BleuKind | None:
    untrained = _untrained_bleu(transcript)
    return "teacher-forced" if untrained is not None and untrained > IMPOSSIBLE_BLEU else None


def _assumptions(transcript: Transcript) -> Iterator[str]:
    said = transcript.settings
    if said.num_hosts is not None and said.hosts_basis:
        yield f"at least {said.num_hosts} {'host' if said.num_hosts == 1 else 'hosts'}: {said.hosts_basis}"
    if said.parameters_basis and "computed" in said.parameters_basis:
        yield f"{said.num_parameters:,} parameters, {said.parameters_basis}"
    if _wire_bytes(transcript) and (said.num_ranks or 1) > 1:
        yield (
            f"gradients cross the wire with {_wire_bytes(transcript):g} bytes a parameter in one ring over all ranks, "
            f"as {transcript.system} does by default"
        )
    if compute := compute_step(transcript.system, said):
        yield f"a step without a network takes {compute.seconds:.2f} s: {compute.source}"


def _oddities(transcript: Transcript) -> Iterator[str]:
    untrained = _untrained_bleu(transcript)
    if untrained is not None and untrained > IMPOSSIBLE_BLEU:
        yield (
            f"before any training BLEU reads {untrained / 100:.4f}: it scores arg-max under teacher forcing, which "
            "sees the reference, and is no BLEU"
        )
    shown = [s for s in transcript.samples if s.source and s.target and s.step is not None]
    uneven = [s for s in shown if _is_uneven(s.source or "", s.target or "")]
    if uneven:
        yield f"{len(uneven)} of {len(shown)} pairs that the log shows have sides of very different lengths"


def _is_uneven(source: str, target: str) -> bool:
    """Pieces, the marks of beginning and end counted on both sides."""
    lengths = sorted((len(source.split()), len(target.split())))
    return lengths[1] > 2.5 * lengths[0] and lengths[1] > 10
