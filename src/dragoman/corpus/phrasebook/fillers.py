"""What fills the slots of the constructions: who acts, which acts make sense, which things are how.

Takes the lexicon and gives lists. Some entries are combinations, two lexemes that belong together by meaning (a verb
and its object, an adjective and its noun): those carry `combinations`, by which whole combinations are kept out of
training.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from dragoman.corpus.phrasebook import grammar, lexicon
from dragoman.corpus.phrasebook.grammar import HER, HIS, MY, OUR, PRONOUNS, THE, YOUR, Phrase, VerbPhrase, phrase
from dragoman.corpus.phrasebook.lexicon import NOUNS, Adjective, Noun, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.people_and_places import BOYS, GIRLS, SURNAMES
from dragoman.corpus.phrasebook.tables import word_set

Combination = tuple[str, str]


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """A verb and the noun it acts on."""

    verb: Verb
    noun: Noun

    @property
    def combinations(self) -> tuple[Combination, ...]:
        return ((self.verb.english, self.noun.english),)

    def on(self, thing: Phrase) -> VerbPhrase:
        return grammar.with_object(self.verb, thing)

    @property
    def on_the(self) -> VerbPhrase:
        return self.on(grammar.natural(THE, self.noun))

    @property
    def on_a(self) -> VerbPhrase:
        return self.on(grammar.indefinite(self.noun))

    def on_own(self, subject: Phrase) -> VerbPhrase:
        return self.on(grammar.natural(subject.own, self.noun))


@dataclass(frozen=True, eq=False, slots=True)
class Described:
    """An adjective and the noun it describes."""

    adjective: Adjective
    noun: Noun

    @property
    def combinations(self) -> tuple[Combination, ...]:
        return ((self.adjective.english, self.noun.english),)


@dataclass(frozen=True, eq=False, slots=True)
class DescribedAction:
    """A verb, an adjective and a noun, where both the verb and the adjective suit the noun."""

    action: Action
    adjective: Adjective

    @property
    def combinations(self) -> tuple[Combination, ...]:
        return (*self.action.combinations, (self.adjective.english, self.action.noun.english))


First = TypeVar("First")
Second = TypeVar("Second")


@dataclass(frozen=True, eq=False, slots=True)
class Together(Generic[First, Second]):
    """Any two fillers that count as a combination: two drinks, a shop and its hour, a train and its town."""

    first: First
    second: Second
    combinations: tuple[Combination, ...]


def together(first: First, second: Second, one: str, other: str) -> Together[First, Second]:
    return Together(first, second, ((one, other),))


def _actions(verbs: tuple[tuple[Verb, tuple[Noun, ...]], ...]) -> tuple[Action, ...]:
    return tuple(Action(verb, noun) for verb, objects in verbs for noun in objects)


ACTIONS = _actions(lexicon.VERBS_WITH_THINGS)
ACTS_ON_PEOPLE = _actions(lexicon.VERBS_WITH_PEOPLE)
ACTS_WITH_PREPOSITION = _actions(lexicon.VERBS_WITH_PREPOSITION)
GIFTS = _actions(lexicon.VERBS_OF_GIVING)
DELIBERATE = tuple(act for act in ACTIONS if act.verb.is_deliberate)
DELIBERATE_ON_PEOPLE = tuple(act for act in ACTS_ON_PEOPLE if act.verb.is_deliberate)
DELIBERATE_ALONE = tuple(verb for verb in lexicon.VERBS_ALONE if verb.is_deliberate)
ONGOING = tuple(act for act in ACTIONS if not act.verb.is_mishap)
PASSIVES = tuple(act for act in DELIBERATE if act.verb.english not in ("take", "see", "hear", "watch", "wear"))

DESCRIBED = tuple(
    Described(adjective, noun) for adjective, described in lexicon.ADJECTIVES_WITH_NOUNS for noun in described
)
_PERSONAL_NOUNS = frozenset(noun.english for noun in nouns("+family +acquaintance +stranger +profession"))
DESCRIBED_PEOPLE = tuple(one for one in DESCRIBED if one.noun.english in _PERSONAL_NOUNS)
DESCRIBED_THINGS = tuple(one for one in DESCRIBED if one.noun.english not in _PERSONAL_NOUNS)


_DESCRIBABLE_VERBS = word_set(
    "buy sell need find have lose eat drink order read write wear see rent visit show wash carry hear tell translate "
    "repair meet call invite ask know help"
) | {"look for"}


def _described_actions(acts: tuple[Action, ...], described: tuple[Described, ...]) -> tuple[DescribedAction, ...]:
    adjectives: dict[Noun, list[Adjective]] = {}
    for one in described:
        adjectives.setdefault(one.noun, []).append(one.adjective)
    return tuple(
        DescribedAction(act, adjective)
        for act in acts
        if act.verb.english in _DESCRIBABLE_VERBS
        for adjective in adjectives.get(act.noun, ())
    )


DESCRIBED_ACTIONS = _described_actions(ACTIONS, DESCRIBED_THINGS)
ONGOING_DESCRIBED = tuple(one for one in DESCRIBED_ACTIONS if not one.action.verb.is_mishap)
DESCRIBED_ACTS_ON_PEOPLE = _described_actions(ACTS_ON_PEOPLE, DESCRIBED_PEOPLE)

# People

NAMES = tuple(grammar.named(name, "f") for name in GIRLS) + tuple(grammar.named(name, "m") for name in BOYS)
LADIES = tuple(Phrase(f"Mrs. {n}", f"Frau {n}", f"Frau {n}", f"Frau {n}", "", "f", 1, HER) for n in SURNAMES)
GENTLEMEN = tuple(Phrase(f"Mr. {n}", f"Herr {n}", f"Herrn {n}", f"Herrn {n}", "", "m", 1, HIS) for n in SURNAMES)
FAMILY, ACQUAINTANCES, STRANGERS, PROFESSIONS = (
    nouns(f"+{kind}") for kind in ("family", "acquaintance", "stranger", "profession")
)
KIN = (
    tuple(phrase(MY, noun) for noun in FAMILY + ACQUAINTANCES)
    + tuple(phrase(YOUR, noun) for noun in FAMILY)
    + tuple(phrase(OUR, noun) for noun in ACQUAINTANCES if noun.english != "girlfriend")
)
PARENTS = Phrase("my parents", "meine Eltern", "meine Eltern", "meinen Eltern", "meiner Eltern", "p", 2)
GROUPS = (
    PARENTS,
    *(phrase(MY, NOUNS[name], None, True) for name in ("friend", "son", "daughter", "brother", "sister", "colleague")),
    *(phrase(OUR, NOUNS[name], None, True) for name in ("neighbor", "child", "guest")),
    *(phrase(THE, NOUNS[name], None, True) for name in ("child", "student", "tourist", "man", "woman")),
)
OTHERS = tuple(phrase(THE, noun) for noun in STRANGERS + PROFESSIONS)

# Pronouns weigh four times: they are few, and a visitor uses them most.
PEOPLE = PRONOUNS * 4 + KIN + NAMES + GROUPS + OTHERS + (LADIES + GENTLEMEN)[::3]
SPEAKERS = PRONOUNS * 2 + KIN[:18] + NAMES[::4] + (PARENTS,)
RECIPIENTS = (
    tuple(phrase(MY, noun) for noun in FAMILY + ACQUAINTANCES)
    + OTHERS
    + tuple(p for p in PRONOUNS if p is not grammar.YOU)
    + NAMES[::3]
    + GROUPS[:8]
)

_MOODS = word_set("happy sad angry nervous satisfied disappointed surprised excited worried tired")
MOODS = tuple(state for state in lexicon.STATES_ALL if state[0] in _MOODS)

# How one asks politely for information
TELL_ME = (
    ("can you tell me", "können Sie mir sagen"),
    ("could you tell me", "könnten Sie mir sagen"),
    ("do you know", "wissen Sie"),
)

# How one may open a question or a request
OPENERS = (
    ("", ""),
    ("excuse me, ", "Entschuldigung, "),
    ("sorry, ", "Entschuldigung, "),
    ("hello, ", "hallo, "),
    ("good morning, ", "guten Morgen, "),
    ("good evening, ", "guten Abend, "),
    *((f"{who.english}, ", f"{who.nom}, ") for who in (*NAMES[::3], *LADIES[::3], *GENTLEMEN[1::3])),
)

# Places

PLACES = lexicon.places("sight business public landscape")
BUILDINGS = lexicon.places("sight business public")
TOWNS = lexicon.TOWNS_ALL
COUNTRIES = lexicon.COUNTRIES_ALL
REGIONS = TOWNS + COUNTRIES


OWNABLE = frozenset(
    nouns("+clothing +document +device +portable +home +vehicle +furniture +instrument +paper book dog cat horse bird")
)
OWN_ACTIONS = tuple(act for act in ACTIONS if act.noun in OWNABLE and act.verb.english not in ("rent", "build"))
OWN_DEEDS = tuple(act for act in OWN_ACTIONS if not act.verb.is_state)
OWN_ONGOING = tuple(act for act in OWN_ACTIONS if not act.verb.is_mishap)
OWN_DELIBERATE = tuple(act for act in OWN_ACTIONS if act.verb.is_deliberate)

# Things that are so or so

_NOT_GRADED = word_set("red blue green yellow black white brown broken wrong correct round empty full")
_PLACE_NOUNS = frozenset(place.noun for place in PLACES)
COUNTABLE = tuple(one for one in DESCRIBED_THINGS if not one.noun.is_mass)
GRADED = tuple(one for one in DESCRIBED_THINGS if one.adjective.english not in _NOT_GRADED)
GRADED_COUNTABLE = tuple(one for one in GRADED if not one.noun.is_mass)
GRADED_PLACES = tuple(one for one in GRADED_COUNTABLE if one.noun in _PLACE_NOUNS)
GRADED_PEOPLE = tuple(one for one in DESCRIBED_PEOPLE if one.adjective.english not in _NOT_GRADED)
OWNED = tuple(one for one in COUNTABLE if one.noun in OWNABLE)
GRADED_OWNED = tuple(one for one in GRADED_COUNTABLE if one.noun in OWNABLE)
OWNED_ACTIONS = tuple(one for one in DESCRIBED_ACTIONS if one.action.noun in OWNABLE)
GRADED_OWNED_ACTIONS = tuple(one for one in OWNED_ACTIONS if one.adjective.english not in _NOT_GRADED)


def the_person(noun: Noun) -> Phrase:
    """One speaks of "my brother" but of "the waiter", and of "the shoes"."""
    return grammar.natural(MY if noun in FAMILY or noun in ACQUAINTANCES else THE, noun)
