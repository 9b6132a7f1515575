"""Numbers, clock times, dates and prices in English and German.

Everything is a pure function of integers. The clock follows everyday speech: half past six is "halb sieben", half of
the seventh hour. Knows nothing of sentences.
"""

_ENGLISH_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ENGLISH_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_GERMAN_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_GERMAN_TENS = ["-", "-", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_ENGLISH_ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}
_GERMAN_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}

MONTHS = (
    ("January", "Januar"), ("February", "Februar"), ("March", "März"), ("April", "April"), ("May", "Mai"),
    ("June", "Juni"),
    ("July", "Juli"), ("August", "August"), ("September", "September"), ("October", "Oktober"),
    ("November", "November"),
    ("December", "Dezember"),
)  # fmt: skip
WEEKDAYS = (
    ("Monday", "Montag"), ("Tuesday", "Dienstag"), ("Wednesday", "Mittwoch"), ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"), ("Saturday", "Samstag"), ("Sunday", "Sonntag"),
)  # fmt: skip
SEASONS = (("spring", "Frühling"), ("summer", "Sommer"), ("fall", "Herbst"), ("winter", "Winter"))

# (minutes past, English frame, German frame); the hour is the one named in English.
_CLOCK = (
    (0, "{this} o'clock", "{this} Uhr"),
    (5, "five past {this}", "fünf nach {this}"),
    (10, "ten past {this}", "zehn nach {this}"),
    (15, "a quarter past {this}", "Viertel nach {this}"),
    (20, "twenty past {this}", "zwanzig nach {this}"),
    (30, "half past {this}", "halb {next}"),
    (40, "twenty to {next}", "zwanzig vor {next}"),
    (45, "a quarter to {next}", "Viertel vor {next}"),
    (50, "ten to {next}", "zehn vor {next}"),
    (55, "five to {next}", "fünf vor {next}"),
)


def english_number(n: int) -> str:
    """Cardinal below one thousand in English words."""
    if n < 20:
        return _ENGLISH_ONES[n]
    if n < 100:
        tens = _ENGLISH_TENS[n // 10]
        return tens if n % 10 == 0 else f"{tens}-{_ENGLISH_ONES[n % 10]}"
    rest = f" and {english_number(n % 100)}" if n % 100 else ""
    return f"{_ENGLISH_ONES[n // 100]} hundred{rest}"


def german_number(n: int) -> str:
    """Cardinal below one thousand in German words, as one counts; before a noun, one is "ein", not "eins"."""
    if n < 20:
        return _GERMAN_ONES[n]
    if n < 100:
        tens = _GERMAN_TENS[n // 10]
        return (
            tens
            if n % 10 == 0
            else f"{_GERMAN_ONES[n % 10].removesuffix('s') if n % 10 == 1 else _GERMAN_ONES[n % 10]}und{tens}"
        )
    hundreds = "ein" if n // 100 == 1 else _GERMAN_ONES[n // 100]
    return hundreds + "hundert" + (german_number(n % 100) if n % 100 else "")


def english_ordinal(n: int) -> str:
    if n < 20:
        return _ENGLISH_ORDINALS.get(n, english_number(n) + "th")
    tens = _ENGLISH_TENS[n // 10]
    return tens[:-1] + "ieth" if n % 10 == 0 else f"{tens}-{english_ordinal(n % 10)}"


def german_ordinal_stem(n: int) -> str:
    """The ordinal without its ending: dritt-, siebt-, einundzwanzigst-."""
    if n < 20:
        return _GERMAN_ORDINALS.get(n, german_number(n) + "t")
    return german_number(n) + "st"


def clock_times() -> tuple[tuple[str, str], ...]:
    """All the times of day a phrasebook speaks of, as (English, German)."""
    times = []
    for hour in range(1, 13):
        following = hour % 12 + 1
        for minutes, in_english, in_german in _CLOCK:
            this = "ein" if minutes == 0 and hour == 1 else german_number(hour)
            times.append(
                (
                    in_english.format(this=english_number(hour), next=english_number(following)),
                    in_german.format(this=this, next=german_number(following)),
                )
            )
    return tuple(times)


def dates() -> tuple[tuple[str, str], ...]:
    """Days of the year as (English, German stem and month); the German ordinal still needs its ending in {}."""
    return tuple(
        (f"the {english_ordinal(day)} of {month_english}", f"{german_ordinal_stem(day)}{{}} {month_german}")
        for month_english, month_german in MONTHS
        for day in range(1, 31 if month_english != "February" else 29)
    )


def prices() -> tuple[tuple[str, str], ...]:
    """Sums in euros, half of them in words and half in figures."""
    amounts = (
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        15,
        18,
        20,
        25,
        30,
        40,
        45,
        50,
        60,
        75,
        80,
        90,
        100,
        120,
        150,
        200,
        250,
        300,
        500,
    )
    in_words = [(f"{english_number(n)} euros", f"{german_number(n)} Euro") for n in amounts]
    in_figures = [(f"{n} euros", f"{n} Euro") for n in amounts]
    return tuple(in_words + in_figures)
