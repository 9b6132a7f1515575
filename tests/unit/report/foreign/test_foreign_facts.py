"""Transcripts become facts; and the public runs say what is known of them."""

from pathlib import Path

import numpy as np
import pytest

from dragoman.report.foreign.to_facts import from_transcript, read, standing
from dragoman.report.foreign.transcript import ForeignEvaluation, Point, Settings, Transcript

WHERE = Path("log.txt")


def transcript(**changes: object) -> Transcript:
    points = tuple(Point(step=100 * i, smoothed_loss=9.0 / i, step_s=2.0, tokens_per_s=500.0) for i in range(1, 6))
    fields: dict[str, object] = {"system": "OpenSeq2Seq", "points": points, **changes}
    return Transcript(**fields)  # type: ignore[arg-type]


def test_columns_hold_what_was_said_and_nan_elsewhere() -> None:
    facts = from_transcript(transcript(), WHERE)
    assert facts.steps is not None
    assert facts.steps.step.tolist() == [100, 200, 300, 400, 500]
    assert facts.steps.loss.tolist() == [9.0, 4.5, 3.0, 2.25, 1.8]
    assert facts.steps.target_tokens.tolist() == [1000.0] * 5
    assert np.isnan(facts.steps.learning_rate).all()
    assert (facts.steps.steps_per_row, facts.last_step) == (100, 500)
    assert facts.settings.price_per_hour is None
    assert from_transcript(transcript(), WHERE, 12.24).settings.price_per_hour == 12.24


def test_a_loss_that_is_no_number_is_flagged_and_one_that_is_not_there_is_not() -> None:
    points = (Point(1, loss=2.0), Point(2, loss=float("nan")), Point(3), Point(4, smoothed_loss=float("inf")))
    steps = from_transcript(transcript(points=points), WHERE).steps
    assert steps is not None
    assert steps.is_non_finite.tolist() == [False, True, False, True]


def test_work_that_a_restart_threw_away_does_not_stand() -> None:
    points = [Point(step) for step in (100, 200, 300, 400, 200, 300)]
    assert [point.step for point in standing(points)] == [100, 200, 300]
    again = tuple(Point(step, loss=float(place)) for place, step in enumerate((100, 200, 300, 400, 0, 100)))
    evaluations = (ForeignEvaluation(0, loss=9.0), ForeignEvaluation(400, loss=3.0))
    facts = from_transcript(transcript(points=again, evaluations=evaluations), WHERE)
    assert facts.last_step == 100
    assert facts.evaluations is not None
    assert facts.evaluations.step.tolist() == [0]


def test_an_untrained_model_that_scores_high_was_shown_the_reference() -> None:
    evaluations = (ForeignEvaluation(0, loss=9.5, bleu=94.65), ForeignEvaluation(4001, loss=2.4, bleu=22.9))
    facts = from_transcript(transcript(system="TensorBoard", evaluations=evaluations), WHERE)
    assert facts.evaluations is not None
    assert facts.evaluations.bleu_kind == "teacher-forced"
    assert any(remark.startswith("before any training BLEU reads 0.9465") for remark in facts.source.remarks)
    honest = (ForeignEvaluation(0, loss=9.5, bleu=0.1), ForeignEvaluation(4001, loss=2.4, bleu=22.9))
    found = from_transcript(transcript(system="TensorBoard", evaluations=honest), WHERE).evaluations
    assert found is not None
    assert found.bleu_kind is None


@pytest.mark.parametrize(
    "precision, pairs, seconds",
    [("mixed", 256, 0.61), ("mixed", 128, 0.305), ("fp32", 128, 0.4675), ("fp16", 256, None)],
)
def test_the_step_without_a_network_is_known_for_what_was_measured(
    precision: str, pairs: int, seconds: float | None
) -> None:
    said = Settings(devices=("Tesla V100-PCIE-16GB",) * 4, pairs_per_rank=pairs, precision=precision)
    step = from_transcript(transcript(settings=said), WHERE).compute_step
    assert (step and step.seconds) == (pytest.approx(seconds) if seconds else None)


