"""Trained, overfitted, diverged, and the learning rate: questions 2, 3 and 6."""

import dataclasses

import numpy as np
import pytest

from dragoman.core.config import ScheduleConfig
from dragoman.core.run_records import EventRecord
from dragoman.report.columns import evaluations, step_columns
from dragoman.report.facts import Facts, Settings, Source
from dragoman.report.questions.divergence import did_it_diverge
from dragoman.report.questions.overfitting import is_overfitted
from dragoman.report.questions.schedule import explain_the_learning_rate
from dragoman.report.questions.trained import bleu_sentences, is_trained
from tests.unit.report.made_up import curve, rank_steps, run

STEPS = np.arange(1, 21, dtype=float)
FALLING = 2 + 5 * (100 * STEPS) ** -0.3
FLAT = 2 + 40 * (100 * STEPS) ** -1.2
RISING = np.concatenate([2 + 5 * STEPS[:10] ** -0.5, 3.6 + 0.05 * STEPS[:10]])
LEARNS_BY_HEART = np.linspace(4, 1, 20)


def test_a_falling_curve_still_improves_and_says_what_more_steps_would_buy() -> None:
    found = is_trained(run(evaluations=curve(FALLING), settings={"price_per_hour": 3.0}))
    assert found.verdict == "improving"
    assert found.sentence.startswith("No, it still improves: 400 more steps (2 min 2 s, costing 0.10) would lower")
    assert found.advice[0].text == "Train on to step 2,400 (2 min 2 s, costing 0.10)."
    gain = found.value("gain of a fifth more steps")
    assert gain is not None and 0.005 < gain < 0.05


def test_more_steps_count_from_the_end_of_training_not_from_the_last_evaluation() -> None:
    found = is_trained(run(evaluations=curve(FALLING), last_step=2500))
    assert "500 more steps" in found.sentence
    assert found.advice[0].text.startswith("Train on to step 3,000")


def test_a_run_that_hours_ended_is_told_to_take_more_hours() -> None:
    by_hours = {"max_steps": None, "max_hours": 1.0}
    found = is_trained(run(evaluations=curve(FALLING), settings=by_hours, last_step=2500, training_s=3600.0))
    assert found.advice[0].command == "set training.max_hours = 1.2 and train the same run again"
    by_steps = is_trained(run(evaluations=curve(FALLING), last_step=2500))
    assert by_steps.advice[0].command == "set training.max_steps = 3000 and train the same run again"


def test_a_flat_curve_is_converged_for_its_schedule() -> None:
    found = is_trained(run(evaluations=curve(FLAT)))
    assert found.verdict == "converged"
    assert found.sentence.startswith("Yes, for this schedule:")
    assert found.advice == ()


def test_few_evaluations_leave_it_undetermined() -> None:
    found = is_trained(run(evaluations=curve(FALLING[:3])))
    assert found.verdict == "undetermined"
    assert found.sentence == "Undetermined: 2 evaluations after the warm-up say too little; 4 are needed."
    alone = is_trained(run(evaluations=curve(FALLING[:2])))
    assert alone.sentence == "Undetermined: 1 evaluation after the warm-up says too little; 4 are needed."
    assert is_trained(run(evaluations=curve(FALLING[:1]))).evidence[0].startswith("1 evaluation: ")


def test_a_dev_loss_that_rises_is_not_called_probably_converged() -> None:
    """Both losses rise, so that it is not overfitting either."""
    found = is_trained(run(evaluations=curve(RISING[9:], np.linspace(3, 4, 11))))
    assert found.verdict == "undetermined"
    assert found.sentence.startswith("Undetermined, and dev loss rises: ")


def test_the_training_loss_alone_does_not_answer_it() -> None:
    found = is_trained(run())
    assert found.verdict == "undetermined"
    assert found.sentence == (
        "Undetermined: no loss was measured on held-out text; the training loss does not answer this."
    )


