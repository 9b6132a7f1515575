"""OpenSeq2Seq logs: the numbers, the sessions, the broken lines."""

import math
import re

import numpy as np
import pytest

from dragoman.report.foreign.openseq2seq import parse

CONFIG = """*** Using horovod
*** Starting training from scratch
*** Training config:
{'batch_size_per_gpu': 128,
 'data_layer': <class 'open_seq2seq.data.text2text.text2text.ParallelTextDataLayer'>,
 'data_layer_params': {'delimiter': ' ', 'max_length': 56, 'source_file': 'a.en', 'target_file': 'a.de'},
 'decoder': <class 'open_seq2seq.decoders.transformer_decoder.TransformerDecoder'>,
 'decoder_params': {'filter_size': 2048, 'hidden_size': 512, 'num_heads': 8, 'num_hidden_layers': 6},
 'dtype': <dtype: 'float32'>,
 'encoder': <class 'open_seq2seq.encoders.transformer_encoder.TransformerEncoder'>,
 'encoder_params': {'encoder_layers': 6, 'filter_size': 2048, 'hidden_size': 512, 'num_heads': 8},
 'eval_steps': 201,
 'loss': <class 'open_seq2seq.losses.sequence_loss.PaddedCrossEntropyLossWithSmoothing'>,
 'loss_params': {'label_smoothing': 0.1},
 'lr_policy': <function transformer_policy at 0x7f4899ef1ae8>,
 'lr_policy_params': {'d_model': 512, 'learning_rate': 2.0, 'warmup_steps': 8000},
 'max_steps': 50000,
 'num_gpus': 1,
 'print_loss_steps': 100,
 'save_checkpoint_steps': 299998,
 'use_horovod': True}
*** Evaluation config:
{'batch_size_per_gpu': 16, 'eval_steps': 201}
"""
START = """*** Building graph in Horovod rank: 1
*** Building graph in Horovod rank: 0
*** Total trainable parameters: 60880896
name: Tesla P100-PCIE-16GB major: 6 minor: 0 memoryClockRate(GHz): 1.3
pciBusID: 0000:00:07.0
name: Tesla P100-PCIE-16GB major: 6 minor: 0 memoryClockRate(GHz): 1.3
pciBusID: 0000:00:07.0
"""


def evaluation(loss: float, bleu: float) -> str:
    return (
        "*** Running evaluation on a validation set:\n"
        "***     *****EVAL Source[0]:     <s> ▁loss = 99.0 </s>\n"
        f"***     Validation loss: {loss:.4f} \n***     Eval BLUE score: {bleu}\n"
    )


