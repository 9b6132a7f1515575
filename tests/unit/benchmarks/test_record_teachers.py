"""Teachers of the Multi30k record: what they wrote goes with the right lines, and what they cost is counted once."""

import gzip
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.multi30k_record import commands, teachers
from benchmarks.multi30k_record.teachers import taught
from dragoman.core import config_file, records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

EVALUATION = EvalRecord(0, "", 0, 0.0, None, None, 0.0, (0.0, 0.0), 0.0, "", "", 0, 0.0)
LINES = {"en": ("a dog", "a cat"), "de": ("ein hund", "eine katze")}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verbs that were asked for, of a Dragoman that trains and translates at once."""
    verbs = []

    def side_by_side(asked_for: Sequence[Sequence[str]]) -> None:
        for place, words in enumerate(asked_for):
            verbs.append(words[0])
            run = RunPaths(Path(words[words.index("--run") + 1]))
            run.evals.parent.mkdir(parents=True)
            records.append_line(run.evals, replace(EVALUATION, tokens=5_000, training_s=60.0 + 60.0 * place))

    def dragoman(*words: str, given: str | None = None) -> str:
        verbs.append(words[0])
        return "".join(f"{line}, {nth}\n" for line in (given or "").splitlines() for nth in ("best", "second"))

    def data_file(_: str, language: str) -> Path:
        path = tmp_path / f"train.{language}.gz"
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in LINES[language]).encode()))
        return path

    monkeypatch.setattr(teachers, "side_by_side", side_by_side)
    monkeypatch.setattr(teachers, "dragoman", dragoman)
    monkeypatch.setattr(teachers, "data_file", data_file)
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    return verbs


def test_each_line_has_its_best_and_its_second_translation(asked: list[str], tmp_path: Path) -> None:
    taught(tmp_path / "teachers", seed=1)
    assert (tmp_path / "teachers" / "1.de").read_text() == "a dog, best\na cat, best\n"
    assert (tmp_path / "teachers" / "2.de").read_text() == "a dog, second\na cat, second\n"
    assert (tmp_path / "teachers" / "1.en").read_text() == "ein hund, best\neine katze, best\n"
    assert asked == ["train", "train", "export", "translate", "export", "translate"]


def test_both_learn_at_once_and_nothing_is_done_or_counted_twice(asked: list[str], tmp_path: Path) -> None:
    spent = taught(tmp_path / "teachers", seed=1)
    assert spent.tokens == 10_000
    assert 2.0 < spent.minutes < 2.9  # the slower one's, and a moment for translating
    asked.clear()
    assert taught(tmp_path / "teachers", seed=1) == spent
    assert not asked


@pytest.mark.parametrize("recipe", ["fast", "teacher", "published"])
def test_the_recipes_are_read(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    path = commands.filled(recipe, tmp_path / "a.toml", teachers=tmp_path, source="de", target="en")
    config = config_file.load(path)
    assert config.corpus.languages == ("de-en" if recipe == "teacher" else "en-de")


def test_all_commands_have_ended_before_a_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_command", lambda words: [sys.executable, "-c", words[0]])
    slow = f"import time; time.sleep(0.5); open({str(tmp_path / 'ended')!r}, 'x')"
    with pytest.raises(subprocess.CalledProcessError):
        commands.side_by_side([("raise SystemExit(3)",), (slow,)])
    assert (tmp_path / "ended").exists()
    commands.side_by_side([("",), ("",)])
