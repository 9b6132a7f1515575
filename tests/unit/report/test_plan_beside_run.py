"""A plan that the planner wrote is what the report holds the run against: the two commands, end to end."""

import json
from pathlib import Path

import pytest

from dragoman.cli.main import run_command
from dragoman.core import records
from dragoman.core.config import Config, TrainingConfig
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import StepRecord
from dragoman.report.answers import Answer
from dragoman.report.questions.foretold import was_it_foretold
from dragoman.report.run_directory import read_run

RECIPE = Path(__file__).resolve().parents[3] / "recipes" / "wmt16_en_de_base.toml"
CLUSTER = "2 hosts x 2 V100, 1 Gb/s, $3.06/h"


def step(number: int, step_s: float) -> StepRecord:
    moment = f"2026-01-01T00:{number // 60:02}:{number % 60:02}+00:00"
    return StepRecord(number, moment, 2.0, 2.5, 1.0, 1e-3, 25_000, 900, 1000, 0.0, 0.1, step_s - 0.15, 0.04, 0.01,
                      step_s, 500, False)  # fmt: skip


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPaths:
    """A run of 60 steps of 0.612 s on four ranks, with the plan of the real command beside it."""
    monkeypatch.chdir(tmp_path)
    paths = RunPaths(tmp_path / "run")
    paths.steps(0).parent.mkdir(parents=True)
    paths.config.write_text(to_toml(Config(training=TrainingConfig(price_per_hour=6.12))))
    for rank in range(4):
        records.write_lines(paths.steps(rank), [step(number, 0.612) for number in range(1, 61)])
    assert run_command(["plan", str(RECIPE), "--cluster", CLUSTER, "--out", str(paths.directory)]) == 0
    return paths


def foretold(paths: RunPaths) -> Answer:
    return was_it_foretold(read_run(paths.directory))


def test_predicted_stands_beside_observed(planned: RunPaths) -> None:
    found = foretold(planned)
    plan = json.loads(planned.plan.read_text())
    assert found.verdict == "as predicted"
    assert found.sentence == "A step took 0.612 s where the plan says 0.6 s (+2 %)."
    assert found.value("observed over predicted") == pytest.approx(0.612 / plan["now"]["step_s"] - 1)
    assert found.evidence[:3] == (
        "Planned for 2 hosts x 2 V100, 117.7 MB/s each way, $6.12/h in all.",
        "The plan's range for a step is 0.591 s to 0.615 s; the observed step lies inside.",
        "Target tokens a second: 41,646 planned, 40,850 observed.",
    )
    assert "60 steps: 36.0 s planned, 36.7 s in training" in found.evidence[4]
    assert "planned to step 300,000: 50 h 1 min." in found.evidence[4]
    assert found.evidence[5] == "Cost of these: 0.06 planned, 0.06 spent."


def test_the_report_command_tells_it(planned: RunPaths, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_command(["report", str(planned.directory), "--json"]) == 0
    answers = {answer["key"]: answer for answer in json.loads(capsys.readouterr().out)["answers"]}
    assert answers["prediction"]["verdict"] == "as predicted"


@pytest.mark.parametrize(
    "text", ["[]", "{}", "nonsense", '{"now": 3}', '{"now": {"step_s": "fast"}}', '{"now": {"step_s": NaN}}',
             '{"now": {"step_s": 0}}', '{"now": {"step_s": -1}}'],
)  # fmt: skip
def test_what_is_no_plan_is_passed_over_and_said_so(planned: RunPaths, text: str) -> None:
    planned.plan.write_text(text)
    facts = read_run(planned.directory)
    assert facts.prediction is None
    assert any(sentence.startswith("plan.json") for sentence in facts.source.passed_over)
    assert was_it_foretold(facts).verdict == "undetermined"


def test_odd_numbers_of_a_plan_are_unknown(planned: RunPaths) -> None:
    planned.plan.write_text('{"now": {"step_s": 0.5, "hours": null, "step_range_s": [0.4], "cost": "much"}}')
    found = read_run(planned.directory).prediction
    assert found is not None and found.step_s == 0.5
    assert (found.hours, found.step_range_s, found.cost, found.num_steps) == (None, None, None, None)
