"""What TensorBoard reads back, and what happens when it cannot be written."""

import dataclasses
import importlib
import logging
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.telemetry.board import Board

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read(directory: Path) -> Any:
    events = accumulator.EventAccumulator(str(directory))
    events.Reload()
    return events


def points(directory: Path, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in read(directory).Scalars(name)]


def write(board: Board, steps: range, value: float) -> None:
    for step in steps:
        board.scalar("loss", value + step, step)
    board.close()


@contextmanager
def files_no_longer_than(num_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_tensorboard_reads_back_the_numbers(tmp_path: Path) -> None:
    write(Board(tmp_path / "tensorboard"), range(1, 4), 0.5)
    assert points(tmp_path / "tensorboard", "loss") == [(1, 1.5), (2, 2.5), (3, 3.5)]


def test_tensorboard_reads_back_the_texts(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.text("sample", "ein Hund läuft", 7)
    board.close()
    [event] = read(tmp_path).Tensors("sample")
    assert event.step == 7
    assert event.tensor_proto.string_val[0].decode() == "ein Hund läuft"
    assert read(tmp_path).SummaryMetadata("sample").plugin_data.plugin_name == "text"


def test_values_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.scalar("loss", 2.0, 1)
    assert points(tmp_path, "loss") == [(1, 2.0)]
    board.close()


def test_an_unknown_value_leaves_a_gap_and_one_that_is_no_number_shows(tmp_path: Path) -> None:
    board = Board(tmp_path)
    for step, value in enumerate((1.0, None, float("nan"))):
        board.scalar("loss", value, step)
    board.close()
    assert [step for step, _ in points(tmp_path, "loss")] == [0, 2]


def test_nothing_is_opened_before_the_first_value(tmp_path: Path) -> None:
    Board(tmp_path / "tensorboard").close()
    assert not (tmp_path / "tensorboard").exists()


def test_after_a_resume_each_step_shows_once_with_its_new_value(tmp_path: Path) -> None:
    write(Board(tmp_path), range(1, 9), 100)
    write(Board(tmp_path, resumed_at_step=5), range(6, 8), 200)
    expected = [(step, 100 + step) for step in range(1, 6)] + [(6, 206), (7, 207)]
    assert points(tmp_path, "loss") == expected


def test_many_resumes_show_the_last_of_each_step(tmp_path: Path) -> None:
    for attempt in range(12):
        write(Board(tmp_path, resumed_at_step=attempt), range(attempt + 1, attempt + 4), 100 * attempt)
    assert points(tmp_path, "loss")[:11] == [(step, 100 * (step - 1) + step) for step in range(1, 12)]
    assert len(points(tmp_path, "loss")) == 14


def test_a_resume_on_a_machine_whose_clock_is_behind_still_comes_last(tmp_path: Path) -> None:
    write(Board(tmp_path), range(1, 9), 100)
    [first] = tmp_path.iterdir()
    first.rename(tmp_path / "events.out.tfevents.9999999998.host.1.0")
    write(Board(tmp_path, resumed_at_step=0), range(1, 3), 200)
    assert points(tmp_path, "loss") == [(1, 201), (2, 202)]


def test_a_missing_package_is_said_once_and_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.record_writer", None)
    board = Board(tmp_path)
    with caplog.at_level(logging.WARNING):
        write(board, range(1, 9), 0.0)
    assert board.note is not None
    assert "tensorboard" in board.note
    assert caplog.messages == [board.note]


def test_a_directory_that_cannot_be_made_is_said_and_not_raised(tmp_path: Path) -> None:
    (tmp_path / "tensorboard").write_text("a file in the way")
    board = Board(tmp_path / "tensorboard")
    write(board, range(1, 9), 0.0)
    assert board.note is not None
    assert board.note.startswith("TensorBoard shows nothing from here on: ")


def test_a_disk_that_fills_up_is_said_once_and_what_was_written_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    board = Board(tmp_path)
    board.scalar("loss", 1.0, 1)
    with caplog.at_level(logging.WARNING), files_no_longer_than(400):
        write(board, range(2, 2_000), 0.0)
        board.close()
    assert board.note is not None
    assert caplog.messages == [board.note]
    assert points(tmp_path, "loss")[0] == (1, 1.0)


def test_a_value_of_the_wrong_kind_is_not_raised_either(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.scalar("loss", "high", 1)  # type: ignore[arg-type]
    assert board.note is not None


def test_values_after_closing_are_passed_over(tmp_path: Path) -> None:
    board = Board(tmp_path)
    write(board, range(1, 3), 0.0)
    write(board, range(3, 5), 0.0)
    assert len(points(tmp_path, "loss")) == 2
    assert board.note is None


def test_a_board_needs_no_torch(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from dragoman.telemetry.board import Board;"
        "board = Board(Path(sys.argv[1])); assert 'tensorboard' not in sys.modules;"
        "board.scalar('loss', 1.0, 1); board.close(); assert board.note is None; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


@dataclasses.dataclass(frozen=True)
class Inner:
    rate: float = 0.5
    is_on: bool = True
    names: tuple[str, ...] = ("a", "b")


@dataclasses.dataclass(frozen=True)
class Recipe:
    kind: str = "small"
    steps: int = 7
    inner: Inner = dataclasses.field(default_factory=Inner)


def test_the_recipe_is_a_table_of_hyperparameters_and_a_text(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.hyperparameters(Recipe())
    board.close()
    assert board.note is None
    plugin = importlib.import_module("tensorboard.plugins.hparams.metadata")
    contents = read(tmp_path).PluginTagToContent("hparams")
    start = plugin.parse_session_start_info_plugin_data(contents[plugin.SESSION_START_INFO_TAG])
    assert start.hparams["kind"].string_value == "small"
    assert start.hparams["steps"].number_value == 7
    assert start.hparams["inner.is_on"].bool_value is True
    assert start.hparams["inner.names"].string_value == '["a", "b"]'
    experiment = plugin.parse_experiment_plugin_data(contents[plugin.EXPERIMENT_TAG])
    assert [info.name.tag for info in experiment.metric_infos] == ["eval/dev_loss", "eval/bleu", "eval/chrf"]
    [text] = read(tmp_path).Tensors("recipe")
    assert "| inner.rate | 0.5 |" in text.tensor_proto.string_val[0].decode()


def test_hyperparameters_without_the_package_are_said_and_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.plugins.hparams.summary_v2", None)
    board = Board(tmp_path)
    board.hyperparameters(Recipe())
    assert board.note is not None
