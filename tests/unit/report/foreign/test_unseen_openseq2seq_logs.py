"""Logs of OpenSeq2Seq that nobody has seen: other sizes, cut, coloured, restarted, two in one."""

import re
from pathlib import Path

import pytest

from dragoman.report.answers import Answer
from dragoman.report.facts import Facts
from dragoman.report.foreign.to_facts import read
from dragoman.report.questions import answer_all
from tests.unit.report.foreign.openseq2seq_writer import Truth, config, log, machines, steps

TRUTH = Truth()
LOG = log(TRUTH)
RESTART = "*** Using horovod\n*** Restored checkpoint from logs/model.ckpt-14000. Resuming training\n"


def facts_of(text: str | bytes, tmp_path: Path) -> Facts:
    path = tmp_path / "train.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, 12.24)


def asked(text: str | bytes, tmp_path: Path) -> dict[str, Answer]:
    return {answer.key: answer for answer in answer_all(facts_of(text, tmp_path))}


COLOURED = re.sub(r"\*\*\*|loss:|\d+\.\d+", lambda found: f"\x1b[1;32m{found[0]}\x1b[0m", LOG)
SAME: dict[str, str | bytes] = {
    "as it is": LOG,
    "windows": LOG.replace("\n", "\r\n"),
    "coloured": COLOURED,
    "tagged by mpirun": "".join(f"[1,0]<stdout>:{line}\n" for line in LOG.splitlines()),
    "with half a line": LOG + "*** Global step 9990",
    "of 16 bits": LOG.encode("utf-16"),
}


@pytest.mark.parametrize("form", SAME)
def test_the_form_of_a_log_changes_no_answer(form: str, tmp_path: Path) -> None:
    found = asked(SAME[form], tmp_path)
    assert found["duration"].sentence == "18 h 55 min for 40,000 steps at 1.7 s a step."
    assert found["trained"].verdict == "improving"
    assert found["network"].verdict == "network-bound"
    assert found["network"].value("exposed wait for the wire") == pytest.approx(1 - 0.61 / 1.7, abs=0.01)
    assert found["rate"].value("peak") == pytest.approx(9.88e-4, rel=0.001)
    assert found["divergence"].verdict == "no"
    assert found["failures"].sentence == "None that the log tells of; it does not tell its end."


@pytest.mark.parametrize(
    "truth, network",
    [
        (Truth(step_s=0.63), {"no", "slightly", "undetermined"}),
        (Truth(step_s=33.0, num_steps=2000), {"network-bound"}),
        (Truth(ranks=2, hosts=2, step_s=1.19), {"network-bound"}),
        (Truth(ranks=4, hosts=1, step_s=0.62), {"no", "slightly", "undetermined"}),
        (Truth(ranks=8, hosts=4, step_s=2.1, pairs=128, dtype="<dtype: 'float32'>"), {"network-bound"}),
        (Truth(step_s=1.82, device="Tesla P100-PCIE-16GB", pairs=128, dtype="<dtype: 'float32'>"), {"network-bound"}),
        (Truth(step_s=1.28, device="Tesla T4", pairs=128, dtype="<dtype: 'float32'>"), {"undetermined"}),
    ],
)
def test_other_machines_get_their_own_verdict(truth: Truth, network: set[str], tmp_path: Path) -> None:
    found = asked(log(truth), tmp_path)
    assert found["network"].verdict in network, found["network"].sentence
    assert found["step"].value("median step") == pytest.approx(truth.step_s, rel=0.01)
    ring = 2 * (truth.ranks - 1) / truth.ranks * 4 * truth.parameters
    assert found["network"].value("bytes a step and rank, each way") in (None, pytest.approx(ring))
    assert truth.device in (facts_of(log(truth), tmp_path).settings.device or "")


def test_another_model_is_sized_by_its_own_numbers(tmp_path: Path) -> None:
    truth = Truth(width=1024, parameters=209_911_808, log_every=50, eval_every=1001, num_steps=20_000, step_s=4.0)
    facts = facts_of(log(truth), tmp_path)
    assert facts.settings.model is not None and facts.settings.model.width == 1024
    assert facts.settings.parameters == 209_911_808 and facts.steps is not None and facts.steps.steps_per_row == 50
    found = {answer.key: answer for answer in answer_all(facts)}
    assert "1024^-0.5" in found["rate"].sentence
    assert found["duration"].sentence.startswith("22 h 15 min for 20,000 steps at 4 s a step")


