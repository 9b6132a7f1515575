"""One pure function a question: facts in, an answer out. The eleven by number, then those that follow from them."""

from collections.abc import Callable

from dragoman.report.answers import Answer
from dragoman.report.facts import Facts
from dragoman.report.questions.account import what_did_it_cost, what_went_wrong
from dragoman.report.questions.busy import were_the_machines_busy
from dragoman.report.questions.divergence import did_it_diverge
from dragoman.report.questions.elasticity import how_step_time_relates_to_the_network
from dragoman.report.questions.foretold import was_it_foretold
from dragoman.report.questions.network import was_the_network_the_bottleneck
from dragoman.report.questions.overfitting import is_overfitted
from dragoman.report.questions.schedule import explain_the_learning_rate
from dragoman.report.questions.sizes import (
    how_big_is_a_checkpoint,
    how_big_was_the_training_set,
    was_the_data_clean,
    which_files_make_a_checkpoint,
)
from dragoman.report.questions.speed import (
    did_it_wait_for_input,
    how_long_did_a_step_take,
    how_long_did_it_take,
    how_much_was_padding,
)
from dragoman.report.questions.stragglers import was_a_rank_slow
from dragoman.report.questions.traffic import did_the_wire_carry_it
from dragoman.report.questions.trained import is_trained

ELEVEN: tuple[Callable[[Facts], Answer], ...] = (
    how_long_did_it_take,
    is_trained,
    is_overfitted,
    were_the_machines_busy,
    was_the_network_the_bottleneck,
    explain_the_learning_rate,
    how_big_was_the_training_set,
    which_files_make_a_checkpoint,
    how_big_is_a_checkpoint,
    how_long_did_a_step_take,
    how_step_time_relates_to_the_network,
)
MORE: tuple[Callable[[Facts], Answer], ...] = (
    what_did_it_cost,
    did_it_diverge,
    did_it_wait_for_input,
    how_much_was_padding,
    was_a_rank_slow,
    did_the_wire_carry_it,
    was_the_data_clean,
    what_went_wrong,
    was_it_foretold,
)


def answer_all(facts: Facts) -> tuple[Answer, ...]:
    """Every question, in the order in which the report shows them."""
    return tuple(question(facts) for question in (*ELEVEN, *MORE))
