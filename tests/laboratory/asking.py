"""Every question asked of one run, by the key of its answer."""

from pathlib import Path

from dragoman.report.answers import Answer
from dragoman.report.facts import Facts
from dragoman.report.questions.account import what_went_wrong
from dragoman.report.questions.busy import were_the_machines_busy
from dragoman.report.questions.divergence import did_it_diverge
from dragoman.report.questions.elasticity import how_step_time_relates_to_the_network
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.overfitting import is_overfitted
from dragoman.report.questions.speed import did_it_wait_for_input, how_much_was_padding
from dragoman.report.questions.stragglers import was_a_rank_slow
from dragoman.report.questions.traffic import did_the_wire_carry_it
from dragoman.report.questions.trained import is_trained
from dragoman.report.run_directory import read_run

QUESTIONS = (
    is_trained,
    is_overfitted,
    were_the_machines_busy,
    was_the_network_the_bottleneck,
    how_step_time_relates_to_the_network,
    did_it_diverge,
    did_it_wait_for_input,
    how_much_was_padding,
    was_a_rank_slow,
    did_the_wire_carry_it,
    what_went_wrong,
)


def answers(facts: Facts, but: tuple[str, ...] = ()) -> dict[str, Answer]:
    """By key. `but` leaves out questions that cost time and are not the point."""
    chosen = [question for question in QUESTIONS if not ("trained" in but and question is is_trained)]
    found = [question(facts) for question in chosen]
    return {answer.key: answer for answer in found}


def verdicts(directory: Path) -> dict[str, str]:
    """Key of each answer → its verdict."""
    return {key: answer.verdict for key, answer in answers(read_run(directory)).items()}
