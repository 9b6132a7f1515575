"""What is told of the Multi30k record: numbers of the attempts, above the goal or short of it, and no second look."""

import json
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks.multi30k_record.__main__ as record
from benchmarks.marked_page import replaced
from benchmarks.multi30k_record import page
from benchmarks.multi30k_record.attempts import ATTEMPTS, GOAL, Attempt, load
from benchmarks.multi30k_record.chart import chart
from benchmarks.multi30k_record.page import CHART, PAGE, command, measured, standing, summary
from dragoman.core import records
from dragoman.core.run_records import EvalRecord

FAST = Attempt(
    time="2026-11-17T10:00:00+00:00",
    name="fast",
    recipe="fast",
    seed=1,
    settings=(),
    machine="2 × processor",
    cores=2,
    precision="bf16",
    minutes=31.24,
    steps=4_000,
    tokens=16_384_000,
    averaged=3,
    length_penalty=1.4,
    val_bleu=41.5,
    test_bleu=41.32,
    signature="tok:none",
    curve=((0.1, 0, 0.0), (16.0, 8_192_000, 35.0), (31.2, 16_384_000, 41.0)),
    curve_signature="tok:13a",
)
SECOND = replace(FAST, seed=2, minutes=30.0, test_bleu=41.0)
SHORT = replace(FAST, name="published", recipe="published", minutes=190.0, tokens=65_536_000, test_bleu=40.5)


def test_the_page_has_the_numbers_of_every_attempt() -> None:
    lines = measured([SECOND, SHORT, FAST]).splitlines()
    rows = [line for line in lines if line.startswith(("| fast", "| published"))]
    assert rows == [
        "| fast | 1 | 2 | 31.2 | 16,384,000 | bf16 | 3 | 1.4 | 41.50 | 41.32 | +0.30 |",
        "| fast | 2 | 2 | 30.0 | 16,384,000 | bf16 | 3 | 1.4 | 41.50 | 41.00 | -0.02 |",
        "| published | 1 | 2 | 190.0 | 65,536,000 | bf16 | 3 | 1.4 | 41.50 | 40.50 | -0.52 |",
    ]
    assert "Measured on 2 × processor. BLEU of the table: `tok:none`; of the curves: `tok:13a`." in lines


def test_a_name_is_told_by_its_mean_and_spread_against_the_goal() -> None:
    assert summary([FAST, SECOND]) == (
        "**fast**, 2 seeds: BLEU 41.16 (41.00–41.32) on the test set, 0.14 above 41.02 in the mean; 1 of 2 reached it. "
        "30.6 (30.0–31.2) minutes on 2 cores, 16.4 million target tokens: 25% of the most that the published run had."
    )
    assert summary([SHORT]).startswith(
        "**published**, 1 seed: BLEU 40.50 on the test set, **0.52 short of 41.02**; 0 of 1 reached it. "
        "190.0 minutes on 2 cores, "
    )


def test_the_goal_itself_is_enough() -> None:
    assert standing(GOAL) == "0.00 above 41.02"
    assert standing(GOAL - 0.001) == "**0.00 short of 41.02**"


def test_a_command_makes_the_same_attempt_again() -> None:
    words = "python -m benchmarks.multi30k_record fast --seed 1"
    assert command(FAST) == words
    changed = replace(FAST, name="deeper", settings=("model.dropout=0.1",))
    assert command(changed) == f"{words} --name deeper --set model.dropout=0.1"


def test_the_chart_has_a_line_a_seed_a_colour_a_name_and_the_goal() -> None:
    root = xml.etree.ElementTree.fromstring(chart([FAST, SECOND, SHORT]))
    svg = "{http://www.w3.org/2000/svg}"
    for panel in root.findall(f"{svg}g"):
        colours = [line.get("style") for line in panel.iter(f"{svg}polyline")]
        assert len(colours) == 3 and colours[0] == colours[1] != colours[2]
        assert [one.get("class") for one in panel.iter(f"{svg}circle")].count("test") == 3
        assert [one.get("class") for one in panel.iter(f"{svg}line")].count("goal") == 1
        assert "41.02" in [text.text for text in panel.iter(f"{svg}text")]
    assert "dotted: 41.02, published, on the test set" in [text.text for text in root.findall(f"{svg}text")]
    assert len(root.findall(f"{svg}g")) == 2


