"""A run that was stopped, however it was stopped, ends where an undisturbed one ends: to the byte."""

import random
import signal
import time

import pytest

from tests.training.tiny_run import TinyRun, kill_all


def test_a_killed_run_of_two_ranks_goes_on_to_the_same_bytes(tiny_run: TinyRun, whole_run_of_two: TinyRun) -> None:
    process = tiny_run.start(processes=2)
    tiny_run.wait_for(4)
    kill_all(process)
    done = tiny_run.train(processes=2)
    assert done.returncode == 0, done.stderr
    assert "going on from step" in done.stderr
    assert tiny_run.weights(12) == whole_run_of_two.weights(12)


def test_kills_at_any_moment_change_nothing(tiny_run: TinyRun, whole_run: TinyRun) -> None:
    """Saving after every step and evaluating after every second, most moments are inside one of the two."""
    settings = ("training.save_every_steps=1", "training.evaluate_every_steps=2")
    chance = random.Random(7)
    for _ in range(2):
        process = tiny_run.start(*settings)
        before = len(list(tiny_run.directory.glob("checkpoints/step_*")))
        deadline = time.monotonic() + 60
        while len(list(tiny_run.directory.glob("checkpoints/step_*"))) == before and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.4)
        kill_all(process)
    done = tiny_run.train(*settings)
    assert done.returncode == 0, done.stderr
    assert tiny_run.weights(12) == whole_run.weights(12)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_several_epochs_go_on_across_their_borders(tiny_run: TinyRun, precision: str) -> None:
    """In either precision, whatever the others of this file take on this machine."""
    many = (
        *("batching.tokens_per_step=4096", "batching.tokens_per_micro_batch=4096", "training.evaluate_every_steps=0"),
        f"training.precision={precision}",
    )
    whole = TinyRun(tiny_run.recipe, tiny_run.directory.with_name("other"))
    assert whole.train(*many, "training.max_steps=14").returncode == 0
    assert tiny_run.train(*many, "training.max_steps=7").returncode == 0
    assert tiny_run.train(*many, "training.max_steps=14").returncode == 0
    assert tiny_run.weights(14) == whole.weights(14)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_writes_a_checkpoint_and_the_next_start_goes_on(
    number: signal.Signals, code: int, tiny_run: TinyRun, whole_run: TinyRun
) -> None:
    process = tiny_run.start("training.save_every_steps=0", "training.evaluate_every_steps=0", "training.max_steps=0")
    deadline = time.monotonic() + 60
    while not (tiny_run.directory / "steps" / "rank00.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=60) == code
    last = max(tiny_run.steps())
    assert tiny_run.checkpoint(last).exists()
    if last < 12 and number == signal.SIGTERM:
        assert tiny_run.train("training.save_every_steps=0", "training.evaluate_every_steps=0").returncode == 0
        assert tiny_run.weights(12) == whole_run.weights(12)


def test_a_damaged_checkpoint_is_passed_over_and_told(tiny_run: TinyRun, whole_run: TinyRun) -> None:
    assert tiny_run.train("training.max_steps=8").returncode == 0
    file = tiny_run.checkpoint(8) / "optimizer.safetensors"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    done = tiny_run.train()
    assert done.returncode == 0, done.stderr
    assert "checkpoint 8 is damaged" in done.stderr
    assert "going on from step 6" in done.stderr
    assert tiny_run.weights(12) == whole_run.weights(12)


def test_workers_stop_with_the_command_that_started_them(tiny_run: TinyRun) -> None:
    process = tiny_run.start("training.max_steps=0")
    tiny_run.wait_for(2)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while (tiny_run.directory / "heartbeats" / "rank00").exists():
        assert time.monotonic() < deadline, "the worker goes on without its parent"
        time.sleep(0.05)


def test_a_run_is_trained_by_one_command_at_a_time(tiny_run: TinyRun) -> None:
    process = tiny_run.start("training.max_steps=0")
    tiny_run.wait_for(2)
    done = tiny_run.train("training.max_steps=0")
    kill_all(process)
    assert done.returncode == 2
    assert "is being trained by process" in done.stderr and "dragoman stop" in done.stderr
