"""Constructions: whose a thing is, and where it is or is put.

German two-way prepositions take the dative for where something is and the accusative for where it is put.
"""

from dragoman.corpus.phrasebook import english, grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    COUNTRIES,
    GRADED_PLACES,
    KIN,
    NAMES,
    OPENERS,
    OWNABLE,
    OWNED,
    PEOPLE,
    TOWNS,
    Described,
    Together,
    together,
)
from dragoman.corpus.phrasebook.german import contracted
from dragoman.corpus.phrasebook.grammar import (
    BARE,
    HAT,
    IST,
    MY,
    POSSESSIVES,
    THE,
    YOUR,
    A,
    Determiner,
    Pair,
    Phrase,
    ask,
    be,
    phrase,
    say,
)
from dragoman.corpus.phrasebook.lexicon import Noun, Region, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import english_number, german_number

STANDING = nouns("+standing lamp suitcase backpack bag")
LYING = nouns("+portable +document +cutlery book newspaper magazine letter postcard form contract bill receipt")
SPOTS = (
    ("on", "auf", nouns("table desk chair bed sofa shelf closet")),
    ("under", "unter", nouns("table desk chair bed sofa closet car tree")),
    ("next to", "neben", nouns("table desk chair bed sofa closet door window lamp phone")),
    ("in", "in", nouns("closet suitcase bag backpack basket box kitchen living_room bedroom car")),
    ("behind", "hinter", nouns("sofa closet door house mirror")),
    ("in front of", "vor", nouns("door house window closet sofa")),
)
SPOTS_FLAT = tuple((in_english, in_german, noun) for in_english, in_german, spots in SPOTS for noun in spots)
Spot = tuple[str, str, Noun]


Resting = Together[Noun, Spot]
RESTING = tuple(
    together(thing, spot, thing.english, spot[2].english)
    for thing in STANDING + tuple(noun for noun in LYING if noun not in STANDING)
    for spot in SPOTS_FLAT
    if thing is not spot[2]
)


# Possession


@construction((*KIN, *NAMES), OWNED)
def genitive_described(owner: Phrase, one: Described) -> Pair:
    """My brother's car is new: the German owner follows in the genitive, only a name stands before."""
    thing = phrase(grammar.BARE, one.noun)
    in_german = f"{phrase(THE, one.noun).nom} {owner.gen}" if owner.noun else f"{owner.gen} {thing.nom}"
    return say(
        f"{english.possessive(owner.english)} {thing.english} is {one.adjective.english}",
        f"{in_german} ist {one.adjective.german}",
    )


@construction(
    POSSESSIVES,
    OWNED,
    (("is that", "ist das", "?"), ("that is", "das ist", "."), ("that is not", "das ist nicht", ".")),
)
def whose_is_it(owner: Determiner, one: Described, frame: tuple[str, str, str]) -> Pair:
    thing = phrase(owner, one.noun, one.adjective)
    return say(f"{frame[0]} {thing.english}", f"{frame[1]} {thing.nom}", frame[2])


@construction(OWNED, (*KIN, *NAMES))
def belongs_to(one: Described, owner: Phrase) -> Pair:
    thing = phrase(THE, one.noun, one.adjective)
    return say(f"{thing.english} belongs to {owner.english}", f"{thing.nom} gehört {owner.dat}")


# Where things are


@construction((THE, MY, YOUR), RESTING)
def thing_rests(determiner: Determiner, rest: Resting) -> Pair:
    thing, (in_english, in_german, noun) = phrase(determiner, rest.first), rest.second
    return say(
        f"{thing.english} is {in_english} the {noun.english}",
        f"{thing.nom} ist {contracted(in_german, phrase(THE, noun).dat)}",
    )


@construction(RESTING)
def there_is_thing(rest: Resting) -> Pair:
    thing, (in_english, in_german, noun) = phrase(A, rest.first), rest.second
    return say(
        f"there is {thing.english} {in_english} the {noun.english}",
        f"{contracted(in_german, phrase(THE, noun).dat)} ist {thing.nom}",
    )


@construction(range(2, 13), RESTING)
def there_are_things(count: int, rest: Resting) -> Pair:
    things, (in_english, in_german, noun) = phrase(BARE, rest.first, None, True), rest.second
    return say(
        f"there are {english_number(count)} {things.english} {in_english} the {noun.english}",
        f"{contracted(in_german, phrase(THE, noun).dat)} sind {german_number(count)} {things.nom}",
    )


@construction(POSSESSIVES, tuple(sorted(OWNABLE, key=lambda noun: noun.english)), (False, True), OPENERS[:3])
def where_is_own(owner: Determiner, noun: Noun, is_plural: bool, opener: Adverbial) -> Pair:
    thing = phrase(owner, noun, None, is_plural)
    return ask(f"{opener[0]}where {be(thing)} {thing.english}", f"{opener[1]}wo {IST[thing.agreement]} {thing.nom}")


@construction(PEOPLE, RESTING, ("present", "past"))
def puts_thing(who: Phrase, rest: Resting, tense: str) -> Pair:
    """English puts everything; German lays what lies (legen) and stands what stands (stellen)."""
    (in_english, in_german, noun), stem = rest.second, "stell" if rest.first in STANDING else "leg"
    thing, goal = phrase(THE, rest.first), contracted(in_german, phrase(THE, noun).acc)
    if tense == "past":
        return say(
            f"{who.english} put {thing.english} {in_english} the {noun.english}",
            f"{who.nom} {HAT[who.agreement]} {thing.acc} {goal} ge{stem}t",
        )
    finite = (f"{stem}e", f"{stem}t", f"{stem}en")[who.agreement]
    return say(
        f"{who.english} {be(who)} putting {thing.english} {in_english} the {noun.english}",
        f"{who.nom} {finite} {thing.acc} {goal}",
    )


@construction(GRADED_PLACES, TOWNS + COUNTRIES, ("there is", "is there"))
def there_is_place(one: Described, region: Region, opener: str) -> Pair:
    thing = phrase(A, one.noun, one.adjective)
    if opener == "is there":
        return ask(f"is there {thing.english} in {region.english}", f"gibt es {region.at} {thing.acc}")
    return say(f"there is {thing.english} in {region.english}", f"{region.at} gibt es {thing.acc}")