def line(step: int, loss: float, seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"*** Global step {step}: ***     Train loss: {loss:.4f} \ntime per step = 0:{int(minutes):02}:{rest:.3f}\n"


LOG = (
    CONFIG + START + evaluation(9.5, 0.95) + line(0, 9.4, 0.9)
    + line(100, 7.0, 1.8) + line(200, 6.0, 1.82) + evaluation(5.9, 0.1) + line(300, 5.0, 1.84)
)  # fmt: skip


def test_the_settings_are_those_of_the_dump() -> None:
    said = parse(LOG).settings
    assert said.model is not None
    assert (said.model.width, said.model.feed_forward, said.model.encoder_layers, said.model.decoder_layers) == (
        512, 2048, 6, 6,
    )  # fmt: skip
    assert (said.num_parameters, said.target_vocabulary) == (60_880_896, 32_768)
    assert (said.num_ranks, said.num_hosts, said.pairs_per_rank, said.precision) == (2, 2, 128, "fp32")
    assert (said.max_steps, said.save_every_steps, said.evaluate_every_steps) == (50_000, 299_998, 201)
    assert (said.label_smoothing, said.max_pieces, said.devices[0]) == (0.1, 56, "Tesla P100-PCIE-16GB")
    assert said.schedule is not None
    assert (said.schedule.kind, said.schedule.factor, said.schedule.warmup_steps) == ("transformer", 2.0, 8000)
    assert said.train_files == ("a.en", "a.de")


def test_steps_losses_and_times_are_found() -> None:
    found = parse(LOG)
    last = {point.step: point for point in found.points}
    assert [(step, last[step].smoothed_loss, last[step].step_s) for step in sorted(last)] == [
        (0, 9.4, None), (100, 7.0, 1.8), (200, 6.0, 1.82), (300, 5.0, 1.84),
    ]  # fmt: skip


def test_the_time_of_the_first_line_is_the_start_and_counts_only_to_the_whole() -> None:
    assert parse(LOG).duration_s == pytest.approx(100 * (0.9 + 1.8 + 1.82 + 1.84))


def test_evaluations_are_at_their_own_steps() -> None:
    found = parse(LOG).evaluations
    assert [(e.step, e.smoothed_loss, e.bleu) for e in found] == [(0, 9.5, 95.0), (201, 5.9, 10.0)]
    assert parse(LOG).bleu_kind == "teacher-forced"


def test_without_smoothing_the_losses_are_plain() -> None:
    found = parse(LOG.replace("'label_smoothing': 0.1", "'label_smoothing': 0.0"))
    assert found.points[-1].loss == 5.0
    assert found.evaluations[-1].loss == 5.9


def test_sentences_that_hold_our_words_are_no_numbers() -> None:
    text = LOG + "***     Train Source[0]:     <s> Global step 999: ▁Train loss: 1.0 </s>\n"
    assert max(point.step for point in parse(text).points) == 300


def test_windows_line_ends_change_nothing() -> None:
    assert parse(LOG.replace("\n", "\r\n")) == parse(LOG)


def test_tags_of_ranks_change_nothing() -> None:
    tagged = re.sub(r"(?m)^(?=.)", "[1,0]<stdout>:", LOG)
    assert parse(tagged) == parse(LOG)


def test_lines_of_other_ranks_between_change_nothing() -> None:
    noise = "W0225 19:52:59.507150 Reloader tf_logging.py:120] Found more than one graph event per run"
    broken = LOG.replace(": ***     Train loss", f": \n{noise}\n***     Train loss")
    assert [p.smoothed_loss for p in parse(broken).points] == [p.smoothed_loss for p in parse(LOG).points]


def test_half_a_number_at_the_end_is_left_out() -> None:
    cut = LOG[: LOG.rindex("1.840") + 2]
    last = parse(cut).points[-1]
    assert (last.step, last.smoothed_loss, last.step_s) == (300, 5.0, None)


def test_a_part_without_its_beginning_still_tells_its_steps() -> None:
    part = LOG[LOG.index("*** Global step 100") + 30 :]
    found = parse(part)
    assert sorted({point.step for point in found.points}) == [200, 300]
    assert found.settings.model is None
    assert found.settings.num_parameters is None
    assert "the log does not say whether its losses are label-smoothed; they are taken as smoothed" in found.remarks


def test_a_restart_is_an_event_and_its_first_time_is_no_step_time() -> None:
    text = (
        LOG
        + "*** Restored checkpoint from logs/model.ckpt-200. Resuming training\n"
        + line(200, 6.1, 0.4)
        + line(300, 4.9, 1.9)
    )
    found = parse(text)
    assert [event.kind for event in found.events] == ["started", "resumed"]
    assert [(p.step, p.step_s) for p in found.points if p.step_s is not None][-1] == (300, 1.9)
    assert (200, 0.4) not in [(p.step, p.step_s) for p in found.points]


def test_a_loss_that_is_no_number_stays_what_the_log_says() -> None:
    found = parse(LOG + "*** Global step 400: ***     Train loss: nan \ntime per step = 0:00:1.900\n")
    assert found.points[-1].smoothed_loss is not None
    assert math.isnan(found.points[-1].smoothed_loss)


def test_slow_steps_of_minutes_are_read() -> None:
    assert parse(LOG + line(400, 4.0, 95.5)).points[-1].step_s == pytest.approx(95.5)


def test_the_older_form_of_a_line_is_read() -> None:
    text = CONFIG + "*** Epoch 1, global step 100: loss = 6.5000, time per step = 0:00:0.500\n"
    text += "*** Epoch 1, global step 200: loss = 6.2000, time per step = 0:00:0.510\n"
    last = parse(text).points[-1]
    assert (last.step, last.smoothed_loss, last.step_s) == (200, 6.2, 0.51)


def test_a_dump_that_other_lines_break_still_tells_what_it_can() -> None:
    said = parse(LOG.replace(" 'max_steps'", " *** noise {\n 'max_steps'")).settings
    assert (said.max_steps, said.pairs_per_rank, said.save_every_steps) == (50_000, 128, 299_998)


def test_a_model_that_is_no_transformer_is_not_given_sizes() -> None:
    said = parse(LOG.replace("TransformerEncoder", "BidirectionalRNNEncoder")).settings
    assert said.model is None
    assert said.num_parameters == 60_880_896


def test_the_end_is_told() -> None:
    assert parse(LOG).is_finished is False
    assert parse(LOG + "*** Finished training\n*** Avg time per step: 1.629s\n").is_finished is True


def test_numbers_of_a_long_log_are_the_numbers_that_were_written() -> None:
    random = np.random.default_rng(3)
    losses, seconds = random.uniform(1, 9, 50).round(4), random.uniform(0.5, 40, 50).round(3)
    text = CONFIG + "".join(line(100 * i, losses[i], seconds[i]) for i in range(50))
    last = {point.step: point for point in parse(text).points}
    assert [last[100 * i].smoothed_loss for i in range(50)] == losses.tolist()
    assert [last[100 * i].step_s for i in range(1, 50)] == pytest.approx(seconds[1:].tolist())
