"""`dragoman plan` as a person meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli import plan_view
from dragoman.cli.main import run_command
from dragoman.core import records
from dragoman.core.run_records import HostRecord, PreflightRecord, TimedExchange
from dragoman.planner.choices import Plan

ROOT = Path(__file__).resolve().parents[3]
RECIPE = str(ROOT / "recipes" / "wmt16_en_de_base.toml")
FIVE_RUNS = "2 hosts x 2 V100, 1 Gb/s, $3.06/h"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No corpus is prepared here."""
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run_command(["plan", *arguments]) == code
    output = capsys.readouterr()
    return output.err if code else output.out


def test_a_plan_is_printed_and_nothing_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, RECIPE, "--cluster", FIVE_RUNS, "--steps", "50000")
    lines = text.splitlines()
    assert lines[0] == (
        "50,000 steps on 2 hosts x 2 V100, 117.7 MB/s each way, $6.12/h in all: 8 h 20 min, $51.03, 0.6 s a step, "
        "41,646 target tokens a second"
    )
    for line in (
        "step:       forward 34.2 ms + backward 68.5 ms + optimizer 1.89 ms + waiting 0.496 s = 0.6 s",
        "range:      0.591 s to 0.615 s a step",
        "network:    61.8 MB a step through each host's interface, each way",
        "checkpoint: 730.6 MB (60,880,896 parameters)",
        "fastest on these machines: one host",
        "fastest of all: rent 1 x p5.48xlarge",
        "cheapest: rent 1 x g4dn.xlarge",
        "-> use one host: 0.217 s a step alone, 0.6 s together",
        "assumed: memory is a formula that no GPU has confirmed",
        plan_view.NOTE,
    ):
        assert line in lines
    assert [line.split("  ")[0] for line in lines if " *  " in line] == [
        "larger_step_4 *", "local_steps_16 *", "accumulate_4 *",
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_json_and_out_hold_the_same_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    printed = json.loads(said(capsys, RECIPE, "--cluster", FIVE_RUNS, "--json", "--out", str(run)))
    assert json.loads((run / "plan.json").read_text()) == printed
    found = records.from_json(Plan, printed)
    assert found.num_steps == 300_000 and found.memory is not None and found.memory.logits_bytes == 6250 * 32_768 * 4
    said(capsys, RECIPE, "--cluster", FIVE_RUNS, "--out", str(tmp_path / "mine.json"))
    assert json.loads((tmp_path / "mine.json").read_text()) == printed


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "there is nothing to plan; name a recipe"),
        ((RECIPE,), "which machines?; name them with --cluster: write it as '2 hosts x 2 V100, 1 Gb/s, $3.06/h'"),
        ((RECIPE, "--cluster", "2 hosts x 2 V1O0, 1 Gb/s"), "the catalogue has no GPU 'V1O0'; did you mean"),
        ((RECIPE, "--cluster", "2 hosts x 2 V100, 0 Gb/s"), "a link of 0 Gb/s carries nothing"),
        ((RECIPE, "--cluster", "4 V100", "--steps", "-1"), "--steps -1 makes no sense"),
        ((RECIPE, "--cluster", "4 V100", "--set", "training.precision=bf16"), "V100 has no bf16 arithmetic"),
        ((RECIPE, "--cluster", "4 V100", "--preflight", "p.json"), "--cluster describes machines, --hosts and"),
        ((RECIPE, "--cluster", "1 CPU"), "how fast a CPU computes is in no catalogue"),
        ((RECIPE, "--cluster", "1 CPU", "--learn-from", "nowhere"), "nowhere is not a run: no config.toml"),
        ((RECIPE, "--preflight", "none.json"), "cannot read none.json: No such file or directory; run `dragoman check"),
        ((RECIPE, "--hosts", "hosts.toml"), "cannot read preflight.json: No such file or directory"),
        (("none.toml", "--cluster", "4 V100"), "there is no recipe none.toml"),
        (("--replay", "none.tsv"), "cannot read none.tsv"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capsys, *arguments, code=2)
    assert text.startswith(f"dragoman: {problem}") and text.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def preflight(names: str = "ab") -> PreflightRecord:
    hosts = tuple(
        HostRecord(name, f"10.0.0.{n}", "eth0", 1000.0, 1, 2, None, None, 0.5) for n, name in enumerate(names)
    )
    timed = tuple(TimedExchange(tuple(names), size, 0.001 + size / 5e7) for size in (10**5, 10**7))
    return PreflightRecord(1, "2026-01-02T03:04:05Z", hosts, timed, 1.5)


