"""Constructions: rooms, tables and reservations, and what is wrong with the room."""

from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import OPENERS, Together, together
from dragoman.corpus.phrasebook.german import adjective, words
from dragoman.corpus.phrasebook.grammar import THE, A, Pair, ask, phrase, say
from dragoman.corpus.phrasebook.lexicon import Noun, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import clock_times, english_number, german_number
from dragoman.corpus.phrasebook.lexicon.people_and_places import SURNAMES

CLOCK = clock_times()
ROOMS = (
    ("a single room", "ein Einzelzimmer"), ("a double room", "ein Doppelzimmer"), ("a room", "ein Zimmer"),
    ("a quiet room", "ein ruhiges Zimmer"),
)  # fmt: skip
NIGHTS = (
    ("one night", "eine Nacht"),
    *((f"{english_number(n)} nights", f"{german_number(n)} Nächte") for n in range(2, 11)),
    ("one week", "eine Woche"),
    ("two weeks", "zwei Wochen"),
)
EXTRAS = (
    ("", ""), ("with breakfast", "mit Frühstück"), ("with a balcony", "mit Balkon"), ("with a bathroom", "mit Bad"),
    ("with a shower", "mit Dusche"), ("with a view of the sea", "mit Blick auf das Meer"),
    ("with internet", "mit Internet"),
)  # fmt: skip
# English opening, German opening, what closes the German sentence, mark
ROOM_OPENERS = (
    ("I would like", "ich hätte gern", "", "."), ("I'd like", "ich hätte gern", "", "."),
    ("do you have", "haben Sie", "", "?"),
    ("we need", "wir brauchen", "", "."), ("we would like", "wir hätten gern", "", "."),
    ("I reserved", "ich habe", "reserviert", "."),
    ("we reserved", "wir haben", "reserviert", "."), ("I am looking for", "ich suche", "", "."),
)  # fmt: skip
RESERVATIONS = (
    ("I have a reservation", "ich habe eine Reservierung", ""),
    ("we have a reservation", "wir haben eine Reservierung", ""),
    ("I reserved a room", "ich habe ein Zimmer", " reserviert"),
    ("I reserved a table", "ich habe einen Tisch", " reserviert"),
    ("we reserved a room", "wir haben ein Zimmer", " reserviert"),
    ("we reserved a table", "wir haben einen Tisch", " reserviert"),
)  # fmt: skip
FAULTS = (("doesn't work", "funktioniert nicht"), ("does not work", "funktioniert nicht"), ("is broken", "ist kaputt"))
WHERE = (
    ("", ""),
    ("in my room", "in meinem Zimmer"),
    ("in our room", "in unserem Zimmer"),
    ("in the bathroom", "im Badezimmer"),
)
SERVICE = (
    ("can I have {}, please", "kann ich bitte {} haben", "?"),
    ("could we have {}, please", "könnten wir bitte {} haben", "?"),
    ("could you bring us {}, please", "könnten Sie uns bitte {} bringen", "?"),
    ("we need {}", "wir brauchen {}", "."),
    ("I need {}", "ich brauche {}", "."),
)
SUPPLIES = tuple(
    Together(noun, "", tuple((verb, noun.english) for verb in ("need", "have", "bring", "clean")))
    for noun in nouns("towel blanket pillow key lamp chair glass cup knife fork spoon plate umbrella")
)
FAULTY = tuple(together(noun, "", "broken", noun.english) for noun in nouns("+device elevator"))

Frame = tuple[str, str, str, str]


@construction(ROOM_OPENERS, ROOMS, EXTRAS, NIGHTS)
def books_room(frame: Frame, room: Adverbial, extra: Adverbial, nights: Adverbial) -> Pair:
    return say(
        words(frame[0], room[0], extra[0], "for", nights[0]),
        words(frame[1], room[1], extra[1], "für", nights[1], frame[2]),
        frame[3],
    )


@construction(range(2, 13), ROOM_OPENERS, (("", ""), *((f" at {en}", f" um {de}") for en, de in CLOCK)))
def books_table(count: int, frame: Frame, time: Adverbial) -> Pair:
    return say(
        f"{frame[0]} a table for {english_number(count)} people{time[0]}",
        words(frame[1], f"einen Tisch für {german_number(count)} Personen{time[1]}", frame[2]),
        frame[3],
    )


@construction(OPENERS[:6], RESERVATIONS, SURNAMES)
def reservation_for(opener: Adverbial, frame: tuple[str, str, str], name: str) -> Pair:
    return say(
        f"{opener[0]}{frame[0]} in the name of {name}",
        f"{opener[1]}{frame[1]} auf den Namen {name}{frame[2]}",
    )


@construction(OPENERS, FAULTY, FAULTS, WHERE)
def does_not_work(opener: Adverbial, faulty: Together[Noun, str], fault: Adverbial, where: Adverbial) -> Pair:
    subject = phrase(THE, faulty.first)
    return say(
        opener[0] + words(subject.english, where[0], fault[0]),
        opener[1] + words(subject.nom, where[1], fault[1]),
    )


@construction(OPENERS, SERVICE, SUPPLIES, ("a", "another", "a clean"))
def room_service(opener: Adverbial, frame: tuple[str, str, str], supply: Together[Noun, str], kind: str) -> Pair:
    thing = supply.first
    one = phrase(A, thing)
    in_english, in_german = one.english, one.acc
    if kind == "another":
        in_english, in_german = f"another {thing.english}", f"noch {one.acc}"
    elif kind == "a clean":
        article, noun = one.acc.split(" ")
        in_english, in_german = (
            f"a clean {thing.english}",
            f"{article} {adjective('sauber', 'ein', 'acc', thing.gender)} {noun}",
        )
    return say(opener[0] + frame[0].format(in_english), opener[1] + frame[1].format(in_german), frame[2])


AMENITIES = (
    ("internet in the room", "im Zimmer Internet"),
    ("internet in the hotel", "im Hotel Internet"),
    ("breakfast in the hotel", "im Hotel Frühstück"),
    ("hot water in the room", "im Zimmer warmes Wasser"),
    ("a restaurant in the hotel", "im Hotel ein Restaurant"),
    ("an elevator in the hotel", "im Hotel einen Aufzug"),
    ("a television in the room", "im Zimmer einen Fernseher"),
)


@construction(OPENERS, (("is there", "gibt es"), ("do you have", "haben Sie")), AMENITIES)
def asks_amenity(opener: Adverbial, frame: Adverbial, amenity: Adverbial) -> Pair:
    return ask(f"{opener[0]}{frame[0]} {amenity[0]}", f"{opener[1]}{frame[1]} {amenity[1]}")
