"""Scores are those of sacreBLEU, however the sentences were divided."""

import gzip
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from dragoman.core.errors import UserError
from dragoman.decoding.score import NUM_BLEU, NUM_CHRF, compare, nearest, score, score_from, statistics, tokenizer_for

WORDS = ["der", "die", "Hund", "Katze", "läuft", "schläft", ",", ".", "„ja“", "über", "3,5", "grüne", "Straße", "und"]


def corpus(num_sentences: int, seed: int, noise: float = 0.3) -> tuple[list[str], list[str]]:
    """References, and the same with some words changed."""
    generator = random.Random(seed)
    references = [" ".join(generator.choices(WORDS, k=generator.randint(1, 20))) for _ in range(num_sentences)]
    hypotheses = [
        " ".join(generator.choice(WORDS) if generator.random() < noise else word for word in line.split())
        for line in references
    ]
    return hypotheses, references


@pytest.mark.parametrize("tokenizer", ["13a", "none", "intl", "char", "zh"])
def test_scores_equal_those_of_sacrebleu(tokenizer: str) -> None:
    hypotheses, references = corpus(200, seed=1)
    ours = score(hypotheses, references, tokenizer)
    bleu, chrf = BLEU(tokenize=tokenizer), CHRF()
    assert ours.bleu == pytest.approx(bleu.corpus_score(hypotheses, [references]).score, abs=1e-9)
    assert ours.chrf == pytest.approx(chrf.corpus_score(hypotheses, [references]).score, abs=1e-9)


def test_intervals_and_signatures_equal_those_of_sacrebleus_bootstrap() -> None:
    hypotheses, references = corpus(150, seed=2)
    ours = score(hypotheses, references)
    for metric, interval, signature in (
        (BLEU(tokenize="13a"), ours.bleu_interval, ours.bleu_signature),
        (CHRF(), ours.chrf_interval, ours.chrf_signature),
    ):
        theirs = metric.corpus_score(hypotheses, [references], n_bootstrap=1000)
        # sacreBLEU computes resamples, unlike the score itself, in single precision.
        assert (interval[1] - interval[0]) / 2 == pytest.approx(theirs._ci, abs=1e-5)
        assert interval[0] < theirs._mean < interval[1]
        assert signature == str(metric.get_signature())


def test_signatures_say_how_to_compute_the_same_again() -> None:
    ours = score(["a b c d e"], ["a b c d f"])
    assert ours.bleu_signature == "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    assert ours.chrf_signature == "nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
    assert "tok:zh" in score(["猫在睡觉"], ["猫在睡觉"], "zh").bleu_signature


