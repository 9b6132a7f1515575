"""The model against public runs of other people: nothing is fitted to the row that is predicted."""

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.planner import published
from dragoman.planner.published import Replay, checkpoint_bytes, median_error, replay


@pytest.fixture(scope="module")
def replays(shared_data: Path) -> dict[str, Replay]:
    table = shared_data / "runs" / "runs.tsv"
    if not table.is_file():
        pytest.skip(f"no table of runs: {table} is not there")
    return {found.run.name: found for found in replay(published.read(table))}


def test_the_median_error_of_step_time_is_below_six_percent(replays: dict[str, Replay]) -> None:
    assert len(replays) == 24
    assert median_error(list(replays.values())) <= 0.06


def test_no_row_is_off_by_a_quarter_but_those_read_upside_down(replays: dict[str, Replay]) -> None:
    misread = {name for name, found in replays.items() if found.is_misread}
    assert misread == {"r08", "r21"}
    for name, found in replays.items():
        if name not in misread and found.error is not None:
            assert abs(found.error) <= 0.25, f"{name}: {found.error:+.1%}"
    assert [name for name, found in replays.items() if found.error is None] == ["r05"]


def test_what_was_misread_is_right_the_other_way_round(replays: dict[str, Replay]) -> None:
    for name, note in (("r08", "1 / 0.59 = 1.69 s"), ("r21", "1 / 0.64 = 1.56 s")):
        found = replays[name]
        assert found.predicted_s is not None and found.run.step_s is not None
        assert found.predicted_s * found.run.step_s == pytest.approx(1, abs=0.1)
        assert found.note.startswith(f"steps per second, read upside down: {note}")


def test_the_failure_for_lack_of_memory_is_foreseen(replays: dict[str, Replay]) -> None:
    assert replays["r05"].predicted_s is None
    assert replays["r05"].note == (
        "a micro-batch of 14,336 target tokens needs 19.5 GB a GPU, which has 16.2 GB: it will run out of memory; "
        "logits alone need 1.88 GB; at most 11,761 tokens fit"
    )


def test_a_row_does_not_see_its_own_step_time(replays: dict[str, Replay]) -> None:
    runs = [found.run for found in replays.values()]
    changed = [replace(run, step_s=5.0) if run.name == "r06" else run for run in runs]
    again = {found.run.name: found for found in replay(changed)}
    assert again["r06"].predicted_s == replays["r06"].predicted_s


def test_unknown_ports_are_inferred_and_say_so(replays: dict[str, Replay]) -> None:
    assert replays["r23"].link_source == "median of 16 other runs with such a port"
    assert replays["r23"].note == "rate of the port not given: taken as that of the others"
    assert replays["r11"].note == "rate of the port not given: taken as 10 Gb/s"
    assert replays["r17"].note == "GPU not named: taken as P100"
    assert replays["r06"].note == ""


def test_ports_of_1000_mbps_carry_twice_that(replays: dict[str, Replay]) -> None:
    rate = replays["r06"].link_bytes_per_s
    assert rate is not None
    assert 229e6 < rate < 260e6


def test_checkpoints_are_exact_to_the_byte() -> None:
    assert checkpoint_bytes("mixed") == 852_267_044  # r14
    assert checkpoint_bytes("fp32") == 730_570_768


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no table of runs"),
        ("a\tb\n1\t2\n", "is no table of runs"),
        (
            "run\thardware\tnodes\tgpus\tbatch_per_gpu\tdtype\tnetwork\tsec_per_step\nx\tV100\ttwo\t4\t1\tfp32\t-\t1\n",
            ":2 does not fit",
        ),
        ("run\thardware\tnodes\tgpus\tbatch_per_gpu\tdtype\tnetwork\tsec_per_step\nx\tV100\t2\n", ":2 does not fit"),
    ],
)
def test_a_table_that_is_none_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    table = tmp_path / "runs.tsv"
    table.write_text(text)
    with pytest.raises(UserError, match=problem):
        published.read(table)
    with pytest.raises(UserError, match="cannot read"):
        published.read(tmp_path / "none.tsv")


def test_the_table_of_the_documentation_is_what_the_model_says_today(replays: dict[str, Replay]) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "PLANNING.md").read_text(encoding="utf-8")
    for name, found in replays.items():
        predicted = f"{found.predicted_s:.3f}" if found.predicted_s else "does not start"
        error = f"{found.error:+.1%}".replace("%", " %") if found.error is not None else "–"
        assert (
            f"| {name} | {found.run.layout.num_ranks} {found.run.gpu.name} | {found.run.port} | {predicted} | {error} |"
            in page
        )
    worst = max(abs(found.error) for found in replays.values() if found.error is not None and not found.is_misread)
    assert f"**Median error {median_error(list(replays.values())):.1%}, largest {worst:.1%}**" in page
