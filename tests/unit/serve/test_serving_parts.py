"""The small parts of the server: models by language, detection, the shelf of files, texts in sentences."""

import asyncio

import pytest

from dragoman.core.errors import UserError
from dragoman.serve import languages
from dragoman.serve.limits import Limits
from dragoman.serve.models import Models
from dragoman.serve.refusal import RefusedError
from dragoman.serve.sentence_queue import SentenceQueue
from dragoman.serve.shelf import Shelf
from dragoman.serve.translations import Translations, writable
from tests.serving.fakes import FakeEngine

# Models by language


def test_a_model_is_found_by_its_languages() -> None:
    there, back = FakeEngine("en", "de"), FakeEngine("de", "en", "back")
    models = Models([there, back])
    assert models.find("en", "de") is there
    assert models.find("DE", " en ") is back
    assert models.find("en-GB", "de_AT") is there


def test_a_variant_with_a_model_of_its_own_gets_it() -> None:
    brazil = FakeEngine("en", "pt-BR", "brazil")
    models = Models([FakeEngine("en", "pt"), brazil])
    assert models.find("en", "pt-br") is brazil
    assert models.find("en", "pt-pt").target_language == "pt"


@pytest.mark.parametrize(
    "source, target, sentence",
    [
        ("xx", "de", "Invalid request: 'xx' is no language that can be translated from here; see /languages"),
        ("en", "xx", "Invalid request: 'xx' is no language that can be translated into here; see /languages"),
        ("en", "fr", "No model for English to French is loaded; from English there is German."),
        ("../../etc/passwd-and-more", "de", "Invalid request: '../../etc/passwd-and' is no language that can be "),
    ],
)
def test_a_pair_that_is_not_loaded_is_refused_with_what_there_is(source: str, target: str, sentence: str) -> None:
    models = Models([FakeEngine("en", "de"), FakeEngine("de", "fr")])
    with pytest.raises(RefusedError) as refused:
        models.find(source, target)
    assert refused.value.status == 400
    assert refused.value.sentence.startswith(sentence)


def test_two_models_of_the_same_pair_are_refused() -> None:
    with pytest.raises(UserError, match="first and second both translate from en to de; serve one of them"):
        Models([FakeEngine(name="first"), FakeEngine(name="second")])


# Detection


def test_names_are_english_and_unknown_codes_stay() -> None:
    assert [languages.name_of(code) for code in ("de", "nb", "pt-br", "tlh")] == [
        "German",
        "Norwegian Bokmål",
        "Portuguese (pt-br)",
        "tlh",
    ]


def test_the_likelier_of_the_loaded_languages_comes_first() -> None:
    found = languages.detect("Wo ist der Bahnhof?", ["en", "de"])
    assert [each.language for each in found] == ["de", "en"]
    assert found[0].confidence > 0.9 > 0.1 > found[1].confidence


def test_french_is_not_english_for_lack_of_anything_else() -> None:
    french = "Bonjour, comment allez-vous aujourd'hui ?"
    [found] = languages.detect(french, ["en"])
    assert found.confidence < 0.05
    assert languages.foreign_language(french, ["en"]) == "fr"
    assert languages.foreign_language(french, ["en", "fr-CA"]) is None


@pytest.mark.parametrize("text", ["Hello", "OK", "", "123", "Thanks", "…"])
def test_a_word_or_less_is_never_called_foreign(text: str) -> None:
    assert languages.foreign_language(text, ["en"]) is None


def test_a_language_that_detection_does_not_know_is_left_out() -> None:
    assert languages.detect("qaStaH nuq?", ["tlh"]) == []


# The shelf


def test_a_file_is_there_until_its_time_is_over() -> None:
    now = [0.0]
    shelf = Shelf(most_bytes=100, keep_s=10, clock=lambda: now[0])
    key = shelf.put("a.txt", b"words")
    assert len(key) >= 32
    found = shelf.get(key)
    assert found is not None and (found.name, found.content) == ("a.txt", b"words")
    now[0] = 10.0
    assert shelf.get(key) is None
    assert shelf.get("../a.txt") is None


def test_the_oldest_file_makes_room() -> None:
    shelf = Shelf(most_bytes=100, keep_s=10)
    first, second, large = shelf.put("1", b"x" * 60), shelf.put("2", b"x" * 60), shelf.put("3", b"x" * 500)
    assert shelf.get(first) is None and shelf.get(second) is None
    assert shelf.get(large) is not None


# Texts in sentences


def translations(engine: FakeEngine, *texts: str, num: int = 1, remembered: int = 100, times: int = 1) -> list[str]:
    async def run() -> list[str]:
        queue = SentenceQueue(1_000)
        queue.start()
        try:
            asked = Translations(queue, Limits(sentences=20), remembered)
            for _ in range(times):
                found = await asked.ranked(engine, texts, num)
            return [each for ranked in found for each in ranked]
        finally:
            queue.close()

    return asyncio.run(run())


def test_white_space_and_line_breaks_stay() -> None:
    text = "  One here. Two here.\r\n\r\n\tThree.  \n"
    assert translations(FakeEngine(), text) == [text.swapcase()]
    assert translations(FakeEngine(), "", " \n ") == ["", " \n "]


def test_a_language_without_spaces_gets_none_between_sentences() -> None:
    assert translations(FakeEngine("en", "zh"), "One here. Two here.\nThree.") == ["oNE HERE.tWO HERE.\ntHREE."]
    assert translations(FakeEngine("zh", "en"), "好。好。") == ["好。 好。"]


def test_alternatives_are_different_and_the_best_comes_first() -> None:
    assert translations(FakeEngine(), "One. Two.", num=3) == ["oNE. tWO.", "oNE.! tWO.!", "oNE.!! tWO.!!"]
    assert translations(FakeEngine(), "\n", num=3) == ["\n"]


def test_a_sentence_that_was_just_translated_is_remembered_but_not_for_ever() -> None:
    remembering, forgetting = FakeEngine(), FakeEngine()
    translations(remembering, "One. Two. One.", times=3)
    translations(forgetting, "One. Two. Three.", times=3, remembered=1)
    assert [sorted(batch) for batch in remembering.batches] == [["One.", "Two."]]
    assert len(forgetting.batches) == 3


def test_too_many_sentences_are_refused_with_both_numbers() -> None:
    with pytest.raises(RefusedError, match=r"The request has 21 sentences; 20 are the most\.") as refused:
        translations(FakeEngine(), "One.\n" * 21)
    assert refused.value.status == 413
    assert translations(FakeEngine(), "One.\n" * 20 + "\n" * 50)


def test_half_a_character_is_shown_as_broken() -> None:
    assert writable("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"
