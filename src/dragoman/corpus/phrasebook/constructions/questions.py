"""Constructions: questions, requests, imperatives, suggestions and the passive.

A German question puts the finite verb first, or second after the question word. "You" is always the formal Sie, and
so is the imperative.
"""

from dragoman.corpus.phrasebook import grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    ACTIONS,
    ACTS_ON_PEOPLE,
    ACTS_WITH_PREPOSITION,
    DELIBERATE,
    DELIBERATE_ALONE,
    DELIBERATE_ON_PEOPLE,
    OWN_DELIBERATE,
    PASSIVES,
    PEOPLE,
    SPEAKERS,
    Action,
    the_person,
)
from dragoman.corpus.phrasebook.german import words
from dragoman.corpus.phrasebook.grammar import (
    CAN,
    SHOULD,
    THE,
    THIS,
    WE,
    WHICH,
    WIRD,
    WURDE,
    YOU,
    I,
    Modal,
    Pair,
    Phrase,
    alone,
    ask,
    asked,
    base,
    be,
    in_conditional,
    in_modal,
    in_perfect,
    in_present,
    main,
    natural,
    participle,
    phrase,
    question,
    say,
    was,
)
from dragoman.corpus.phrasebook.lexicon import LANGUAGES_ALL, VERBS_ALONE, Noun, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import FUTURE_TIMES, HABITS, PAST_TIMES, Adverbial

WH_TIME_AND_REASON = (("when", "wann"), ("why", "warum"), ("where", "wo"))
MAY_I = Modal(("may", "may", "may"), grammar.MAY.german)
SPRICHT = ("spreche", "spricht", "sprechen")
ASKED_MODALS = (CAN, SHOULD, MAY_I)
COUNTED = tuple(act for act in ACTIONS if act.verb.english == "have" and not act.noun.is_mass)
RELATIVES = nouns("friend neighbor colleague guest child brother sister son daughter uncle aunt")


@construction(PEOPLE, ACTIONS)
def asks_present(who: Phrase, act: Action) -> Pair:
    return ask(asked(who, act.on_a), question(who, act.on_a, in_present))


@construction(PEOPLE, DELIBERATE, HABITS)
def asks_habit(who: Phrase, act: Action, when: Adverbial) -> Pair:
    doing = act.on_a
    return ask(f"{asked(who, doing)} {when[0]}", question(who, doing, in_present, time=when[1]))


@construction(PEOPLE, ACTIONS)
def asks_past(who: Phrase, act: Action) -> Pair:
    return ask(asked(who, act.on_the, is_past=True), question(who, act.on_the, in_perfect))


@construction(PEOPLE, ACTS_ON_PEOPLE)
def asks_past_person(who: Phrase, act: Action) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return ask(asked(who, doing, is_past=True), question(who, doing, in_perfect))


@construction(PEOPLE, ACTS_WITH_PREPOSITION)
def asks_prepositional(who: Phrase, act: Action) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return ask(asked(who, doing), question(who, doing, in_present))


@construction(PEOPLE, VERBS_ALONE, PAST_TIMES)
def asks_alone_past(who: Phrase, verb: Verb, when: Adverbial) -> Pair:
    doing = alone(verb)
    return ask(f"{asked(who, doing, is_past=True)} {when[0]}", question(who, doing, in_perfect, time=when[1]))


