"""Constructions: how things and people are, and comparison.

German adjectives are bare after sein and inflected before a noun.
"""

from functools import cache

from dragoman.corpus.phrasebook import english, grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    ACQUAINTANCES,
    COUNTRIES,
    DESCRIBED,
    DESCRIBED_PEOPLE,
    FAMILY,
    GRADED,
    GRADED_COUNTABLE,
    GRADED_OWNED,
    GRADED_OWNED_ACTIONS,
    GRADED_PEOPLE,
    GRADED_PLACES,
    KIN,
    MOODS,
    NAMES,
    OWNED,
    OWNED_ACTIONS,
    PEOPLE,
    TOWNS,
    Described,
    DescribedAction,
    the_person,
)
from dragoman.corpus.phrasebook.grammar import (
    HAT,
    HATTE,
    HER,
    HIS,
    IST,
    MY,
    OUR,
    POSSESSIVES,
    PRONOUNS,
    THE,
    THESE,
    THIS,
    WAR,
    YOUR,
    A,
    Determiner,
    Pair,
    Phrase,
    ask,
    be,
    have,
    in_perfect,
    main,
    past,
    phrase,
    say,
    was,
)
from dragoman.corpus.phrasebook.lexicon import STATES_ALL, Adjective, Region
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial

DEGREES = (("", ""), ("very ", "sehr "), ("too ", "zu "), ("really ", "wirklich "))


# Adjectives


@construction((THE, THIS), GRADED, DEGREES)
def is_described(determiner: Determiner, one: Described, degree: Adverbial) -> Pair:
    thing = phrase(determiner, one.noun)
    return say(
        f"{thing.english} is {degree[0]}{one.adjective.english}",
        f"{thing.nom} ist {degree[1]}{one.adjective.german}",
    )


@construction(POSSESSIVES, OWNED, (("is", "ist"), ("was", "war")))
def own_described(determiner: Determiner, one: Described, tense: Adverbial) -> Pair:
    thing = phrase(determiner, one.noun)
    return say(f"{thing.english} {tense[0]} {one.adjective.english}", f"{thing.nom} {tense[1]} {one.adjective.german}")


@construction((THE, THESE), GRADED_COUNTABLE, DEGREES)
def are_described(determiner: Determiner, one: Described, degree: Adverbial) -> Pair:
    things = phrase(determiner, one.noun, None, True)
    return say(
        f"{things.english} are {degree[0]}{one.adjective.english}",
        f"{things.nom} sind {degree[1]}{one.adjective.german}",
    )


@construction(DESCRIBED_PEOPLE, DEGREES[:2], (("is", "ist"), ("was", "war")))
def person_described(one: Described, degree: Adverbial, tense: Adverbial) -> Pair:
    person = the_person(one.noun)
    return say(
        f"{person.english} {tense[0]} {degree[0]}{one.adjective.english}",
        f"{person.nom} {tense[1]} {degree[1]}{one.adjective.german}",
    )


@construction((THE, THIS), GRADED, DEGREES)
def asks_described(determiner: Determiner, one: Described, degree: Adverbial) -> Pair:
    thing = phrase(determiner, one.noun)
    return ask(
        f"is {thing.english} {degree[0]}{one.adjective.english}",
        f"ist {thing.nom} {degree[1]}{one.adjective.german}",
    )


@construction((THE, THIS), DESCRIBED, (" not", "n't"), (("is", "ist"), ("was", "war")))
def not_described(determiner: Determiner, one: Described, not_: str, tense: Adverbial) -> Pair | None:
    if one.noun in FAMILY or one.noun in ACQUAINTANCES:
        return None
    thing = phrase(determiner, one.noun)
    return say(
        f"{thing.english} {tense[0]}{not_} {one.adjective.english}",
        f"{thing.nom} {tense[1]} nicht {one.adjective.german}",
    )


@construction(PEOPLE, STATES_ALL, ("is", "was"), (("", ""), ("not ", "nicht "), ("very ", "sehr ")))
def person_in_state(who: Phrase, state: Adverbial, tense: str, degree: Adverbial) -> Pair | None:
    if degree[0] == "very " and state not in MOODS:
        return None
    verb, forms = (be(who), IST) if tense == "is" else (was(who), WAR)
    return say(f"{who.english} {verb} {degree[0]}{state[0]}", f"{who.nom} {forms[who.agreement]} {degree[1]}{state[1]}")


