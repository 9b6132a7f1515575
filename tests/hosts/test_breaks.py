"""What happens to rented machines, done to ours: every break costs some time, is written down, and the run goes on."""

import os
import signal
import time
from functools import partial

import pytest

from tests.hosts.runs import HostsRun

WORKER = r"dragoman\.training\.worker"
AGENT = r"dragoman\.cluster\.agent"


def is_whole(run: HostsRun) -> bool:
    """Every step was made, and whenever it was made again it was the same global batch."""
    lines = [line for rank in (0, 1) for line in run.every_step(rank)]
    tokens = {step: {line.target_tokens for line in lines if line.step == step} for step in range(1, run.max_steps + 1)}
    return all(len(seen) == 1 for seen in tokens.values()) and run.checkpoints()[-1] == f"step_{run.max_steps:07}"


def is_broken_more_often(run: HostsRun, times: int) -> bool:
    return len(run.events("broken")) > times


def kill(pids: list[int], number: int = signal.SIGKILL) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, number)


@pytest.mark.parametrize("victim", [WORKER, AGENT], ids=["worker", "agent"])
def test_a_killed_process_costs_seconds(two: HostsRun, victim: str) -> None:
    two.max_steps = 150
    two.start("--skip-check")
    two.wait_for_step(20)
    kill(two.ground["right"].processes(victim))
    recovered = two.wait_for_event("recovered")
    assert two.end() == 0, two.words()
    assert is_whole(two)
    broken = two.events("broken")[0]
    assert "right" in broken.text
    assert recovered.lost_s is not None and 0 < recovered.lost_s < 60
    assert two.events("resumed")[0].step >= 18, "it goes on from a checkpoint, not from the start"
    assert two.ground.leftovers() == {}


def test_the_main_command_killed_and_run_again_goes_on(two: HostsRun) -> None:
    two.max_steps = 60
    two.start("--skip-check")
    two.wait_for_step(10)
    kill(two.ground.main.processes(r"dragoman\.cli\.main train"))
    two.end()
    deadline = time.monotonic() + 60
    while two.ground.leftovers():
        assert time.monotonic() < deadline, f"left running: {two.ground.leftovers()}"
        time.sleep(0.2)
    assert two.train("--skip-check") == 0, two.words()
    assert is_whole(two)
    assert two.events("resumed")[0].step >= 10


@pytest.mark.slow
def test_a_rank_that_sleeps_is_named_within_a_minute(two: HostsRun) -> None:
    two.max_steps = 150
    two.start("--skip-check")
    two.wait_for_step(20)
    start = time.monotonic()
    kill(two.ground["right"].processes(WORKER), signal.SIGSTOP)
    stuck = two.wait_for_event("stuck")
    assert time.monotonic() - start < 60
    assert (stuck.rank, stuck.text.startswith("rank 1 on right has given no sign for")) == (1, True)
    assert two.end() == 0, two.words()
    assert is_whole(two)
    assert two.ground.leftovers() == {}


def test_a_cut_of_20_seconds_is_survived_and_written_down(two: HostsRun) -> None:
    two.max_steps = 400
    two.start("--skip-check")
    two.wait_for_step(20)
    two.ground["right"].cut()
    time.sleep(20)
    two.ground["right"].mend()
    assert two.end() == 0, two.words()
    assert is_whole(two)
    events = two.events("silence") or two.events("recovered")
    assert events and events[0].lost_s is not None and 15 < events[0].lost_s < 60


@pytest.mark.slow
def test_a_host_gone_for_good_is_done_without_and_taken_back_when_it_returns(three: HostsRun) -> None:
    three.max_steps = 100_000
    three.start("--skip-check")
    three.wait_for_step(20, rank=2)
    three.ground["third"].cut()
    lost = three.wait_for_event("host lost")
    assert "third" in lost.text and "going on without it" in lost.text
    three.wait_for_event("recovered")
    without = max(three.steps(0))
    three.wait_for_step(without + 20)
    assert max(three.steps(2)) < without, "two ranks are left"
    three.ground["third"].mend()
    back = three.wait_for_event("host back")
    assert back.text == "third takes part again"
    three.wait_for(lambda: max(three.steps(2)) > without, "the third rank trains again")
    three.ask_to_stop()
    assert three.end() == 130, three.words()
    tokens = {line.step: line.target_tokens for line in three.every_step(0)}
    assert all(tokens[line.step] == line.target_tokens for rank in (0, 1, 2) for line in three.every_step(rank))
    deadline = time.monotonic() + 90
    while three.ground.leftovers():
        assert time.monotonic() < deadline, f"left running: {three.ground.leftovers()}"
        time.sleep(0.2)


def test_a_link_that_drops_to_a_tenth_is_noticed_and_not_fatal(two: HostsRun) -> None:
    two.max_steps = 100_000
    two.ground["right"].rate(50)
    two.start("--skip-check", "--set", "communication.mode=plain")
    two.wait_for_step(60)
    two.ground["right"].rate(5)
    slow = two.wait_for_event("link")
    assert "a link has become slow" in slow.text and "training goes on" in slow.text
    two.wait_for_step(max(two.steps(0)) + 5)
    assert not two.events("broken")
    two.ground["right"].rate(50)
    two.wait_for(lambda: len(two.events("link")) > 1, "the link is fast again")
    assert "as fast as before" in two.events("link")[1].text
    two.ask_to_stop(signal.SIGTERM)
    assert two.end() == 143, two.words()


def test_a_run_that_gets_nowhere_is_given_up(two: HostsRun) -> None:
    two.max_steps = 100_000
    two.start("--skip-check", "--set", "training.save_every_steps=0")
    two.wait_for_step(1)
    for number in range(4):  # the first attempt has made a checkpoint: that of step 0
        two.wait_for(lambda: two.ground["right"].processes(WORKER), "a worker to kill")
        kill(two.ground["right"].processes(WORKER))
        two.wait_for(partial(is_broken_more_often, two, number), "noticed")
    assert two.end() == 2, two.words()
    assert "broke 3 times without reaching a new checkpoint" in two.words()
    assert two.ground.leftovers() == {}