def test_hardware_that_the_log_does_not_name_is_not_assumed() -> None:
    said = Settings(pairs_per_rank=256, precision="mixed", num_ranks=4)
    facts = from_transcript(transcript(settings=said), WHERE)
    assert facts.compute_step is None
    assert facts.settings.device is None
    assert facts.settings.is_gpu is None


@pytest.mark.parametrize(
    "system, precision, expected",
    [("OpenSeq2Seq", "mixed", 4), ("fairseq", "fp16", 2), ("fairseq", "fp32", 4), ("Marian", "mixed", None)],
)
def test_bytes_on_the_wire_follow_the_system(system: str, precision: str, expected: float | None) -> None:
    facts = from_transcript(transcript(system=system, settings=Settings(precision=precision)), WHERE)
    assert facts.settings.wire_bytes_per_parameter == expected


# The public runs


def test_run_003_is_read(shared_data: Path) -> None:
    facts = read(shared_data / "runs" / "log-003-2x2-v100.txt.gz")
    assert facts.steps is not None and facts.evaluations is not None and facts.training_s is not None
    assert facts.last_step == 106_300
    assert float(np.nanmedian(facts.steps.step_s)) == pytest.approx(1.941, abs=0.0005)
    assert facts.training_s / 3600 == pytest.approx(57.4, abs=0.2)
    assert (len(facts.evaluations), facts.evaluations.bleu_kind) == (27, "teacher-forced")
    assert facts.evaluations.bleu[0] == pytest.approx(94.65)
    assert facts.evaluations.step[-1] == 104_026
    assert facts.evaluations.dev_loss[-1] == 1.5469
    settings = facts.settings
    assert (settings.ranks, settings.hosts, settings.parameters) == (4, 2, 60_880_896)
    assert (settings.checkpoint_every_steps, settings.max_steps) == (299_998, 300_000)
    assert settings.device == "Tesla V100-PCIE-16GB"
    assert facts.compute_step is not None and facts.compute_step.seconds == 0.61


def test_the_slow_link_is_read(shared_data: Path) -> None:
    facts = read(shared_data / "runs" / "log-slow-link-2x2-v100.txt.gz", price_per_hour=12.24)
    assert facts.steps is not None and facts.training_s is not None
    assert facts.last_step == 7_500
    assert float(np.nanmedian(facts.steps.step_s)) == pytest.approx(34.893, abs=0.01)
    assert facts.training_s / 3600 == pytest.approx(73, abs=0.3)
    assert {event.kind for event in facts.events} == {"started", "stalled", "refused"}


def test_the_diverged_run_is_read(shared_data: Path) -> None:
    facts = read(shared_data / "runs" / "diverged")
    assert facts.steps is not None and facts.evaluations is not None and facts.training_s is not None
    assert int(facts.steps.step[facts.steps.is_non_finite][0]) == 6_801
    assert facts.last_step == 42_801
    assert facts.training_s / 3600 == pytest.approx(19.9, abs=0.1)
    assert facts.evaluations.is_non_finite.tolist() == [False, False] + [True] * 9


def test_any_beginning_of_a_real_log_is_read_or_refused_clearly(shared_data: Path, tmp_path: Path) -> None:
    from dragoman.core.errors import UserError
    from dragoman.report.foreign.opening import decode, read_bytes

    text = decode(read_bytes(shared_data / "runs" / "log-003-2x2-v100.txt.gz"))
    last = -1
    for share in (0.01, 0.05, 0.2, 0.33, 0.5, 0.77, 0.999):
        file = tmp_path / "cut.txt"
        file.write_text(text[: int(share * len(text))], encoding="utf-8")
        try:
            facts = read(file)
        except UserError:
            assert share < 0.3
            continue
        assert facts.last_step is not None and facts.last_step >= last
        last = facts.last_step
        assert facts.steps is not None
        known = facts.steps.step_s[np.isfinite(facts.steps.step_s)]
        assert len(known) == 0 or 1.8 < float(np.median(known)) < 2.0
