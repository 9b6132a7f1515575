"""Lines to translations: order, odd lines, long lines."""

import dataclasses
import gzip
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.config import DecodingConfig, ModelConfig, VocabularyConfig
from dragoman.core.errors import UserError
from dragoman.corpus import vocab
from dragoman.corpus.vocab import Vocabulary
from dragoman.decoding.score import score
from dragoman.decoding.split import Part, cleaned, parts_of
from dragoman.decoding.translate import Translator
from dragoman.model.batch import SpecialIds
from dragoman.model.decoder_state import DecoderState
from dragoman.model.transformer import Transformer

TEXT = [
    "A dog runs over the green grass.",
    "Two men are talking, and one of them laughs!",
    "The child sleeps; the mother reads a book.",
    "Why is the street empty?",
    "Snow falls on the old house near the river.",
]
CONFIG = DecodingConfig(beam=3, sentences_at_once=4, max_length_ratio=1.0, max_length_extra=2)


def trained_vocabulary(directory: Path, config: VocabularyConfig) -> Vocabulary:
    path = directory / "pieces.model"
    path.write_bytes(vocab.train(vocab.count_words(TEXT * 20), config, "test"))
    return Vocabulary(path)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return trained_vocabulary(tmp_path_factory.mktemp("vocabulary"), VocabularyConfig(size=96, byte_fallback=False))


@pytest.fixture(autouse=True)
def _double_precision_in_one_thread() -> Iterator[None]:
    """So that rounding, which depends on the size of the batch, decides nothing."""
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(threads)


def translator(vocabulary: Vocabulary, config: DecodingConfig = CONFIG, max_source_pieces: int = 40) -> Translator:
    sizes = ModelConfig(width=16, feed_forward=32, heads=2, encoder_layers=1, decoder_layers=1, dropout=0.5)
    ids = SpecialIds(vocabulary.special.pad, vocabulary.special.bos, vocabulary.special.eos)
    model = Transformer(sizes, vocabulary.size, vocabulary.size, ids, seed=4)
    with torch.no_grad():
        model.target_embedding.mul_(3.0)  # surer of itself than a new model is
    return Translator(model, vocabulary, vocabulary, config, max_source_pieces=max_source_pieces)


def test_translations_come_in_the_order_of_the_lines(vocabulary: Vocabulary) -> None:
    words = " ".join(TEXT).split()
    generator = random.Random(1)
    lines = [" ".join(generator.choices(words, k=generator.randint(0, 14))) for _ in range(32)]
    ours = translator(vocabulary, dataclasses.replace(CONFIG, no_repeat_pieces=1))  # or most would be alike
    together = list(ours.stream(lines))
    alone = [next(iter(ours.stream([line]))) for line in lines]
    assert [each.text for each in together] == [each.text for each in alone]
    assert [each.score for each in together] == pytest.approx([each.score for each in alone], abs=1e-9)
    assert len({each.text for each in together}) > 20
    assert ours.translate(lines) == [each.text for each in together]


def test_any_number_of_lines_streams_through(vocabulary: Vocabulary) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for taken, line in enumerate(itertools.cycle(TEXT), start=1):  # noqa: B007
            yield line

    first = list(itertools.islice(translator(vocabulary).stream(endless(), lines_at_once=10), 12))
    assert taken == 20
    assert [each.text for each in first[:5]] == [each.text for each in first[5:10]]
    assert list(translator(vocabulary).stream([])) == []


@pytest.mark.parametrize("line", ["", " ", "\t", "\n", "\u3000\u00a0", "\x00\x07\ufeff", "\r\n"])
def test_an_empty_line_stays_empty(vocabulary: Vocabulary, line: str) -> None:
    translations = list(translator(vocabulary).stream([TEXT[0], line, TEXT[1]]))
    assert translations[1].text == "" and translations[1].score == 0.0
    assert translations[0].text and translations[2].text


def test_control_characters_and_odd_white_space_change_nothing(vocabulary: Vocabulary) -> None:
    plain = "A dog runs over the green grass."
    odd = "\ufeff A\u00a0dog  runs\tover\u3000the\r green\x00 grass.\x7f\n"
    first, second, broken = translator(vocabulary).translate([plain, odd, plain + "\ud800"])
    assert first == second
    assert broken


