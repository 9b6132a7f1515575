"""Constructions: the doctor, introductions, family, work, thanks.

German professions take no article and follow the sex of the person; ailments mostly have no article either.
"""

from dragoman.corpus.phrasebook import english, grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    FAMILY,
    GENTLEMEN,
    KIN,
    LADIES,
    NAMES,
    OPENERS,
    PEOPLE,
    PLACES,
    PROFESSIONS,
    REGIONS,
    Together,
    together,
)
from dragoman.corpus.phrasebook.grammar import (
    HAT,
    HATTE,
    HER,
    HIS,
    IST,
    MY,
    PRONOUNS,
    THE,
    YOUR,
    A,
    Determiner,
    I,
    Pair,
    Phrase,
    alone,
    ask,
    at_place,
    be,
    do,
    have,
    in_perfect,
    main,
    phrase,
    say,
    to_place,
)
from dragoman.corpus.phrasebook.lexicon import NOUNS, VERBS_ALONE, Noun, Place, Region, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import DURATIONS, PAST_TIMES, Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import english_number, german_number
from dragoman.corpus.phrasebook.tables import pairs_of

AILMENTS = (
    ("a headache", "Kopfschmerzen"), ("a toothache", "Zahnschmerzen"), ("a stomachache", "Bauchschmerzen"),
    ("a sore throat", "Halsschmerzen"), ("back pain", "Rückenschmerzen"), ("a cough", "Husten"), ("a fever", "Fieber"),
    ("a cold", "eine Erkältung"), ("the flu", "die Grippe"), ("an earache", "Ohrenschmerzen"),
)  # fmt: skip
ALLERGENS = (
    ("nuts", "Nüsse"), ("milk", "Milch"), ("fish", "Fisch"), ("eggs", "Eier"), ("cats", "Katzen"), ("dogs", "Hunde"),
    ("honey", "Honig"), ("strawberries", "Erdbeeren"), ("tomatoes", "Tomaten"), ("horses", "Pferde"),
)  # fmt: skip
WORKPLACES = pairs_of("""
    doctor | hospital university
    dentist | hospital
    nurse | hospital school
    teacher | school university
    student | university
    waiter | restaurant café hotel
    cook | restaurant hotel school hospital café
    baker | bakery supermarket hotel
    driver | factory hotel airport
    mechanic | factory airport
    police officer | airport city village
    lawyer | bank office factory
    engineer | factory office university airport
    architect | office city
    translator | office bank university hospital
    journalist | city office
    singer | theater hotel church
    musician | theater café church
    actor | theater
    artist | museum theater
    gardener | hotel park zoo university castle
    hairdresser | hotel theater
""")
_PLACE_OF = {place.noun.english: place for place in PLACES}
JOBS = tuple(
    together(NOUNS[job], _PLACE_OF[place], f"work as {job}", place)
    for job, places in WORKPLACES
    for place in places.split()
)
INDIVIDUALS = (I, grammar.HE, grammar.SHE, *KIN, *NAMES)
CAUSES = nouns("rain snow wind weather noise traffic exam meeting trip appointment")


# Doctor


@construction(PEOPLE, AILMENTS, ("has", "had"))
def suffers(who: Phrase, ailment: Adverbial, tense: str) -> Pair:
    verb, forms = (have(who), HAT) if tense == "has" else ("had", HATTE)
    return say(f"{who.english} {verb} {ailment[0]}", f"{who.nom} {forms[who.agreement]} {ailment[1]}")


@construction(PEOPLE, AILMENTS, DURATIONS)
def suffers_since(who: Phrase, ailment: Adverbial, span: Adverbial) -> Pair:
    """English perfect with for, German present with seit."""
    return say(
        f"{who.english} {have(who)} had {ailment[0]} for {span[0]}",
        f"{who.nom} {HAT[who.agreement]} seit {span[1]} {ailment[1]}",
    )


@construction((MY, YOUR, HIS, HER), nouns("+body"), ("{} hurts", "does {} hurt", "{} has been hurting since yesterday"))
def hurts(owner: Determiner, part: Noun, frame: str) -> Pair:
    thing = phrase(owner, part)
    in_english = frame.format(thing.english)
    if frame.startswith("does"):
        return ask(in_english, f"tut {thing.nom} weh")
    return say(in_english, f"{thing.nom} tut {'seit gestern ' if 'since' in frame else ''}weh")