def test_a_cut_log_answers_up_to_the_cut(tmp_path: Path) -> None:
    found = asked(LOG[: len(LOG) // 2 + 7], tmp_path)
    assert re.match(r"9 h \d+ min for 19,\d00 steps at 1.7 s a step", found["duration"].sentence)


def test_steps_that_a_restart_does_again_are_told(tmp_path: Path) -> None:
    text = config(TRUTH) + machines(TRUTH) + steps(TRUTH, 0, 15_000) + RESTART + machines(TRUTH) + steps(TRUTH, 14_100)
    for log_text in (text, text.replace(RESTART, "")):
        found = asked(log_text, tmp_path)
        assert found["failures"].sentence == "1 × resumed; 1,000 steps were done again; 28 min 9 s lost."
        assert found["duration"].sentence == "19 h 23 min for 40,000 steps at 1.7 s a step."


def test_of_two_runs_in_one_file_the_last_is_answered(tmp_path: Path) -> None:
    first, last = Truth(num_steps=10_000), Truth(num_steps=30_000, step_s=0.8, pairs=128, seed=5)
    facts = facts_of(log(first) + log(last), tmp_path)
    assert "the log holds an earlier run, up to step 10,000; only the last one is looked at" in facts.source.remarks
    assert facts.settings.pairs_per_step == 4 * 128
    found = {answer.key: answer for answer in answer_all(facts)}
    assert found["duration"].sentence == "6 h 41 min for 30,000 steps at 0.8 s a step."
    assert found["failures"].verdict == "none"
    three = facts_of(log(first) * 2 + log(last), tmp_path)
    assert "the log holds 2 earlier runs, up to step 10,000, 10,000; only the last one is looked at" in (
        three.source.remarks
    )


def test_a_start_that_was_refused_while_the_run_goes_on_begins_nothing(tmp_path: Path) -> None:
    refused = "*** Starting training from scratch\n*** Log directory is not empty\n"
    text = config(TRUTH) + machines(TRUTH) + steps(TRUTH, 0, 20_000) + refused + steps(TRUTH, 20_100)
    found = asked(text, tmp_path)
    assert "for 40,000 steps" in found["duration"].sentence


def test_losses_that_are_no_numbers_are_told_whether_they_last_or_not(tmp_path: Path) -> None:
    def without(pattern: str) -> str:
        return re.sub(rf"(Global step {pattern}: .*loss: )[\d.]+", r"\1nan", LOG)

    passing, lasting = asked(without(r"3\d{4}"), tmp_path), asked(without(r"(?:3\d{4}|40000)"), tmp_path)
    assert passing["divergence"].sentence == (
        "No, it recovered: 100 of 401 recorded losses, from step 30,000 to step 39,900, are no finite numbers, and "
        "later ones are."
    )
    assert lasting["divergence"].sentence.startswith("Yes: from step 30,000 the loss is no finite number; the 10,001")


def test_what_a_log_leaves_out_is_unknown_and_the_rest_is_answered(tmp_path: Path) -> None:
    timeless = asked(re.sub(r"time per step = .*\n", "", LOG), tmp_path)
    assert [timeless[key].verdict for key in ("duration", "step", "network")] == ["undetermined"] * 3
    assert timeless["trained"].verdict == "improving"
    thinned = [line for place, line in enumerate(LOG.split("\n")) if place < 40 or place % 3]
    assert asked("\n".join(thinned), tmp_path)["duration"].sentence.startswith("18 h 5")
    unmeasured = asked(re.sub(r"\*\*\*     (?:Validation loss|Eval BLUE).*\n", "", LOG), tmp_path)
    assert unmeasured["trained"].sentence.startswith("Undetermined: no loss was measured on held-out text")
    bare = asked(steps(TRUTH), tmp_path)
    assert [bare[key].verdict for key in ("network", "rate", "busy")] == ["undetermined"] * 3
    assert bare["step"].value("median step") == pytest.approx(1.7, rel=0.01)
