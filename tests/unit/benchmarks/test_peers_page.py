"""What is told of the peers: medians, ratios round by round, fairseq by way of others, tables and the chart."""

import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import training
from benchmarks.marked_page import replaced
from benchmarks.peers import fairseq
from benchmarks.peers.__main__ import CHART, COLUMNS, PAGE, README, RESULTS
from benchmarks.peers.chart import chart
from benchmarks.peers.page import TITLES, page, section, standing, summary
from benchmarks.peers.results import Column, Results, Row, joined, load, rows_of, save
from benchmarks.peers.roster import HALF_PEERS, PEERS

RATES = {"dragoman": [200.0, 100.0, 150.0], "huggingface": [100.0, 80.0, 50.0], "marian": [50.0, 20.0, 30.0]}
PEAKS_MB = {"dragoman": 900.0, "huggingface": 1800.0, "marian": 1700.0}


def column(name: str = "training-small") -> Column:
    rows = rows_of(name, RATES, PEAKS_MB, ceiling=[400.0, 400.0, 200.0], work=lambda _key: 1.0)
    return Column(name, "target tokens/s", "2026-11-16", "python -m benchmarks.peers", rows)


def row(key: str) -> Row:
    return next(row for row in column().rows if row.key == key)


def test_ratios_are_taken_round_by_round() -> None:
    assert row("huggingface").ratios == (2.0, 1.25, 3.0)
    assert row("huggingface").times == 2.0
    assert row("dragoman").shares == (0.5, 0.25, 0.75)


def test_fairseq_is_told_by_the_median_of_what_the_others_did() -> None:
    ratios = fairseq.RATIOS["training-small"]
    by_two = [(100 * ratios["huggingface"] + 50 * ratios["marian"]) / 2]
    assert fairseq.converted("training-small", {"huggingface": [100.0], "marian": [50.0]}) == pytest.approx(by_two)
    assert fairseq.converted("training-base", {"opennmt": [239.0, 478.0]}) == pytest.approx([273.0, 546.0])
    assert fairseq.converted("preparation", {"sockeye": [7400.0]}) == pytest.approx([2150.0])
    assert fairseq.converted("training-base", {"marian": [50.0]}) == ()
    assert fairseq.converted("decoding-int8", {"marian": [50.0]}) == ()


def test_what_was_converted_is_marked_and_its_memory_is_unknown() -> None:
    told = row("fairseq")
    assert told.is_converted and told.peak_mb is None
    assert "| fairseq, converted |" in section(column())
    assert section(column()).count("unknown") == 1


def test_the_sentence_names_the_best_peer_that_was_measured() -> None:
    assert standing(column()) == (
        "Ours is 2.00 (1.25–3.00) times as fast as the best peer, Hugging Face Marian; at most it"
        " holds 900 MB, of the others Marian least: 1,700 MB. Median (least to most) of 3 rounds."
    )


def test_the_summary_sets_ours_beside_the_best_also_where_it_was_converted() -> None:
    best = min(column().peers, key=lambda row: row.times)
    assert best.key == "huggingface"
    line = "| Training `small` | Hugging Face Marian | 2.00 (1.25–3.00) | 900 MB | 1,700 MB |"
    assert summary(Results().with_column(column())).splitlines()[2:] == [line]
    alone = Column("training-base", "", "", "", rows_of("training-base", {"dragoman": [400.0], "opennmt": [239.0]}, {}))
    line = "| Training `base` | fairseq, converted | 1.47 (1.47–1.47) | unknown | unknown |"
    assert summary(Results().with_column(alone)).splitlines()[2:] == [line]


def test_whoever_does_a_part_of_the_work_is_not_called_a_peer() -> None:
    rates = {"dragoman": [100.0], "sentencepiece": [300.0], "eole-vocabulary": [200.0], "sockeye": [20.0]}
    rows = rows_of("preparation", rates, {})
    found = Column("preparation", "sentence pairs/s", "2026-11-16", "command", rows)
    assert standing(found).startswith("Ours is 5.00 (5.00–5.00) times as fast as the best peer, Sockeye. ")
    assert "| SentencePiece, encoding only | 300 (300–300) | 0.33 (0.33–0.33) |" in section(found)