def test_the_documentation_shows_the_attempts_that_are_kept() -> None:
    attempts, text = load(ATTEMPTS), PAGE.read_text(encoding="utf-8")
    assert text == replaced(text, "measured", measured(attempts))
    assert CHART.exists() == bool(attempts)
    if attempts:
        assert CHART.read_text(encoding="utf-8") == chart(attempts)
    assert f"BLEU {GOAL} on" in text


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where attempts are kept; making one takes no time."""
    path = tmp_path / "attempts.jsonl"
    monkeypatch.setattr(record, "ATTEMPTS", path)
    monkeypatch.setattr(record, "attempt", lambda name, _, seed, __: replace(FAST, name=name, seed=seed))
    monkeypatch.setattr(page, "PAGE", tmp_path / "RECORD.md")
    monkeypatch.setattr(page, "CHART", tmp_path / "record.svg")
    page.PAGE.write_text("<!-- measured: begin --><!-- measured: end -->", encoding="utf-8")
    return path


def test_an_attempt_is_recorded_and_told_and_not_made_twice(attempts: Path) -> None:
    for seed in ("1", "2"):
        record.main(["fast", "--seed", seed])
    assert load(attempts) == [FAST, replace(FAST, seed=2)]
    assert page.PAGE.read_text(encoding="utf-8").count("| fast |") == 2
    with pytest.raises(SystemExit, match="attempt fast with seed 2 has looked at the test set"):
        record.main(["fast", "--seed", "2"])
    assert len(load(attempts)) == 2


def test_the_page_alone_needs_no_attempt(attempts: Path) -> None:
    record.main(["--page"])
    assert "No attempt is recorded yet." in page.PAGE.read_text(encoding="utf-8")
    assert not attempts.exists() and not page.CHART.exists()
    records.append_line(attempts, FAST)
    record.main(["--page"])
    assert "**fast**, 1 seed" in page.PAGE.read_text(encoding="utf-8") and page.CHART.exists()


def test_every_attempt_is_scored_by_the_published_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def dragoman(*words: str) -> str:
        asked.append(words)
        return json.dumps({"bleu": 41.2, "bleu_signature": "signature"})

    monkeypatch.setattr(record, "dragoman", dragoman)
    monkeypatch.setattr(record, "data_file", lambda part, language: tmp_path / f"{part}.{language}")
    assert record.bleu(tmp_path, "val", 10) == (41.2, "signature")
    words = " ".join(asked[0])
    assert "val.en" in words and "val.de" in words
    assert "--average 10 --tokenize none" in words and "decoding.length_penalty=0.8" in words


def test_patience_ends_a_training_whose_dev_loss_got_no_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses, limits = {500: 3.0, 1_000: 2.0, 1_500: 2.1, 2_000: 1.0}, []

    def train_until(limit: int, *_: object) -> list[EvalRecord]:
        limits.append(limit)
        evaluation = EvalRecord(0, "", 0, 0.0, None, None, 0.0, (0.0, 0.0), 0.0, "", "", 0, 0.0)
        return [replace(evaluation, step=step, dev_loss=loss) for step, loss in losses.items() if step <= limit]

    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[training]\nmax_steps = 2000\n")
    monkeypatch.setattr(record, "_train_until", train_until)
    assert record.train(recipe, tmp_path / "run", [], patience_steps=500)[-1].step == 1_500
    assert limits == [500, 1_000, 1_500]
    assert record.train(recipe, tmp_path / "run", [], patience_steps=0)[-1].step == 2_000
    assert limits[3:] == [2_000]
