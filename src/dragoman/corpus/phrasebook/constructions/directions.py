"""Constructions: finding the way.

"To get to" a place is always zu with the dative; where a building stands is a two-way preposition with the dative.
"""

from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import BUILDINGS, OPENERS, PLACES, TELL_ME, Together, together
from dragoman.corpus.phrasebook.german import contracted
from dragoman.corpus.phrasebook.grammar import (
    THE,
    A,
    Pair,
    ask,
    phrase,
    say,
)
from dragoman.corpus.phrasebook.lexicon import Place
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial

SIDES = (("left", "links"), ("right", "rechts"))
BESIDE = (("next to", "neben"), ("behind", "hinter"), ("in front of", "vor"))
LANDMARKS = BUILDINGS + tuple(place for place in PLACES if place.noun.english in ("bridge", "square", "river", "lake"))
WAYS = (
    ("how do I get to {}", "wie komme ich {}"),
    ("how can I get to {}", "wie kann ich {} kommen"),
    ("how do we get to {}", "wie kommen wir {}"),
    ("what is the best way to {}", "wie komme ich am besten {}"),
)
NEARBY = (
    ("near here", "hier in der Nähe"),
    ("in this street", "in dieser Straße"),
    ("in this city", "in dieser Stadt"),
)


Buildings = Together[Place, Place]


ADJOINING = tuple(
    together(one, other, *sorted((one.noun.english, other.noun.english)))
    for one in BUILDINGS
    for other in BUILDINGS
    if one is not other
)


# Finding the way


@construction(OPENERS, PLACES)
def where_is(opener: Adverbial, place: Place) -> Pair:
    there = phrase(THE, place.noun)
    return ask(f"{opener[0]}where is {there.english}", f"{opener[1]}wo ist {there.nom}")


@construction(OPENERS, BUILDINGS, ("nearest", "next"))
def where_is_nearest(opener: Adverbial, place: Place, nearest: str) -> Pair:
    article, noun = phrase(THE, place.noun).nom.split(" ")
    return ask(f"{opener[0]}where is the {nearest} {place.noun.english}", f"{opener[1]}wo ist {article} nächste {noun}")


@construction(OPENERS, PLACES, WAYS)
def way_to(opener: Adverbial, place: Place, frame: Adverbial) -> Pair:
    there = phrase(THE, place.noun)
    return ask(opener[0] + frame[0].format(there.english), opener[1] + frame[1].format(contracted("zu", there.dat)))


@construction(OPENERS, BUILDINGS, NEARBY)
def is_there_a(opener: Adverbial, place: Place, where: Adverbial) -> Pair:
    there = phrase(A, place.noun)
    return ask(f"{opener[0]}is there {there.english} {where[0]}", f"{opener[1]}gibt es {where[1]} {there.acc}")


@construction(OPENERS, LANDMARKS, (("from here ", "von hier "), ("", "")))
def how_far(opener: Adverbial, place: Place, origin: Adverbial) -> Pair:
    there = phrase(THE, place.noun)
    return ask(
        f"{opener[0]}how far is it {origin[0]}to {there.english}",
        f"{opener[1]}wie weit ist es {origin[1]}bis {contracted('zu', there.dat)}",
    )


@construction(OPENERS[:6], TELL_ME, PLACES)
def indirect_where(opener: Adverbial, frame: Adverbial, place: Place) -> Pair:
    there = phrase(THE, place.noun)
    return ask(f"{opener[0]}{frame[0]} where {there.english} is", f"{opener[1]}{frame[1]}, wo {there.nom} ist")


@construction(ADJOINING, BESIDE)
def building_beside(both: Buildings, where: Adverbial) -> Pair:
    one, other = phrase(THE, both.first.noun), phrase(THE, both.second.noun)
    return say(f"{one.english} is {where[0]} {other.english}", f"{one.nom} ist {where[1]} {other.dat}")


@construction(ADJOINING, BESIDE)
def asks_building_beside(both: Buildings, where: Adverbial) -> Pair:
    one, other = phrase(THE, both.first.noun), phrase(THE, both.second.noun)
    return ask(f"is {one.english} {where[0]} {other.english}", f"ist {one.nom} {where[1]} {other.dat}")


@construction(ADJOINING)
def building_opposite(both: Buildings) -> Pair:
    one, other = phrase(THE, both.first.noun), phrase(THE, both.second.noun)
    return say(
        f"{one.english} is across from {other.english}", f"{one.nom} ist gegenüber {contracted('von', other.dat)}"
    )


@construction(SIDES, LANDMARKS, (("", ""), ("then ", "dann "), ("please ", "bitte ")))
def turn_at(side: Adverbial, place: Place, first: Adverbial) -> Pair:
    there = phrase(THE, place.noun)
    return say(
        f"{first[0]}turn {side[0]} at {there.english}",
        f"{first[1]}biegen Sie {contracted('an', there.dat)} {side[1]} ab",
    )


@construction(
    (("go", "gehen"), ("drive", "fahren"), ("walk", "laufen")),
    (("straight ahead", "geradeaus"), ("left", "nach links"), ("right", "nach rechts")),
    LANDMARKS,
    (("", ""), *((f" and then turn {en}", f", und biegen Sie dann {de} ab") for en, de in SIDES)),
)
def go_until(verb: Adverbial, direction: Adverbial, place: Place, turn: Adverbial) -> Pair:
    there = phrase(THE, place.noun)
    return say(
        f"{verb[0]} {direction[0]} until you come to {there.english}{turn[0]}",
        f"{verb[1]} Sie {direction[1]}, bis Sie {contracted('zu', there.dat)} kommen{turn[1]}",
    )
