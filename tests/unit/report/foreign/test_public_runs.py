"""Three public runs, read from their logs and asked our questions: physics answers, whatever their authors wrote."""

from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from dragoman.report.facts import Facts
from dragoman.report.foreign.to_facts import read
from dragoman.report.questions.divergence import did_it_diverge
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.overfitting import is_overfitted
from dragoman.report.questions.sizes import how_big_is_a_checkpoint, which_files_make_a_checkpoint
from dragoman.report.questions.speed import how_long_did_a_step_take, how_long_did_it_take
from dragoman.report.questions.trained import is_trained

PRICE = 12.24
"""Four V100 at 3.06 an hour each."""


def said(answer: Answer) -> str:
    return " ".join((answer.sentence, *answer.evidence))


@pytest.fixture(scope="module")
def run_003(shared_data: Path) -> Facts:
    return read(shared_data / "runs" / "log-003-2x2-v100.txt.gz", PRICE)


@pytest.fixture(scope="module")
def slow_link(shared_data: Path) -> Facts:
    return read(shared_data / "runs" / "log-slow-link-2x2-v100.txt.gz", PRICE)


@pytest.fixture(scope="module")
def diverged(shared_data: Path) -> Facts:
    return read(shared_data / "runs" / "diverged", PRICE)


def test_run_003_took_57_hours_at_1_94_seconds_a_step(run_003: Facts) -> None:
    assert "57 h 28 min for 106,300 steps at 1.94 s a step" in said(how_long_did_it_take(run_003))
    assert "1.94 s, the median" in said(how_long_did_a_step_take(run_003))


def test_run_003_was_bound_by_its_network(run_003: Facts) -> None:
    answer = was_the_network_the_bottleneck(run_003)
    assert answer.verdict == "network-bound"
    text = said(answer)
    assert "sends 365.3 MB a step of 243.5 MB of gradients" in text
    assert "188.2 MB/s each way" in text
    assert "more than a 1 Gb/s link can" in text


def test_the_curve_of_run_003_comes_with_its_interval_and_its_score_is_flagged(run_003: Facts) -> None:
    answer = is_trained(run_003)
    assert answer.verdict == "improving"
    assert answer.sentence == (
        "No, it still improves, but slowly: 21,260 more steps (11 h 27 min, costing 140.30) would lower the dev loss "
        "by 0.008 nats (0.5 %, between 0.4 % and 0.9 %), about what is worth waiting for."
    )
    assert "14 evaluations, dev loss falls by 0.043 nats (0.038 to 0.050) for every doubling" in said(answer)
    assert "teacher-forced" in said(answer)
    assert "0.9465 at step 0" in said(answer)
    assert is_overfitted(run_003).verdict == "no"


def test_the_checkpoints_of_run_003_are_sized_and_their_interval_is_flagged(run_003: Facts) -> None:
    assert "852.3 MB" in said(how_big_is_a_checkpoint(run_003))
    assert "299,998" in said(which_files_make_a_checkpoint(run_003))


def test_the_slow_link_is_named_with_what_it_cost(slow_link: Facts) -> None:
    answer = was_the_network_the_bottleneck(slow_link)
    assert answer.verdict == "network-bound"
    text = said(answer)
    assert "what a 100 Mb/s link carries when it is full" in text
    assert "71 h 54 min" in text
    assert "880.10" in text


def test_the_divergence_is_dated_with_what_it_cost(diverged: Facts) -> None:
    answer = did_it_diverge(diverged)
    assert answer.verdict == "yes"
    assert "from step 6,801" in answer.sentence
    assert "36,001 steps" in answer.sentence
    assert "16 h 41 min and 204.28" in answer.sentence
    assert is_trained(diverged).verdict == "diverged"
