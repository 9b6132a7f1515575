"""What is seen of a run: one that goes on, one that is over, one that hardly is one."""

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.watch.charts import charts
from dragoman.watch.observer import Observer
from dragoman.watch.sentences import host_line, lines
from tests.watched_run import WatchedRun, gpu_sample, stamp, step_record, system_record, write_long


@pytest.fixture
def run(tmp_path: Path) -> WatchedRun:
    return WatchedRun(tmp_path / "run")


def age(run: WatchedRun, seconds: float) -> None:
    """As if nothing had been written for so long."""
    for path in run.paths.directory.rglob("*"):
        os.utime(path, (time.time() - seconds,) * 2)


def test_a_running_run_says_where_it_is_what_it_cost_and_how_long_it_will_go_on(run: WatchedRun) -> None:
    run.as_usual()
    run.steps(201, 250)
    view = Observer(run.paths.directory).look()
    assert view.status.kind == "running"
    assert (view.progress.step, view.progress.last_step, view.progress.share) == (250, 1000, 0.25)
    assert view.progress.training_s == pytest.approx(100 + 50 * 0.5)
    assert view.progress.left_s == pytest.approx(3 * 125)
    assert view.progress.cost == pytest.approx(1.25)
    assert view.pace.tokens_per_s == pytest.approx(4000)
    assert view.evaluation is not None
    assert (view.evaluation.bleu, view.evaluation.bleu_interval) == (12.34, (11.0, 13.5))
    assert view.notes == ()


def test_each_rank_says_where_its_time_goes(run: WatchedRun) -> None:
    run.steps(1, 60, rank=0)
    run.steps(1, 60, rank=1, exchange_s=0.0, forward_s=0.22)
    first, second = Observer(run.paths.directory).look().ranks
    assert (first.rank, first.parts["exchange_s"], first.step_s) == (0, 0.1, 0.5)
    assert (second.rank, second.parts["exchange_s"], second.parts["forward_s"]) == (1, 0.0, 0.22)
    assert first.padding_share == pytest.approx(0.025)


def test_hosts_show_the_interface_that_carries_the_gradients_and_their_gpus(run: WatchedRun) -> None:
    run.as_usual()
    alpha, beta = Observer(run.paths.directory).look().hosts
    assert alpha.nic is not None
    assert (alpha.nic.name, alpha.carries_gradients) == ("eth0", True)
    assert alpha.nic.sent_bytes_per_s == pytest.approx(1e8)
    assert beta.gpus == (gpu_sample(),)


def test_a_run_that_stopped_says_why_and_one_that_was_resumed_runs_again(run: WatchedRun) -> None:
    run.as_usual()
    run.event("stopped", 200, "its time of 30.0 s is over")
    run.event("saved", 200, "checkpoint in 0.13 s")
    observer = Observer(run.paths.directory)
    view = observer.look()
    assert (view.status.kind, view.status.sentence) == ("stopped", "stopped: its time of 30.0 s is over")
    assert view.progress.left_s is None
    run.event("resumed", 200, "going on from step 200")
    assert observer.look().status.kind == "running"


def test_a_run_that_was_killed_is_silent(run: WatchedRun) -> None:
    run.as_usual()
    age(run, 600)
    status = Observer(run.paths.directory).look().status
    assert (status.kind, status.sentence) == ("silent", "no sign of life for 10 min 0 s; it may have been killed")


def test_files_from_the_future_are_no_sign_of_death(run: WatchedRun) -> None:
    run.as_usual()
    age(run, -5000)
    assert Observer(run.paths.directory).look().status.kind == "running"


def test_a_run_without_steps_waits(run: WatchedRun) -> None:
    view = Observer(run.paths.directory).look()
    assert (view.status.kind, view.status.sentence) == ("waiting", "no step is done yet")
    assert [view.progress.step, view.progress.left_s, view.pace.loss, view.evaluation] == [None] * 4


@pytest.mark.parametrize("make", [False, True])
def test_a_directory_without_a_run_is_refused_with_a_sentence(tmp_path: Path, make: bool) -> None:
    if make:
        (tmp_path / "here").mkdir()
    with pytest.raises(UserError, match=r"here holds no run; `dragoman train RECIPE` begins one"):
        Observer(tmp_path / "here").look()


