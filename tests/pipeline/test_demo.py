"""`dragoman demo` from its first word to its last, on a small corpus: killed once, resumed, exported, shown."""

import re
from pathlib import Path

import pytest

from dragoman.cli import demo
from dragoman.cli.main import run_command
from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EventRecord
from dragoman.corpus import phrasebook
from tests.training import tiny_run


@pytest.fixture
def small_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's story with a corpus, a model and a time that take seconds."""
    text = tmp_path / "phrases.tsv"
    pairs = phrasebook.pairs("train", num_pairs=2000)
    text.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    recipe = tiny_run.RECIPE.replace('"{corpus}"', "{corpus}").replace("{text}", str(text))
    monkeypatch.setattr(demo, "RECIPE", recipe.replace("max_steps = 12", "max_steps = 0\nmax_hours = {hours}"))
    monkeypatch.chdir(tmp_path)


def test_the_demo_is_killed_goes_on_and_shows_everything(small_scene: None, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["demo", "--out", "demo", "--minutes", "0.05"]) == 0
    shown, told = capfd.readouterr()

    headings = [line for line in told.splitlines() if re.match(r"\d\. ", line)]
    assert [heading[:2] for heading in headings] == ["1.", "2.", "3.", "4.", "5.", "6."]
    command = "$ dragoman train demo/recipe.toml --run demo/run --processes "
    assert told.count(command) == 2
    before, _, after = told.partition("   kill -9 ")
    assert command in before and command in after.split("The same command again:")[1]
    assert "\x1b" not in told + shown  # plain in a pipe

    events = records.read_lines(RunPaths(Path("demo/run")).events, EventRecord)
    kinds = [event.kind for event in events if event.rank == 0]
    assert (kinds.count("started"), kinds.count("resumed")) == (1, 1)
    translated = re.findall(r"^  (.+)\n  → .*$", shown, flags=re.M)
    assert translated == list(demo.SENTENCES) and len(translated) == 12
    page = re.search(r"the report       file://(.+)", shown)
    assert page and Path(page[1]).is_file()
    assert "echo 'What time is it?' | dragoman translate demo/model" in shown
    for words in ("dragoman serve demo/model", "tensorboard --logdir demo/run/tensorboard", "demo/corpus/CARD.md"):
        assert words in shown
    assert Path("demo/model/model.json").is_file() and Path("demo/run/tensorboard").is_dir()


def test_a_demo_without_time_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["demo", "--out", str(tmp_path / "demo"), "--minutes", "0"]) == 2
    assert capsys.readouterr().err == "dragoman: --minutes is more than 0; leave it out for the usual time\n"
    assert not (tmp_path / "demo").exists()