def test_our_own_other_engine_is_no_peer() -> None:
    rates = {"dragoman": [100.0], "dragoman-torch": [90.0], "ctranslate2": [80.0]}
    found = Column("decoding-float32", "sentences/s", "", "", rows_of("decoding-float32", rates, {}))
    assert standing(found).startswith("Ours is 1.25 (1.25–1.25) times as fast as the best peer, CTranslate2 by hand.")


def test_the_table_has_the_fastest_first_and_shares_of_peak() -> None:
    lines = section(column()).splitlines()
    names = [line.split("|")[1].strip() for line in lines if line.startswith("|")][2:]
    assert names == [
        "**Dragoman**",
        "Hugging Face Marian",
        "fairseq, converted",
        "Marian",
    ]
    assert "| **Dragoman** | 150 (100–200) |  | 50% (25%–75%) | 900 MB |" in lines


def test_who_could_not_take_part_is_named_with_the_reason() -> None:
    failed = Column("training-small", "tokens/s", "", "", column().rows, {"eole": "eole ended with code 1: killed"})
    assert "- Eole could not take part: eole ended with code 1: killed" in section(failed)


def test_heats_are_joined_by_what_took_part_in_all() -> None:
    first = rows_of("training-base", {"dragoman": [100.0], "opennmt": [50.0]}, {"dragoman": 900.0})
    second = rows_of("training-base", {"dragoman": [80.0], "marian": [20.0]}, {"dragoman": 950.0})
    rows = {row.key: row for row in joined([first, second])}
    assert rows["dragoman"].rates == (100.0, 80.0) and rows["dragoman"].peak_mb == 950.0
    assert rows["dragoman"].ratios == (1.0, 1.0)
    assert rows["opennmt"].ratios == (2.0,) and rows["marian"].ratios == (4.0,)
    assert list(rows) == ["dragoman", "opennmt", "fairseq", "marian"]


def test_results_survive_the_disk(tmp_path: Path) -> None:
    results = Results().with_column(column())
    save(tmp_path / "results.json", results)
    assert load(tmp_path / "results.json") == results
    assert load(tmp_path / "none.json") == Results()


def test_every_column_says_what_it_was_measured_on() -> None:
    assert section(replace(column(), machine="2 × processor")).endswith(", 2026-11-16, on 2 × processor.")


def test_half_precision_is_compared_with_half_precision_alone() -> None:
    starts = {key for key in training.entries() if key.endswith(training.HALF)}
    assert starts == {"matrices-bf16", "dragoman-bf16", *(f"{key}-bf16" for key in HALF_PEERS)}
    rows = rows_of("training-small-bf16", {"dragoman-bf16": [300.0], "huggingface-bf16": [100.0]}, {}, [400.0])
    found = Column("training-small-bf16", "target tokens/s", "", "", rows)
    assert standing(found).startswith(
        "Ours is 3.00 (3.00–3.00) times as fast as the best peer, Hugging Face Marian, autocast"
    )


def test_the_chart_has_a_bar_for_everyone_and_a_panel_of_memory() -> None:
    drawing = chart(Results().with_column(column()))
    root = xml.etree.ElementTree.fromstring(drawing)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    bars = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(bars) == 4 + 3  # fairseq's memory is unknown
    assert {"Training small: target tokens/s", "Training small: peak memory, MB"} <= set(texts)
    assert [bar.get("class") for bar in bars].count("own") == 2
    assert [bar.get("class") for bar in bars].count("told") == 1
    assert float(bars[0].get("width") or 0) > float(bars[2].get("width") or 0)


def test_every_column_has_a_title_and_every_peer_says_what_is_its_own() -> None:
    assert list(COLUMNS) == list(TITLES)
    for key, peer in PEERS.items():
        assert peer.own, key
        assert key == "dragoman" or (peer.packages and peer.needed), key


def test_the_documentation_shows_the_results_that_are_kept() -> None:
    if not RESULTS.exists():
        pytest.skip("nothing was measured yet: make bench-peers")
    text = PAGE.read_text(encoding="utf-8")
    results = load(RESULTS)
    assert results.columns
    assert text == replaced(text, "measured", page(results))
    assert CHART.read_text(encoding="utf-8") == chart(results)
    readme = README.read_text(encoding="utf-8")
    assert readme == replaced(readme, "peers", summary(results))


def test_the_documentation_says_of_every_peer_what_is_its_own() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for peer in PEERS.values():
        assert f"| {peer.name} | {peer.version} |" in text
        assert peer.own in text
