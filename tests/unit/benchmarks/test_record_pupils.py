"""Pupils of the Multi30k record: they begin as their teacher, differ by their seeds alone, and are counted once."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.multi30k_record import commands, pupils
from benchmarks.multi30k_record.pupils import NUM_PUPILS, learned, pupils_in
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
            records.append_line(run.evals, replace(EVALUATION, tokens=5_000, training_s=60.0 + 60.0 * place))

    monkeypatch.setattr(pupils, "dragoman", lambda *_: "")
    monkeypatch.setattr(pupils, "side_by_side", side_by_side)
    return asked


def option(words: Sequence[str], name: str) -> list[str]:
    return [value for word, value in pairwise(words) if word == name]


def test_pupils_begin_as_their_teacher_and_then_as_the_mean_of_the_round_before(
    trained: list[Sequence[str]], tmp_path: Path
) -> None:
    learned(tmp_path / "a.toml", tmp_path, 1, ["model.dropout=0.2"])
    rounds = [trained[place : place + NUM_PUPILS] for place in range(0, len(trained), NUM_PUPILS)]
    beginnings = [[str(tmp_path / "teacher")], *([str(run) for run in pupils_in(tmp_path, n)] for n in (1, 2))]
    assert len(rounds) == 2
    for number, pupils_of_round in enumerate(rounds):
        assert [option(words, "--start-from") for words in pupils_of_round] == [beginnings[number]] * NUM_PUPILS
        assert [word for words in pupils_of_round for word in option(words, "--run")] == beginnings[number + 1]
    assert pupils_in(tmp_path) == [Path(run) for run in beginnings[-1]]


def test_pupils_of_a_round_differ_by_their_seeds_alone(trained: list[Sequence[str]], tmp_path: Path) -> None:
    learned(tmp_path / "a.toml", tmp_path, 1, ["model.dropout=0.2"])
    settings = [set(option(words, "--set")) for words in trained]
    assert settings[0] ^ settings[1] == {"training.seed=2001", "training.seed=3001"}
    assert settings[2] ^ settings[3] == {"training.seed=4001", "training.seed=5001"}
    assert all("model.dropout=0.2" in own for own in settings)


def test_what_was_learned_at_once_counts_once_in_minutes(trained: list[Sequence[str]], tmp_path: Path) -> None:
    spent = learned(tmp_path / "a.toml", tmp_path, 1, [])
    assert spent == Spent(minutes=4.0, tokens=20_000)
    assert Spent(1.0, 1_000) + spent == Spent(5.0, 21_000)


def test_the_pupils_settings_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    recipe = commands.filled("fast", tmp_path / "a.toml", lessons=tmp_path)
    for own in pupils.ROUNDS:
        assert f"training.max_steps={config_file.load(recipe, [*pupils.SETTINGS, *own]).training.max_steps}" in own


def test_all_commands_have_ended_before_a_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_command", lambda words: [sys.executable, "-c", words[0]])
    slow = f"import time; time.sleep(0.5); open({str(tmp_path / 'ended')!r}, 'x')"
    with pytest.raises(subprocess.CalledProcessError):
        commands.side_by_side([("raise SystemExit(3)",), (slow,)])
    assert (tmp_path / "ended").exists()
    commands.side_by_side([("",), ("",)])
