"""Marian and fairseq lines in the forms that public logs have them, version by version, with numbers of our own."""

import json
import math
from pathlib import Path

import pytest

from dragoman.report.foreign import fairseq, marian
from dragoman.report.foreign.opening import open_transcript
from dragoman.report.foreign.transcript import Transcript
from tests.unit.report.foreign.test_marian_logs import config

LN2 = math.log(2)


def opened(text: str, tmp_path: Path) -> Transcript:
    path = tmp_path / "log"
    path.write_text(text, encoding="utf-8")
    return open_transcript(path)


AT = "Up. {up} : Sen. {n:,} :"
SPEED = "Time 50.00s : 4000.00 words/s"
MARIAN = {
    "2017, without rate and commas": "[2017-07-10 23:28:{s}] Ep. 1 : Up. {up} : Sen. {n} : Cost 99.50 : " + SPEED,
    "2018, with labels": f"[2018-03-19 20:09:{{s}}] Ep. 1 : {AT} Cost 3.5 * 200,000 after 900,000 : {SPEED}",
    "2019, with the rate": f"[2019-03-25 14:51:{{s}}] Ep. 1 : {AT} Cost 3.50000000 : {SPEED} : L.r. 1.2500e-05",
    "2021, with the norm": f"[2021-03-25 14:51:{{s}}] Ep. 1 : {AT} Cost 3.5 * 200,000 @ 1,200 after 9,000 : {SPEED} : "
    "gNorm 0.5 : L.r. 1.2500e-05",
    "2022, of MPI behind another clock": "2022-05-01 21:54:{s} [2022-05-01 14:54:{s} mpi:0] Ep. 4.151 : "
    f"{AT} Cost 3.5 * 200,000 @ 9 after 9 : {SPEED} : gNorm 0.5 : L.r. 1.2500e-05",
    "with spaces at the end": f"[2017-02-12 11:22:{{s}}] Ep. 1 : {AT} Cost 99.5 : {SPEED}" + 30 * " ",
}


@pytest.mark.parametrize("form", MARIAN)
def test_every_form_of_a_line_of_marian_is_read(form: str, tmp_path: Path) -> None:
    lines = [MARIAN[form].format(s=f"{5 * k:02}", up=100 * k, n=6400 * k) + "\n" for k in (1, 2, 3)]
    found = opened("".join(lines), tmp_path)
    assert found.system == marian.SYSTEM
    assert [point.step for point in found.points] == [100, 200, 300]
    assert [point.step_s for point in found.points[1:]] == [0.5, 0.5]
    assert found.points[1].tokens_per_s == 4000
    assert found.points[1].learning_rate == (1.25e-5 if "L.r." in MARIAN[form] else None)
    assert found.points[1].gradient_norm == (0.5 if "gNorm" in MARIAN[form] else None)
    is_per_label = " * " in MARIAN[form]
    assert found.points[1].smoothed_loss == (3.5 if is_per_label else None), "without cost-type the unit is not known"
    assert found.duration_s == 150


def test_evaluations_of_marian_are_read_whatever_they_say_behind_the_number(tmp_path: Path) -> None:
    text = config() + "".join(
        f"[2021-07-17 21:{up // 1000:02}:00] [valid] Ep. {up // 1000} : Up. {up} : {metric}\n"
        for up, metric in (
            (1000, "cross-entropy : 74.643 : new best"), (1000, "perplexity : 11.148 : new best"),
            (1000, "translation : 19.53 : new best"),
            (2000, "cross-entropy : 78.1 : stalled 1 times (last best: 74.643)"),
            (2000, "perplexity : 12.5 : stalled 1 times (last best: 11.148)"),
            (2000, "translation : 21.2 : new best"), (3000, "perplexity : nan : stalled 2 times (last best: 11.148)"),
        )
    )  # fmt: skip
    found = opened(text, tmp_path)
    losses = [evaluation.loss for evaluation in found.evaluations]
    assert losses[:2] == [pytest.approx(math.log(11.148)), pytest.approx(math.log(12.5))]
    assert losses[2] is not None and math.isnan(losses[2])
    assert [evaluation.bleu for evaluation in found.evaluations] == [19.53, 21.2, None]
    assert any("whatever the validation script prints" in remark for remark in found.remarks)


STATS = {
    "loss": "10.0", "nll_loss": "9.0", "ppl": "512", "wps": "20000", "ups": "0.5", "wpb": "40000", "bsz": "1200",
    "num_updates": "{up}", "lr": "0.0001", "gnorm": "1.2", "clip": "0", "train_wall": "190", "wall": "{wall}",
}  # fmt: skip


def commas(up: int, wall: int) -> str:
    return ", ".join(f"{name}={value}" for name, value in STATS.items()).format(up=up, wall=wall)


