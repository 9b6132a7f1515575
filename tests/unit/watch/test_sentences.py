"""What a person reads: every line with its numbers, and a dash or nothing where a number is not known."""

import dataclasses

import pytest

from dragoman.telemetry.rates import NicRate
from dragoman.watch import sentences
from dragoman.watch.view import PARTS, EvalView, HostView, Pace, Progress, RankView
from tests.watched_run import gpu_sample


def test_progress() -> None:
    whole = Progress(step=1200, last_step=10_000, training_s=182.0, left_s=1330.0, cost=1.2)
    assert sentences.progress_line(whole) == (
        "step 1,200 of 10,000 (12 %) · 3 min 2 s trained · 22 min 10 s left · cost 1.20"
    )
    assert sentences.progress_line(Progress(1200, None, None, None, None)) == "step 1,200"
    assert sentences.progress_line(Progress(None, 10_000, None, None, None)) == "no step is done yet"


def test_pace() -> None:
    assert sentences.pace_line(Pace(3.2141, 0.801, 1e-3, 12_345.4, 0.1664)) == (
        "loss 3.214 · learning rate 1.00e-03 · gradient norm 0.80 · 12,345 tokens/s · step 0.166 s"
    )
    assert sentences.pace_line(Pace(None, None, None, None, None)) == "loss –"


def test_evaluation() -> None:
    assert sentences.evaluation_line(EvalView(1000, 2.3451, 2.301, 12.34, (11.0, 13.5), 33.3)) == (
        "dev loss 2.345 · train loss 2.301 · BLEU 12.3 (11.0–13.5) · chrF 33.3 at step 1,000"
    )
    assert sentences.evaluation_line(EvalView(0, None, None, 12.34, None, None)) == "dev loss – · BLEU 12.3 at step 0"


def test_the_parts_of_a_step_and_what_is_left_over() -> None:
    parts: dict[str, float | None] = dict(zip(PARTS, (0.005, 0.12, 0.24, 0.1, 0.02), strict=True))
    assert sentences.rank_line(RankView(1, 9, 0.5, parts, 0.025)) == (
        "rank 1: 0.500 s = data wait 1 %, forward 24 %, backward 48 %, exchange 20 %, optimizer 4 %, other 3 %; "
        "padding 2.5 %"
    )
    without_exchange = RankView(0, 9, 0.5, {**parts, "exchange_s": None}, None)
    assert sentences.rank_line(without_exchange) == (
        "rank 0: 0.500 s = data wait 1 %, forward 24 %, backward 48 %, optimizer 4 %"
    )
    assert sentences.rank_line(RankView(0, None, None, {}, None)) == "rank 0: no step yet"


HOST = HostView(
    name="beta",
    age_s=1.0,
    cpu_share=0.8,
    memory_used_bytes=3_100_000_000,
    memory_total_bytes=8_000_000_000,
    process_memory_bytes=2_000_000_000,
    disk_free_bytes=50_000_000_000,
    nic=NicRate("eth0", 9e7, 9.1e7, 0, 1000.0),
    carries_gradients=True,
    gpus=(),
)


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {},
            "beta: CPU 80 % · memory 3.1 GB of 8.0 GB · training 2.0 GB · disk free 50.0 GB · "
            "eth0 (gradients) sends 90.0 MB/s, receives 91.0 MB/s of 125.0 MB/s",
        ),
        (
            {"nic": NicRate("eth1", 1e3, 2e3, 4, None), "carries_gradients": False, "age_s": 75.0},
            "beta: CPU 80 % · memory 3.1 GB of 8.0 GB · training 2.0 GB · disk free 50.0 GB · "
            "eth1 sends 1.0 kB/s, receives 2.0 kB/s, 4 errors · last seen 1 min 15 s ago",
        ),
        (
            dict.fromkeys(("cpu_share", "memory_used_bytes", "process_memory_bytes", "disk_free_bytes", "nic")),
            "beta: CPU –",
        ),
    ],
)
def test_a_host(changes: dict[str, object], line: str) -> None:
    assert sentences.host_line(dataclasses.replace(HOST, **changes)) == line  # type: ignore[arg-type]


def test_a_gpu_that_only_waits_shows_its_power_beside_its_utilisation() -> None:
    assert sentences.gpu_line(gpu_sample()) == (
        "GPU 0 Tesla V100: 100 % of the time busy · 42 W of 250 W · 1.2 GB of 16.0 GB · 1380 MHz · 37 °C · "
        "held back by power cap"
    )
    unknown = dict.fromkeys(("utilisation", "memory_used_bytes", "power_w", "clock_mhz", "temperature_c"))
    assert sentences.gpu_line(gpu_sample(1, **unknown, throttle_reasons=())) == "GPU 1 Tesla V100: utilisation –"


def test_an_event() -> None:
    assert sentences.event_line("2026-11-15T23:20:38.445+00:00", "saved", 5, "checkpoint in 0.13 s") == (
        "23:20:38 saved at step 5: checkpoint in 0.13 s"
    )
    assert sentences.event_line("", "saved", None, "x") == "– saved: x"


def test_of_many_ranks_those_that_everyone_waits_for_are_shown() -> None:
    def rank(number: int, exchange_s: float) -> RankView:
        return RankView(number, 9, 0.5, {"exchange_s": exchange_s}, None)

    few = tuple(rank(number, 0.1) for number in range(8))
    assert sentences.slowest(few) == few
    many = (*(rank(number, 0.3) for number in range(20)), rank(20, 0.0))
    shown = sentences.slowest(many)
    assert (len(shown), shown[0].rank) == (8, 20)


def test_figures_of_a_legend() -> None:
    shown = {12_345.6: "12,346", 0.8: "0.8", 3.14159: "3.142", 0.00012: "1.2e-04", 0.0: "0", -2000.0: "-2,000"}
    assert {value: sentences.figure(value) for value in shown} == shown
