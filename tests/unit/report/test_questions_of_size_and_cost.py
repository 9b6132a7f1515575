"""Training set, checkpoints, data quality, money, failures, predictions: questions 7, 8 and 9 and what follows."""

import pytest

from dragoman.core.run_records import EventRecord
from dragoman.report.facts import (
    Checkpoint,
    CheckpointFile,
    Claims,
    CorpusFacts,
    CorpusFile,
    Facts,
    Prediction,
    Settings,
    Source,
)
from dragoman.report.questions.account import what_did_it_cost, what_went_wrong
from dragoman.report.questions.foretold import was_it_foretold
from dragoman.report.questions.sizes import (
    how_big_is_a_checkpoint,
    how_big_was_the_training_set,
    was_the_data_clean,
    which_files_make_a_checkpoint,
)
from tests.unit.report.made_up import PARAMETERS, preflight, rank_steps, run

NOTHING = Facts(Source("x", "Marian"))
CORPUS = CorpusFacts(
    files=(CorpusFile("train.en", 607_000_000, 4_562_102), CorpusFile("train.de", 678_000_000, 4_562_102)),
    pairs_read=4_562_102, train_pairs=4_524_868, source_tokens=120_000_000, target_tokens=130_000_000,
    dropped={"too_long": 30_000, "empty_side": 7_234},
)  # fmt: skip
WHOLE = Checkpoint(
    400,
    (
        CheckpointFile("model.safetensors", 4 * PARAMETERS + 100),
        CheckpointFile("optimizer.safetensors", 8 * PARAMETERS),
    ),
)
BASE = 60_880_896


def test_of_nothing_nothing_is_known() -> None:
    for question in (how_big_was_the_training_set, which_files_make_a_checkpoint, how_big_is_a_checkpoint,
                     was_the_data_clean, what_did_it_cost, what_went_wrong, was_it_foretold):  # fmt: skip
        assert question(NOTHING).verdict == "undetermined", question


def test_the_training_set_is_told_in_bytes_lines_pairs_and_tokens() -> None:
    found = how_big_was_the_training_set(run(corpus=CORPUS))
    assert found.sentence == ("1.3 GB, 4,524,868 pairs, 130,000,000 target tokens; the run saw it 0.013 times.")
    assert found.value("lines") == 9_124_204
    assert "train.en: 607.0 MB, 4,562,102 lines" in found.evidence


def test_files_that_a_log_only_names_have_no_size() -> None:
    facts = Facts(Source("x", "OpenSeq2Seq"), corpus=CorpusFacts(files=(CorpusFile("train.en", None, None),)))
    found = how_big_was_the_training_set(facts)
    assert found.verdict == "undetermined" and "The log names train.en." in found.sentence


def test_the_files_of_a_checkpoint_say_what_they_are_for() -> None:
    found = which_files_make_a_checkpoint(run(checkpoints=(WHOLE,)))
    assert found.sentence == "2 files: model.safetensors, optimizer.safetensors."
    assert any(sentence.endswith("the weights: all that translating needs") for sentence in found.evidence)


def test_an_interval_longer_than_the_run_is_flagged() -> None:
    found = which_files_make_a_checkpoint(run(settings={"checkpoint_every_steps": 299_998}))
    assert any("The interval of 299,998 steps is longer than the run's 400" in sentence for sentence in found.evidence)
    assert found.advice[0].text.startswith("Save more often than every 299,998 steps")
    often = run(settings={"checkpoint_every_steps": 299_998, "checkpoint_every_minutes": 10.0})
    assert which_files_make_a_checkpoint(often).advice == ()


def test_a_checkpoint_is_as_big_as_theory_says() -> None:
    found = how_big_is_a_checkpoint(run(checkpoints=(WHOLE,)))
    assert found.verdict == "known"
    assert found.sentence == f"{12 * PARAMETERS / 1e6:.1f} MB, as {PARAMETERS:,} parameters × 12 bytes say."


@pytest.mark.parametrize(
    "claimed, bytes_each, verdict, told",
    [
        (852_300_000, 14.0, "known", "852.3 MB, as 60,880,896 parameters × 14 bytes say."),
        (697 * 2**20, 12.0, "known", "730.9 MB"),
        (4_096, 14.0, "not as theory says", "4.1 kB."),
        (4_100_000_000, 14.0, "not as theory says", "4.1 GB."),
        (243_523_584, 12.0, "not as theory says", "243.5 MB."),
    ],
)
def test_claimed_sizes_are_judged(claimed: int, bytes_each: float, verdict: str, told: str) -> None:
    settings = Settings(parameters=BASE, checkpoint_bytes_per_parameter=bytes_each)
    found = how_big_is_a_checkpoint(
        Facts(Source("x", "OpenSeq2Seq"), settings, claims=Claims(checkpoint_bytes=claimed))
    )
    assert found.verdict == verdict
    assert found.sentence.startswith(told)