def test_translations_are_one_line_each(tmp_path: Path) -> None:
    with_bytes = trained_vocabulary(tmp_path, VocabularyConfig(size=320))
    ours = translator(with_bytes)
    newline = next(token for token in range(with_bytes.size) if with_bytes.piece(token) == "<0x0A>")
    with torch.no_grad():  # a model that likes line breaks
        ours.model.decoder_norm.shift.fill_(1.0)
        ours.model.target_embedding[newline] = ours.model.target_embedding.abs().max()
    assert newline in ours.search([[5, with_bytes.special.eos]])[0][0].tokens
    assert all(len(text.splitlines()) <= 1 for text in ours.translate(TEXT))


def test_a_long_line_is_translated_in_sentences_and_joined_again(vocabulary: Vocabulary) -> None:
    ours = translator(vocabulary, max_source_pieces=25)
    separators = [" ", "  ", "\t", "\u3000"]
    line = "".join(text + separator for text, separator in zip(TEXT, [*separators, ""], strict=True))
    short = ours.translate(TEXT)
    joined = "".join(text + separator for text, separator in zip(short, [*separators, ""], strict=True))
    assert ours.translate([line, TEXT[0]]) == [joined, short[0]]


def test_a_huge_line_without_a_space_is_translated(vocabulary: Vocabulary) -> None:
    text = translator(vocabulary, max_source_pieces=20).translate(["dogs" * 100 + "字" * 50])[0]
    assert text


def test_the_score_of_a_joined_line_is_that_of_all_its_tokens(vocabulary: Vocabulary) -> None:
    ours = translator(vocabulary, max_source_pieces=25)
    whole = next(iter(ours.stream([" ".join(TEXT)]))).candidates[0]
    parts = [each.candidates[0] for each in ours.stream(TEXT)]
    total = sum(part.log_probability for part in parts)
    assert whole.log_probability == pytest.approx(total)
    assert whole.score == pytest.approx(total / sum(part.log_probability / part.score for part in parts))


def test_the_best_translations_come_first(vocabulary: Vocabulary) -> None:
    for translation in translator(vocabulary).stream([*TEXT, " ".join(TEXT * 2)], n_best=3):
        scores = [candidate.score for candidate in translation.candidates]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)
        assert translation.text == translation.candidates[0].text


def test_more_translations_than_the_beam_holds_widen_the_beam(vocabulary: Vocabulary) -> None:
    assert len(next(translator(vocabulary).stream(TEXT, n_best=8)).candidates) == 8


def test_a_model_in_training_translates_without_dropout_and_trains_on(vocabulary: Vocabulary) -> None:
    ours = translator(vocabulary)
    ours.model.train()
    assert ours.translate(TEXT) == ours.translate(TEXT)
    assert ours.model.training
    ours.model.eval()
    ours.translate(TEXT)
    assert not ours.model.training


def test_settings_limit_the_length(vocabulary: Vocabulary) -> None:
    config = DecodingConfig(beam=2, min_length=6, max_length_ratio=0.5, max_length_extra=4, no_repeat_pieces=2)
    sources = [[*range(10, 10 + length), vocabulary.special.eos] for length in (1, 4, 20)]
    for source, (best,) in zip(sources, translator(vocabulary, config).search(sources), strict=True):
        most = int(0.5 * (len(source) - 1)) + 4
        assert min(6, most) <= len(best.tokens) <= most
        pairs = list(itertools.pairwise(best.tokens))
        assert len(pairs) == len(set(pairs))


def test_a_model_whose_scores_are_not_numbers_translates_to_nothing(vocabulary: Vocabulary) -> None:
    ours = translator(vocabulary)
    with torch.no_grad():
        ours.model.target_embedding.fill_(torch.nan)
    translation = next(ours.stream([TEXT[0]]))
    assert (translation.text, translation.score) == ("", -torch.inf)


def test_the_vocabulary_of_another_model_is_refused(vocabulary: Vocabulary) -> None:
    model = translator(vocabulary).model
    other = Transformer(model.config, 400, 400, model.ids)
    with pytest.raises(UserError, match="the model knows 400 source pieces, the vocabulary has 96; take"):
        Translator(other, vocabulary, vocabulary, CONFIG)