def test_the_command_line_of_sacrebleu_gives_the_same_number(tmp_path: Path) -> None:
    hypotheses, references = corpus(50, seed=3)
    (tmp_path / "hypotheses").write_text("\n".join(hypotheses) + "\n")
    (tmp_path / "references").write_text("\n".join(references) + "\n")
    command = [sys.executable, "-m", "sacrebleu", "references", "-i", "hypotheses", "-m", "bleu", "-w", "9"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert score(hypotheses, references).bleu == pytest.approx(json.loads(answer.stdout)["score"], abs=1e-8)


@pytest.mark.parametrize("world_size", [2, 3, 7])
def test_shards_of_several_ranks_score_exactly_as_one_process(world_size: int) -> None:
    hypotheses, references = corpus(101, seed=4)
    cuts = [len(references) * rank // world_size for rank in range(world_size + 1)]
    shards = [statistics(hypotheses[first:end], references[first:end]) for first, end in itertools.pairwise(cuts)]
    assert score_from(np.concatenate(shards)) == score(hypotheses, references)


def test_statistics_are_whole_numbers_whose_sum_is_that_of_the_corpus() -> None:
    hypotheses, references = corpus(30, seed=5)
    rows = statistics(hypotheses, references)
    assert rows.shape == (30, NUM_BLEU + NUM_CHRF) and rows.dtype == np.int64
    assert score_from(rows.sum(axis=0, keepdims=True)).bleu == score_from(rows).bleu
    assert statistics([], []).shape == (0, NUM_BLEU + NUM_CHRF)


def test_a_paired_bootstrap_equals_that_of_sacrebleu() -> None:
    ours, references = corpus(120, seed=6, noise=0.30)
    theirs, _ = corpus(120, seed=6, noise=0.33)
    result = compare(statistics(ours, references), statistics(theirs, references))
    systems: list[tuple[str, Sequence[str]]] = [("theirs", theirs), ("ours", ours)]
    metrics = {"BLEU": BLEU(tokenize="13a"), "chrF": CHRF()}
    _, wanted = PairedTest(systems, metrics, [references], test_type="bs", n_samples=1000)()
    for name, difference in (("BLEU", result.bleu), ("chrF", result.chrf)):
        baseline, system = next(values for key, values in wanted.items() if key.startswith(name))
        assert isinstance(baseline, Result) and isinstance(system, Result)
        assert difference.points == pytest.approx(system.score - baseline.score, abs=1e-9)
        assert difference.p_value == pytest.approx(system.p_value, abs=1e-9)
        assert difference.interval[0] < difference.points < difference.interval[1]


def test_a_system_does_not_differ_from_itself() -> None:
    rows = statistics(*corpus(40, seed=7))
    result = compare(rows, rows)
    assert (result.bleu.points, result.bleu.interval, result.chrf.points) == (0.0, (0.0, 0.0), 0.0)


def test_the_reference_itself_scores_100_and_silence_scores_0() -> None:
    _, references = corpus(20, seed=8)
    perfect, silent = score(references, references), score([""] * 20, references)
    assert perfect.bleu == pytest.approx(100.0) and perfect.chrf == pytest.approx(100.0)
    assert (silent.bleu, silent.chrf, silent.length_ratio) == (0.0, 0.0, 0.0)
    assert score([""], [""]).bleu == 0.0


def test_a_score_is_plain_numbers_and_a_sentence() -> None:
    ours = score(*corpus(1200, seed=9))
    assert json.loads(json.dumps(asdict(ours)))["bleu"] == ours.bleu
    low, high = ours.bleu_interval
    assert str(ours).startswith(f"BLEU {ours.bleu:.2f} ({low:.2f}–{high:.2f}), chrF ")
    assert str(ours).endswith("on 1,200 sentences")
    assert low < ours.bleu < high


def test_what_cannot_be_scored_is_said() -> None:
    with pytest.raises(UserError, match="1,200 translations but 1 references"):
        statistics(["a"] * 1200, ["a"])
    with pytest.raises(UserError, match="nothing to score"):
        score([], [])
    with pytest.raises(UserError, match="'moses' is no tokenizer for BLEU; take one of 13a, none"):
        score(["a"], ["a"], "moses")
    with pytest.raises(UserError, match="cannot compare 2 translations with 1"):
        compare(statistics(["a", "b"], ["a", "b"]), statistics(["a"], ["a"]))


def test_the_tokenizer_follows_the_target_language(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [tokenizer_for(language) for language in ("de", "zh", "zh_TW", "ZH-cn", "")] == [
        "13a",
        "zh",
        "zh",
        "zh",
        "13a",
    ]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert tokenizer_for("ja") == "char"
    with pytest.raises(UserError, match=r"ja-mecab is not installed; pip install 'sacrebleu\[ja\]'"):
        score(["あ"], ["あ"], "ja-mecab")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "mecab_ko")
    assert tokenizer_for("ko") == "ko-mecab"


def test_real_text_scores_as_sacrebleu_says(shared_data: Path) -> None:
    with gzip.open(shared_data / "multi30k" / "val.de.gz", "rt", encoding="utf-8") as text:
        references = [line.strip() for line in text]
    hypotheses = [line.replace(" ein", " der") for line in references]
    assert score(hypotheses, references).bleu == pytest.approx(
        BLEU(tokenize="13a").corpus_score(hypotheses, [references]).score, abs=1e-9
    )


def test_the_nearest_of_several_translations_is_found_by_its_own_bleu() -> None:
    reference = "Ein Hund rennt."
    assert nearest(["Der Hund", "Ein Hund läuft.", "Ein Hund rennt.", "Ein Hund rennt."], reference) == 2
    assert nearest(["Ja", "Hund"], reference) == 1, "too short for n-grams of every order"
    assert nearest(["a", "b"], "") == 0


def test_a_score_of_many_sentences_is_not_changed_by_one_of_a_single_one() -> None:
    before = score(["Ein Hund"], ["Ein Hund rennt ."]).bleu_signature
    nearest(["Ein Hund"], "Ein Hund rennt .")
    assert score(["Ein Hund"], ["Ein Hund rennt ."]).bleu_signature == before
    assert "eff:no" in before
