"""Subwords: the ids are SentencePiece's own, whatever the model and the text."""

import gzip
import io
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.config import VocabularyConfig
from dragoman.core.errors import UserError
from dragoman.corpus import vocab
from dragoman.corpus.vocab import SpecialIds, Vocabulary, count_words, train

TEXT = """a dog runs across the green grass while two children watch it from a wooden bench near their house
ein Hund läuft über das grüne Gras während zwei Kinder ihm von einer Holzbank aus zuschauen Straße Größe"""


def sentences(number: int, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzäöüß"
    own = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(400)]
    return [" ".join(draw.choices(TEXT.split() + own, k=draw.randint(3, 12))) + "." for _ in range(number)]


def trained(directory: Path, **settings: Any) -> Path:
    """A model of ours."""
    path = directory / "vocab.model"
    path.write_bytes(train(count_words(sentences(2_000)), VocabularyConfig(**{"size": 512, **settings}), "en-de"))
    return path


def foreign(directory: Path, **options: Any) -> Path:
    """A model that somebody else trained."""
    model = io.BytesIO()
    options = {"vocab_size": 300, "minloglevel": 2, "sentence_iterator": iter(sentences(2_000)), **options}
    sentencepiece.SentencePieceTrainer.train(model_writer=model, **options)
    path = directory / "foreign.model"
    path.write_bytes(model.getvalue())
    return path


