"""The phrasebook: its grammar, its promises about splits, and 400-odd pairs read by a proof-reader."""

import itertools
import re
import subprocess
import sys
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path

import pytest

from dragoman.corpus.phrasebook import VERSION, english, generate, german, grammar, pairs
from dragoman.corpus.phrasebook.constructions.register import CONSTRUCTIONS, combinations
from dragoman.corpus.phrasebook.generate import labelled_pairs, scattered, split_of_combination
from dragoman.corpus.phrasebook.lexicon import NOUNS, VERBS_ALONE, VERBS_WITH_PEOPLE, VERBS_WITH_THINGS, lexemes
from dragoman.corpus.phrasebook.lexicon.numbers import (
    clock_times,
    english_number,
    english_ordinal,
    german_number,
    german_ordinal_stem,
)
from dragoman.corpus.phrasebook.lookup import lookup

GOLDEN = Path(__file__).parents[2] / "golden" / "phrasebook.tsv"
Labelled = list[tuple[str, tuple[str, str]]]


@pytest.fixture(scope="module")
def train() -> Labelled:
    return list(labelled_pairs("train", generate.NUM_PAIRS["train"], seed=1))


@pytest.fixture(scope="module")
def held_out() -> dict[str, Labelled]:
    return {split: list(labelled_pairs(split, generate.NUM_PAIRS[split], seed=1)) for split in ("dev", "test")}


