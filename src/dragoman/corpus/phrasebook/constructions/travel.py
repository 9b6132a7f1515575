"""Constructions: going places, trains and tickets.

Each place knows its German prepositions. German orders time, manner, place; English the other way round.
"""

from dragoman.corpus.phrasebook import grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import OPENERS, PEOPLE, PLACES, REGIONS, TELL_ME, TOWNS, Together, together
from dragoman.corpus.phrasebook.german import words
from dragoman.corpus.phrasebook.grammar import (
    IST,
    THE,
    WANT_TO,
    WAR,
    WOULD_LIKE_TO,
    Modal,
    Pair,
    Phrase,
    ask,
    at_place,
    be,
    phrase,
    say,
    to_place,
    was,
)
from dragoman.corpus.phrasebook.lexicon import Noun, Place, Region, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import FUTURE_TIMES, HABITS, PAST_TIMES, Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import clock_times, english_number, german_number
from dragoman.corpus.phrasebook.tables import word_set

CLOCK = clock_times()
GEHT = ("gehe", "geht", "gehen")
FAEHRT = ("fahre", "fährt", "fahren")
FLIEGT = ("fliege", "fliegt", "fliegen")

_OVERSEAS = frozenset(("New York", "Japan", "China", "Canada"))
_BY_SHIP = word_set("Hamburg London England Greece Italy Sweden Spain Turkey") | _OVERSEAS


def _is_sensible(vehicle: Noun, region: Region) -> bool:
    if vehicle.english == "ship":
        return region.english in _BY_SHIP
    return vehicle.english == "plane" or region.english not in _OVERSEAS


Ride = Together[Noun, Region]


def _rides(vehicles: str, regions: tuple[Region, ...]) -> tuple[Ride, ...]:
    return tuple(
        together(vehicle, region, vehicle.english, region.english)
        for vehicle in nouns(vehicles)
        for region in regions
        if _is_sensible(vehicle, region)
    )


PUBLIC_RIDES = _rides("train bus plane ship", TOWNS)
RIDES = _rides("train bus plane ship car motorcycle", REGIONS)


def _drives(vehicle: Noun) -> str:
    return "fliegt" if vehicle.english == "plane" else "fährt"


# Going places


@construction(PEOPLE, PLACES, FUTURE_TIMES)
def goes_to_place(who: Phrase, place: Place, when: Adverbial) -> Pair:
    in_english, in_german = to_place(place)
    return say(
        f"{who.english} {be(who)} going {in_english} {when[0]}",
        f"{who.nom} {GEHT[who.agreement]} {when[1]} {in_german}",
    )


@construction(PEOPLE, PLACES, PAST_TIMES)
def went_to_place(who: Phrase, place: Place, when: Adverbial) -> Pair:
    in_english, in_german = to_place(place)
    return say(
        f"{who.english} went {in_english} {when[0]}",
        f"{who.nom} {IST[who.agreement]} {when[1]} {in_german} gegangen",
    )


@construction(PEOPLE, PLACES, ("is", "was"))
def is_at_place(who: Phrase, place: Place, tense: str) -> Pair:
    in_english, in_german = at_place(place)
    verb, forms = (be(who), IST) if tense == "is" else (was(who), WAR)
    return say(f"{who.english} {verb} {in_english}", f"{who.nom} {forms[who.agreement]} {in_german}")


@construction(PAST_TIMES, PEOPLE, REGIONS)
def was_in_region(when: Adverbial, who: Phrase, region: Region) -> Pair:
    return say(
        f"{when[0]} {who.english} {was(who)} in {region.english}",
        f"{when[1]} {WAR[who.agreement]} {who.nom} {region.at}",
    )


@construction(PEOPLE, REGIONS)
def ever_been_to(who: Phrase, region: Region) -> Pair:
    return ask(
        f"{grammar.have(who)} {who.english} ever been to {region.english}",
        f"{WAR[who.agreement]} {who.nom} schon einmal {region.at}",
    )


@construction(PEOPLE, RIDES, FUTURE_TIMES)
def travels_by(who: Phrase, ride: Ride, when: Adverbial) -> Pair:
    """Time, manner, place: am Montag mit dem Zug nach Berlin."""
    vehicle, region = ride.first, ride.second
    finite = (FLIEGT if vehicle.english == "plane" else FAEHRT)[who.agreement]
    return say(
        f"{who.english} {be(who)} traveling to {region.english} by {vehicle.english} {when[0]}",
        f"{who.nom} {finite} {when[1]} mit {phrase(THE, vehicle).dat} {region.to}",
    )


@construction(PEOPLE, REGIONS, PAST_TIMES)
def traveled_to(who: Phrase, region: Region, when: Adverbial) -> Pair:
    return say(
        f"{who.english} traveled to {region.english} {when[0]}",
        f"{who.nom} {IST[who.agreement]} {when[1]} {region.to} gereist",
    )


@construction(
    PEOPLE,
    nouns("bus train tram subway bicycle car"),
    (("to work", "zur Arbeit"), ("to school", "zur Schule"), ("to the city", "in die Stadt")),
    HABITS,
)
def commutes(who: Phrase, vehicle: Noun, goal: Adverbial, when: Adverbial) -> Pair:
    return say(
        f"{who.english} {'goes' if who.agreement == 1 else 'go'} {goal[0]} by {vehicle.english} {when[0]}",
        f"{who.nom} {FAEHRT[who.agreement]} {when[1]} mit {phrase(THE, vehicle).dat} {goal[1]}",
    )


