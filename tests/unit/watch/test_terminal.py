"""The view in a terminal and in a file."""

import io
import shutil
import time
from pathlib import Path

import pytest
from rich.console import Console

from dragoman.core.errors import UserError
from dragoman.watch import terminal
from dragoman.watch.observer import Observer
from tests.watched_run import WatchedRun


@pytest.fixture
def run(tmp_path: Path) -> WatchedRun:
    return WatchedRun(tmp_path / "run").as_usual()


def shown(run: WatchedRun, width: int, height: int | None = None) -> str:
    observer, out = Observer(run.paths.directory), io.StringIO()
    view = observer.look()
    Console(file=out, width=width, height=height or 400).print(terminal.screen(observer, view, width, height))
    return out.getvalue()


def test_the_plain_view_says_everything_once(run: WatchedRun) -> None:
    out = io.StringIO()
    terminal.print_once(Observer(run.paths.directory), out)
    text = out.getvalue()
    assert "\x1b" not in text
    for part in (
        f"{run.paths.directory}: running\n",
        "step 200 of 1,000 (20 %) · 1 min 40 s trained · 6 min 40 s left · cost 1.00\n",
        "dev loss 4.500 · train loss 4.250 · BLEU 12.3 (11.0–13.5) · chrF 33.3 at step 200\n",
        "rank 1: 0.500 s = data wait 2 %",
        "host alpha: CPU 80 %",
        "  GPU 0 Tesla V100: 100 % of the time busy · 42 W of 250 W",
        "started at step 0: 2 ranks on cpu\n",
        "dev sentence at step 200: A dog runs.\n  translation: Ein Hund rennt.\n  reference:   Ein Hund läuft.\n",
    ):
        assert part in text
    [loss] = [line for line in text.splitlines() if line.startswith("Loss (nats a token): train, each step")]
    assert loss.endswith("  7.921 → 2.667")
    assert "█" in loss and "▁" in loss


def test_a_run_without_steps_is_a_sentence(tmp_path: Path) -> None:
    out = io.StringIO()
    terminal.print_once(Observer(WatchedRun(tmp_path / "run").paths.directory), out)
    assert out.getvalue() == f"{tmp_path / 'run'}: no step is done yet\n"


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_screen_shows_all_and_fits_its_width(run: WatchedRun, width: int) -> None:
    text = shown(run, width)
    assert max(map(len, text.splitlines())) <= width
    for part in (
        "running",
        "step 200 of 1,000",
        "loss 2.667 · learning rate",
        "Loss (nats a token)",
        "Where a step's time goes",
        "alpha: CPU 80 %",
    ):
        assert part in text
    assert "Ein Hund rennt." in text
    assert "⣀" in text or "⠉" in text


def test_a_low_screen_shows_fewer_charts(run: WatchedRun) -> None:
    assert "GPU power" in shown(run, 100)
    assert "GPU power" not in shown(run, 100, height=40)
    low = shown(run, 100, height=40)
    assert "Loss (nats a token)" in low
    assert "Ein Hund rennt." in low
    assert len(low.splitlines()) <= 40


def test_markup_and_terminal_commands_in_a_run_stay_text(tmp_path: Path) -> None:
    run = WatchedRun(tmp_path / "run").as_usual()
    run.event("saved", 5, "[bold red]x[/nonsense] \x1b[2J")
    text = shown(run, 100)
    assert "[bold red]x[/nonsense] �[2J" in text


def test_following_ends_when_the_run_stops_and_leaves_its_last_view(
    run: WatchedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        run.steps(200 + len(waits), 200 + len(waits))
        if len(waits) == 3:
            run.event("stopped", 203, "it was asked to stop")

    monkeypatch.setattr(time, "sleep", sleep)
    out = io.StringIO()
    terminal.follow(Observer(run.paths.directory), Console(file=out, width=100, height=50, force_terminal=True))
    assert waits == [1.0, 1.0, 1.0]
    last = out.getvalue().rpartition("\x1b[?1049l")[2]
    assert "stopped: it was asked to stop" in last
    assert "step 203 of 1,000" in last


def test_following_a_run_that_vanishes_ends_with_a_sentence(run: WatchedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: shutil.rmtree(run.paths.directory))
    with pytest.raises(UserError, match="is gone"):
        terminal.follow(Observer(run.paths.directory), Console(file=io.StringIO(), force_terminal=True))