def golden_rows() -> list[tuple[str, str, str]]:
    rows = [line.split("\t") for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return [(name, in_english, in_german) for name, in_english, in_german in rows]


def vocabulary(labelled: Labelled, side: int) -> set[str]:
    return {word for _, pair in labelled for word in re.findall(r"[\w'-]+", pair[side])}


# What is in the corpus


def test_the_training_split_has_more_than_300_000_distinct_english_sentences(train: Labelled) -> None:
    assert len({pair[0] for _, pair in train}) == len(train) >= 300_000


def test_there_are_at_least_600_lexemes_and_60_constructions() -> None:
    assert len(lexemes()) >= 600
    assert len(CONSTRUCTIONS) >= 60


def test_no_english_sentence_has_two_german_ones_in_any_construction_or_split() -> None:
    known: dict[str, str] = {}
    for construction in CONSTRUCTIONS.values():
        for index in itertools.islice(scattered(construction.size, seed=3), 2_000):
            pair = construction.build(*construction.fillers(index))
            if pair is not None:
                assert known.setdefault(pair[0], pair[1]) == pair[1], f"{construction.name}: {pair[0]}"
    assert len(known) > 250_000


def test_one_english_sentence_has_one_german_one_over_all_splits(
    train: Labelled, held_out: dict[str, Labelled]
) -> None:
    everything = [pair for labelled in (train, *held_out.values()) for _, pair in labelled]
    assert len(dict(everything)) == len({*everything})


def test_every_construction_is_in_training_and_none_has_more_than_six_percent(train: Labelled) -> None:
    shares = Counter(name for name, _ in train)
    assert shares.keys() == CONSTRUCTIONS.keys()
    assert max(shares.values()) <= 0.06 * len(train)


def test_sentences_look_like_sentences(train: Labelled, held_out: dict[str, Labelled]) -> None:
    shape = re.compile(r"[A-ZÄÖÜ][^.?!]*[.?!]")
    for _, (in_english, in_german) in itertools.chain(train, held_out["test"]):
        assert shape.fullmatch(in_english.replace("Mr. ", "Mr ").replace("Mrs. ", "Mrs ")), in_english
        assert shape.fullmatch(in_german), in_german
        assert in_english[-1] == in_german[-1]
        for text in (in_english, in_german):
            assert "  " not in text and " ," not in text and "{" not in text, text


def test_sentences_are_short_on_average_and_never_very_long(train: Labelled) -> None:
    lengths = [len(pair[0].split()) for _, pair in train]
    assert 6 <= sum(lengths) / len(lengths) <= 9
    assert max(lengths) <= 20


def test_a_and_an_follow_the_sound(train: Labelled) -> None:
    for _, (in_english, _) in train:
        assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [bcdfgjklmnpqrstvwxyz]", in_english), in_english
        assert not re.search(r"\b[Aa]n uni", in_english), in_english


def test_a_comma_stands_before_every_german_subordinate_clause(train: Labelled) -> None:
    for _, (_, in_german) in train:
        assert not re.search(r"\w (weil|dass|obwohl|ob|bevor) |gegangen um ", in_german), in_german


def test_every_sentence_a_visitor_would_try_is_there(train: Labelled) -> None:
    spoken = dict(pair for _, pair in train)
    assert spoken["How much does this cost?"] == "Wie viel kostet das?"
    for name, in_english, in_german in (
        ("where_is", "Where is the train station?", "Wo ist der Bahnhof?"),
        ("orders_one", "I would like a coffee, please.", "Ich hätte gern einen Kaffee, bitte."),
        ("past_described", "My brother bought a new car yesterday.", "Mein Bruder hat gestern ein neues Auto gekauft."),
        (
            "early_because_of_train",
            "We have to get up early tomorrow because the train leaves at half past six.",
            "Wir müssen morgen früh aufstehen, weil der Zug um halb sieben abfährt.",
        ),
    ):
        assert lookup(name, in_english) == in_german


# Golden pairs


def test_the_golden_pairs_cover_every_construction() -> None:
    rows = golden_rows()
    assert len(rows) >= 300
    assert {name for name, _, _ in rows} == set(CONSTRUCTIONS)


def test_every_golden_pair_is_what_its_construction_says() -> None:
    wrong = [row for row in golden_rows() if lookup(row[0], row[1]) != row[2]]
    assert wrong == []


# Splits


def test_no_combination_of_dev_or_test_occurs_in_training() -> None:
    brought_together: dict[str, set[tuple[str, str]]] = {"train": set(), "dev": set(), "test": set()}
    for construction in CONSTRUCTIONS.values():
        for index in itertools.islice(scattered(construction.size, seed=5), 1_000):
            fillers = construction.fillers(index)
            split = generate.split_of(fillers)
            if split is not None:
                brought_together[split].update(combinations(fillers))
    for split in ("dev", "test"):
        held = {one for one in brought_together[split] if split_of_combination(one) == split}
        assert len(held) > 100
        assert not held & brought_together["train"]


def test_no_training_sentence_shows_a_held_out_verb_with_its_object(train: Labelled) -> None:
    text = "\n".join(pair[0] for _, pair in train[::10])
    for verb, objects in VERBS_WITH_THINGS:
        for noun in objects:
            if split_of_combination((verb.english, noun.english)) == "train":
                continue
            forms = "|".join((verb.english, english.past(verb.english), english.gerund(verb.english)))
            found = re.search(rf"\b(?:{forms}) (?:the|a|an|my|this) {noun.english}\b(?! \w*(?:room|juice|wine))", text)
            assert found is None, found


def test_dev_and_test_have_a_thousand_new_sentences_each(train: Labelled, held_out: dict[str, Labelled]) -> None:
    known = {pair[0] for _, pair in train}
    for labelled in held_out.values():
        assert len(labelled) == 1_000
        assert not known & {pair[0] for _, pair in labelled}
    assert not {pair[0] for _, pair in held_out["dev"]} & {pair[0] for _, pair in held_out["test"]}


def test_dev_and_test_draw_evenly_from_the_constructions_with_combinations(held_out: dict[str, Labelled]) -> None:
    able = {name for name, construction in CONSTRUCTIONS.items() if construction.has_combination}
    for labelled in held_out.values():
        shares = Counter(name for name, _ in labelled)
        assert shares.keys() <= able
        assert len(shares) >= 0.9 * len(able)
        assert max(shares.values()) <= 0.02 * len(labelled)


def test_every_word_of_dev_and_test_occurs_in_training(train: Labelled, held_out: dict[str, Labelled]) -> None:
    known_english, known_german = vocabulary(train, 0), vocabulary(train, 1)
    for labelled in held_out.values():
        assert vocabulary(labelled, 0) <= known_english
        assert len(vocabulary(labelled, 1) - known_german) <= 2  # an inflected form of a known word may be new


def test_an_unknown_split_is_an_error_that_names_the_splits() -> None:
    with pytest.raises(ValueError, match="no split 'valid'; it has train, dev, test"):
        pairs("valid")


# Sampling


def test_scattered_visits_every_index_once() -> None:
    for size in (1, 2, 3, 7, 64, 1_000):
        assert sorted(scattered(size, seed=9)) == list(range(size))
    assert list(scattered(1_000, seed=9)) != list(range(1_000))


def test_a_small_corpus_is_balanced_and_a_part_of_the_large_one(train: Labelled) -> None:
    small = list(labelled_pairs("train", 5_000, seed=1))
    shares = Counter(name for name, _ in small)
    assert shares.keys() == CONSTRUCTIONS.keys()
    assert max(shares.values()) - min(shares.values()) <= 1
    assert {pair for _, pair in small} <= {pair for _, pair in train}


def test_the_beginning_of_the_training_split_is_a_fair_sample(train: Labelled) -> None:
    beginning = Counter(name for name, _ in generate.shuffled(train, seed=1)[:20_000])
    whole = Counter(name for name, _ in train)
    for name, count in whole.items():
        expected = count * 20_000 / len(train)
        assert abs(beginning[name] - expected) <= 5 * expected**0.5 + 1, name


def test_every_filler_of_a_large_construction_gets_its_turn() -> None:
    construction = CONSTRUCTIONS["past_definite"]
    chosen = [construction.fillers(index) for index in itertools.islice(scattered(construction.size, seed=1), 20_000)]
    seen = Counter(act.noun.english for _, act in chosen)
    assert seen.keys() == {act.noun.english for act in construction.slots[1]}


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others() -> None:
    assert list(pairs("test")) == list(pairs("test"))
    assert list(pairs("train", num_pairs=500, seed=1)) == list(pairs("train", num_pairs=500, seed=1))
    assert set(pairs("train", num_pairs=500, seed=1)) != set(pairs("train", num_pairs=500, seed=2))


def test_hash_randomisation_does_not_change_the_pairs() -> None:
    program = (
        "from dragoman.corpus.phrasebook import pairs; print(list(pairs('dev')), list(pairs('train', num_pairs=2000)))"
    )
    search_path = str(Path(generate.__file__).parents[3])
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": search_path},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(printed) == 1


def test_a_small_corpus_comes_quickly() -> None:
    start = time.monotonic()
    assert len(list(pairs("train", num_pairs=5_000))) == 5_000
    assert time.monotonic() - start < 1.0


def test_the_pairs_change_only_with_the_version() -> None:
    """If this fails, some pair changed: raise VERSION and pin the digest of the new pairs under it."""
    text = "\n".join("\t".join(pair) for pair in itertools.chain(pairs("test"), pairs("train", num_pairs=5_000)))
    assert {VERSION: blake2b(text.encode(), digest_size=8).hexdigest()} == {1: "d1dd2abdf143d337"}


# German inflection


@pytest.mark.parametrize(
    ("lemma", "gender", "genitive"),
    [
        ("Mann", "m", "Mannes"),
        ("Vater", "m", "Vaters"),
        ("Hals", "m", "Halses"),
        ("Haus", "n", "Hauses"),
        ("Mädchen", "n", "Mädchens"),
        ("Frau", "f", "Frau"),
        ("Gespräch", "n", "Gesprächs"),
    ],
)
def test_the_genitive_takes_s_or_es(lemma: str, gender: str, genitive: str) -> None:
    assert german.genitive_singular(lemma, gender) == genitive


def test_weak_nouns_change_in_every_case_but_the_nominative() -> None:
    boy = grammar.phrase(grammar.THE, NOUNS["boy"])
    assert (boy.nom, boy.acc, boy.dat, boy.gen) == ("der Junge", "den Jungen", "dem Jungen", "des Jungen")
    name = grammar.phrase(grammar.MY, NOUNS["name"])
    assert (name.nom, name.acc, name.dat, name.gen) == ("mein Name", "meinen Namen", "meinem Namen", "meines Namens")


@pytest.mark.parametrize(
    ("plural", "dative"),
    [("Kinder", "Kindern"), ("Frauen", "Frauen"), ("Autos", "Autos"), ("Äpfel", "Äpfeln"), ("Väter", "Vätern")],
)
def test_the_dative_plural_ends_in_n(plural: str, dative: str) -> None:
    assert german.dative_plural(plural) == dative


@pytest.mark.parametrize(
    ("determiner", "case", "expected"),
    [
        (grammar.A, "nom", "ein alter Hut, eine alte Tasche, ein altes Buch"),
        (grammar.A, "acc", "einen alten Hut, eine alte Tasche, ein altes Buch"),
        (grammar.A, "dat", "einem alten Hut, einer alten Tasche, einem alten Buch"),
        (grammar.THE, "nom", "der alte Hut, die alte Tasche, das alte Buch"),
        (grammar.THE, "acc", "den alten Hut, die alte Tasche, das alte Buch"),
        (grammar.THE, "gen", "des alten Hutes, der alten Tasche, des alten Buches"),
        (grammar.THIS, "dat", "diesem alten Hut, dieser alten Tasche, diesem alten Buch"),
        (grammar.NO, "acc", "keinen alten Hut, keine alte Tasche, kein altes Buch"),
        (grammar.BARE, "dat", "altem Hut, alter Tasche, altem Buch"),
        (grammar.OUR, "nom", "unser alter Hut, unsere alte Tasche, unser altes Buch"),
    ],
)
def test_articles_and_adjectives_decline_together(determiner: grammar.Determiner, case: str, expected: str) -> None:
    old = next(one.adjective for one in CONSTRUCTIONS["exclaims"].slots[0] if one.adjective.english == "old")
    phrases = [grammar.phrase(determiner, NOUNS[noun], old) for noun in ("hat", "bag", "book")]
    assert ", ".join(phrase.case(case) for phrase in phrases) == expected


def test_plural_phrases_decline() -> None:
    shoes = grammar.phrase(grammar.THE, NOUNS["shoe"], None, True)
    assert (shoes.nom, shoes.dat, shoes.gen) == ("die Schuhe", "den Schuhen", "der Schuhe")
    assert grammar.natural(grammar.MY, NOUNS["child"]).acc == "mein Kind"
    assert grammar.natural(grammar.MY, NOUNS["sock"]).acc == "meine Socken"


@pytest.mark.parametrize(
    ("positive", "stem", "comparative", "superlative"),
    [
        ("teuer", "teur", "teurer", "teuerst"),
        ("dunkel", "dunkl", "dunkler", "dunkelst"),
        ("müde", "müd", "müder", "müdest"),
        ("sauber", "sauber", "sauberer", "sauberst"),
        ("klein", "klein", "kleiner", "kleinst"),
        ("breit", "breit", "breiter", "breitest"),
    ],
)
def test_adjectives_have_stems_and_degrees(positive: str, stem: str, comparative: str, superlative: str) -> None:
    assert german.adjective_stem(positive) == stem
    assert german.comparative(positive) == comparative
    assert german.superlative_stem(positive) == superlative


@pytest.mark.parametrize(
    ("infinitive", "third", "forms"),
    [
        ("kaufen", "", ("kaufe", "kauft", "kaufen")),
        ("arbeiten", "", ("arbeite", "arbeitet", "arbeiten")),
        ("lesen", "liest", ("lese", "liest", "lesen")),
        ("bügeln", "", ("bügle", "bügelt", "bügeln")),
        ("wandern", "", ("wandere", "wandert", "wandern")),
        ("öffnen", "", ("öffne", "öffnet", "öffnen")),
        ("zeichnen", "", ("zeichne", "zeichnet", "zeichnen")),
    ],
)
def test_verbs_have_three_present_forms(infinitive: str, third: str, forms: tuple[str, str, str]) -> None:
    assert german.present(infinitive, third) == forms


@pytest.mark.parametrize(
    ("preposition", "phrase", "melted"),
    [
        ("in", "dem Park", "im Park"),
        ("in", "das Kino", "ins Kino"),
        ("zu", "der Post", "zur Post"),
        ("an", "dem See", "am See"),
        ("von", "dem Hotel", "vom Hotel"),
        ("in", "der Stadt", "in der Stadt"),
        ("auf", "dem Markt", "auf dem Markt"),
    ],
)
def test_prepositions_melt_with_articles(preposition: str, phrase: str, melted: str) -> None:
    assert german.contracted(preposition, phrase) == melted


def test_the_verb_moves_with_the_clause() -> None:
    call = next(verb for verb, _ in VERBS_WITH_PEOPLE if verb.english == "call")
    act = grammar.with_object(call, grammar.phrase(grammar.THE, NOUNS["doctor"]))
    anna = grammar.named("Anna", "f")
    assert grammar.main(anna, act, grammar.in_present) == "Anna ruft den Arzt an"
    assert grammar.main(anna, act, grammar.in_present, first="heute") == "heute ruft Anna den Arzt an"
    assert grammar.main(anna, act, grammar.in_perfect, nicht="nicht") == "Anna hat den Arzt nicht angerufen"
    assert grammar.question(anna, act, grammar.in_modal(grammar.CAN)) == "kann Anna den Arzt anrufen"
    assert grammar.subordinate("weil", anna, act, grammar.in_present) == "weil Anna den Arzt anruft"
    assert grammar.subordinate("dass", anna, act, grammar.in_perfect) == "dass Anna den Arzt angerufen hat"
    assert grammar.zu_infinitive(act) == "den Arzt anzurufen"


def test_the_reflexive_pronoun_follows_a_pronoun_and_precedes_a_noun() -> None:
    hurry = grammar.alone(next(verb for verb in VERBS_ALONE if verb.english == "hurry"))
    assert grammar.main(grammar.I, hurry, grammar.in_perfect, first="gestern") == "gestern habe ich mich beeilt"
    assert grammar.question(grammar.named("Jan", "m"), hurry, grammar.in_perfect) == "hat sich Jan beeilt"
    assert grammar.main(grammar.WE, hurry, grammar.in_present) == "wir beeilen uns"


# Numbers and English


@pytest.mark.parametrize(
    ("number", "in_english", "in_german"),
    [
        (1, "one", "eins"),
        (16, "sixteen", "sechzehn"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (76, "seventy-six", "sechsundsiebzig"),
        (101, "one hundred and one", "einhunderteins"),
        (250, "two hundred and fifty", "zweihundertfünfzig"),
    ],
)
def test_numbers_are_spelled_in_both_languages(number: int, in_english: str, in_german: str) -> None:
    assert (english_number(number), german_number(number)) == (in_english, in_german)


def test_ordinals_and_clock_times_are_those_of_everyday_speech() -> None:
    assert [english_ordinal(n) for n in (1, 12, 20, 22)] == ["first", "twelfth", "twentieth", "twenty-second"]
    assert [german_ordinal_stem(n) for n in (1, 3, 7, 8, 20)] == ["erst", "dritt", "siebt", "acht", "zwanzigst"]
    clock = dict(clock_times())
    assert clock["half past six"] == "halb sieben"
    assert clock["half past twelve"] == "halb eins"
    assert clock["a quarter to one"] == "Viertel vor eins"
    assert clock["one o'clock"] == "ein Uhr"


@pytest.mark.parametrize(
    ("verb", "third", "past", "gerund"),
    [
        ("buy", "buys", "bought", "buying"),
        ("carry", "carries", "carried", "carrying"),
        ("look for", "looks for", "looked for", "looking for"),
        ("plan", "plans", "planned", "planning"),
        ("take care of", "takes care of", "took care of", "taking care of"),
        ("see", "sees", "saw", "seeing"),
        ("watch TV", "watches TV", "watched TV", "watching TV"),
    ],
)
def test_english_verbs_inflect_in_their_first_word(verb: str, third: str, past: str, gerund: str) -> None:
    assert (english.third_person(verb), english.past(verb), english.gerund(verb)) == (third, past, gerund)


def test_english_articles_plurals_and_degrees() -> None:
    words = ("apple", "hour", "university", "old car", "ID card", "used car")
    assert [english.with_article(word).split()[0] for word in words] == ["an", "an", "a", "an", "an", "a"]
    plurals = [english.plural(word) for word in ("strawberry", "parking lot", "watch", "knife", "police officer")]
    assert plurals == ["strawberries", "parking lots", "watches", "knives", "police officers"]
    degrees = [english.comparative(word) for word in ("big", "easy", "nice", "expensive", "modern")]
    assert degrees == ["bigger", "easier", "nicer", "more expensive", "more modern"]
