"""Constructions: the clock, opening hours, appointments, dates and the weather."""

from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    BUILDINGS,
    DELIBERATE_ALONE,
    KIN,
    NAMES,
    OPENERS,
    PEOPLE,
    PLACES,
    REGIONS,
    Together,
    together,
)
from dragoman.corpus.phrasebook.grammar import THE, Pair, Phrase, alone, ask, in_present, main, phrase, present, say
from dragoman.corpus.phrasebook.lexicon import WEATHER_ALL, Noun, Place, Region, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import FUTURE_TIMES, HABITS, PAST_TIMES, Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import WEEKDAYS, clock_times, dates

CLOCK = clock_times()
DATES = dates()
SHOPS = PLACES[:24]
EVENTS = nouns("movie concert party game exam class meeting appointment tour wedding")
HOURS = tuple(together(place, time, place.noun.english, time[0]) for place in SHOPS for time in CLOCK)
MEETINGS = tuple(together(place, time, place.noun.english, time[0]) for place in BUILDINGS for time in CLOCK)
SCHEDULE = tuple(together(event, time, event.english, time[0]) for event in EVENTS for time in CLOCK)


@construction(
    (
        ("it is", "es ist", "."),
        ("it's", "es ist", "."),
        ("is it already", "ist es schon", "?"),
        ("it was", "es war", "."),
    ),
    CLOCK,
)
def clock(frame: tuple[str, str, str], time: Adverbial) -> Pair:
    return say(f"{frame[0]} {time[0]}", f"{frame[1]} {time[1]}", frame[2])


@construction(HOURS, (("opens", "öffnet"), ("closes", "schließt")))
def opens_at(hour: Together[Place, Adverbial], verb: Adverbial) -> Pair:
    there, time = phrase(THE, hour.first.noun), hour.second
    return say(f"{there.english} {verb[0]} at {time[0]}", f"{there.nom} {verb[1]} um {time[1]}")


@construction(
    OPENERS, SHOPS, (("when", "wann"), ("what time", "um wie viel Uhr")), (("open", "öffnet"), ("close", "schließt"))
)
def asks_opening(opener: Adverbial, place: Place, wh: Adverbial, verb: Adverbial) -> Pair:
    there = phrase(THE, place.noun)
    return ask(
        f"{opener[0]}{wh[0]} does {there.english} {verb[0]}",
        f"{opener[1]}{wh[1]} {verb[1]} {there.nom}",
    )


@construction(
    SCHEDULE, (("begins", "beginnt"), ("ends", "endet")), (("", ""), (" today", " heute"), (" tomorrow", " morgen"))
)
def begins_at(entry: Together[Noun, Adverbial], verb: Adverbial, day: Adverbial) -> Pair:
    thing, time = phrase(THE, entry.first), entry.second
    return say(f"{thing.english} {verb[0]} at {time[0]}{day[0]}", f"{thing.nom} {verb[1]}{day[1]} um {time[1]}")


@construction(
    EVENTS, (("begin", "beginnt"), ("end", "endet")), (("when", "wann"), ("what time", "um wie viel Uhr")), OPENERS
)
def asks_begin(event: Noun, verb: Adverbial, wh: Adverbial, opener: Adverbial) -> Pair:
    thing = phrase(THE, event)
    return ask(f"{opener[0]}{wh[0]} does {thing.english} {verb[0]}", f"{opener[1]}{wh[1]} {verb[1]} {thing.nom}")


@construction(
    (
        ("we are meeting", "wir treffen uns", "."),
        ("are we meeting", "treffen wir uns", "?"),
        ("let's meet", "treffen wir uns", "."),
    ),
    MEETINGS,
)
def meets_at(frame: tuple[str, str, str], meeting: Together[Place, Adverbial]) -> Pair:
    there, time = phrase(THE, meeting.first.noun), meeting.second
    return say(
        f"{frame[0]} at {time[0]} in front of {there.english}", f"{frame[1]} um {time[1]} vor {there.dat}", frame[2]
    )