def test_sizes_that_do_not_fit_are_explained() -> None:
    def told(claimed: int) -> str:
        settings = Settings(parameters=BASE, checkpoint_bytes_per_parameter=14.0)
        claims = Claims(checkpoint_bytes=claimed)
        return " ".join(how_big_is_a_checkpoint(Facts(Source("x", "y"), settings, claims=claims)).evidence)

    assert "So few bytes are a directory entry or an index, not the weights." in told(4096)
    assert "It fits the weights alone: 60,880,896 × 4 bytes." in told(243_600_000)
    assert "67.3 bytes a parameter: several checkpoints" in told(4_100_000_000)


def test_without_a_checkpoint_theory_answers() -> None:
    found = how_big_is_a_checkpoint(run())
    assert (found.verdict, found.value("on disk")) == ("by theory", None)


def test_dropped_pairs_are_counted_by_rule() -> None:
    found = was_the_data_clean(run(corpus=CORPUS))
    assert found.sentence == ("37,234 of 4,562,102 pairs (0.82 %) were dropped by rules; the rest was kept whole.")
    assert found.chart is not None


def test_sides_that_were_cut_are_told() -> None:
    found = was_the_data_clean(Facts(Source("x", "OpenSeq2Seq"), Settings(cuts_long_pairs=True, max_pieces=56)))
    assert found.verdict == "cut"
    assert found.sentence.startswith("Sides longer than 56 pieces were cut, each on its own")


def test_money_is_time_times_price_and_waiting_has_its_share() -> None:
    found = what_did_it_cost(run(rank_steps(data_wait_s=0.3), training_s=7200.0, settings={"price_per_hour": 3.0}))
    assert found.value("spent") == 6.0
    assert found.sentence.startswith("6.00: 2 h 0 min at 3 an hour; 3.1")
    assert what_did_it_cost(run()).sentence == (
        "Undetermined: no price an hour is set. Set training.price_per_hour to see it."
    )


def test_a_run_without_trouble_ran_through() -> None:
    assert what_went_wrong(run()).sentence == "None: it ran through."


def test_failures_are_counted_with_the_time_they_cost() -> None:
    events = (
        EventRecord("2026-01-01T00:00:00+00:00", "started", 0, 0, "2 ranks"),
        EventRecord("2026-01-01T01:00:00+00:00", "resumed", 300, 0, "going on from step 300", 20.0),
        EventRecord("2026-01-01T01:00:00+00:00", "resumed", 300, 1, "going on from step 300"),  # the other rank's
    )
    found = what_went_wrong(run(events=events, redone_steps=40, redone_s=12.0))
    assert found.verdict == "survived"
    assert found.sentence == "1 × resumed; 40 steps were done again; 32.0 s lost."
    assert found.value("time lost") == 32.0
    assert found.advice[0].text == "Save checkpoints more often."


def test_a_run_that_never_said_goodbye_crashed() -> None:
    found = what_went_wrong(run(ended=None))
    assert found.verdict == "crashed"
    assert found.sentence.endswith("The last session ended without a word: killed, or crashed.")
    assert what_went_wrong(run(ended=None, is_running=True)).verdict == "none"


def test_a_plan_is_held_against_what_came() -> None:
    found = was_it_foretold(run(prediction=Prediction(step_s=0.3, hours=1.0)))
    assert found.verdict == "as predicted"
    assert found.sentence == "A step took 0.304 s where the plan says 0.3 s (+1 %)."
    assert was_it_foretold(run(prediction=Prediction(step_s=0.2))).verdict == "slower"


def test_a_preflight_predicts_a_step_by_the_model_of_the_wire() -> None:
    from dragoman.report.facts import ComputeStep
    from dragoman.theory import wire

    rate = wire.ring_bytes(4 * PARAMETERS, 2) / 0.3
    members = (rank_steps(wait_s=0.3), rank_steps(wait_s=0.3, seed=7))
    found = was_it_foretold(run(*members, preflight=preflight(rate), compute_step=ComputeStep(0.3, "the preflight")))
    assert found.verdict == "as predicted"
