"""Runs of several ranks on each rung of the ladder, as a user would start them."""

import pytest

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import ExchangeRecord
from tests.training.tiny_run import TinyRun, kill_all

EVERY = [*range(1, 13)]
MEETINGS = {
    "eight_bits": EVERY,
    "half": EVERY,
    "local_steps_4": [1, 2, 3, 4, 8, 12],
    "larger_step": [1, 2, 4, 6, 8, 10, 12],
}
"""Each step until twice the warm-up, which here is where the rate has fallen to 1/√2 too; then the last of a cycle."""


def settings_of(mode: str) -> tuple[str, ...]:
    return (
        f"communication.mode={mode}",
        "communication.max_tokens_per_step=1024",
        "training.evaluate_every_steps=0",
        "training.max_steps=12",
        "schedule.warmup_steps=1",
    )


@pytest.mark.parametrize(
    "mode",
    ["eight_bits", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("local_steps_4", "half", "larger_step"))],
)
def test_a_killed_run_goes_on_to_the_same_bytes_on_every_rung(mode: str, tiny_run: TinyRun) -> None:
    whole = TinyRun(tiny_run.recipe, tiny_run.directory.with_name("whole"))
    done = whole.train(*settings_of(mode), processes=2)
    assert done.returncode == 0, done.stderr
    assert f"gradients cross the wire as {mode}: the recipe says so" in done.stderr
    process = tiny_run.start(*settings_of(mode), processes=2)
    tiny_run.wait_for(8)
    kill_all(process)
    done = tiny_run.train(*settings_of(mode), processes=2)
    assert done.returncode == 0, done.stderr
    assert tiny_run.weights(12) == whole.weights(12)
    losses = {number: record.loss for number, record in whole.steps().items()}
    assert [number for number, loss in losses.items() if loss is not None] == MEETINGS[mode]


def test_larger_steps_begin_late_and_take_the_rates_of_their_steps_together(tiny_run: TinyRun) -> None:
    fall = ("schedule.kind=cosine", "schedule.peak=1e-3", "schedule.warmup_steps=2")
    done = tiny_run.train(*settings_of("larger_step"), *fall, processes=2)
    assert done.returncode == 0, done.stderr
    rates = [record.learning_rate for record in tiny_run.steps().values()]
    single, together = [0.5, 1, 0.97553, 0.90451, 0.79389, 0.65451], [1, 0.69098, 0.41221, 0.19098, 0.04894, 0]
    assert rates == pytest.approx([1e-3 * rate for rate in single + together], rel=1e-4, abs=1e-9)
    assert [number for number, record in tiny_run.steps().items() if record.loss is None] == [7, 9, 11]


def test_ranks_of_one_machine_exchange_plainly_and_say_so(whole_run_of_two: TinyRun) -> None:
    events = [event.text for event in whole_run_of_two.events() if event.kind == "communication"]
    assert events == 2 * ["gradients cross the wire as plain: all ranks are on one machine"]


def test_a_probe_measures_the_wire_and_the_wait_for_others(whole_run_of_two: TinyRun) -> None:
    """This tiny model is one bucket: nothing can leave early, so every step is a probe; the tenth asks for the skew."""
    for rank in range(2):
        records = whole_run_of_two.steps(rank)
        assert all(record.is_probe for record in records.values())
        assert [number for number, record in records.items() if record.skew_s is not None] == [10]
        record = records[10]
        assert record.skew_s is not None and 0 <= record.skew_s <= record.exchange_s


def test_every_bucket_of_a_probe_and_of_the_update_after_it_is_on_record(whole_run_of_two: TinyRun) -> None:
    paths = RunPaths(whole_run_of_two.directory)
    for rank in range(2):
        steps, lines = whole_run_of_two.steps(rank), list(records.read_lines(paths.exchanges(rank), ExchangeRecord))
        assert [line.step for line in lines] == [10, 11]
        assert [line.skew_s is not None for line in lines] == [True, False]
        for line in lines:
            assert (line.is_probe, line.wait_s) == (True, steps[line.step].exchange_s)
            assert sum(bucket.sent_bytes for bucket in line.buckets) == steps[line.step].wire_bytes
            exposed = sum(bucket.exposed_s for bucket in line.buckets)
            assert 0 <= exposed + (line.skew_s or 0.0) <= line.wait_s + 1e-5