def test_the_directory_above_names_the_newest_run_in_it(run: WatchedRun) -> None:
    older = run.paths.directory.with_name("older")
    older.mkdir()
    (older / "config.toml").touch()
    os.utime(older / "config.toml", (1, 1))
    above = run.paths.directory.parent
    with pytest.raises(UserError) as refused:
        Observer(above)
    assert str(refused.value) == f"{above} holds no run; there is one in it: `dragoman watch {run.paths.directory}`"


def test_a_run_that_is_over_says_where_its_report_lies(run: WatchedRun) -> None:
    run.as_usual()
    page = run.paths.report("index.html")
    page.parent.mkdir()
    page.touch()
    observer = Observer(run.paths.directory)
    assert observer.look().account is None, "the report of a run that goes on is an old one"
    run.event("stopped", 200, "200 steps are done")
    view = observer.look()
    assert f"what happened, and why: {page}" in lines(view)
    page.unlink()
    assert observer.look().account is None


def test_an_interface_that_carries_nothing_is_not_worth_a_word(run: WatchedRun) -> None:
    still = system_record(1).nics
    run.seconds(1, 3, "alpha", nics=still, gradient_nic=None)
    [alpha] = Observer(run.paths.directory).look().hosts
    assert alpha.nic is not None
    assert "sends" not in host_line(alpha)
    assert "eth0 (gradients) sends 0 B/s" in host_line(replace(alpha, carries_gradients=True))


def test_a_run_that_vanishes_is_told(run: WatchedRun) -> None:
    observer = Observer(run.as_usual().paths.directory)
    observer.look()
    shutil.rmtree(run.paths.directory)
    with pytest.raises(UserError, match="is gone or holds no run any more"):
        observer.look()


def test_new_lines_new_ranks_and_new_hosts_are_noticed(run: WatchedRun) -> None:
    run.steps(1, 10)
    observer = Observer(run.paths.directory)
    observer.look()
    run.steps(11, 12)
    run.steps(1, 12, rank=1)
    run.seconds(0, 5, "gamma")
    view = observer.look()
    assert view.progress.step == 12
    assert [rank.rank for rank in view.ranks] == [0, 1]
    assert [host.name for host in view.hosts] == ["gamma"]
    assert [p.x for p in observer.steps.curves.points("loss", since=1)] == [11, 12]
    assert len(observer.curves()["host gamma"].points("sent_mb_per_s", since=1)) == 6


def test_numbers_that_are_none_and_lines_that_are_broken_leave_gaps_and_a_note(run: WatchedRun) -> None:
    run.steps(1, 3)
    run.append(run.paths.steps(0), step_record(4, loss=float("nan"), gradient_norm=None))
    run.append_raw(run.paths.steps(0), '{"step": 5, "loss"\n{"step": 6, "loss": NaN}\n')
    run.append(run.paths.steps(0), step_record(7))
    run.append_raw(run.paths.steps(0), '{"step": 8, "lo')
    run.append_raw(run.paths.telemetry("alpha"), '{"time": 3}\n')
    observer = Observer(run.paths.directory)
    view = observer.look()
    assert view.progress.step == 7
    assert [(p.x, p.y is None) for p in observer.steps.curves.points("loss")][3:] == [(4, True), (6, True), (7, False)]
    assert view.notes == ("2 lines could not be read and are left out",)


def test_records_of_an_older_and_a_newer_version_are_read_as_far_as_they_go(run: WatchedRun) -> None:
    run.append_raw(run.paths.steps(0), '{"step": 1, "loss": 5.0}\n{"step": 2, "loss": 4.0, "colour": "blue"}\n')
    run.append_raw(run.paths.evals, '{"step": 2, "dev_loss": 4.5, "bleu_interval": "wide"}\n{"bleu": 1}\n')
    newer = {**json.loads(json.dumps(system_record(1.0).__dict__, default=lambda nic: nic.__dict__)), "humour": 0.3}
    run.append_raw(run.paths.telemetry("alpha"), json.dumps(newer) + "\n")
    view = Observer(run.paths.directory).look()
    assert (view.progress.step, view.pace.loss, view.pace.step_s, view.progress.training_s) == (2, 4.0, None, None)
    assert view.evaluation is not None
    assert (view.evaluation.dev_loss, view.evaluation.bleu, view.evaluation.bleu_interval) == (4.5, None, None)
    assert [host.cpu_share for host in view.hosts] == [0.8]
    assert view.notes == ()


