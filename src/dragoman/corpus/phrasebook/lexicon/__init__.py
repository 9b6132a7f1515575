"""The lexicon: typed lexemes read from the tables of nouns, verbs and adjectives.

Takes the text tables beside it and gives `Noun`, `Place`, `Verb` and `Adjective` objects with all their irregular
forms, by semantic class. A row that names an unknown noun or class is an error here, at import, not a gap in the
corpus. Knows nothing of clauses: `grammar.py` puts lexemes together.
"""

from dataclasses import dataclass

from dragoman.corpus.phrasebook import german
from dragoman.corpus.phrasebook.lexicon.adjectives import ADJECTIVES, STATES, WEATHER
from dragoman.corpus.phrasebook.lexicon.numbers import MONTHS, SEASONS, WEEKDAYS, english_number
from dragoman.corpus.phrasebook.lexicon.people_and_places import (
    BOYS,
    COUNTRIES,
    GIRLS,
    LANGUAGES,
    PEOPLE,
    PLACES,
    SURNAMES,
    TOWNS,
)
from dragoman.corpus.phrasebook.lexicon.things import THINGS, USUALLY_PLURAL
from dragoman.corpus.phrasebook.lexicon.verbs import GIVING, INTRANSITIVE, PERSONAL, PREPOSITIONAL, TRANSITIVE
from dragoman.corpus.phrasebook.tables import pairs_of, rows


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    english: str
    german: str
    gender: str  # m, f, n
    plural: str  # "" for a mass noun
    genitive: str
    oblique: str  # accusative and dative singular: differs from the nominative in weak nouns only
    feminine: str = ""

    @property
    def is_mass(self) -> bool:
        return not self.plural

    @property
    def is_usually_plural(self) -> bool:
        return self.english in USUALLY_PLURAL

    def form(self, case: str, is_plural: bool) -> str:
        if is_plural:
            return german.dative_plural(self.plural) if case == "dat" else self.plural
        if case == "nom":
            return self.german
        return self.genitive if case == "gen" else self.oblique


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    noun: Noun
    english_at: str  # "in", "at", "on"
    german_at: str  # takes the dative
    german_to: str  # takes the dative if "zu", else the accusative


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """A town or a country: goes without an article, unless German gives it one (die Schweiz)."""

    english: str
    name: str
    to: str
    at: str
    origin: str


@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    english: str
    infinitive: str  # whole, with prefix and fixed words: "zu Hause bleiben", "anrufen"
    present: tuple[str, str, str]  # ich, er, wir; without prefix and fixed words
    prefix: str
    fixed: str  # words that stay in the middle of the clause: "zu Hause"
    participle: str
    takes_sein: bool
    is_reflexive: bool
    preposition: str  # "" if the object has none
    case: str
    is_state: bool
    is_mishap: bool

    @property
    def is_deliberate(self) -> bool:
        return not (self.is_state or self.is_mishap)

    @property
    def zu_infinitive(self) -> str:
        bare = self.present[2]
        return (
            f"{self.prefix}zu{bare}"
            if self.prefix and " " not in self.prefix
            else german.words(self.prefix, "zu", bare)
        )


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    english: str
    german: str
    comparative: str
    superlative: str  # without ending


def _noun(cells: list[str]) -> Noun:
    name, lemma, plural, note = cells[:4]
    article, word = lemma.split(" ")
    gender = {"der": "m", "die": "f", "das": "n"}[article]
    is_weak = note.startswith("weak")
    irregular_genitive = note.removeprefix("weak").strip() or (plural if is_weak else "")
    return Noun(
        english=name,
        german=word,
        gender=gender,
        plural="" if plural == "-" else plural,
        genitive=irregular_genitive or german.genitive_singular(word, gender),
        oblique=plural if is_weak else word,
        feminine=cells[4] if len(cells) == 5 else "",
    )


def _place(cells: list[str]) -> Place:
    at_english, at_german = cells[4].split(" ")
    return Place(_noun(cells[:4]), at_english, at_german, cells[5])


def _region(cells: list[str]) -> Region:
    name, lemma = cells
    if lemma.startswith("die "):
        bare = lemma.removeprefix("die ")
        return Region(name, lemma, f"in die {bare}", f"in der {bare}", f"aus der {bare}")
    return Region(name, lemma, f"nach {lemma}", f"in {lemma}", f"aus {lemma}")