@construction(
    (("once", "einmal"), ("twice", "zweimal"), ("three times", "dreimal"), ("four times", "viermal")),
    tuple(together("take", noun, "take", noun.english) for noun in nouns("medicine pill")),
    (THE, grammar.THIS, YOUR),
    (("a day", "am Tag"), ("a week", "pro Woche")),
    (("", ""), ("please ", "bitte ")),
)
def takes_medicine(
    times: Adverbial, dose: Together[str, Noun], determiner: Determiner, span: Adverbial, please: Adverbial
) -> Pair:
    thing = phrase(determiner, dose.second)
    return say(
        f"{please[0]}take {thing.english} {times[0]} {span[0]}",
        f"{please[1]}nehmen Sie {thing.acc} {times[1]} {span[1]}",
    )


@construction(PEOPLE, ALLERGENS, (("", ""), (" not", " nicht"), (" also", " auch")))
def allergic(who: Phrase, cause: Adverbial, degree: Adverbial) -> Pair:
    return say(
        f"{who.english} {be(who)}{degree[0]} allergic to {cause[0]}",
        f"{who.nom} {IST[who.agreement]}{degree[1]} allergisch gegen {cause[1]}",
    )


# Introductions and family


@construction(NAMES, (("my name is", "mein Name ist"), ("I am", "ich bin"), ("I'm", "ich bin")), REGIONS)
def introduces_self(name: Phrase, frame: Adverbial, region: Region) -> Pair:
    return say(
        f"{frame[0]} {name.english} and I come from {region.english}",
        f"{frame[1]} {name.nom} und ich komme {region.origin}",
    )


@construction(
    NAMES + LADIES + GENTLEMEN, OPENERS[:6], (("my name is", "mein Name ist"), ("I am", "ich bin"), ("I'm", "ich bin"))
)
def says_name(name: Phrase, opener: Adverbial, frame: Adverbial) -> Pair | None:
    if name not in NAMES and frame[0] == "my name is":
        return None
    return say(f"{opener[0]}{frame[0]} {name.english}", f"{opener[1]}{frame[1]} {name.nom}")


@construction(KIN, NAMES + LADIES + GENTLEMEN)
def introduces_other(who: Phrase, name: Phrase) -> Pair | None:
    """Relatives by their first name, acquaintances also by title and surname."""
    if name.gender != who.gender or (who.noun in FAMILY and name not in NAMES):
        return None
    return say(f"this is {who.english}, {name.english}", f"das ist {who.nom}, {name.nom}")


@construction(KIN, NAMES)
def is_called(who: Phrase, name: Phrase) -> Pair | None:
    if name.gender != who.gender:
        return None
    return say(f"{who.english} is called {name.english}", f"{who.nom} heißt {name.nom}")


@construction(
    PEOPLE,
    REGIONS,
    (("come", "komme kommt kommen"), ("live", "wohne wohnt wohnen"), ("work", "arbeite arbeitet arbeiten")),
)
def lives_in(who: Phrase, region: Region, verb: tuple[str, str]) -> Pair:
    base, forms = verb
    in_english = base + "s" if who.agreement == 1 else base
    link, where = ("from", region.origin) if base == "come" else ("in", region.at)
    return say(
        f"{who.english} {in_english} {link} {region.english}",
        f"{who.nom} {forms.split()[who.agreement]} {where}",
    )


@construction(PEOPLE, REGIONS, DURATIONS, (("lived", "wohne wohnt wohnen"), ("worked", "arbeite arbeitet arbeiten")))
def lives_since(who: Phrase, region: Region, span: Adverbial, verb: tuple[str, str]) -> Pair:
    return say(
        f"{who.english} {have(who)} {verb[0]} in {region.english} for {span[0]}",
        f"{who.nom} {verb[1].split()[who.agreement]} seit {span[1]} {region.at}",
    )


@construction((*KIN, *NAMES, *PRONOUNS), range(2, 100))
def is_years_old(who: Phrase, years: int) -> Pair:
    return say(
        f"{who.english} {be(who)} {english_number(years)} years old",
        f"{who.nom} {IST[who.agreement]} {german_number(years)} Jahre alt",
    )