@construction(WH_TIME_AND_REASON, PEOPLE, ACTIONS)
def asks_when_where_why(wh: Adverbial, who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return ask(f"{wh[0]} {asked(who, doing, is_past=True)}", main(who, doing, in_perfect, first=wh[1]))


@construction((("when", "wann"), ("why", "warum")), PEOPLE, DELIBERATE_ALONE)
def asks_when_alone(wh: Adverbial, who: Phrase, verb: Verb) -> Pair:
    doing = alone(verb)
    return ask(f"{wh[0]} {asked(who, doing)}", main(who, doing, in_present, first=wh[1]))


@construction(PEOPLE, DELIBERATE)
def asks_how_often(who: Phrase, act: Action) -> Pair:
    doing = act.on_a
    return ask(f"how often {asked(who, doing)}", main(who, doing, in_present, first="wie oft"))


@construction(PEOPLE, ACTIONS)
def asks_ever(who: Phrase, act: Action) -> Pair:
    """Have you ever eaten a pear?"""
    doing = act.on_a
    in_english = f"{grammar.have(who)} {who.english} ever {participle(doing)}"
    return ask(in_english, question(who, doing, in_perfect, time="schon einmal"))


@construction(ACTIONS, PAST_TIMES)
def asks_who(act: Action, when: Adverbial) -> Pair:
    someone = Phrase("who", "wer", "wen", "wem", "", "m", 1)
    doing = act.on_the
    return ask(f"who {grammar.past(someone, doing)} {when[0]}", main(someone, doing, in_perfect, time=when[1]))


@construction(PEOPLE, DELIBERATE)
def asks_which(who: Phrase, act: Action) -> Pair:
    """The object stands first: "which book", "welches Buch"."""
    thing = natural(WHICH, act.noun)
    bare = grammar.VerbPhrase(act.verb, "", "", "")
    return ask(f"{thing.english} {asked(who, bare, is_past=True)}", main(who, bare, in_perfect, first=thing.acc))


@construction(COUNTED, PEOPLE)
def asks_how_many(act: Action, who: Phrase) -> Pair:
    return _how_many(act.noun, who)


@construction(RELATIVES, PEOPLE)
def asks_how_many_people(noun: Noun, who: Phrase) -> Pair | None:
    return None if who.noun is noun else _how_many(noun, who)


def _how_many(noun: Noun, who: Phrase) -> Pair:
    many = phrase(grammar.BARE, noun, None, True)
    return ask(
        f"how many {many.english} {grammar.do(who)} {who.english} have",
        f"wie viele {many.acc} {grammar.HAT[who.agreement]} {who.nom}",
    )


@construction(ASKED_MODALS, (I, WE), DELIBERATE)
def asks_modal_self(modal: Modal, who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return ask(f"{modal.english[0]} {who.english} {base(doing)}", question(who, doing, in_modal(modal)))


@construction(PEOPLE, DELIBERATE, FUTURE_TIMES)
def asks_can(who: Phrase, act: Action, when: Adverbial) -> Pair:
    doing = act.on_the
    return ask(f"can {who.english} {base(doing)} {when[0]}", question(who, doing, in_modal(CAN), time=when[1]))


@construction(DELIBERATE, ("could you please", "would you please"))
def asks_favor(act: Action, opening: str) -> Pair:
    """Both English openings are "Könnten Sie bitte"."""
    doing = act.on_the
    return ask(
        f"{opening} {base(doing)}",
        words(
            "könnten Sie bitte",
            grammar.reflexive(YOU, doing),
            doing.before_nicht,
            doing.after_nicht,
            act.verb.infinitive,
        ),
    )


@construction(DELIBERATE_ON_PEOPLE + DELIBERATE, (("", ""), ("please ", "bitte ")))
def imperative(act: Action, please: Adverbial) -> Pair:
    doing = act.on(the_person(act.noun))
    return say(f"{please[0]}{base(doing)}", please[1] + question(YOU, doing, in_present))


@construction(OWN_DELIBERATE, FUTURE_TIMES)
def imperative_with_time(act: Action, when: Adverbial) -> Pair:
    doing = act.on_own(YOU)
    return say(f"please {base(doing)} {when[0]}", "bitte " + question(YOU, doing, in_present, time=when[1]))


@construction(DELIBERATE + DELIBERATE_ON_PEOPLE, (("", "", "!"), ("please ", "bitte ", ".")))
def imperative_negative(act: Action, manner: tuple[str, str, str]) -> Pair:
    doing = act.on(the_person(act.noun))
    return say(
        f"{manner[0]}don't {base(doing)}", manner[1] + question(YOU, doing, in_present, nicht="nicht"), manner[2]
    )


@construction(DELIBERATE + DELIBERATE_ON_PEOPLE)
def suggestion(act: Action) -> Pair:
    doing = act.on(the_person(act.noun))
    return say(
        f"let's {base(doing)}", words("lassen Sie uns", doing.before_nicht, doing.after_nicht, act.verb.infinitive)
    )


@construction(
    PEOPLE, LANGUAGES_ALL, (("{}", "{}"), ("a little {}", "ein bisschen {}"), ("{} very well", "sehr gut {}"))
)
def speaks_language(who: Phrase, language: Adverbial, degree: Adverbial) -> Pair:
    speak = "speaks" if who.agreement == 1 else "speak"
    return say(
        f"{who.english} {speak} {degree[0].format(language[0])}",
        f"{who.nom} {SPRICHT[who.agreement]} {degree[1].format(language[1])}",
    )


@construction(PEOPLE, LANGUAGES_ALL)
def asks_language(who: Phrase, language: Adverbial) -> Pair:
    return ask(
        f"{grammar.do(who)} {who.english} speak {language[0]}", f"{SPRICHT[who.agreement]} {who.nom} {language[1]}"
    )


@construction(PASSIVES, PAST_TIMES)
def passive_past(act: Action, when: Adverbial) -> Pair:
    thing = natural(THE, act.noun)
    return say(
        f"{thing.english} {was(thing)} {_done(act.verb)} {when[0]}",
        words(thing.nom, WURDE[thing.agreement], when[1], act.verb.participle),
    )


@construction(PASSIVES, (THE, THIS), (("right now", "gerade"), ("today", "heute")))
def passive_present(act: Action, determiner: grammar.Determiner, when: Adverbial) -> Pair:
    thing = natural(determiner, act.noun)
    return say(
        f"{thing.english} {be(thing)} being {_done(act.verb)} {when[0]}",
        words(thing.nom, WIRD[thing.agreement], when[1], act.verb.participle),
    )


@construction(PASSIVES, ("must", "can"))
def passive_modal(act: Action, modal: str) -> Pair:
    thing = natural(THE, act.noun)
    finite = {"must": grammar.MUST, "can": CAN}[modal].german[thing.agreement]
    return say(f"{thing.english} {modal} be {_done(act.verb)}", words(thing.nom, finite, act.verb.participle, "werden"))


def _done(verb: Verb) -> str:
    return participle(grammar.VerbPhrase(verb, "", "", ""))


@construction(SPEAKERS, DELIBERATE)
def would_never(who: Phrase, act: Action) -> Pair:
    doing = act.on_a
    return say(f"{who.english} would never {base(doing)}", main(who, doing, in_conditional, time="nie"))