def test_settings_that_cannot_be_read_cost_only_the_end_and_the_price(run: WatchedRun) -> None:
    run.as_usual()
    run.paths.config.write_text("[training]\nmax_stepz = 3\n")
    view = Observer(run.paths.directory).look()
    assert (view.progress.step, view.progress.last_step, view.progress.cost) == (200, None, None)
    [note] = view.notes
    assert note.startswith("its settings cannot be read, so the run's end and price are not known: ")


def test_clocks_that_jump_give_no_rate(run: WatchedRun) -> None:
    run.append(run.paths.telemetry("alpha"), system_record(10), system_record(5000))
    observer = Observer(run.paths.directory)
    assert [host.nic for host in observer.look().hosts] == [None]
    run.append(run.paths.telemetry("alpha"), system_record(5001, time=stamp(4)))
    assert [host.nic for host in observer.look().hosts] == [None]


@pytest.mark.parametrize(
    "training, last_step",
    [
        ({"max_steps": 0}, None),
        ({"max_steps": 0, "max_tokens": 1_000_001}, 501),
        ({"max_steps": 400, "max_tokens": 1_000_000}, 400),
        ({"max_steps": 400, "max_epochs": 3.0}, None),
    ],
)
def test_the_last_step_is_said_where_it_is_known(tmp_path: Path, training: dict[str, float], last_step: int) -> None:
    run = WatchedRun(tmp_path / "run", **training).as_usual()
    assert Observer(run.paths.directory).look().progress.last_step == last_step


def test_time_and_money_can_end_a_run_too(tmp_path: Path) -> None:
    run = WatchedRun(tmp_path / "run", max_steps=0, max_hours=1.0, max_cost=18.0).as_usual()
    assert Observer(run.paths.directory).look().progress.left_s == pytest.approx(1800 - 100)


def test_samples_are_the_newest_and_an_empty_translation_stays_empty(run: WatchedRun) -> None:
    run.evaluation(9_999_999)
    run.evaluation(10_000_000)
    samples = Observer(run.paths.directory).look().samples
    assert [(one.step, one.source, one.translation) for one in samples] == [
        (10_000_000, "A dog runs.", "Ein Hund rennt."),
        (10_000_000, "Two.", ""),
    ]


def test_every_rank_starts_but_the_event_shows_once(run: WatchedRun) -> None:
    for rank in (0, 1):
        run.event("started", 0, "2 ranks on cpu", rank)
    run.event("save", 5, "trouble", rank=1)
    assert [event.kind for event in Observer(run.paths.directory).look().events] == ["started", "save"]


def test_only_charts_with_something_to_show_are_drawn(run: WatchedRun) -> None:
    run.steps(1, 2, learning_rate=None)
    titles = [chart.title for chart in charts(_looked(run))]
    assert titles == ["Loss (nats a token)", "Target tokens a second", "Seconds of a step, main rank", "Gradient norm"]
    run.as_usual()
    observer = _looked(run)
    drawn = {chart.title: [series.label for series in chart.series] for chart in charts(observer)}
    assert drawn["Network sent (MB/s)"] == ["alpha", "beta"]
    assert drawn["GPU power (share of cap)"] == ["beta GPU 0"]
    [power] = {p.y for p in observer.curves()["host beta"].points("gpu/0_power_share")}
    assert power == pytest.approx(42 / 250)


def _looked(run: WatchedRun) -> Observer:
    observer = Observer(run.paths.directory)
    observer.look()
    return observer


def test_a_run_of_300000_steps_on_8_ranks_opens_in_two_seconds(run: WatchedRun) -> None:
    write_long(run.paths.steps(0), 300_000)
    for rank in range(1, 8):
        os.link(run.paths.steps(0), run.paths.steps(rank))
    line = json.dumps(records.to_json(system_record(0, gpus=(gpu_sample(0), gpu_sample(1))))) + "\n"
    for host in ("alpha", "beta"):
        run.append_raw(run.paths.telemetry(host), line * 100_000)
    start = time.process_time()
    observer = Observer(run.paths.directory)
    view = observer.look()
    opened_s = time.process_time() - start
    assert view.progress.step == 300_000
    assert len(view.ranks) == 8
    assert opened_s < 2
    assert len(observer.steps.curves) > 200
    start = time.process_time()
    observer.look()
    assert time.process_time() - start < 0.1


def test_a_long_record_of_a_host_has_rates_without_gaps(run: WatchedRun) -> None:
    run.seconds(0, 3000)
    observer = _looked(run)
    points = observer.curves()["host alpha"].points("sent_mb_per_s")
    assert len(points) > 200
    assert {round(point.y) if point.y is not None else None for point in points[1:]} == {100}
