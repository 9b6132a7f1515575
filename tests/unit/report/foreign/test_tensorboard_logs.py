"""TensorBoard event files and exported tables."""

import math
import struct
import time
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.report.foreign.opening import open_transcript
from dragoman.report.foreign.tensorboard_files import tag_of_table
from dragoman.telemetry.board import Board


def table(rows: list[tuple[float, int, float]]) -> str:
    return "Wall time,Step,Value\n" + "".join(f"{when},{step},{value}\n" for when, step, value in rows)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    steps = range(100, 1100, 100)
    curves = {
        "train_loss.csv": [(1000.0 + 1.5 * s, s, 9 - s / 200) for s in steps],
        "run-.-tag-eval_loss.csv": [(1000.0, 0, 9.5), (1750.0, 500, 7.0), (2500.0, 1000, 5.0)],
        "run-eval-tag-Eval_BLEU_Score.csv": [(1000.0, 0, 0.95), (2500.0, 1000, 0.25)],
        "global_step_sec.csv": [(1000.0 + 1.5 * s, s, 0.625) for s in steps],
        "learning_rate.csv": [(1000.0 + 1.5 * s, s, 1e-7 * s) for s in steps],
        "loss_scale.csv": [(1000.0 + 1.5 * s, s, 1024.0) for s in steps],
    }
    for name, rows in curves.items():
        (tmp_path / name).write_text(table(rows))
    return tmp_path


def test_a_folder_of_tables_is_read(exported: Path) -> None:
    found = open_transcript(exported)
    assert found.system == "TensorBoard"
    assert [(p.step, p.loss) for p in found.points][:2] == [(100, 8.5), (200, 8.0)]
    assert found.points[0].step_s == pytest.approx(1.6)
    assert found.points[3].learning_rate == pytest.approx(4e-5)
    assert [(e.step, e.loss, e.bleu) for e in found.evaluations] == [
        (0, 9.5, 95.0), (500, 7.0, None), (1000, 5.0, 25.0),
    ]  # fmt: skip
    assert found.duration_s == pytest.approx(1350)


def test_without_a_curve_of_speed_the_clock_tells_it(exported: Path) -> None:
    (exported / "global_step_sec.csv").unlink()
    assert open_transcript(exported).points[5].step_s == pytest.approx(1.5)


def test_a_table_that_was_cut_loses_its_last_row(exported: Path) -> None:
    file = exported / "train_loss.csv"
    file.write_text(file.read_text()[:-2])
    assert [p.loss for p in open_transcript(exported).points if p.loss is not None][-1] == 4.5


def test_values_that_are_no_numbers_stay(exported: Path) -> None:
    with (exported / "train_loss.csv").open("a") as file:
        file.write("2700.0,1100,nan\r\n2850.0,1200,NaN\r\n3000.0,garbage,1\r\n")
    losses = [p.loss for p in open_transcript(exported).points]
    assert [loss is not None and math.isnan(loss) for loss in losses] == [False] * 10 + [True, True]


def test_a_night_between_two_sessions_is_a_pause(exported: Path) -> None:
    rows = [(1000.0 + 1.5 * s + (40_000 if s > 500 else 0), s, 5.0) for s in range(100, 1100, 100)]
    for name in ("train_loss.csv", "global_step_sec.csv", "learning_rate.csv"):
        (exported / name).write_text(table(rows))
    found = open_transcript(exported)
    assert found.duration_s == pytest.approx(1200)
    assert "1 long silence between points taken as pauses" in found.remarks


@pytest.mark.parametrize(
    "name, tag",
    [
        ("run-train-tag-eval_loss.csv", "train/eval_loss"),
        ("run-.-tag-loss.csv", "loss"),
        ("train_loss.csv.gz", "train_loss"),
    ],
)
def test_tags_are_the_names_of_tables(name: str, tag: str) -> None:
    assert tag_of_table(name) == tag


def write_board(directory: Path, num_steps: int) -> None:
    board = Board(directory)
    for step in range(1, num_steps + 1):
        board.scalar("train/loss", 10.0 / step, step)
        board.scalar("learning_rate", 1e-4, step)
    board.scalar("dev/loss", 3.5, num_steps)
    board.scalar("dev/bleu", 20.0, num_steps)
    board.text("sample", "words", 1)
    board.close()


def test_an_event_file_is_read(tmp_path: Path) -> None:
    write_board(tmp_path, 50)
    found = open_transcript(next(tmp_path.iterdir()))
    assert len(found.points) == 50
    assert found.points[9].loss == pytest.approx(1.0)
    assert [(e.step, e.loss, e.bleu) for e in found.evaluations] == [(50, 3.5, 20.0)]