def test_teacher_forced_bleu_is_called_by_its_name() -> None:
    forced = evaluations([0, 100], dev_loss=[9.4, 3.0], bleu=[94.65, 20.0], bleu_kind="teacher-forced")
    assert bleu_sentences(forced) == [
        "The “BLEU” curve is teacher-forced: each word is predicted behind the right ones; it reads 0.9465 at step 0, "
        "untrained. It is not BLEU and is left out of the verdict."
    ]
    unsaid = evaluations([0, 100], dev_loss=[9.4, 3.0], bleu=[94.65, 20.0])
    assert "is not BLEU" in bleu_sentences(unsaid)[0]


def test_free_running_bleu_comes_with_its_interval() -> None:
    assert bleu_sentences(curve(FALLING)) == ["Free-running BLEU 30.0 (29.0 to 31.0) at step 2,000."]


def test_a_dev_loss_that_rises_while_train_loss_falls_is_overfitting() -> None:
    found = is_overfitted(run(evaluations=curve(RISING, LEARNS_BY_HEART)))
    assert found.verdict == "yes"
    assert found.sentence == (
        "Yes: dev loss is 14 % above its minimum of step 1,000, significantly on the same sentences, while train loss "
        "still falls."
    )
    assert [sentence.endswith("; p < 0.001).") for sentence in found.evidence] == [True, True, False]
    assert found.advice[0].text == "Use the checkpoint near step 1,000 and stop there next time."
    assert is_trained(run(evaluations=curve(RISING, LEARNS_BY_HEART))).verdict == "past its best"


def test_a_flat_dev_loss_far_above_train_loss_is_not_overfitting() -> None:
    found = is_overfitted(run(evaluations=curve(FLAT, LEARNS_BY_HEART)))
    assert found.verdict == "no"
    assert any("A gap alone is not overfitting" in sentence for sentence in found.evidence)


def test_both_losses_rising_is_not_overfitting() -> None:
    found = is_overfitted(run(evaluations=curve(RISING, np.linspace(3, 4, 20))))
    assert found.verdict == "no"
    assert "this is divergence or a bad rate, not overfitting" in found.sentence


@pytest.mark.parametrize(
    "evaluated, why",
    [
        (curve(RISING, LEARNS_BY_HEART, sentences=False), "not known without losses of single sentences"),
        (curve(RISING[:11] + np.eye(11)[10], LEARNS_BY_HEART[:11]), "seen by one evaluation only"),
        (curve(RISING), "was not measured"),
    ],
)
def test_what_is_missing_makes_it_undetermined(evaluated: object, why: str) -> None:
    found = is_overfitted(run(evaluations=evaluated))
    assert found.verdict == "undetermined"
    assert why in found.sentence


def test_noise_above_the_minimum_is_not_overfitting() -> None:
    wobble = np.full(20, 3.0)
    wobble[5] = 2.96
    evaluated = curve(wobble, LEARNS_BY_HEART)
    noisy = {step: dataclasses.replace(one, losses=one.losses + 40 * np.random.default_rng(step).standard_normal(300))
             for step, one in evaluated.sentences.items()}  # fmt: skip
    found = is_overfitted(run(evaluations=dataclasses.replace(evaluated, sentences=noisy)))
    assert found.verdict == "undetermined"


def test_one_evaluation_says_nothing_about_overfitting() -> None:
    assert is_overfitted(run(evaluations=curve(FALLING[:1]))).verdict == "undetermined"


def test_a_loss_that_is_not_finite_to_the_end_is_divergence_with_its_price() -> None:
    bad = np.arange(400) >= 300
    steps = rank_steps(is_non_finite=bad, loss=np.where(bad, np.nan, 3.0))
    found = did_it_diverge(run(steps, settings={"price_per_hour": 36.0}))
    assert found.verdict == "yes"
    assert found.sentence == (
        "Yes: from step 301 the loss is no finite number; the 100 steps to the end bought nothing: 30.4 s and 0.30."
    )
    assert is_trained(run(steps, evaluations=curve(FALLING))).verdict == "diverged"


def test_rows_without_a_loss_do_not_end_a_divergence() -> None:
    bad = (np.arange(400) >= 300) & (np.arange(400) < 399)
    loss = np.where(np.arange(400) >= 300, np.nan, 3.0)
    assert did_it_diverge(run(rank_steps(is_non_finite=bad, loss=loss))).verdict == "yes"


