"""Hosts that go, come back, or never get anywhere."""

import signal

import pytest

from tests.hosts.runs import HostsRun, has_same_batches, kill

WORKER = r"dragoman\.training\.worker"


def test_a_host_that_goes_is_done_without_and_taken_back_when_it_returns(three: HostsRun) -> None:
    three.max_steps = 1_000_000
    three.start("--skip-check")
    three.wait_for_step(5, rank=2)
    three.ground["third"].end_everything()
    lost = three.wait_for_event("host lost")
    assert lost.text == "third: nothing answers at its SSH port; going on without it"
    three.wait_for_event("recovered")
    three.wait_for_more_steps(5)
    without = max(three.steps(2))
    assert max(three.steps(0)) > without, "two ranks are left"
    three.ground["third"].open_ssh()
    assert three.wait_for_event("host back").text == "third takes part again"
    three.wait_for_more_steps(5, rank=2)
    three.ask_to_stop()
    assert three.end() == 130, three.words()
    assert has_same_batches(three)
    assert three.ground.leftovers() == {}


@pytest.mark.slow
def test_a_host_that_is_cut_off_for_good_is_done_without(three: HostsRun) -> None:
    three.max_steps = 1_000_000
    three.start("--skip-check")
    three.wait_for_step(5, rank=2)
    three.ground["third"].cut()
    lost = three.wait_for_event("host lost")
    assert lost.text == "third: it does not answer; going on without it"
    three.wait_for_event("recovered")
    three.wait_for_more_steps()
    three.ground["third"].mend()
    three.wait_for_event("host back")
    three.wait_for_more_steps(5, rank=2)
    three.ask_to_stop(signal.SIGTERM)
    assert three.end() == 143, three.words()
    assert has_same_batches(three)
    three.wait_until_nothing_is_left()


def test_a_run_that_gets_nowhere_is_given_up(two: HostsRun) -> None:
    two.max_steps = 1_000_000
    two.start("--skip-check", "--set", "training.save_every_steps=0")
    two.wait_for_step(1)
    for number in range(4):  # the first attempt has made a checkpoint: that of step 0
        two.wait_for(lambda: two.ground["right"].processes(WORKER), "a worker to kill")
        kill(two.ground["right"].processes(WORKER))
        two.wait_for_event("broken", after=number)
    assert two.end() == 2, two.words()
    assert "broke 3 times without reaching a new checkpoint" in two.words()
    assert two.ground.leftovers() == {}