@pytest.mark.parametrize("missing", [1, 7, 30])
def test_a_torn_event_file_gives_what_is_whole(tmp_path: Path, missing: int) -> None:
    board = Board(tmp_path)
    for step in range(1, 51):
        board.scalar("train/loss", 10.0 / step, step)
    board.close()
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-missing])
    assert [point.step for point in open_transcript(tmp_path).points] == list(range(1, 50))


def test_an_event_file_whose_lengths_are_nonsense_ends_there(tmp_path: Path) -> None:
    write_board(tmp_path, 50)
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes() + struct.pack("<Q", 1 << 60) + b"\0" * 100)
    assert len(open_transcript(tmp_path).points) == 50


def test_several_files_of_one_run_are_one_run(tmp_path: Path) -> None:
    write_board(tmp_path, 20)
    board = Board(tmp_path)
    board.scalar("train/loss", 0.125, 21)
    board.close()
    found = open_transcript(tmp_path)
    assert (len(found.points), found.points[-1].loss) == (21, 0.125)


def test_curves_of_two_runs_are_not_mixed(tmp_path: Path) -> None:
    for name, loss in (("first/train", 8.0), ("first/eval", 6.0), ("second/train", 5.0), ("second/eval", 4.0)):
        board = Board(tmp_path / name)
        board.scalar("loss", loss, 100)
        board.close()
    with pytest.raises(UserError, match="holds curves of 2 runs: first, second") as refused:
        open_transcript(tmp_path)
    assert f"dragoman report {tmp_path / 'second'}" in (refused.value.fix or "")
    found = open_transcript(tmp_path / "second")
    assert (found.points[0].loss, found.evaluations[0].loss) == (5.0, 4.0)


def test_tables_of_two_runs_are_not_mixed(exported: Path) -> None:
    (exported / "run-old-tag-eval_loss.csv").write_text(table([(1.0, 500, 1.0), (2.0, 1000, 0.5)]))
    with pytest.raises(UserError, match="holds curves of 2 runs: old, the folder itself"):
        open_transcript(exported)


def test_a_folder_of_a_run_of_ours_is_one_run(tmp_path: Path) -> None:
    write_board(tmp_path, 20)
    board = Board(tmp_path / "host-a")
    board.scalar("cpu/share", 0.5, 1)
    board.close()
    assert len(open_transcript(tmp_path).points) == 20


@pytest.mark.parametrize("jump", [-7200.0, 86_400.0, -1e9])
def test_a_clock_that_jumps_makes_no_wrong_time(exported: Path, jump: float) -> None:
    rows = [(1e9 + 1.5 * s + (jump if s > 500 else 0), s, 5.0) for s in range(100, 1100, 100)]
    (exported / "global_step_sec.csv").unlink()
    for name in ("train_loss.csv", "learning_rate.csv"):
        (exported / name).write_text(table(rows))
    found = open_transcript(exported)
    assert found.duration_s == pytest.approx(1200), "the step over the jump is not counted"
    seconds = [point.step_s for point in found.points if point.step_s is not None]
    assert sorted(seconds)[len(seconds) // 2] == pytest.approx(1.5)


def test_a_session_that_went_back_counts_as_it_came_last(tmp_path: Path) -> None:
    for first, last, loss in ((1, 60, 9.0), (41, 100, 5.0)):
        board = Board(tmp_path)
        for step in range(first, last + 1):
            board.scalar("train/loss", loss, step)
        board.close()
        time.sleep(1.1)  # the names of event files have whole seconds
    found = open_transcript(tmp_path)
    assert [point.loss for point in found.points] == [9.0] * 40 + [5.0] * 60


def test_folders_of_fairseq_are_known_and_their_bits_made_nats(tmp_path: Path) -> None:
    for name, loss in (("train_inner", 8.0), ("valid", 6.0), ("train", 9.0)):
        board = Board(tmp_path / name)
        board.scalar("loss", loss + 1, 100)
        board.scalar("nll_loss", loss, 100)
        board.close()
    found = open_transcript(tmp_path)
    assert found.points[0].loss == pytest.approx(8 * math.log(2))
    assert found.evaluations[0].loss == pytest.approx(6 * math.log(2))


def test_an_event_file_without_scalars_says_so(tmp_path: Path) -> None:
    board = Board(tmp_path)
    board.text("sample", "words", 1)
    board.close()
    with pytest.raises(UserError, match="no step and no evaluation"):
        open_transcript(tmp_path)


def test_a_long_event_file_is_read_fast(tmp_path: Path) -> None:
    write_board(tmp_path, 10_000)
    start = time.process_time()
    assert len(open_transcript(tmp_path).points) == 10_000
    assert time.process_time() - start < 2.0, "a run of 300,000 steps would take a minute"
