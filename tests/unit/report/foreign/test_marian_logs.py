"""Marian logs: units of the cost, restarts, settings."""

import math

import pytest

from dragoman.report.foreign.marian import parse

CONFIG = {
    "after": "100Ku",
    "cost-type": "ce-mean-words",
    "dec-depth": "6",
    "devices": ["0", "1", "2", "3"],
    "dim-emb": "512",
    "dim-vocabs": ["32000", "32000"],
    "disp-freq": "500",
    "enc-depth": "6",
    "label-smoothing": "0.1",
    "learn-rate": "0.0003",
    "lr-decay-inv-sqrt": ["16000"],
    "lr-warmup": "16000",
    "save-freq": "5000",
    "tied-embeddings-all": "true",
    "train-sets": ["corpus.en", "corpus.de"],
    "transformer-dim-ffn": "2048",
    "transformer-heads": "8",
    "type": "transformer",
    "valid-freq": "5000u",
}


def config(**changes: str) -> str:
    lines = ["[2021-07-17 20:00:00] [marian] Marian v1.10.0 6f6d484 2021-02-06 15:35:16 -0800"]
    lines.append("[2021-07-17 20:00:00] [marian] Running on node7 as process 4711 with command line:")
    for name, value in {**CONFIG, **{key.replace("_", "-"): changes[key] for key in changes}}.items():
        values = [value] if isinstance(value, str) else ["", *(f"  - {item}" for item in value)]
        lines.append(f"[2021-07-17 20:00:00] [config] {name}: {values[0]}".rstrip())
        lines += [f"[2021-07-17 20:00:00] [config] {item}" for item in values[1:]]
    lines.append("[2021-07-17 20:00:05] [training] Using 4 GPUs")
    lines.append("[2021-07-17 20:00:09] Training started")
    return "\n".join(lines) + "\n"


def progress(clock: str, epoch: int, step: int, sentences: int, cost: float, seconds: float, end: str) -> str:
    return (
        f"[2021-07-17 {clock}] Ep. {epoch} : Up. {step} : Sen. {sentences:,} : Cost {cost:.8f} : Time {seconds:.2f}s : "
        f"10000.00 words/s : {end}\n"
    )


PROGRESS = (
    progress("20:10:00", 1, 500, 100_000, 6.5, 250, "gNorm 0.9 : L.r. 9.3750e-06")
    + progress("20:14:10", 1, 1000, 200_000, 5.5, 260, "gNorm 0.8 : L.r. 1.8750e-05")
    + "[2021-07-17 20:15:00] [valid] Ep. 1 : Up. 1000 : ce-mean-words : 4.2 : new best\n"
    + "[2021-07-17 20:15:10] [valid] Ep. 1 : Up. 1000 : perplexity : 66.7 : new best\n"
    + "[2021-07-17 20:15:20] [valid] Ep. 1 : Up. 1000 : bleu-detok : 12.5 : new best\n"
    + "[2021-07-17 20:15:21] Saving model weights and runtime parameters to model/model.npz\n"
    + progress("20:20:00", 2, 1500, 50_000, 4.5, 255, "L.r. 2.8125e-05")
)
LOG = config() + PROGRESS


def test_lines_of_progress_are_read() -> None:
    points = parse(LOG).points
    assert [(p.step, p.smoothed_loss, p.step_s, p.learning_rate) for p in points] == [
        (500, 6.5, 0.5, 9.375e-06), (1000, 5.5, 0.52, 1.875e-05), (1500, 4.5, 0.51, 2.8125e-05),
    ]  # fmt: skip
    assert points[0].gradient_norm == 0.9
    assert points[0].tokens_per_s == 10_000
    assert points[1].time_s is not None and points[0].time_s is not None
    assert points[1].time_s - points[0].time_s == 250


def test_evaluations_have_loss_and_a_free_running_score() -> None:
    found = parse(LOG)
    assert [(e.step, e.loss, e.bleu) for e in found.evaluations] == [(1000, 4.2, 12.5)]
    assert found.bleu_kind == "free-running"


def test_a_perplexity_alone_becomes_a_loss() -> None:
    text = "\n".join(line for line in LOG.splitlines() if "[valid]" not in line or "perplexity" in line) + "\n"
    assert parse(text).evaluations[0].loss == pytest.approx(math.log(66.7))


def test_the_settings_are_those_of_the_log() -> None:
    said = parse(LOG).settings
    assert said.model is not None
    assert (said.model.width, said.model.feed_forward, said.model.tied, said.model.norm) == (512, 2048, "three", "post")
    assert (said.num_ranks, said.num_hosts, said.target_vocabulary) == (4, 1, 32_000)
    assert (said.max_steps, said.save_every_steps, said.evaluate_every_steps) == (100_000, 5000, 5000)
    assert said.tokens_per_step == pytest.approx(5100)
    assert said.schedule is not None
    assert (said.schedule.kind, said.schedule.peak, said.schedule.warmup_steps) == ("inverse_sqrt", 3e-4, 16_000)
    assert said.num_parameters == pytest.approx(60_500_000, rel=0.01)
    assert said.train_files == ("corpus.en", "corpus.de")


def test_a_mean_over_sentences_becomes_one_over_words() -> None:
    found = parse(config(cost_type="ce-mean") + PROGRESS).points
    # 100,000 sentences and 2,600,000 words lie between the first two lines.
    assert found[1].smoothed_loss == pytest.approx(5.5 * 100_000 / 2_600_000)
    assert found[2].smoothed_loss is None, "a new epoch counts its sentences anew"


def test_a_sum_with_its_count_is_a_mean_over_words() -> None:
    cost = "Cost 3.25 * 1,234,567 @ 4,321 after 9,876,543"
    line = f"[2021-07-17 20:10:00] Ep. 1 : Up. 500 : Sen. 1,000 : {cost} : Time 250.00s : 1.0 words/s\n"
    assert parse(config(cost_type="ce-sum") + line).points[0].smoothed_loss == 3.25


def test_a_cost_of_unknown_unit_is_left_out() -> None:
    found = parse(PROGRESS)
    assert [point.smoothed_loss for point in found.points] == [None, None, None]
    assert any("the unit of its training cost is not known" in remark for remark in found.remarks)


def test_a_cost_that_is_no_number_is_kept_even_where_its_unit_is_unknown() -> None:
    loss = parse(PROGRESS.replace("Cost 4.50000000", "Cost nan")).points[-1].smoothed_loss
    assert loss is not None and math.isnan(loss)


def test_a_restart_goes_on_from_its_checkpoint() -> None:
    again = (
        PROGRESS.replace("Up. 500 ", "Up. 1100 ").replace("Up. 1000 ", "Up. 1600 ").replace("Up. 1500 ", "Up. 2100 ")
    )
    found = parse(LOG + "[2021-07-18 09:00:00] Training started\n" + again)
    assert [event.kind for event in found.events] == ["started", "saved", "resumed", "resumed", "saved"]
    assert [point.step for point in found.points] == [500, 1000, 1500, 1100, 1600, 2100]
    assert found.points[3].step_s is None, "the first line after a restart may stand for fewer updates"
    assert found.duration_s == pytest.approx(2 * (250 + 260 + 255))


def test_the_end_and_windows_line_ends() -> None:
    assert parse(LOG).is_finished is False
    assert parse((LOG + "[2021-07-18 09:00:00] Training finished\n").replace("\n", "\r\n")).is_finished is True


def test_other_schedules_and_models_are_left_open() -> None:
    said = parse(config(lr_decay="0.5", type="amun") + PROGRESS).settings
    assert said.schedule is None
    assert said.model is None
    assert said.num_parameters is None