PLACES_BY_CLASS = {kind: tuple(_place(cells) for cells in rows(table, 6)) for kind, table in PLACES.items()}
NOUNS_BY_CLASS = {
    kind: tuple(_noun(cells) for cells in rows(table, 5)) for kind, table in (THINGS | PEOPLE).items()
} | {kind: tuple(place.noun for place in places) for kind, places in PLACES_BY_CLASS.items()}
NOUNS = {noun.english: noun for nouns in NOUNS_BY_CLASS.values() for noun in nouns}
TOWNS_ALL = tuple(_region(cells) for cells in rows(TOWNS, 2))
COUNTRIES_ALL = tuple(_region(cells) for cells in rows(COUNTRIES, 2))
LANGUAGES_ALL = pairs_of(LANGUAGES)
STATES_ALL = pairs_of(STATES)
WEATHER_ALL = pairs_of(WEATHER)


def nouns(names: str) -> tuple[Noun, ...]:
    """Nouns by a list of classes (+clothing) and single nouns (credit_card), in order, each once."""
    found: dict[str, Noun] = {}
    for name in names.split():
        chosen = NOUNS_BY_CLASS[name[1:]] if name.startswith("+") else (NOUNS[name.replace("_", " ")],)
        found.update((noun.english, noun) for noun in chosen)
    return tuple(found.values())


def places(names: str) -> tuple[Place, ...]:
    return tuple(place for name in names.split() for place in PLACES_BY_CLASS[name])


def _verb(cells: list[str]) -> Verb:
    name, lemma, participle, government = cells[:4]
    lemma, _, third = lemma.partition(", ")
    is_reflexive = lemma.startswith("sich ")
    fixed, _, infinitive = lemma.removeprefix("sich ").rpartition(" ")
    prefix, _, bare = infinitive.rpartition("·")
    preposition, _, case = government.rpartition(" ")
    if prefix == "spazieren":  # written apart from its verb, unlike the true prefixes
        fixed, prefix = "spazieren", ""
    return Verb(
        english=name.rstrip("*~"),
        infinitive=prefix + bare,
        present=german.present(bare, third),
        prefix=prefix,
        fixed=fixed,
        participle=participle.removeprefix("ist ").removeprefix("spazieren "),
        takes_sein=participle.startswith("ist "),
        is_reflexive=is_reflexive,
        preposition=preposition,
        case=case or "acc",
        is_state=name.endswith("*"),
        is_mishap=name.endswith("~"),
    )


def _verbs_with_objects(table: str) -> tuple[tuple[Verb, tuple[Noun, ...]], ...]:
    return tuple((_verb(cells), nouns(cells[4])) for cells in rows(table, 5))


def _adjective(cells: list[str]) -> Adjective:
    name, positive, more, most = cells[:4]
    return Adjective(name, positive, german.comparative(positive, more), german.superlative_stem(positive, most))


VERBS_WITH_THINGS = _verbs_with_objects(TRANSITIVE)
VERBS_WITH_PEOPLE = _verbs_with_objects(PERSONAL)
VERBS_WITH_PREPOSITION = _verbs_with_objects(PREPOSITIONAL)
VERBS_OF_GIVING = _verbs_with_objects(GIVING)
VERBS_ALONE = tuple(_verb(cells) for cells in rows(INTRANSITIVE, 4))
ADJECTIVES_WITH_NOUNS = tuple((_adjective(cells), nouns(cells[4])) for cells in rows(ADJECTIVES, 5))


def lexemes() -> frozenset[tuple[str, str]]:
    """Every entry of the lexicon as (kind of word, English lemma), fixed phrases and time expressions not counted."""
    with_objects = (*VERBS_WITH_THINGS, *VERBS_WITH_PEOPLE, *VERBS_WITH_PREPOSITION, *VERBS_OF_GIVING)
    by_kind = {
        "noun": NOUNS,
        "verb": [verb.english for verb, _ in with_objects] + [verb.english for verb in VERBS_ALONE],
        "adjective": [adjective.english for adjective, _ in ADJECTIVES_WITH_NOUNS]
        + [name for name, _ in STATES_ALL + WEATHER_ALL],
        "region": [region.english for region in TOWNS_ALL + COUNTRIES_ALL],
        "language": [name for name, _ in LANGUAGES_ALL],
        "name": GIRLS + BOYS + SURNAMES,
        "calendar": [name for name, _ in WEEKDAYS + MONTHS + SEASONS],
        "number": [english_number(n) for n in (*range(20), *range(20, 100, 10))],
    }
    return frozenset((kind, name) for kind, names in by_kind.items() for name in names)