@construction(
    (*KIN, *NAMES, *PRONOUNS),
    (
        ("how old {be} {who}", "wie alt {ist} {wer}"),
        ("where {do} {who} come from", "woher komm{en} {wer}"),
        ("where {do} {who} live", "wo wohn{en} {wer}"),
        ("where {do} {who} work", "wo arbeit{eten} {wer}"),
        ("what {do} {who} do for a living", "was mach{en} {wer} beruflich"),
    ),
)
def asks_about_person(who: Phrase, frame: Adverbial) -> Pair:
    n = who.agreement
    endings = {"en": ("e", "t", "en")[n], "eten": ("e", "et", "en")[n]}
    return ask(
        frame[0].format(be=be(who), do=do(who), who=who.english),
        frame[1].format(ist=IST[n], wer=who.nom, **endings),
    )


# Work


def _title(who: Phrase, job: Noun) -> str:
    """The bare name of the profession in the gender of the person, empty where the word does not fit."""
    if who is I:
        return job.german
    if who.own is HER:
        return job.german if job.gender == "f" else job.feminine
    return job.german if job.gender == "m" else ""


@construction(INDIVIDUALS, PROFESSIONS, ("is", "was", "would like to become"))
def has_profession(who: Phrase, job: Noun, tense: str) -> Pair | None:
    title, a_job = _title(who, job), english.with_article(job.english)
    if not title:
        return None
    if tense == "would like to become":
        return say(f"{who.english} would like to become {a_job}", f"{who.nom} möchte {title} werden")
    if tense == "was":
        return say(f"{who.english} was {a_job}", f"{who.nom} war {title}")
    return say(f"{who.english} {be(who)} {a_job}", f"{who.nom} {IST[who.agreement]} {title}")


@construction(INDIVIDUALS, JOBS)
def works_as(who: Phrase, job: Together[Noun, Place]) -> Pair | None:
    title, a_job = _title(who, job.first), english.with_article(job.first.english)
    if not title:
        return None
    in_english, in_german = at_place(job.second, A)
    return say(
        f"{who.english} {'works' if who.agreement == 1 else 'work'} as {a_job} {in_english}",
        f"{who.nom} {('arbeite', 'arbeitet')[who.agreement]} als {title} {in_german}",
    )


# Thanks, company, causes


@construction(
    (("thank you for", "danke für"), ("thanks for", "danke für"), ("many thanks for", "vielen Dank für")),
    (THE, YOUR),
    nouns(
        "+drink +paper help answer question flower gift book dinner lunch breakfast picture photo soup cake story song"
    ),
)
def thanks_for(opener: Adverbial, determiner: Determiner, noun: Noun) -> Pair:
    thing = grammar.natural(determiner, noun)
    return say(f"{opener[0]} {thing.english}", f"{opener[1]} {thing.acc}")


@construction(PEOPLE, PLACES, KIN[:18] + NAMES[::3])
def goes_with(who: Phrase, place: Place, whom: Phrase) -> Pair | None:
    if who is whom or (who.noun and who.noun is whom.noun):
        return None
    in_english, in_german = to_place(place)
    return say(
        f"{who.english} went {in_english} with {whom.english}",
        f"{who.nom} {IST[who.agreement]} mit {whom.dat} {in_german} gegangen",
    )


@construction((("because of", "wegen"), ("despite", "trotz")), CAUSES, PEOPLE, VERBS_ALONE)
def genitive_reason(link: Adverbial, cause: Noun, who: Phrase, verb: Verb) -> Pair:
    reason, doing = phrase(THE, cause), alone(verb)
    return say(
        f"{link[0]} {reason.english}, {who.english} {grammar.past(who, doing)}",
        main(who, doing, in_perfect, first=f"{link[1]} {reason.gen}"),
    )


@construction(nouns("trip vacation concert movie meeting party class breakfast conversation tour"), PEOPLE, VERBS_ALONE)
def genitive_during(event: Noun, who: Phrase, verb: Verb) -> Pair:
    occasion, doing = phrase(THE, event), alone(verb)
    return say(
        f"during {occasion.english}, {who.english} {grammar.past(who, doing)}",
        main(who, doing, in_perfect, first=f"während {occasion.gen}"),
    )


@construction(PEOPLE, REGIONS, PAST_TIMES)
def met_in(who: Phrase, region: Region, when: Adverbial) -> Pair | None:
    """Two who meet: a reflexive verb in German."""
    if who.agreement != 2:
        return None
    oneself = "uns" if who is grammar.WE else "sich"
    return say(
        f"{who.english} met in {region.english} {when[0]}",
        f"{who.nom} haben {oneself} {when[1]} {region.at} getroffen",
    )
