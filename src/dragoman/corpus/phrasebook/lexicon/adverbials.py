"""Adverbials of time, frequency, manner and place as (English, German) pairs.

Grouped by the tense or clause they go with. A German adverbial here never depends on the rest of the sentence.
"""

from dragoman.corpus.phrasebook.lexicon.numbers import MONTHS, SEASONS, WEEKDAYS
from dragoman.corpus.phrasebook.tables import pairs_of

Adverbial = tuple[str, str]


ON_WEEKDAYS = tuple((f"on {day}", f"am {tag}") for day, tag in WEEKDAYS)
IN_MONTHS = tuple((f"in {month}", f"im {monat}") for month, monat in MONTHS)
IN_SEASONS = tuple((f"in {season}", f"im {zeit}") for season, zeit in SEASONS)

PAST_TIMES = (
    pairs_of("""
    yesterday | gestern
    the day before yesterday | vorgestern
    yesterday evening | gestern Abend
    this morning | heute Morgen
    last night | letzte Nacht
    last week | letzte Woche
    last weekend | letztes Wochenende
    last month | letzten Monat
    last year | letztes Jahr
    last summer | letzten Sommer
    an hour ago | vor einer Stunde
    two days ago | vor zwei Tagen
    three weeks ago | vor drei Wochen
    a month ago | vor einem Monat
    """)
    + ON_WEEKDAYS
    + IN_MONTHS
)

FUTURE_TIMES = (
    pairs_of("""
    today | heute
    tomorrow | morgen
    tomorrow morning | morgen früh
    tomorrow evening | morgen Abend
    the day after tomorrow | übermorgen
    this afternoon | heute Nachmittag
    this evening | heute Abend
    this weekend | dieses Wochenende
    next week | nächste Woche
    next month | nächsten Monat
    next year | nächstes Jahr
    next summer | nächsten Sommer
    in an hour | in einer Stunde
    in two days | in zwei Tagen
    in three weeks | in drei Wochen
    later | später
    soon | bald
    """)
    + ON_WEEKDAYS
    + IN_MONTHS
)

HABITS = (
    pairs_of("""
    every day | jeden Tag
    every morning | jeden Morgen
    every evening | jeden Abend
    every week | jede Woche
    every weekend | jedes Wochenende
    every year | jedes Jahr
    every summer | jeden Sommer
    once a week | einmal pro Woche
    twice a month | zweimal im Monat
    in the morning | am Morgen
    in the afternoon | am Nachmittag
    in the evening | am Abend
    """)
    + tuple((f"on {day}s", f"{tag.lower()}s") for day, tag in WEEKDAYS)
    + IN_SEASONS
)

NOW = pairs_of("""
    right now | gerade
    at the moment | im Moment
    today | heute
""")

# Before the verb in English, in the middle field in German.
FREQUENCIES = pairs_of("""
    always | immer
    often | oft
    sometimes | manchmal
    never | nie
    usually | normalerweise
    rarely | selten
""")

COMMENTS = pairs_of("""
    unfortunately, | leider
    maybe | vielleicht
    of course, | natürlich
    fortunately, | zum Glück
""")

DURATIONS = pairs_of("""
    two days | zwei Tagen
    three days | drei Tagen
    a week | einer Woche
    two weeks | zwei Wochen
    three weeks | drei Wochen
    a month | einem Monat
    two months | zwei Monaten
    six months | sechs Monaten
    a year | einem Jahr
    two years | zwei Jahren
    three years | drei Jahren
    five years | fünf Jahren
    ten years | zehn Jahren
    many years | vielen Jahren
    a long time | langer Zeit
""")
