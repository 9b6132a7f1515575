"""fairseq logs of three generations."""

import json
import math

import pytest

from dragoman.report.foreign.fairseq import parse

LN2 = math.log(2)
NAMESPACE = (
    "Namespace(adam_betas='(0.9, 0.98)', arch='transformer_wmt_en_de', criterion='label_smoothed_cross_entropy', "
    "decoder_embed_dim=512, decoder_layers=6, distributed_world_size=4, encoder_attention_heads=8, "
    "encoder_embed_dim=512, encoder_ffn_embed_dim=2048, encoder_layers=6, encoder_normalize_before=False, fp16={fp16}, "
    "label_smoothing=0.1, log_interval=100, lr=[0.0005], lr_scheduler='inverse_sqrt', max_tokens=4096, "
    "max_update=50000, save_interval_updates=1000, share_all_embeddings=True, update_freq=[2], warmup_updates=4000)\n"
)
HEAD = (
    NAMESPACE.format(fp16=True)
    + "| [en] dictionary: 32768 types\n| [de] dictionary: 32768 types\n"
    + "| num. model params: 60880896 (num. trained: 60880896)\n| training on 4 GPUs\n"
    + "| max tokens per GPU = 4096 and max sentences per GPU = None\n"
)


def old(step: int, loss: float, plain: float, wall: int) -> str:
    return (
        f"| epoch 001:    {step} / 1891 loss={loss:.3f}, nll_loss={plain:.3f}, ppl=2048.00, wps=50000, ups=0.5, "
        f"wpb=100000, bsz=5325, num_updates={step}, lr={step}e-07, gnorm=1.5, clip=0%, oom=0, wall={wall}, "
        f"train_wall={wall - 20}\n"
    )


OLD = (
    HEAD
    + old(100, 12, 11, 210)
    + old(200, 10, 9, 410)
    + "| epoch 001 | valid on 'valid' subset | valid_loss 8.11425 | valid_nll_loss 6.8834 | valid_ppl 118.06 "
    + "| num_updates 200\n"
    + old(300, 9, 8, 700)
)
STAMP = "2020-07-17 06:48:46 | INFO | "
CARD = "capabilities =  7.0  ; total memory = 31.749 GB ; name = Tesla V100-SXM2-32GB"
NEW = (
    f"{STAMP}fairseq_cli.train | {NAMESPACE.format(fp16=False)}"
    f"{STAMP}fairseq_cli.train | num. model params: 60,880,896 (num. trained: 60,880,896)\n"
    f"{STAMP}fairseq_cli.train | training on 8 devices (GPUs/TPUs)\n"
    f"{STAMP}fairseq.utils | rank   0: {CARD}\n"
    f"{STAMP}fairseq.utils | rank   1: {CARD}\n"
    f"{STAMP}train_inner | epoch 001:    100 / 2000 loss=15.0, nll_loss=14.5, ppl=23170, wps=4000, ups=4.08, wpb=1000, "
    "bsz=35.4, num_updates=100, lr=1e-06, gnorm=7.2, loss_scale=128, train_wall=25, wall=83\n"
    f"{STAMP}valid | epoch 001 | valid on 'valid' subset | loss 6.5 | nll_loss 5.0 | ppl 32 | bleu 21.5 | wps 9000 "
    "| wpb 800 | bsz 30 | num_updates 100\n"
    f"{STAMP}fairseq.checkpoint_utils | Saved checkpoint checkpoints/checkpoint1.pt (epoch 1 @ 100 updates)\n"
    f"{STAMP}train | epoch 001 | loss 15.0 | nll_loss 14.0 | ppl 16384 | wps 3900 | ups 4.0 | wpb 1000 | bsz 35 "
    "| num_updates 100 | lr 1e-06 | gnorm 7.2 | wall 90\n"
)


def inner(step: int, loss: float | str, wall: int) -> str:
    stats = {
        "epoch": 1, "loss": str(loss), "nll_loss": str(loss), "wps": "20000", "ups": "0.5", "wpb": "40000",
        "num_updates": str(step), "lr": "0.0001", "gnorm": "1.2", "clip": "100%", "wall": str(wall),
    }  # fmt: skip
    return f"{STAMP}train_inner | {json.dumps(stats)}\n"


def test_the_old_form_is_read_and_bits_become_nats() -> None:
    found = parse(OLD)
    assert [(p.step, p.loss, p.smoothed_loss) for p in found.points] == [
        (100, 11 * LN2, 12 * LN2), (200, 9 * LN2, 10 * LN2), (300, 8 * LN2, 9 * LN2),
    ]  # fmt: skip
    assert (found.points[0].learning_rate, found.points[0].gradient_norm) == (1e-05, 1.5)


def test_old_step_times_come_from_the_clock_except_across_an_evaluation() -> None:
    assert [p.step_s for p in parse(OLD).points] == [2.0, 2.0, 2.0]
    slower = OLD.replace("wall=410", "wall=510")
    assert [p.step_s for p in parse(slower).points] == [2.0, 3.0, 2.0]


def test_the_old_evaluation_is_read() -> None:
    assert [(e.step, e.loss, e.smoothed_loss) for e in parse(OLD).evaluations] == [(200, 6.8834 * LN2, 8.11425 * LN2)]


