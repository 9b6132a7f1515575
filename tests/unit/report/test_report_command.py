"""`dragoman report`: what it prints, writes and refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli import report as command
from dragoman.cli.main import run_command
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import StepRecord
from dragoman.report.report import make_report
from tests.unit.report.made_up import run


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A run of thirty steps."""
    paths = RunPaths(tmp_path / "run")
    paths.steps(0).parent.mkdir(parents=True)
    paths.config.write_text(to_toml(Config()))
    steps = [
        StepRecord(n, f"2026-01-01T00:00:{n:02}+00:00", 2.0, 2.5, 1.0, 1e-3, 1000, 900, 1000, 0.0, 0.1, 0.2, 0.0, 0.01,
                   0.31, 0, False)
        for n in range(1, 31)
    ]  # fmt: skip
    records.write_lines(paths.steps(0), steps)
    return paths.directory


def test_it_prints_the_short_form_and_writes_three_files(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["report", str(directory)]) == 0
    told = capsys.readouterr()
    assert "What to do next" in told.out
    assert " 1  How long did training take? 9.3 s for 30 steps at 0.31 s a step." in told.out
    assert f"The whole report: {directory}/report/index.html" in told.err
    assert {path.name for path in (directory / "report").iterdir()} == {"index.html", "report.json", "report.md"}


def test_out_and_price_and_json(directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["report", str(directory), "--out", str(tmp_path / "there"), "--price", "3.6", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["settings"]["price_per_hour"] == 3.6
    assert (tmp_path / "there" / "index.html").is_file() and not (directory / "report").exists()


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["nowhere"], "there is no run nowhere; train one with `dragoman train RECIPE.toml`"),
        (["empty"], "empty is empty: no run and no log"),
        (["empty", "--price", "-1"], "--price -1: a price an hour is above zero"),
    ],
)
def test_what_cannot_be_reported_on_is_a_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    assert run_command(["report", *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert list(Path("empty").iterdir()) == []


def test_a_file_that_is_no_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("milk, bread, butter\n")
    assert run_command(["report", str(tmp_path / "notes.txt")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_run_without_steps_is_reported_as_unknown(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "steps" / "rank00.jsonl").unlink()
    assert run_command(["report", str(directory)]) == 0
    assert "10  How long did a step take? Undetermined: no step was timed." in capsys.readouterr().out


def test_torch_is_not_needed(directory: Path) -> None:
    program = (
        "import sys\nsys.modules['torch'] = None\nfrom dragoman.cli.main import run_command\n"
        f"code = run_command(['report', {str(directory)!r}])\nsys.exit(code)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_the_short_form_fits_the_terminal_and_moves_no_cursor() -> None:
    text = command.short_form(make_report(run(ended="\x1b[2J\rgone")), 72)
    assert max(map(len, text.splitlines())) <= 72
    assert "\x1b" not in text and "\r" not in text