@construction(PRONOUNS, STATES_ALL, (("", ""), ("not ", "nicht "), ("so ", "so "), ("really ", "wirklich ")))
def contracted_state(who: Phrase, state: Adverbial, degree: Adverbial) -> Pair | None:
    if degree[0] in ("so ", "really ") and state not in MOODS:
        return None
    in_english = f"{grammar.contracted_be(who)} {degree[0]}{state[0]}"
    return say(in_english, f"{who.nom} {IST[who.agreement]} {degree[1]}{state[1]}")


@construction(PEOPLE, STATES_ALL)
def asks_state(who: Phrase, state: Adverbial) -> Pair:
    return ask(f"{be(who)} {who.english} {state[0]}", f"{IST[who.agreement]} {who.nom} {state[1]}")


@construction((("this", "das"), ("that", "das")), GRADED_COUNTABLE, DEGREES[:2])
def this_is_a(opener: Adverbial, one: Described, degree: Adverbial) -> Pair:
    thing = phrase(A, one.noun, one.adjective)
    in_english = english.with_article(degree[0] + thing.english.split(" ", 1)[1])
    first, rest = thing.nom.split(" ", 1)
    return say(f"{opener[0]} is {in_english}", f"{opener[1]} ist {first} {degree[1]}{rest}")


@construction(GRADED_COUNTABLE)
def exclaims(one: Described) -> Pair:
    thing = phrase(A, one.noun, one.adjective)
    return say(f"what {thing.english}", f"was für {thing.nom}", "!")


@construction(PEOPLE, tuple(one for one in OWNED_ACTIONS if one.action.verb.english == "have"), ("has", "had"))
def has_described(who: Phrase, one: DescribedAction, tense: str) -> Pair:
    thing = phrase(A, one.action.noun, one.adjective)
    verb, forms = (have(who), HAT) if tense == "has" else ("had", HATTE)
    return say(f"{who.english} {verb} {thing.english}", f"{who.nom} {forms[who.agreement]} {thing.acc}")


# Comparison


@construction(GRADED_PEOPLE, KIN + NAMES)
def person_compared(one: Described, other: Phrase) -> Pair | None:
    if one.noun is other.noun or other.english.startswith("your "):
        return None
    person = the_person(one.noun)
    return say(
        f"{person.english} is {english.comparative(one.adjective.english)} than {other.english}",
        f"{person.nom} ist {one.adjective.comparative} als {other.nom}",
    )


@construction(GRADED_OWNED, ((MY, YOUR), (YOUR, OUR), (HIS, MY), (OUR, THIS), (THIS, MY), (HER, HIS)))
def thing_compared(one: Described, sides: tuple[Determiner, Determiner]) -> Pair:
    """My car is faster than your car."""
    left, right = phrase(sides[0], one.noun), phrase(sides[1], one.noun)
    return say(
        f"{left.english} is {english.comparative(one.adjective.english)} than {right.english}",
        f"{left.nom} ist {one.adjective.comparative} als {right.nom}",
    )


@construction(GRADED_PEOPLE, KIN + NAMES, (("as", "genauso"), ("not as", "nicht so")))
def person_equalled(one: Described, other: Phrase, degree: Adverbial) -> Pair | None:
    if one.noun is other.noun or other.english.startswith("your "):
        return None
    person = the_person(one.noun)
    return say(
        f"{person.english} is {degree[0]} {one.adjective.english} as {other.english}",
        f"{person.nom} ist {degree[1]} {one.adjective.german} wie {other.nom}",
    )


@cache
def _most(adjective: Adjective) -> Adjective:
    """The superlative as an adjective of its own, so that it can stand before a noun: oldest, ältest-."""
    return Adjective(english.superlative(adjective.english), adjective.superlative, "", "")


@construction(GRADED_PLACES, TOWNS + COUNTRIES)
def superlative_in_region(one: Described, region: Region) -> Pair:
    thing = phrase(THE, one.noun, _most(one.adjective))
    return say(f"this is {thing.english} in {region.english}", f"das ist {thing.nom} {region.at}")


@construction(GRADED_COUNTABLE, (("which is", "welches ist"), ("this is", "das ist"), ("is this", "ist das")))
def superlative_thing(one: Described, opener: Adverbial) -> Pair:
    thing = phrase(THE, one.noun, _most(one.adjective))
    mark = "." if opener[0] == "this is" else "?"
    return say(f"{opener[0]} {thing.english}", f"{opener[1]} {thing.nom}", mark)


@construction(PEOPLE, GRADED_OWNED_ACTIONS)
def superlative_chosen(who: Phrase, one: DescribedAction) -> Pair:
    """My wife bought the most expensive hat."""
    doing = one.action.on(grammar.natural(THE, one.action.noun, _most(one.adjective)))
    return say(f"{who.english} {past(who, doing)}", main(who, doing, in_perfect))