def as_json(up: int, wall: int) -> str:
    stats = {name: value.format(up=up, wall=wall) for name, value in STATS.items()}
    return json.dumps({"epoch": 1, "update": 0.05, **stats})


FAIRSEQ = {
    "0.6, pipes": lambda up, wall: f"| epoch 001:    {up} / 1891 {commas(up, wall)}",
    "0.9, dated": lambda up, wall: f"2020-07-17 06:48:46 | INFO | train_inner | epoch 001: {up} / 9 {commas(up, wall)}",
    "0.10, dated objects": lambda up, wall: f"2021-01-05 21:54:56 | INFO | train_inner | {as_json(up, wall)}",
    "0.12, hydra": lambda up, wall: f"[2022-11-02 11:39:28,709][train_inner][INFO] - {as_json(up, wall)}",
    "bare objects": lambda up, wall: as_json(up, wall),
    "a bar": lambda up, wall: f"epoch 001:  5%|▌         | {up}/1891 [01:40<31:40,  1.00it/s, {commas(up, wall)}]",
}  # fmt: skip


@pytest.mark.parametrize("form", FAIRSEQ)
def test_every_form_of_a_line_of_fairseq_is_read(form: str, tmp_path: Path) -> None:
    end = "\r" if form == "a bar" else "\n"
    found = opened("".join(FAIRSEQ[form](100 * k, 200 * k) + end for k in (1, 2, 3)), tmp_path)
    assert found.system == fairseq.SYSTEM
    assert [point.step for point in found.points] == [100, 200, 300]
    assert [(point.loss, point.smoothed_loss) for point in found.points] == [(9 * LN2, 10 * LN2)] * 3
    assert [point.step_s for point in found.points] == [2.0] * 3
    assert (found.points[0].learning_rate, found.points[0].gradient_norm) == (1e-4, 1.2)
    assert found.duration_s == 600


VALID = {
    "0.5": "| epoch 001 | valid on 'valid' subset | valid loss 8.0 | valid ppl 256",
    "0.6": "| epoch 001 | valid on 'valid' subset | valid_loss 9 | valid_nll_loss 8.0 | num_updates 300",
    "0.9": "2020-07-17 06:48:46 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 9 | nll_loss 8.0 | ppl 256 "
    "| bleu 21.5 | wps 9000 | wpb 800 | bsz 30 | num_updates 300 | best_bleu 22.1",
    "0.10": '2021-01-05 21:54:56 | INFO | valid | {"epoch": 1, "valid_loss": "9", "valid_nll_loss": "8.0", '
    '"valid_ppl": "256", "valid_bleu": "21.5", "valid_num_updates": "300", "valid_best_bleu": "22.1"}',
    "0.12": '[2022-11-02 11:38:35,221][valid][INFO] - {"epoch": 1, "valid_loss": "9", "valid_nll_loss": "8.0", '
    '"valid_bleu": "21.5", "valid_num_updates": "300"}',
    "0.12, another name": '[2022-11-02 11:38:35,221][dev][INFO] - {"epoch": 1, "dev_loss": "9", "dev_nll_loss": "8.0", '
    '"dev_bleu": "21.5", "dev_num_updates": "300"}',
}  # fmt: skip


@pytest.mark.parametrize("form", VALID)
def test_every_form_of_an_evaluation_of_fairseq_is_read(form: str, tmp_path: Path) -> None:
    steps = "".join(FAIRSEQ["0.6, pipes"](100 * k, 200 * k) + "\n" for k in (1, 2, 3))
    beside = "| epoch 001 | valid on 'valid' subset:  10 / 13 loss=1.60\n" if form == "0.5" else ""
    found = opened(f"{steps}{beside}{VALID[form]}\n", tmp_path)
    (only,) = found.evaluations
    assert only.step == 300
    assert only.loss == 8 * LN2 or (form == "0.5" and only.smoothed_loss == 8 * LN2)
    assert only.bleu == (21.5 if "bleu" in VALID[form] else None)
    assert len(found.points) == 3


def test_a_run_whose_wall_clock_stands_still_is_timed_by_its_dates(tmp_path: Path) -> None:
    text = "".join(
        f"2023-06-13 17:{m:02}:00 | INFO | train_inner | epoch 143:     85 / 282 {commas(1000 + 100 * m, 0)}\n"
        for m in range(1, 11)
    )
    assert opened(text, tmp_path).duration_s == 9 * 60


def test_means_over_an_epoch_in_objects_are_no_evaluation(tmp_path: Path) -> None:
    means = {"epoch": 1, "train_loss": "10.0", "train_nll_loss": "9.0", "train_num_updates": "300", "train_wall": "700"}
    line = f"[2022-11-02 11:40:00,000][train][INFO] - {json.dumps(means)}\n"
    found = opened(FAIRSEQ["0.12, hydra"](300, 600) + "\n" + line, tmp_path)
    assert found.evaluations == () and len(found.points) == 1
