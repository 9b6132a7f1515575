"""Constructions: infinitives with zu and um zu, and main clauses joined by und, aber and weil.

German sets a comma before the infinitive clause; a separable prefix takes zu inside it (anzurufen).
"""

from dragoman.corpus.phrasebook import grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    DELIBERATE,
    DELIBERATE_ALONE,
    DELIBERATE_ON_PEOPLE,
    PEOPLE,
    PLACES,
    Action,
    the_person,
)
from dragoman.corpus.phrasebook.german import words
from dragoman.corpus.phrasebook.grammar import (
    HAVE_TO,
    IST,
    THE,
    WANTED_TO,
    Pair,
    Phrase,
    alone,
    back_reference,
    base,
    in_modal,
    in_perfect,
    main,
    past,
    phrase,
    say,
    to_place,
    zu_infinitive,
)
from dragoman.corpus.phrasebook.lexicon import Noun, Place, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import clock_times

JUDGEMENTS = (
    ("important", "wichtig"), ("difficult", "schwierig"), ("easy", "einfach"), ("too late", "zu spät"),
    ("necessary", "notwendig"), ("possible", "möglich"), ("forbidden", "verboten"),
)  # fmt: skip
EARLY = tuple(
    verb
    for verb in DELIBERATE_ALONE
    if verb.english
    in ("get up", "have breakfast", "shower", "pay", "go home", "come back", "get dressed", "clean up", "make coffee")
)
ERRANDS = tuple(
    act for act in DELIBERATE if act.verb.english in ("buy", "eat", "drink", "read", "meet", "look for", "take")
)


@construction(JUDGEMENTS, DELIBERATE + DELIBERATE_ON_PEOPLE)
def zu_judgement(judgement: Adverbial, act: Action) -> Pair:
    doing = act.on(the_person(act.noun))
    return say(f"it is {judgement[0]} to {base(doing)}", f"es ist {judgement[1]}, {zu_infinitive(doing)}")


@construction(PEOPLE, (("tried", "versucht"), ("forgot", "vergessen"), ("promised", "versprochen")), DELIBERATE)
def zu_attempt(who: Phrase, attempt: Adverbial, act: Action) -> Pair:
    doing = act.on_the
    return say(
        f"{who.english} {attempt[0]} to {base(doing)}",
        f"{who.nom} {grammar.HAT[who.agreement]} {attempt[1]}, {zu_infinitive(doing)}",
    )


@construction(
    PEOPLE, (("no time", "keine Zeit"), ("no desire", "keine Lust"), ("the opportunity", "die Gelegenheit")), DELIBERATE
)
def zu_occasion(who: Phrase, occasion: Adverbial, act: Action) -> Pair:
    doing = act.on_a
    return say(
        f"{who.english} {grammar.have(who)} {occasion[0]} to {base(doing)}",
        f"{who.nom} {grammar.HAT[who.agreement]} {occasion[1]}, {zu_infinitive(doing)}",
    )


@construction(PEOPLE, PLACES, ERRANDS, ("to", "in order to"))
def um_zu_errand(who: Phrase, place: Place, act: Action, opener: str) -> Pair | None:
    if place.noun is act.noun:
        return None
    doing, (to_english, to_german) = act.on_a, to_place(place)
    return say(
        f"{who.english} went {to_english} {opener} {base(doing)}",
        f"{who.nom} {IST[who.agreement]} {to_german} gegangen, um {zu_infinitive(doing)}",
    )


@construction(PEOPLE, DELIBERATE, DELIBERATE)
def two_deeds(who: Phrase, first: Action, second: Action) -> Pair | None:
    """Two past deeds joined by and: one subject, one auxiliary where both verbs take haben."""
    if first.noun is second.noun or first.verb is second.verb:
        return None
    one, other = first.on_a, second.on_the
    return say(
        f"{who.english} {past(who, one)} and {past(who, other)}",
        f"{main(who, one, in_perfect)} und {words(*grammar.middle(who, other), second.verb.participle)}",
    )


@construction(
    PEOPLE, DELIBERATE, (("no time", "keine Zeit"), ("no money", "kein Geld"), ("a headache", "Kopfschmerzen"))
)
def wanted_but(who: Phrase, act: Action, obstacle: Adverbial) -> Pair:
    again, doing = back_reference(who), act.on_a
    return say(
        f"{who.english} wanted to {base(doing)}, but {again.english} had {obstacle[0]}",
        f"{main(who, doing, in_modal(WANTED_TO))}, aber {again.nom} {grammar.HATTE[again.agreement]} {obstacle[1]}",
    )


@construction(PEOPLE, EARLY, nouns("train bus plane ship"), clock_times())
def early_because_of_train(who: Phrase, verb: Verb, vehicle: Noun, time: Adverbial) -> Pair:
    """The train leaves at a time, so one has to do something early tomorrow."""
    doing, ride = alone(verb), phrase(THE, vehicle)
    leaves = "abfliegt" if vehicle.english == "plane" else "abfährt"
    has_to = HAVE_TO.english[who.agreement]
    return say(
        f"{who.english} {has_to} {base(doing)} early tomorrow because {ride.english} leaves at {time[0]}",
        f"{main(who, doing, in_modal(HAVE_TO), time='morgen früh')}, weil {ride.nom} um {time[1]} {leaves}",
    )
