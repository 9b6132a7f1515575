"""Pupils of the Multi30k record: they begin as their teacher, differ by their seeds alone, and are counted once."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.multi30k_record import commands, pupils
from benchmarks.multi30k_record.pupils import learned, pupils_in
from benchmarks.multi30k_record.spending import Spent
from dragoman.core import config_file, records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

EVALUATION = EvalRecord(0, "", 0, 0.0, None, None, 0.0, (0.0, 0.0), 0.0, "", "", 0, 0.0)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The trainings that were asked for, none of which takes any time."""
    asked: list[Sequence[str]] = []

    def side_by_side(trainings: Sequence[Sequence[str]]) -> None:
        for place, words in enumerate(trainings):
            asked.append(words)
            run = RunPaths(Path(words[words.index("--run") + 1]))
            run.evals.parent.mkdir(parents=True)
            for tokens, training_s, bleu in ((0, 0.0, 39.0), (5_000, 60.0 + 60.0 * place, 41.0 + place)):
                records.append_line(run.evals, replace(EVALUATION, tokens=tokens, training_s=training_s, bleu=bleu))

    monkeypatch.setattr(pupils, "dragoman", lambda *_: "")
    monkeypatch.setattr(pupils, "side_by_side", side_by_side)
    return asked


def test_pupils_begin_as_their_teacher_and_differ_by_their_seeds(trained: list[Sequence[str]], tmp_path: Path) -> None:
    learned(tmp_path / "a.toml", tmp_path / "lessons", 1, ["model.dropout=0.2"])
    assert [words[words.index("--run") + 1] for words in trained] == list(map(str, pupils_in(tmp_path / "lessons")))
    assert all(words[words.index("--start-from") + 1] == str(tmp_path / "lessons" / "teacher") for words in trained)
    first, second = (set(words) for words in trained)
    assert first ^ second == {*map(str, pupils_in(tmp_path / "lessons")), "training.seed=2001", "training.seed=3001"}
    assert "model.dropout=0.2" in first & second


def test_what_was_learned_at_once_counts_once_in_minutes(trained: list[Sequence[str]], tmp_path: Path) -> None:
    spent = learned(tmp_path / "a.toml", tmp_path / "lessons", 1, [])
    assert spent == Spent(minutes=2.0, tokens=10_000, curve=((0.0, 0, 39.0), (2.0, 10_000, 41.5)))


def test_a_curve_goes_on_where_the_one_before_ended() -> None:
    teaching = Spent(3.0, 1_000, ((0.0, 0, 0.0), (3.0, 1_000, 39.0))) + Spent(minutes=0.5)
    whole = teaching + Spent(2.0, 500, ((0.0, 0, 39.0), (2.0, 500, 41.0)))
    assert (whole.minutes, whole.tokens) == (5.5, 1_500)
    assert whole.curve == ((0.0, 0, 0.0), (3.0, 1_000, 39.0), (3.5, 1_000, 39.0), (5.5, 1_500, 41.0))


def test_the_pupils_settings_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    recipe = commands.filled("fast", tmp_path / "a.toml", lessons=tmp_path)
    assert config_file.load(recipe, pupils.SETTINGS).training.max_steps > 1  # that of the mean, the recipe's own


def test_all_commands_have_ended_before_a_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_command", lambda words: [sys.executable, "-c", words[0]])
    slow = f"import time; time.sleep(0.5); open({str(tmp_path / 'ended')!r}, 'x')"
    with pytest.raises(subprocess.CalledProcessError):
        commands.side_by_side([("raise SystemExit(3)",), (slow,)])
    assert (tmp_path / "ended").exists()
    commands.side_by_side([("",), ("",)])
