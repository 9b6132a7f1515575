"""The cleaning rules: what each drops, what it keeps, and that nothing is ever cut."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.config import RULES, CleaningConfig
from dragoman.corpus import clean
from dragoman.corpus.clean import essence, first_fault, rules
from dragoman.corpus.cleaning import EXAMPLE_CHARACTERS, NUM_EXAMPLES, CleanedBlock, CleaningJob, clean_block
from dragoman.corpus.cleaning import decode_lines as decode
from dragoman.corpus.sources import Block
from dragoman.corpus.spill import Buckets, read_buckets

DEFAULT = CleaningConfig()
AFTER_CLEANING = ("duplicate", "overlap", "too_many_pieces")


def fault(source: str, target: str, languages: str = "en-de", config: CleaningConfig = DEFAULT) -> str | None:
    return first_fault(source, target, rules(config, *languages.split("-")))


def both_ways(rule: clean.Rule, one: str, other: str) -> set[bool]:
    return {rule(one, other), rule(other, one)}


@pytest.mark.parametrize(
    ("languages", "source", "target"),
    [
        ("en-de", "A little girl climbs into a wooden playhouse.", "Ein kleines Mädchen klettert in ein Spielhaus."),
        ("en-de", "Yes, of course.", "Ja."),
        ("en-de", "The price is 1,000 euros on 3 May 2016.", "Der Preis beträgt 1.000 Euro am 3. Mai 2016."),
        ("en-de", "Three dogs and two cats.", "3 Hunde und 2 Katzen."),
        ("en-de", "AT&T and others", "AT&T und andere"),
        ("en-ru", "Where is the station?", "Где находится вокзал?"),
        ("en-ru", "The iPhone was sold by Apple.", "iPhone продавала компания Apple."),
        ("en-zh", "The weather is very nice today.", "今天天气很好。"),
        ("en-ja", "The weather is very nice today.", "今日は天気がとても良いです。"),
        ("en-ko", "The weather is very nice today.", "오늘은 날씨가 매우 좋습니다."),
        ("en-hi", "My name is Ravi.", "मेरा नाम रवि है।"),
        ("en-ar", "I live in a big house.", "أسكن في بيت كبير."),
        ("en-ar", "Peace be upon you.", "السَّلَامُ عَلَيْكُمْ"),
        ("en-ar", "There are 25 pages.", "هناك ٢٥ صفحة."),
        ("he-el", "שלום לכולם", "Γεια σας όλους"),
        ("xx-yy", "Где находится вокзал?", "今天天气很好。"),
        ("de-en", "Straße " * 149 + "Straße", "street " * 149 + "street"),
    ],
)
def test_good_pairs_are_kept(languages: str, source: str, target: str) -> None:
    assert fault(source, target, languages) is None


@pytest.mark.parametrize(
    ("rule", "languages", "one", "other"),
    [
        ("invalid_utf8", "en-de", "a broken \ufffd letter", "ein Buchstabe"),
        ("empty_side", "en-de", "", "Ein Satz."),
        ("empty_side", "en-de", "", ""),
        ("control_characters", "en-de", "a tab\there", "ein Tab"),
        ("control_characters", "en-de", "a bell \x07", "eine Glocke"),
        ("control_characters", "en-de", "a NUL \0 byte", "ein Byte"),
        ("control_characters", "en-de", "next\x85line", "eine Zeile"),
        ("control_characters", "en-de", "line\u2028separator", "eine Zeile"),
        ("control_characters", "en-de", "turned \u202e around", "umgedreht"),
        ("control_characters", "en-de", "a mark \ufeff inside", "eine Marke"),
        ("too_long", "en-de", "word " * 150 + "word", "Wort " * 149 + "Wort"),
        ("too_long", "zh-ja", "好" * 1_501, "良" * 1_500),
        ("length_ratio", "en-de", "No.", "Das ist eine ganz andere Sache, sagte er."),
        ("identical_sides", "en-de", "Hamburg", "Hamburg"),
        ("wrong_script", "en-fr", "Где находится вокзал?", "Où est la gare?"),
        ("wrong_script", "en-fr", "今天天气很好", "Il fait beau"),
        ("few_letters", "en-de", "12:30 - 14:45", "von 12:30 bis 14:45"),
        ("few_letters", "en-de", "*** !!! ***", "ja und nein"),
        ("few_letters", "en-de", "___________", "Name und Ort"),
        ("different_numbers", "en-de", "It was in 1989.", "Es war im Jahr 1990."),
        ("different_numbers", "en-de", "It has 250 pages.", "Es hat viele Seiten."),
        ("different_numbers", "en-de", "7 of them came", "8 von ihnen kamen"),
        ("markup", "en-de", "a <b>bold</b> word", "ein fettes Wort"),
        ("markup", "en-de", 'see <a href="x.html">here</a>', "siehe hier"),
        ("markup", "en-de", "salt &amp; pepper", "Salz und Pfeffer"),
        ("markup", "en-de", "it&#39;s here", "es ist hier"),
        ("markup", "en-de", "Hello, {{name}}", "Hallo, du da"),
        ("markup", "en-de", "Hello, %(name)s", "Hallo, du da"),
        ("markup", "en-de", "Delete {0} files", "Dateien werden entfernt"),
        ("markup", "en-de", "the [[link]]", "die Verknüpfung"),
    ],
)
def test_a_bad_side_is_dropped_by_its_rule_whichever_side_it_is(
    rule: str, languages: str, one: str, other: str
) -> None:
    reverse = "-".join(reversed(languages.split("-")))
    assert fault(one, other, languages) == rule
    assert fault(other, one, reverse) == rule
    others_off = CleaningConfig(switched_off=tuple(name for name in RULES if name != rule))
    assert fault(one, other, languages, others_off) == rule
    all_off = CleaningConfig(switched_off=RULES)
    assert fault(one, other, languages, all_off) is None


@pytest.mark.parametrize(("words", "is_dropped"), [(4, False), (5, False), (6, True)])
def test_a_side_may_have_the_most_words(words: int, is_dropped: bool) -> None:
    rule = clean.too_long(max_words=5, max_characters=1_000)
    assert both_ways(rule, " ".join(["word"] * words), "Wort") == {is_dropped}


@pytest.mark.parametrize(("characters", "is_dropped"), [(20, False), (21, True)])
def test_a_side_may_have_the_most_characters(characters: int, is_dropped: bool) -> None:
    rule = clean.too_long(max_words=5, max_characters=20)
    assert both_ways(rule, "ü" * characters, "u") == {is_dropped}


@pytest.mark.parametrize(("longer", "is_dropped"), [(20, False), (21, True)])
def test_the_length_ratio_holds_at_its_edge(longer: int, is_dropped: bool) -> None:
    # With ten characters added to both, 20 beside 5 are exactly twice as many.
    assert both_ways(clean.length_ratio(2.0), "x" * longer, "y" * 5) == {is_dropped}


@pytest.mark.parametrize(("text", "is_dropped"), [("абвгabcd", False), ("абвгдabcd", True), ("1234 !?", False)])
def test_a_side_is_in_the_wrong_script_when_most_letters_are_foreign(text: str, is_dropped: bool) -> None:
    assert clean.wrong_script("en", "de")(text, "gut") is is_dropped
    assert clean.wrong_script("en", "de")("good", text) is is_dropped


@pytest.mark.parametrize(
    ("language", "own", "foreign"),
    [
        ("en", "naïve café", "привет"),
        ("de", "Größe", "γειά"),
        ("ru", "привет", "hello"),
        ("zh", "你好", "こんにちは"),
        ("ja", "こんにちは世界", "안녕하세요"),
        ("ko", "안녕하세요", "ひらがな"),
        ("hi", "नमस्ते", "hello"),
        ("ar", "مرحبا", "שלום"),
        ("pt_BR", "coração", "сердце"),
        ("zh-cn", "你好", "hello"),
        ("EN", "hello", "привет"),
    ],
)
def test_each_language_has_its_letters(language: str, own: str, foreign: str) -> None:
    rule = clean.wrong_script(language, "xx")
    assert not rule(own, foreign)
    assert rule(foreign, own)


def test_an_unknown_language_is_not_judged_by_its_letters() -> None:
    assert not clean.wrong_script("xx", "tlh")("привет", "你好")


@pytest.mark.parametrize(("text", "is_dropped"), [("ab12", False), ("a123", True), ("ab 1 2", False), ("äö..", False)])
def test_half_of_a_side_must_be_letters(text: str, is_dropped: bool) -> None:
    assert both_ways(clean.few_letters(0.5), text, "word") == {is_dropped}


@pytest.mark.parametrize("text", ["नमस्ते", "கருணை", "สวัสดี", "שָׁלוֹם", "e\u0301a\u0300"])
def test_vowel_signs_belong_to_their_letters(text: str) -> None:
    assert not clean.few_letters(1.0)(text, "word")


@pytest.mark.parametrize(
    ("one", "other", "is_dropped"),
    [
        ("in 1989 and 1990", "1990 und 1989", False),
        ("1,000,000", "1 000 000", False),
        ("1,000", "1.000", False),
        ("two of 100", "zwei von hundert", False),
        ("101 things", "viele Dinge", True),
        ("007", "7", False),
        ("5 and 5", "5 und fünf", False),
        ("5 of 6", "5 von 7", True),
        ("٢٥", "25", False),
        ("9" * 200, "9" * 199 + "8", True),
    ],
)
def test_numbers_agree_or_are_small_and_spelled_out(one: str, other: str, is_dropped: bool) -> None:
    assert both_ways(clean.different_numbers, one, other) == {is_dropped}


@pytest.mark.parametrize("text", ["2 < 3 and 5 > 4", "R&D; and more", "a <- b -> c", "{x}", "[1]", "100% (s)"])
def test_signs_alone_are_no_markup(text: str) -> None:
    assert not clean.markup(text, text)


def test_rules_are_asked_in_the_order_that_the_settings_name() -> None:
    asked = tuple(rules(DEFAULT, "en", "de"))
    assert asked == tuple(rule for rule in RULES if rule not in AFTER_CLEANING)
    assert fault("\ufffd\t<b>1989</b>", "") == "invalid_utf8"
    assert fault("\t<b>1989</b>", "") == "empty_side"


def test_a_rule_that_is_switched_off_is_not_asked() -> None:
    config = CleaningConfig(switched_off=("markup", "few_letters"))
    assert not {"markup", "few_letters"} & set(rules(config, "en", "de"))
    assert fault("a <b>bold</b> word", "ein fettes Wort", config=config) is None


WILD = st.text(max_size=40) | st.text("aä1.<>& \t\u0301中я٢\ufffd", max_size=40)


@settings(max_examples=300)
@given(WILD, WILD, st.sampled_from(["en-de", "ru-zh", "ja-hi", "ar-xx"]))
def test_any_two_strings_are_kept_or_dropped_by_a_known_rule(source: str, target: str, languages: str) -> None:
    assert fault(source, target, languages) in (None, *RULES)


@given(WILD)
def test_the_essence_forgets_case_spaces_and_punctuation_only(text: str) -> None:
    if any(character.isalnum() and character.isascii() for character in text):
        assert essence(text) == essence(f" {text.casefold()}!? ")
        assert essence(text) != essence(text + "x")


def test_sentences_of_punctuation_keep_their_essence() -> None:
    assert essence("...") == "..."
    assert essence("...") != essence("?!")


# One block through all rules.


def cleaned(
    tmp_path: Path,
    pairs: list[tuple[bytes, bytes]],
    config: CleaningConfig = DEFAULT,
    overlong: frozenset[int] = frozenset(),
) -> tuple[CleanedBlock, dict[str, str]]:
    block = Block(1, [one for one, _ in pairs], [other for _, other in pairs], None, overlong)
    job = CleaningJob(block, "text", 0, 1.0, 1, config, ("en", "de"), tmp_path / "run")
    found = clean_block(job)
    _, sources, targets = read_buckets([found.run], Buckets(0, 256))
    return found, dict(zip(sources, targets, strict=True))


def test_a_kept_pair_is_its_nfc_form_without_the_ends_and_nothing_is_cut(tmp_path: Path) -> None:
    long = ("word " * 149 + "word", "Wort " * 149 + "Wort")
    composed = ("cafe\u0301 in the A\u030angstro\u0308m street", "Café in der Ångström-Straße")
    pairs = [long, composed, ("  ends \u3000", "\u00a0Enden \r")]
    found, kept = cleaned(tmp_path, [(one.encode(), other.encode()) for one, other in pairs])
    assert found.num_kept == 3
    assert kept == {
        unicodedata.normalize("NFC", one).strip(): unicodedata.normalize("NFC", other).strip() for one, other in pairs
    }
    assert "café in the Ångström street" in kept


def test_broken_bytes_stay_on_their_line() -> None:
    assert decode([b"gr\xfc\xdfe", b"\xe2\x82", b"\x82\xac ok", "é".encode()]) == [
        "gr\ufffd\ufffde",
        "\ufffd",
        "\ufffd\ufffd ok",
        "é",
    ]


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), min_size=1, max_size=8))
def test_a_block_is_decoded_as_its_lines_are(lines: list[bytes]) -> None:
    alone = [unicodedata.normalize("NFC", line.decode(errors="replace")).strip() for line in lines]
    assert decode(lines) == alone


def test_an_overlong_line_is_dropped_even_where_the_rule_is_off(tmp_path: Path) -> None:
    config = CleaningConfig(switched_off=("too_long", "empty_side"))
    found, kept = cleaned(tmp_path, [(b"", b"Ein Satz"), (b"a house", b"ein Haus")], config, frozenset([0]))
    assert found.account.dropped == {"too_long": 1}
    assert kept == {"a house": "ein Haus"}


def test_drops_are_counted_and_the_first_examples_kept_short(tmp_path: Path) -> None:
    many = [(b"", b"x" * 1_000)] * 8 + [(b"same word", b"same word")]
    found, _ = cleaned(tmp_path, many)
    assert found.account.dropped == {"empty_side": 8, "identical_sides": 1}
    assert [example.line for example in found.account.examples] == [1, 2, 3, 4, 5, 9]
    assert len([one for one in found.account.examples if one.rule == "empty_side"]) == NUM_EXAMPLES
    assert found.account.examples[0].target == "x" * EXAMPLE_CHARACTERS + "…"


def test_accounts_of_blocks_add_up_and_keep_the_first_examples(tmp_path: Path) -> None:
    first, _ = cleaned(tmp_path, [(b"", b"eins")] * 3)
    second, _ = cleaned(tmp_path, [(b"", b"zwei")] * 4)
    first.account.add(second.account)
    assert first.account.dropped == {"empty_side": 7}
    assert [example.target for example in first.account.examples] == ["eins"] * 3 + ["zwei"] * 2
