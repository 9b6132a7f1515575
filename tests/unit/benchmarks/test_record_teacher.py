"""The teacher of the Multi30k record: what it wrote goes with the right lines, and what it cost is counted once."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.multi30k_record import commands, teacher
from benchmarks.multi30k_record.teacher import nearest_of, taught
from dragoman.core import config_file, records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

EVALUATION = EvalRecord(0, "", 0, 0.0, None, None, 0.0, (0.0, 0.0), 0.0, "", "", 0, 0.0)
LINES = {"en": ("a dog runs", "a cat"), "de": ("ein hund rennt", "eine katze")}
WRITTEN = {
    "a dog runs": ("der hund", "ein hund läuft", "ein hund rennt", "hund", ""),
    "a cat": ("eine katze", "katze", "die katze", "der kater", "tier"),
    "ein hund rennt": ("dogs run", "a dog ran", "dog", "the dog", ""),
    "eine katze": ("cat", "the cat", "cats", "a kitten", "a"),
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verbs that were asked for, of a Dragoman that trains and translates at once."""
    verbs = []

    def dragoman(*words: str, given: str = "") -> str:
        verbs.append(words[0])
        if words[0] == "train":
            run = RunPaths(Path(words[words.index("--run") + 1]))
            run.evals.parent.mkdir(parents=True)
            records.append_line(run.evals, replace(EVALUATION, tokens=5_000, training_s=120.0))
        return "".join(f"{candidate}\n" for line in given.splitlines() for candidate in WRITTEN[line])

    def data_file(_: str, language: str) -> Path:
        path = tmp_path / f"train.{language}.gz"
        path.write_bytes(gzip.compress("".join(f"{line}\n" for line in LINES[language]).encode()))
        return path

    monkeypatch.setattr(teacher, "dragoman", dragoman)
    monkeypatch.setattr(teacher, "data_file", data_file)
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    return verbs


def test_each_line_has_its_best_translation_and_the_one_nearest_to_its_own(asked: list[str], tmp_path: Path) -> None:
    taught(tmp_path / "lessons", seed=1)
    written = {path.name: path.read_text() for path in (tmp_path / "lessons").glob("*.??")}
    assert written == {
        "best.de": "der hund\neine katze\n",
        "near.de": "ein hund rennt\neine katze\n",
        "best.en": "dogs run\ncat\n",
        "near.en": "a dog ran\nthe cat\n",
    }
    assert asked == ["train", "export", "translate", "translate"]


def test_what_was_done_is_not_done_or_counted_again(asked: list[str], tmp_path: Path) -> None:
    spent = taught(tmp_path / "lessons", seed=1)
    assert spent.tokens == 5_000
    assert 2.0 < spent.minutes < 2.9  # and a moment for translating
    asked.clear()
    assert taught(tmp_path / "lessons", seed=1) == spent
    assert not asked


def test_every_line_needs_all_its_candidates() -> None:
    with pytest.raises(AssertionError):
        nearest_of(["a", "b"], ["a"])


@pytest.mark.parametrize("recipe", ["fast", "teacher", "published"])
def test_the_recipes_are_read(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "data_directory", lambda: tmp_path)
    config = config_file.load(commands.filled(recipe, tmp_path / "a.toml", lessons=tmp_path))
    assert config.corpus.languages == "en-de"