def test_the_settings_are_those_of_the_dump() -> None:
    said = parse(OLD).settings
    assert said.model is not None
    assert (said.model.width, said.model.feed_forward, said.model.tied, said.model.norm) == (512, 2048, "three", "post")
    assert (said.num_parameters, said.num_ranks, said.precision) == (60_880_896, 4, "fp16")
    assert (said.tokens_per_rank, said.forward_passes_per_step, said.tokens_per_step) == (4096, 2, 100_000)
    assert (said.max_steps, said.save_every_steps, said.label_smoothing) == (50_000, 1000, 0.1)
    assert said.schedule is not None
    assert (said.schedule.kind, said.schedule.peak, said.schedule.warmup_steps) == ("inverse_sqrt", 5e-4, 4000)
    assert said.target_vocabulary == 32_768


def test_the_newer_form_is_read() -> None:
    found = parse(NEW)
    assert [(p.step, p.step_s, p.tokens_per_s) for p in found.points] == [(100, 0.25, 4000)]
    assert [(e.step, e.loss, e.bleu) for e in found.evaluations] == [(100, 5.0 * LN2, 21.5)]
    assert found.bleu_kind == "free-running"
    assert (found.settings.num_ranks, found.settings.precision) == (8, "fp32")
    assert found.settings.devices == ("Tesla V100-SXM2-32GB",) * 2
    assert [event.kind for event in found.events] == ["saved"]


def test_the_json_form_is_read() -> None:
    valid = {"epoch": 1, "valid_loss": "6.5", "valid_nll_loss": "5.0", "valid_ppl": "32", "valid_num_updates": "200"}
    text = inner(100, 10.0, 200) + inner(200, 9.0, 400) + f"{STAMP}valid | {json.dumps(valid)}\n"
    found = parse(text)
    assert [(p.step, p.loss, p.step_s) for p in found.points] == [(100, 10 * LN2, 2.0), (200, 9 * LN2, 2.0)]
    assert [(e.step, e.loss) for e in found.evaluations] == [(200, 5 * LN2)]
    assert found.duration_s == 400


def test_a_loss_that_is_no_number_is_kept() -> None:
    loss = parse(inner(100, "nan", 200)).points[0].loss
    assert loss is not None and math.isnan(loss)


def test_a_restart_adds_its_time_and_is_an_event() -> None:
    again = inner(100, 10.0, 200) + inner(200, 9.0, 400) + inner(200, 9.5, 190) + inner(300, 8.0, 390)
    found = parse(again)
    assert [event.kind for event in found.events] == ["resumed"]
    assert found.duration_s == 400 + 390


def test_lines_of_two_ranks_count_once() -> None:
    one = inner(100, 10.0, 200) + inner(200, 9.0, 400)
    two = "".join(f"[default{rank}]:{line}\n" for line in one.splitlines() for rank in (1, 0))
    assert parse(two.replace("]:", "]: ")).points == parse(one).points
    twice = "".join(f"{line}\n{line}\n" for line in one.splitlines())
    assert parse(twice).points == parse(one).points


def test_the_oldest_logs_count_steps_within_the_epoch() -> None:
    text = "| epoch 010  2000 / 8223 loss=1.27 (1.50), wps=962, wpb=908, bsz=32, lr=0.001, clip=100%, gnorm=2.1427\n"
    point = parse(text).points[0]
    assert point.step == 9 * 8223 + 2000
    assert point.step_s == pytest.approx(908 / 962)


def test_means_over_epochs_serve_where_nothing_else_is_there() -> None:
    text = "| epoch 008 | loss 6.326 | nll_loss 5.193 | wps 12876 | wpb 2578 | num_updates 21896 | wall 4634\n"
    found = parse(text)
    assert [(p.step, p.loss) for p in found.points] == [(21_896, 5.193 * LN2)]
    assert "the log has only means over epochs" in found.remarks


def test_windows_line_ends_and_half_a_line_change_nothing() -> None:
    assert parse(OLD.replace("\n", "\r\n")) == parse(OLD)
    assert parse(OLD + "| epoch 001:    400 / 1891 loss=8.0, nll_loss=7.0, num_updates=40") == parse(OLD)


def test_overflows_and_the_end_are_told() -> None:
    found = parse(
        OLD + "| WARNING: overflow detected, setting loss scale to: 64.0\n" * 3 + "| done training in 703.5 seconds\n"
    )
    assert found.is_finished is True
    assert found.duration_s == 703.5
    assert any("overflowed" in remark for remark in found.remarks)


def test_the_nested_settings_of_newer_versions_are_found() -> None:
    dump = (
        f"{STAMP}fairseq_cli.train | {{'_name': None, 'common': {{'fp16': True, 'log_interval': 50}}, "
        "'dataset': {'max_tokens': 3584}, 'optimization': {'max_update': 30000, 'update_freq': [16], 'lr': [0.0007]}, "
        "'model': {'_name': 'transformer', 'arch': 'transformer_vaswani_wmt_en_de_big', 'encoder_embed_dim': 1024, "
        "'encoder_ffn_embed_dim': 4096, 'encoder_layers': 6, 'encoder_attention_heads': 16, 'decoder_layers': 6, "
        "'share_all_embeddings': True}, 'criterion': {'_name': 'label_smoothed_cross_entropy'}, "
        "'lr_scheduler': {'_name': 'inverse_sqrt', 'warmup_updates': 4000}}\n"
    )
    said = parse(dump + inner(100, 9.0, 10)).settings
    assert said.model is not None
    assert (said.model.width, said.forward_passes_per_step, said.max_steps) == (1024, 16, 30_000)
    assert said.schedule is not None
    assert said.schedule.peak == 7e-4