def test_a_run_that_came_back_recovered() -> None:
    bad = np.arange(400) == 200
    events = (EventRecord("2026-01-01T00:00:00+00:00", "rolled back", 190, 0, "back"),)
    found = did_it_diverge(run(rank_steps(is_non_finite=bad, was_skipped=bad), events=events))
    assert found.verdict == "recovered"
    assert found.sentence == (
        "No, it recovered: 1 step without finite gradients was skipped, and the run went back once."
    )


def test_finite_numbers_are_no_divergence() -> None:
    assert did_it_diverge(run()).verdict == "no"


def test_the_learning_rate_is_explained_in_the_runs_own_numbers() -> None:
    found = explain_the_learning_rate(run())
    assert found.verdict == "follows the formula"
    assert found.sentence == (
        "The learning rate rises in a straight line to its peak of 0.001 at step 100, then falls as 1/√step: "
        "peak · √(100/step). Step 400 is after the peak, at 0.0005, 50% of the peak."
    )
    assert found.value("peak") == 1e-3 and found.value("peak at step") == 100
    assert found.evidence[0] == "The rates recorded at 400 steps follow the formula."


def test_rates_that_leave_the_formula_are_told() -> None:
    rates = 1e-3 * np.minimum(np.arange(1, 401) / 100, 1.0)
    found = explain_the_learning_rate(run(rank_steps(learning_rate=rates)))
    assert found.verdict == "departs from the formula"
    assert "first at step 103: 0.001 instead of 0.000985" in found.evidence[0]


def test_rates_halved_by_a_roll_back_follow_the_formula() -> None:
    at = np.arange(1, 401)
    rates = 1e-3 * np.minimum(at / 100, np.sqrt(100 / at)) * np.where(at > 300, 0.5, 1.0)
    events = (EventRecord("2026-01-01T00:00:00+00:00", "rolled back", 300, 0, "back"),)
    found = explain_the_learning_rate(run(rank_steps(learning_rate=rates), events=events))
    assert found.verdict == "follows the formula"
    assert "halved by 1 roll-back" in found.evidence[0]
    assert explain_the_learning_rate(run(rank_steps(learning_rate=rates))).verdict == "departs from the formula"


def test_without_a_formula_the_rates_speak() -> None:
    at = np.arange(1.0, 1001.0)
    steps = step_columns(at, learning_rate=np.minimum(at / 100, np.sqrt(100 / at)))
    found = explain_the_learning_rate(Facts(Source("x", "TensorBoard"), Settings(), steps))
    assert found.verdict == "from recorded rates"
    assert found.sentence == "It peaks at 1 at step 100, then falls as 1/√step to 0.316."


def test_without_formula_and_rates_nothing_is_said() -> None:
    assert explain_the_learning_rate(Facts(Source("x", "Marian"))).verdict == "undetermined"
    endless = Settings(schedule=ScheduleConfig(kind="cosine"))
    assert explain_the_learning_rate(Facts(Source("x", "Dragoman"), endless)).verdict == "undetermined"


def test_signs_before_the_divergence_are_told() -> None:
    evaluated = evaluations([0, 100, 200], dev_loss=[9.5, 66.0, None], is_non_finite=[False, False, True])
    found = did_it_diverge(Facts(Source("x", "TensorBoard"), evaluations=evaluated, last_step=200))
    assert found.verdict == "yes"
    assert found.evidence == ("It went wrong before that: the loss was 66 at step 100, where it had begun at 9.5.",)


def test_larger_steps_have_the_rates_of_their_steps_together() -> None:
    members = (rank_steps(2_400), rank_steps(2_400, seed=7))
    larger = [
        dataclasses.replace(
            one, learning_rate=np.where(one.step > 400, np.minimum(4 * one.learning_rate, 1e-3), one.learning_rate)
        )
        for one in members
    ]
    found = explain_the_learning_rate(run(*larger, settings={"wire_rung": "larger_step_4"}))
    assert found.verdict == "follows the formula"
    assert found.value("peak") == pytest.approx(1e-3)
    assert found.evidence[0].endswith("follow the formula, times 4 where 4 steps make one update.")
    assert "After step 400 4 steps make one update, and it is 4 times as high, but never above" in found.sentence
    assert explain_the_learning_rate(run(*larger)).verdict == "departs from the formula"