@construction(PEOPLE, (WOULD_LIKE_TO, WANT_TO), REGIONS)
def wishes_to_travel(who: Phrase, wish: Modal, region: Region) -> Pair:
    return say(
        f"{who.english} {wish.english[who.agreement]} travel to {region.english}",
        f"{who.nom} {wish.german[who.agreement]} {region.to} reisen",
    )


# Trains and tickets


@construction(PUBLIC_RIDES, CLOCK)
def departs_at(ride: Ride, time: Adverbial) -> Pair:
    vehicle, region = phrase(THE, ride.first), ride.second
    return say(
        f"{vehicle.english} to {region.english} leaves at {time[0]}",
        f"{vehicle.nom} {region.to} {_drives(ride.first)} um {time[1]} ab",
    )


@construction(PUBLIC_RIDES, CLOCK)
def arrives_at(ride: Ride, time: Adverbial) -> Pair:
    vehicle, region = phrase(THE, ride.first), ride.second
    return say(
        f"{vehicle.english} from {region.english} arrives at {time[0]}",
        f"{vehicle.nom} {region.origin} kommt um {time[1]} an",
    )


@construction(
    OPENERS,
    PUBLIC_RIDES,
    (("next", "nächste"), ("first", "erste"), ("last", "letzte")),
    (("when", "wann"), ("what time", "um wie viel Uhr")),
)
def asks_departure(opener: Adverbial, ride: Ride, which: Adverbial, wh: Adverbial) -> Pair:
    vehicle, region = ride.first, ride.second
    article, noun = phrase(THE, vehicle).nom.split(" ")
    return ask(
        f"{opener[0]}{wh[0]} does the {which[0]} {vehicle.english} to {region.english} leave",
        f"{opener[1]}{wh[1]} {_drives(vehicle)} {article} {which[1]} {noun} {region.to} ab",
    )


@construction(OPENERS[:6], TELL_ME, PUBLIC_RIDES)
def indirect_departure(opener: Adverbial, frame: Adverbial, ride: Ride) -> Pair:
    vehicle, region = phrase(THE, ride.first), ride.second
    return ask(
        f"{opener[0]}{frame[0]} when {vehicle.english} to {region.english} leaves",
        f"{opener[1]}{frame[1]}, wann {vehicle.nom} {region.to} ab{_drives(ride.first)}",
    )


@construction(OPENERS[:6], TELL_ME, PUBLIC_RIDES)
def indirect_arrival(opener: Adverbial, frame: Adverbial, ride: Ride) -> Pair:
    vehicle, region = phrase(THE, ride.first), ride.second
    return ask(
        f"{opener[0]}{frame[0]} when {vehicle.english} from {region.english} arrives",
        f"{opener[1]}{frame[1]}, wann {vehicle.nom} {region.origin} ankommt",
    )


@construction(OPENERS, PUBLIC_RIDES, ("which", "is this"))
def asks_which_ride(opener: Adverbial, ride: Ride, frame: str) -> Pair:
    vehicle, region = phrase(THE, ride.first), ride.second
    if frame == "is this":
        return ask(
            f"{opener[0]}is this {vehicle.english} to {region.english}", f"{opener[1]}ist das {vehicle.nom} {region.to}"
        )
    which = phrase(grammar.WHICH, ride.first)
    return ask(
        f"{opener[0]}{which.english} goes to {region.english}",
        f"{opener[1]}{which.nom} {_drives(ride.first)} {region.to}",
    )


@construction(
    range(1, 9),
    TOWNS,
    (
        ("{} to {}, please", "{} {}, bitte"),
        ("I would like {} to {}, please", "ich hätte gern {} {}, bitte"),
        ("I'd like {} to {}", "ich hätte gern {} {}"),
        ("we need {} to {}", "wir brauchen {} {}"),
        ("how much do {} to {} cost", "wie viel kosten {} {}"),
    ),
)
def orders_tickets(count: int, town: Region, frame: Adverbial) -> Pair | None:
    is_question = frame[0].startswith("how")
    if is_question and count == 1:
        return None
    in_english = "a ticket" if count == 1 else f"{english_number(count)} tickets"
    in_german = "eine Fahrkarte" if count == 1 else f"{german_number(count)} Fahrkarten"
    return say(
        frame[0].format(in_english, town.english), frame[1].format(in_german, town.to), "?" if is_question else "."
    )


@construction(_rides("train bus plane car", TOWNS), TOWNS, OPENERS[:6])
def how_long_takes(ride: Ride, start: Region, opener: Adverbial) -> Pair | None:
    vehicle, goal = ride.first, ride.second
    if start is goal or not _is_sensible(vehicle, start):
        return None
    return ask(
        f"{opener[0]}how long does it take from {start.english} to {goal.english} by {vehicle.english}",
        f"{opener[1]}wie lange dauert es mit {phrase(THE, vehicle).dat} von {start.name} {goal.to}",
    )


@construction(
    ("the", "my", "our"), nouns("train bus plane tram subway"), (5, 10, 15, 20, 25, 30, 40, 45, 50), ("is", "was")
)
def delayed(owner: str, vehicle: Noun, minutes: int, tense: str) -> Pair:
    thing = phrase({"the": THE, "my": grammar.MY, "our": grammar.OUR}[owner], vehicle)
    return say(
        f"{thing.english} {tense} {english_number(minutes)} minutes late",
        words(thing.nom, "hat" if tense == "is" else "hatte", german_number(minutes), "Minuten Verspätung"),
    )
