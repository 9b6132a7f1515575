"""What happens to rented machines, done to one run: each break costs time, is written down, and the run goes on."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.ground import ground
from tests.hosts.runs import HostsRun, bring_recipe, has_same_batches, kill

WORKER = r"dragoman\.training\.worker"
AGENT = r"dragoman\.cluster\.agent"
COMMAND = r"dragoman\.cli\.main train"
MBIT = 50.0
OPTIONS = (
    *("--skip-check", "--set", "communication.mode=plain"),
    *("--set", "model.width=64", "--set", "model.feed_forward=128"),  # half a megabyte: what the link is slow for
)


@pytest.fixture(scope="module")
def one_run(tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostsRun]:
    """Two hosts at 50 Mb/s, and a run on them that does not end."""
    with ground(tmp_path_factory.mktemp("breaks") / "ground", ("left", "right")) as made:
        bring_recipe(made, tiny_corpus)
        made["right"].rate(MBIT)
        yield HostsRun(made, made.hosts_file(), max_steps=1_000_000)


@pytest.fixture
def run(one_run: HostsRun) -> HostsRun:
    """The run, going; started anew where the test before has lost it."""
    if not one_run.is_going:
        one_run.wait_until_nothing_is_left()
        one_run.start(*OPTIONS)
    one_run.wait_for_more_steps()
    return one_run


@pytest.mark.parametrize("victim", [WORKER, AGENT], ids=["worker", "agent"])
def test_a_killed_process_costs_seconds(run: HostsRun, victim: str) -> None:
    broken, recovered = len(run.events("broken")), len(run.events("recovered"))
    done = max(run.steps(0))
    kill(run.ground["right"].processes(victim))
    event = run.wait_for_event("recovered", after=recovered)
    assert event.lost_s is not None and 0 < event.lost_s < 60
    assert event.text.startswith("training again on left, right; ")
    assert "right" in run.events("broken")[broken].text
    assert run.events("resumed")[-1].step >= done - 2, "it goes on from a checkpoint, not from the start"


def test_a_cut_of_20_seconds_is_survived_and_written_down(run: HostsRun) -> None:
    silence, recovered = len(run.events("silence")), len(run.events("recovered"))
    run.ground["right"].cut()
    time.sleep(20)
    run.ground["right"].mend()
    run.wait_for(lambda: run.events("silence")[silence:] or run.events("recovered")[recovered:], "the cut is over")
    event = [*run.events("silence")[silence:], *run.events("recovered")[recovered:]][0]
    assert event.lost_s is not None and 15 < event.lost_s < 60
    run.wait_for_more_steps()


def test_a_rank_that_sleeps_is_named_within_a_minute(run: HostsRun) -> None:
    stuck, recovered, start = len(run.events("stuck")), len(run.events("recovered")), time.monotonic()
    kill(run.ground["right"].processes(WORKER), signal.SIGSTOP)
    event = run.wait_for_event("stuck", after=stuck)
    assert time.monotonic() - start < 60
    assert (event.rank, event.text.startswith("rank 1 on right has given no sign for")) == (1, True)
    run.wait_for_event("recovered", after=recovered)


def test_a_link_that_drops_to_a_tenth_is_named_with_its_rates_and_not_fatal(run: HostsRun) -> None:
    links, broken = len(run.events("link")), len(run.events("broken"))
    run.wait_for_more_steps(40)  # what is usual
    run.ground["right"].rate(MBIT / 10)
    slow = run.wait_for_event("link", after=links)
    named = re.fullmatch(
        r"the link from (left|right) \(eth0\) to (left|right) \(eth0\), (\S+) kB/s instead of (\S+) (k|M)B/s, has "
        r"become slow: exchanging gradients takes .* times the .* s of before; training goes on",
        slow.text,
    )
    assert named and named[1] != named[2], slow.text
    after, before = float(named[3]), float(named[4]) * (1000 if named[5] == "M" else 1)
    assert after < 2 * 1000 / 8 * MBIT / 10, "about what the link lets through, and what it had saved up meanwhile"
    assert before > 3 * after
    run.ground["right"].rate(MBIT)
    assert "gradients cross as fast as before" in run.wait_for_event("link", after=links + 1).text
    assert len(run.events("broken")) == broken


def test_the_main_command_killed_leaves_nothing_and_run_again_goes_on(run: HostsRun) -> None:
    resumed, done = len(run.events("resumed")), max(run.steps(0))
    kill(run.ground.main.processes(COMMAND))
    run.end()
    run.wait_until_nothing_is_left()
    run.start(*OPTIONS)
    assert run.wait_for_event("resumed", after=resumed).step >= done - 2


def test_after_all_that_every_step_was_the_same_and_nothing_is_left(run: HostsRun) -> None:
    run.ask_to_stop()
    assert run.end() == 130, run.words()
    assert has_same_batches(run)
    assert run.checkpoints()[-1] == f"step_{max(run.steps(0)):07}"
    assert run.ground.leftovers() == {}