def assert_same_ids(path: Path, texts: Sequence[str]) -> None:
    ours, theirs = Vocabulary(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text, ids in zip(texts, ours.encode(texts), strict=True):
        assert np.frombuffer(ids, ours.id_type).tolist() == [*theirs.encode(text), theirs.eos_id()], text


def real_text(shared_data: Path, name: str, number: int) -> Iterable[str]:
    with gzip.open(shared_data / name, "rt", encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in itertools.islice(file, number))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    def place(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    phrases = [*sentences(2_000), *["a wooden house near the green grass"] * 500]
    return {
        "bpe": trained(place("bpe")),
        "unigram": trained(place("unigram"), kind="unigram"),
        "bpe without bytes": trained(place("plain"), byte_fallback=False),
        "untouched text": foreign(place("identity"), normalization_rule_name="identity"),
        "own symbols": foreign(place("symbols"), user_defined_symbols=["<x>", "ab", "."]),
        "pieces across spaces": foreign(place("across"), split_by_whitespace=False, sentence_iterator=iter(phrases)),
        "every space kept": foreign(place("kept"), remove_extra_whitespaces=False),
        "no space before": foreign(place("before"), add_dummy_prefix=False),
        "space behind": foreign(place("behind"), treat_whitespace_as_suffix=True),
    }


MODELS = [
    "bpe",
    "unigram",
    "bpe without bytes",
    "untouched text",
    "own symbols",
    "pieces across spaces",
    "every space kept",
    "no space before",
    "space behind",
]

TRICKY = [
    "",
    " ",
    "  two  spaces  ",
    "tab\there",
    "no\u00a0break ideographic\u3000space",
    "zero\u200bwidth \u200b alone",
    "a▁ b ▁ c▁d",
    "´ ¨ ΅ ͺ at the start",
    "combining \u0301 alone",
    "中文 和 😀 👨‍👩‍👧",
    "ﬁne ½ … ｆｕｌｌ",
    "<s> </s> <unk> <pad> <x> ab",
    "a wooden house near the green grass",
    "x" * 3_000,
]


@pytest.mark.parametrize("name", MODELS)
def test_ids_are_those_of_sentencepiece_for_tricky_text(models: dict[str, Path], name: str) -> None:
    assert_same_ids(models[name], [*TRICKY, *sentences(300, seed=9), " ".join(sentences(300, seed=9))])


SPACES = st.text("aäb.▁<x> \u00a0\u3000\t\u200b\u0301´中😀", max_size=25)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=60)
@given(st.lists(st.text(max_size=25) | SPACES, min_size=1, max_size=4))
def test_ids_are_those_of_sentencepiece_for_any_text(models: dict[str, Path], name: str, texts: list[str]) -> None:
    assert_same_ids(models[name], texts)


@pytest.mark.parametrize("name", ["multi30k/train.en.gz", "multi30k/train.de.gz", "europarl/dev2000.de.gz"])
def test_ids_of_real_text_are_those_of_sentencepiece(shared_data: Path, models: dict[str, Path], name: str) -> None:
    texts = list(real_text(shared_data, name, 2_000))
    for model in (shared_data / "wmt16" / "m_common.model", models["bpe"], models["unigram"]):
        assert_same_ids(model, texts)


def test_the_five_runs_model_loads_with_its_own_special_ids(shared_data: Path) -> None:
    vocabulary = Vocabulary(shared_data / "wmt16" / "m_common.model")
    assert vocabulary.size == 32_768
    assert vocabulary.special == SpecialIds(pad=0, eos=1, bos=2, unk=3)
    assert [vocabulary.piece(token) for token in range(4)] == ["<pad>", "</s>", "<s>", "<unk>"]


@pytest.mark.parametrize("name", ["bpe", "unigram"])
def test_models_trained_here_have_the_special_ids_of_the_five_runs(models: dict[str, Path], name: str) -> None:
    assert Vocabulary(models[name]).special == SpecialIds(pad=0, eos=1, bos=2, unk=3)


def test_special_ids_of_another_model_are_respected(tmp_path: Path) -> None:
    path = foreign(tmp_path, unk_id=0, bos_id=3, eos_id=2, pad_id=1)
    assert Vocabulary(path).special == SpecialIds(pad=1, eos=2, bos=3, unk=0)
    assert np.frombuffer(Vocabulary(path).encode([""])[0], np.uint16).tolist() == [2]


def test_a_model_without_pad_or_bos_pads_and_begins_with_the_end(tmp_path: Path) -> None:
    special = Vocabulary(foreign(tmp_path, unk_id=0, eos_id=1, bos_id=-1, pad_id=-1)).special
    assert special == SpecialIds(pad=1, eos=1, bos=1, unk=0)


def test_a_model_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no </s> piece; train it with one"):
        Vocabulary(foreign(tmp_path, eos_id=-1))


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x0a\x05hello", bytes(1_000)])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "no.model").write_bytes(content)
    with pytest.raises(UserError, match=r"no.model is not a SentencePiece model|no.model has no"):
        Vocabulary(tmp_path / "no.model")


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read the vocabulary .*missing.model: No such file"):
        Vocabulary(tmp_path / "missing.model")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("size", [512, 640])
def test_training_gives_the_wanted_size_and_the_same_model_twice(kind: str, size: int) -> None:
    words, config = count_words(sentences(2_000)), VocabularyConfig(kind=kind, size=size)
    model = train(words, config, "en-de")
    shuffled = list(words.items())
    random.Random(5).shuffle(shuffled)
    assert train(Counter(dict(shuffled)), config, "en-de") == model
    assert sentencepiece.SentencePieceProcessor(model_proto=model).vocab_size() == size


def test_the_commonest_words_are_trained_on_in_whatever_order_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    words, config = count_words(sentences(2_000)), VocabularyConfig(size=320)
    monkeypatch.setattr(vocab, "MAX_TRAINING_WORDS", 100)
    model = train(words, config, "en-de")
    assert train(Counter(dict(reversed(words.items()))), config, "en-de") == model


@pytest.mark.parametrize("name", ["bpe", "unigram"])
@pytest.mark.parametrize("text", ["a dog 😀 runs", "中文和日本語", "Ω ≈ ç √ ∫", "नमस्ते दुनिया"])
def test_unknown_characters_survive_as_bytes(models: dict[str, Path], name: str, text: str) -> None:
    vocabulary = Vocabulary(models[name])
    ids = np.frombuffer(vocabulary.encode([text])[0], vocabulary.id_type).tolist()
    assert vocabulary.special.unk not in ids
    assert vocabulary.decode(ids) == text


def test_without_bytes_unknown_characters_are_unknown(models: dict[str, Path]) -> None:
    vocabulary = Vocabulary(models["bpe without bytes"])
    assert vocabulary.special.unk in np.frombuffer(vocabulary.encode(["中"])[0], vocabulary.id_type)


def test_decoding_passes_over_special_ids(models: dict[str, Path]) -> None:
    vocabulary = Vocabulary(models["bpe"])
    ids = np.frombuffer(vocabulary.encode(["a dog runs"])[0], vocabulary.id_type).tolist()
    assert vocabulary.decode([vocabulary.special.bos, *ids, vocabulary.special.pad]) == "a dog runs"


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("number", [20, 2_000])
def test_a_vocabulary_too_large_for_the_text_names_a_size_that_works(
    kind: str, byte_fallback: bool, number: int
) -> None:
    words = count_words(sentences(number))

    def config(size: int) -> VocabularyConfig:
        return VocabularyConfig(kind=kind, size=size, byte_fallback=byte_fallback)

    with pytest.raises(
        UserError, match="a vocabulary of 1,000,000 pieces is larger than the en-de text supports"
    ) as no:
        train(words, config(1_000_000), "en-de")
    named = re.fullmatch(r"--set vocabulary.size=(\d+)", no.value.fix or "")
    assert named is not None
    most = int(named[1])
    assert most % 8 == 0
    train(words, config(most), "en-de")
    with pytest.raises(UserError):
        train(words, config(most + 8), "en-de")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_too_small_for_the_characters_names_a_size_that_works(kind: str) -> None:
    words = count_words(sentences(2_000))
    with pytest.raises(UserError, match="64 pieces has no room for the characters of the en-de text") as no:
        train(words, VocabularyConfig(kind=kind, size=64), "en-de")
    named = re.fullmatch(r"--set vocabulary.size=(\d+)", no.value.fix or "")
    assert named is not None
    train(words, VocabularyConfig(kind=kind, size=int(named[1])), "en-de")


def test_nothing_to_train_on_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="prepare more text"):
        train(Counter(["x" * (vocab.MAX_WORD_CHARACTERS + 1)]), VocabularyConfig(), "en-de")


def test_forgetting_known_words_changes_nothing(models: dict[str, Path]) -> None:
    texts = sentences(200, seed=4)
    forgetful = Vocabulary(models["bpe"], most_known_words=3)
    assert forgetful.encode(texts) == Vocabulary(models["bpe"]).encode(texts)
    assert forgetful._known_words is not None and len(forgetful._known_words) <= 3


def large_model(directory: Path, size: int) -> Path:
    names = ("".join(letters) for letters in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=4))
    words = list(itertools.islice(names, size))
    return foreign(directory, model_type="word", vocab_size=size, sentence_iterator=iter(words))


@pytest.mark.parametrize(("size", "id_type"), [(65_536, np.uint16), (65_544, np.uint32)])
def test_ids_take_two_bytes_as_long_as_they_fit(tmp_path: Path, size: int, id_type: type[np.integer[Any]]) -> None:
    path = large_model(tmp_path, size)
    vocabulary = Vocabulary(path)
    assert (vocabulary.size, vocabulary.id_type) == (size, id_type)
    last = vocabulary.piece(size - 1).removeprefix("▁")
    assert np.frombuffer(vocabulary.encode([last])[0], id_type).tolist() == [size - 1, vocabulary.special.eos]