def test_memory_is_bounded_by_decoding_fewer_long_sentences_at_once(vocabulary: Vocabulary) -> None:
    ours = translator(vocabulary)
    batches = list(ours._batches([5] * 10 + [100] * 3 + [40]))
    assert sorted(itertools.chain(*batches)) == list(range(14))
    assert [len(batch) for batch in batches] == [4, 4, 3, 1, 1, 1]  # 4 of up to 32 pieces, 3 of 40, 1 of 100


def test_an_untrained_model_scores_below_1(shared_data: Path, tmp_path: Path) -> None:
    torch.set_default_dtype(torch.float32)
    lines = {}
    for language in ("en", "de"):
        with gzip.open(shared_data / "multi30k" / f"val.{language}.gz", "rt", encoding="utf-8") as text:
            lines[language] = [line.strip() for line in text]
    path = tmp_path / "pieces.model"
    words = vocab.count_words(lines["en"] + lines["de"])
    path.write_bytes(vocab.train(words, VocabularyConfig(size=2000), "en-de"))
    pieces = Vocabulary(path)
    ids = SpecialIds(pieces.special.pad, pieces.special.bos, pieces.special.eos)
    model = Transformer(ModelConfig(preset="tiny"), pieces.size, pieces.size, ids)
    for beam in (1, 5):
        ours = Translator(model, pieces, pieces, DecodingConfig(beam=beam))
        assert score(ours.translate(lines["en"][:40]), lines["de"][:40]).bleu < 1.0


# Splitting


def words_in(text: str) -> int:
    return len(text.split())


def test_lines_are_cut_at_sentence_ends_first() -> None:
    line = "Mr. Fox said: “Go!”  He went, slowly… 3.5 km? Yes."
    assert parts_of(line, words_in, 4) == [
        Part("Mr.", " "),
        Part("Fox said: “Go!”", "  "),
        Part("He went, slowly…", " "),
        Part("3.5 km?", " "),
        Part("Yes."),
    ]
    assert parts_of(line, words_in, 10) == [Part(line)]


def test_sentences_that_are_too_long_are_cut_at_punctuation_and_then_at_spaces() -> None:
    assert parts_of("a b, c d; e f g h i j", words_in, 4) == [
        Part("a b, c d;", " "),
        Part("e f g h", " "),
        Part("i j"),
    ]


def test_chinese_and_japanese_are_cut_without_spaces() -> None:
    assert parts_of("我们走了。他说：“好！”她笑了。", len, 8) == [
        Part("我们走了。"),
        Part("他说：“好！”"),
        Part("她笑了。"),
    ]
    assert parts_of("一二三，四五六、七八九十", len, 5) == [Part("一二三，"), Part("四五六、"), Part("七八九十")]


@given(st.text(alphabet='ab.!?…,;: \t\u00a0\u3000。，！"”字', max_size=80), st.integers(1, 12))
def test_parts_and_separators_are_the_line_and_every_part_fits(line: str, most: int) -> None:
    line = cleaned(line)
    parts = parts_of(line, len, most)
    assert "".join(part.text + part.separator for part in parts) == line
    assert all(len(part.text) <= most for part in parts)
    assert all(not part.separator.strip() for part in parts)


@given(st.text(max_size=60))
def test_cleaned_lines_are_one_line_that_can_be_encoded(line: str) -> None:
    clean = cleaned(line)
    assert len(clean.splitlines()) <= 1
    assert clean == clean.strip()
    clean.encode()
    assert cleaned(clean) == clean


def test_only_written_pieces_are_found_and_they_are_the_best_of_these(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, some = translator(vocabulary), translator(vocabulary)
    special = vocabulary.special
    written = sorted({special.pad, special.bos, special.eos, special.unk, *range(10, vocabulary.size, 2)})
    some.model.outputs.restrict(written)

    def masked(tokens: torch.Tensor, state: DecoderState) -> tuple[torch.Tensor, DecoderState]:
        scores, after = Transformer.step(whole.model, tokens, state)
        never = [piece for piece in range(vocabulary.size) if piece not in written]
        scores[:, never] = -torch.inf
        return scores.log_softmax(dim=1), after

    monkeypatch.setattr(whole.model, "step", masked)
    sources = [[*range(number, number + 4), special.eos] for number in range(10, 20)]
    expected, found = whole.search(sources, n_best=3), some.search(sources, n_best=3)
    assert {token for best in found for one in best for token in one.tokens} <= set(written)
    assert [[one.tokens for one in best] for best in found] == [[one.tokens for one in best] for best in expected]