def test_measured_machines_need_no_prior(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "preflight.json").write_text(records.dumps(preflight()))
    text = said(capsys, RECIPE, "--preflight", "preflight.json", "--steps", "100")
    assert "100 steps on 2 hosts x 1 CPU, 50.0 MB/s each way, $1.00/h in all: " in text
    assert "TFLOP/s a rank at fp32; the step that the preflight timed" in text
    assert "speed is a prior" not in text and "dragoman check" not in text


def test_hosts_and_preflight_must_be_about_the_same_machines(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "preflight.json").write_text(records.dumps(preflight()))
    hosts = "".join(f'[[hosts]]\nname = "{name}"\naddress = "10.0.0.{n}"\n' for n, name in enumerate("ab"))
    (tmp_path / "hosts.toml").write_text(hosts)
    assert "2 hosts x 1 CPU" in said(capsys, RECIPE, "--hosts", "hosts.toml")
    (tmp_path / "preflight.json").write_text(records.dumps(preflight("xy")))
    text = said(capsys, RECIPE, "--hosts", "hosts.toml", code=2)
    assert text == "dragoman: preflight.json is about x, y, not a, b; run `dragoman check --hosts hosts.toml`\n"


@pytest.mark.parametrize("text", ["", "{}", "[1", '{"version": 1, "hosts": 3}'])
def test_a_preflight_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "preflight.json").write_text(text)
    assert "preflight.json is no preflight: " in said(capsys, RECIPE, "--preflight", "preflight.json", code=2)


def test_published_runs_are_replayed(capsys: pytest.CaptureFixture[str], shared_data: Path) -> None:
    table = str(shared_data / "runs" / "runs.tsv")
    text = said(capsys, "--replay", table)
    assert text.splitlines()[-1] == "median error 5.3% without the 2 rows that were read upside down"
    found = json.loads(said(capsys, "--replay", table, "--json"))
    assert found["median_error"] < 0.06 and len(found["runs"]) == 24
    assert found["runs"][4]["predicted_s"] is None and "run out of memory" in found["runs"][4]["note"]


def test_the_terminal_shows_the_same_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERM", "dumb")
    found = records.from_json(Plan, json.loads(said(capsys, RECIPE, "--cluster", FIVE_RUNS, "--json")))
    plan_view.show_rich(found)
    coloured = " ".join(capsys.readouterr().out.replace("→", "->").split())
    for line in plan_view.plain_lines(found):
        name, _, rest = line.partition(":")
        words = f"{name} {rest}" if name in dict(plan_view.facts(found)) else line
        assert " ".join(words.split()) in coloured


@pytest.mark.parametrize(
    ("value", "text"), [(0.0342, "34.2 ms"), (0.0999, "99.9 ms"), (0.1, "0.1 s"), (1.682, "1.68 s"), (34.9, "34.9 s")]
)
def test_seconds_are_short(value: float, text: str) -> None:
    assert plan_view.seconds(value) == text


def test_planning_loads_no_torch() -> None:
    program = (
        "import sys; from dragoman.cli.main import run_command; "
        f"run_command(['plan', {RECIPE!r}, '--cluster', {FIVE_RUNS!r}, '--json']); print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "False"
