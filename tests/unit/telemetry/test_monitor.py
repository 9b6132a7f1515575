"""The thread that watches a host: it writes a line a second and survives whatever happens to it."""

import logging
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import SystemRecord
from dragoman.telemetry import monitor as module
from dragoman.telemetry import samplers
from dragoman.telemetry.monitor import Monitor, mend_last_line
from tests.fake_nvml import FakeNvml
from tests.watched_run import system_record

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def written(paths: RunPaths) -> list[SystemRecord]:
    file = paths.telemetry("alpha")
    return list(records.read_lines(file, SystemRecord)) if file.exists() else []


def until(condition: Callable[[], bool], most_s: float = 20.0) -> None:
    end = time.monotonic() + most_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    return RunPaths(tmp_path)


def test_records_are_written_while_it_runs_and_not_afterwards(paths: RunPaths) -> None:
    with Monitor(paths, "alpha", every_s=0.02) as monitor:
        until(lambda: len(written(paths)) >= 3)
    count = len(written(paths))
    time.sleep(0.1)
    assert len(written(paths)) == count
    last = written(paths)[-1]
    assert last.host == "alpha"
    assert last.memory_total_bytes and last.process_memory_bytes and last.disk_free_bytes
    assert last.cpu_share is None or 0 <= last.cpu_share <= 1
    assert last.gradient_nic is None
    assert monitor.note is None


def test_it_keeps_its_pace(paths: RunPaths) -> None:
    with Monitor(paths, "alpha", every_s=0.1):
        time.sleep(1.05)
    assert 5 <= len(written(paths)) <= 12


def test_the_thread_does_not_keep_a_process_alive(paths: RunPaths) -> None:
    with Monitor(paths, "alpha", every_s=0.02):
        [thread] = [thread for thread in threading.enumerate() if thread.name == "dragoman-monitor"]
        assert thread.daemon
    assert not thread.is_alive()


def test_tensorboard_gets_charts_of_each_host(paths: RunPaths) -> None:
    with Monitor(paths, "alpha", every_s=0.01):
        until(lambda: len(written(paths)) >= 25)
    events = accumulator.EventAccumulator(str(paths.tensorboard / "host-alpha"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {"system/cpu_share", "system/memory_share", "network/lo_sent_mb_per_s"} <= set(tags)
    assert all(0 < event.value < 1 for event in events.Scalars("system/memory_share"))


def test_every_gpu_is_written_down_and_charted(paths: RunPaths) -> None:
    library = FakeNvml()
    with Monitor(paths, "alpha", every_s=0.01, nvml=library):
        until(lambda: len(written(paths)) >= 2)
    assert not library.is_open
    first, second = written(paths)[-1].gpus
    assert (first.utilisation, first.power_w, first.power_cap_w, first.temperature_c) == (1.0, 42.5, 250.0, 37.0)
    assert (first.clock_mhz, first.memory_used_bytes) == (1380.0, 5_000_000_000)
    assert second.throttle_reasons == ("power_cap", "hardware_thermal")
    events = accumulator.EventAccumulator(str(paths.tensorboard / "host-alpha"))
    events.Reload()
    charted = {tag: events.Scalars(tag)[0].value for tag in events.Tags()["scalars"] if tag.startswith("gpu/1")}
    assert charted == {
        "gpu/1_utilisation": 1.0,
        "gpu/1_memory_share": 0.3125,
        "gpu/1_power_w": 42.5,
        "gpu/1_power_cap_w": 250.0,
        "gpu/1_power_share": pytest.approx(0.17),
        "gpu/1_clock_mhz": 1380.0,
        "gpu/1_temperature_c": 37.0,
        "gpu/1_num_throttle_reasons": 2.0,
    }


class Explodes:
    """Stands in for NVML; whatever is asked of it fails."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_a_library_that_explodes_costs_only_its_own_sensors(paths: RunPaths) -> None:
    with Monitor(paths, "alpha", every_s=0.02, nvml=Explodes()) as monitor:
        until(lambda: len(written(paths)) >= 2)
    assert written(paths)[-1].gpus == ()
    assert written(paths)[-1].memory_total_bytes
    assert monitor.note is None


def test_a_sensor_that_raises_after_all_is_said_once_and_the_thread_goes_on(
    paths: RunPaths, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    def nics() -> tuple[()]:
        calls.append(1)
        if len(calls) < 4:
            raise ZeroDivisionError("a bug")
        return ()

    monkeypatch.setattr(samplers, "nics", nics)
    with caplog.at_level(logging.WARNING), Monitor(paths, "alpha", every_s=0.01) as monitor:
        until(lambda: len(written(paths)) >= 2)
    assert monitor.note == "the records of alpha have gaps: a bug; training goes on"
    assert caplog.messages == [monitor.note]


def test_a_directory_that_cannot_be_written_is_said_and_not_raised(paths: RunPaths) -> None:
    (paths.directory / "telemetry").write_text("a file in the way")
    with Monitor(paths, "alpha", every_s=0.01) as monitor:
        until(lambda: monitor.note is not None)
    assert monitor.note is not None and monitor.note.startswith("the records of alpha have gaps: ")


def test_a_disk_that_fills_up_leaves_whole_lines_and_is_used_again_when_there_is_room(paths: RunPaths) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Monitor(paths, "alpha", every_s=0.01) as monitor:
        until(lambda: len(written(paths)) >= 2)
        size = paths.telemetry("alpha").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
        try:
            until(lambda: monitor.note is not None)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        count = len(written(paths))
        until(lambda: len(written(paths)) >= count + 3)
    text = paths.telemetry("alpha").read_text()
    assert text.endswith("\n")
    assert len(written(paths)) == text.count("\n")


def test_after_a_crash_half_a_line_does_not_spoil_the_next(paths: RunPaths) -> None:
    file = paths.telemetry("alpha")
    file.parent.mkdir()
    records.append_line(file, system_record(1))
    with file.open("a") as half:
        half.write('{"time": "2026-')
    with Monitor(paths, "alpha", every_s=0.02):
        until(lambda: file.read_text().count("\n") >= 3)
    assert written(paths)[0] == system_record(1)
    assert len(written(paths)) == file.read_text().count("\n")


@pytest.mark.parametrize("before, after", [("", ""), ("half", ""), ("a\n", "a\n"), ("a\nhalf", "a\n")])
def test_the_last_line_is_mended(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(before.replace("half", "x" * 100_000))
    mend_last_line(file)
    assert file.read_text() == after
    mend_last_line(tmp_path / "not there")


def test_a_host_without_threads_trains_without_a_monitor(paths: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot_start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", cannot_start)
    with Monitor(paths, "alpha") as monitor:
        assert monitor.note == "the records of alpha have gaps: can't start new thread; training goes on"


def test_a_sensor_that_hangs_does_not_hold_up_the_end(paths: RunPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(module, "CLOSE_WITHIN_S", 0.1)
    monkeypatch.setattr(samplers, "nics", lambda: ended.wait(30) and ())
    monitor = Monitor(paths, "alpha").start()
    time.sleep(0.05)
    start = time.monotonic()
    monitor.close()
    assert time.monotonic() - start < 5
    ended.set()
