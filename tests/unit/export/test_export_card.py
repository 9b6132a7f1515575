"""The check's verdict and the model card's sentences."""

from dataclasses import replace

import pytest

from dragoman.core import records
from dragoman.core.config import DecodingConfig, ModelConfig
from dragoman.core.errors import UserError
from dragoman.export.card import FORMAT, Check, EngineScore, ExportCard, TrainingData, TrainingText
from dragoman.export.check import refuse_if_different
from dragoman.export.readme import readme

CHECK = Check(
    sentences="dev",
    num_sentences=1000,
    same_tokens=0.998,
    same_translations=0.99,
    trained=EngineScore(30.0, (29.0, 31.0), 55.0),
    exported=EngineScore(29.8, (28.8, 30.8), 54.9),
    bleu_signature="bleu-signature",
    chrf_signature="chrf-signature",
)
CARD = ExportCard(
    format=FORMAT,
    name="news",
    source_language="en",
    target_language="de",
    quantization="int8",
    parameters=1_234_567,
    steps=(1000, 2000),
    exported_at="2026-11-15T00:00:00+00:00",
    max_source_pieces=256,
    max_target_pieces=2048,
    model=ModelConfig().sized(),
    decoding=DecodingConfig(),
    data=TrainingData("f00d", 5000, 60_000, (TrainingText("a|b", 5000, "CC-BY-4.0", ""),)),
    check=CHECK,
    versions={"dragoman": "0.1.0"},
)


def test_a_card_survives_the_disk() -> None:
    assert records.from_json(ExportCard, records.to_json(CARD)) == CARD


def test_the_readme_says_what_the_model_is() -> None:
    text = readme(CARD)
    for sentence in (
        "# news: en → de\n",
        "A Transformer of 1,234,567 parameters (3 encoder and 3 decoder layers, width 256), the mean of the checkpoints"
        " of steps 1,000, 2,000, for CTranslate2 in int8.",
        "| this model | 29.80 (28.80–30.80) | 54.90 |\n| as it was trained | 30.00 (29.00–31.00) | 55.00 |",
        "`bleu-signature`",
        "`chrf-signature`",
        "Both give the same translation of 99.0% of the sentences; by greedy search the same pieces for 99.8%.",
        "| a\\|b | 5,000 | CC-BY-4.0 | unknown |",
        "5,000 pairs, 60,000 target tokens; fingerprint `f00d`.",
        "| beam | 5 |",
        "| dragoman | 0.1.0 |",
        "translate_batch([pieces], beam_size=5)",
    ):
        assert sentence in text


def test_the_readme_says_what_is_unknown() -> None:
    text = readme(replace(CARD, data=None, check=None, steps=(7,), source_language="xx"))
    assert "Unknown: the corpus was no longer there when the model was exported." in text
    assert "Not checked." in text
    assert "the checkpoint of step 7, for" in text


def test_an_export_that_is_as_good_passes() -> None:
    refuse_if_different(CHECK, "int8")
    refuse_if_different(CHECK, "float32")
    refuse_if_different(replace(CHECK, same_tokens=0.9), "int8")
    refuse_if_different(replace(CHECK, bleu_lost=-9.0), "int8")
    refuse_if_different(replace(CHECK, exported=EngineScore(29.0, (28.0, 30.0), 54.0)), "float32")  # the search's doing


def test_an_export_that_is_worse_is_refused_with_the_numbers() -> None:
    with pytest.raises(UserError) as error:
        refuse_if_different(replace(CHECK, bleu_lost=0.4), "int8")
    assert str(error.value) == (
        "in int8 the model loses 0.40 BLEU by greedy search on 1,000 sentences of dev (0.3 are allowed); nothing was"
        " written; try `--quantization float32`"
    )
    with pytest.raises(UserError) as error:
        refuse_if_different(replace(CHECK, same_tokens=0.994), "float32")
    assert str(error.value).startswith(
        "the exported model translates only 99.4% of 1,000 sentences of dev as the trained one does (99.5% are needed)"
    )