@construction(PEOPLE, DELIBERATE_ALONE, CLOCK, (("", ""), *HABITS[:6]))
def does_at_time(who: Phrase, verb: Verb, time: Adverbial, when: Adverbial) -> Pair:
    doing = alone(verb)
    return say(
        f"{who.english} {present(who, doing)} at {time[0]} {when[0]}".rstrip(),
        main(who, doing, in_present, time=f"{when[1]} um {time[1]}".lstrip()),
    )


@construction((("today is", "heute ist"), ("yesterday was", "gestern war"), ("tomorrow is", "morgen ist")), DATES)
def date_is(frame: Adverbial, date: Adverbial) -> Pair:
    return say(f"{frame[0]} {date[0]}", f"{frame[1]} der {date[1].format('e')}")


@construction(
    (("today is", "heute ist"), ("yesterday was", "gestern war"), ("tomorrow is", "morgen ist")), WEEKDAYS, DATES
)
def weekday_and_date(frame: Adverbial, day: Adverbial, date: Adverbial) -> Pair:
    return say(f"{frame[0]} {day[0]}, {date[0]}", f"{frame[1]} {day[1]}, der {date[1].format('e')}")


@construction((*KIN[:18], *NAMES), DATES, (("has a birthday", "hat", "Geburtstag"), ("was born", "ist", "geboren")))
def birthday_is(who: Phrase, date: Adverbial, frame: tuple[str, str, str]) -> Pair:
    return say(f"{who.english} {frame[0]} on {date[0]}", f"{who.nom} {frame[1]} am {date[1].format('en')} {frame[2]}")


@construction(nouns("trip party wedding concert game exam meeting appointment flight tour"), DATES)
def event_on(event: Noun, date: Adverbial) -> Pair:
    thing = phrase(THE, event)
    return say(f"{thing.english} is on {date[0]}", f"{thing.nom} ist am {date[1].format('en')}")


@construction(
    ("it is", "it's"),
    WEATHER_ALL,
    (("today", "heute"), ("here", "hier"), ("outside", "draußen"), ("right now", "gerade"), ("", "")),
    (("", ""), ("very ", "sehr "), ("too ", "zu "), ("not ", "nicht ")),
)
def weather_now(frame: str, weather: Adverbial, when: Adverbial, degree: Adverbial) -> Pair:
    return say(
        f"{frame} {degree[0]}{weather[0]} {when[0]}".rstrip(),
        f"es ist {when[1]} {degree[1]}{weather[1]}".replace("  ", " "),
    )


@construction(WEATHER_ALL, REGIONS, PAST_TIMES)
def weather_was(weather: Adverbial, region: Region, when: Adverbial) -> Pair:
    return say(f"it was {weather[0]} in {region.english} {when[0]}", f"es war {when[1]} {region.at} {weather[1]}")


@construction(WEATHER_ALL, REGIONS, FUTURE_TIMES)
def weather_will_be(weather: Adverbial, region: Region, when: Adverbial) -> Pair:
    return say(f"{when[0]} it will be {weather[0]} in {region.english}", f"{when[1]} wird es {region.at} {weather[1]}")


@construction((("rain", "regnen"), ("snow", "schneien")), REGIONS, FUTURE_TIMES)
def will_rain(verb: Adverbial, region: Region, when: Adverbial) -> Pair:
    return say(f"it will {verb[0]} in {region.english} {when[0]}", f"es wird {when[1]} {region.at} {verb[1]}")


@construction((("rained", "geregnet"), ("snowed", "geschneit")), REGIONS, PAST_TIMES)
def rained(verb: Adverbial, region: Region, when: Adverbial) -> Pair:
    return say(f"it {verb[0]} in {region.english} {when[0]}", f"es hat {when[1]} {region.at} {verb[1]}")
