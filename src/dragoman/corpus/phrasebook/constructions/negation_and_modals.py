"""Constructions: what is not so, and what one can, must, wants or will do.

An indefinite object is negated with kein, everything else with nicht, which stands after the object and before a
prepositional one. A modal sends its infinitive to the end.
"""

from dragoman.corpus.phrasebook import grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    ACTIONS,
    ACTS_WITH_PREPOSITION,
    DELIBERATE,
    DELIBERATE_ALONE,
    DELIBERATE_ON_PEOPLE,
    PEOPLE,
    Action,
    the_person,
)
from dragoman.corpus.phrasebook.grammar import (
    CAN,
    MODALS,
    NO,
    PAST_MODALS,
    THIS,
    WANT_TO,
    Modal,
    Pair,
    Phrase,
    alone,
    base,
    be,
    have,
    in_future,
    in_modal,
    in_perfect,
    in_present,
    main,
    natural,
    negated,
    participle,
    say,
)
from dragoman.corpus.phrasebook.lexicon import VERBS_ALONE, Verb
from dragoman.corpus.phrasebook.lexicon.adverbials import (
    FUTURE_TIMES,
    PAST_TIMES,
    Adverbial,
)

LONG_AND_SHORT = (" not", "n't")
# "Musik hören" is negated with kein, "zu Hause bleiben" with nicht: only the latter kind is negated here.
PLAIN_ALONE = tuple(verb for verb in VERBS_ALONE if not verb.fixed[:1].isupper())


# Negation


@construction(PEOPLE, ACTIONS, LONG_AND_SHORT)
def present_negative_indefinite(who: Phrase, act: Action, not_: str) -> Pair:
    nothing = act.on(natural(NO, act.noun))
    return say(f"{who.english} {negated(who, act.on_a, not_)}", main(who, nothing, in_present))


@construction(PEOPLE, ACTIONS, LONG_AND_SHORT)
def present_negative_definite(who: Phrase, act: Action, not_: str) -> Pair:
    doing = act.on(natural(THIS, act.noun))
    return say(f"{who.english} {negated(who, doing, not_)}", main(who, doing, in_present, nicht="nicht"))


@construction(PEOPLE, ACTS_WITH_PREPOSITION, LONG_AND_SHORT)
def prepositional_negative(who: Phrase, act: Action, not_: str) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {negated(who, doing, not_)}", main(who, doing, in_present, nicht="nicht"))


@construction(PEOPLE, ACTIONS, LONG_AND_SHORT)
def past_negative_indefinite(who: Phrase, act: Action, not_: str) -> Pair:
    nothing = act.on(natural(NO, act.noun))
    return say(f"{who.english} {negated(who, act.on_a, not_, is_past=True)}", main(who, nothing, in_perfect))


@construction(PEOPLE, ACTIONS, LONG_AND_SHORT)
def past_negative_definite(who: Phrase, act: Action, not_: str) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {negated(who, doing, not_, is_past=True)}", main(who, doing, in_perfect, nicht="nicht"))


@construction(PEOPLE, ACTIONS, LONG_AND_SHORT)
def not_yet_done(who: Phrase, act: Action, not_: str) -> Pair:
    doing = act.on_the
    return say(
        f"{who.english} {have(who)}{not_} {participle(doing)} yet", main(who, doing, in_perfect, nicht="noch nicht")
    )


@construction(PEOPLE, PLAIN_ALONE, LONG_AND_SHORT, PAST_TIMES)
def alone_negative(who: Phrase, verb: Verb, not_: str, when: Adverbial) -> Pair:
    doing = alone(verb)
    return say(
        f"{who.english} {negated(who, doing, not_, is_past=True)} {when[0]}",
        main(who, doing, in_perfect, time=when[1], nicht="nicht"),
    )


# Modals and the future


@construction(PEOPLE, MODALS, DELIBERATE)
def modal_statement(who: Phrase, modal: Modal, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {modal.english[who.agreement]} {base(doing)}", main(who, doing, in_modal(modal)))


@construction(PEOPLE, MODALS, DELIBERATE, FUTURE_TIMES)
def modal_with_time(who: Phrase, modal: Modal, act: Action, when: Adverbial) -> Pair:
    doing = act.on_a
    return say(
        f"{who.english} {modal.english[who.agreement]} {base(doing)} {when[0]}",
        main(who, doing, in_modal(modal), time=when[1]),
    )


@construction(PEOPLE, MODALS, DELIBERATE_ALONE, FUTURE_TIMES)
def modal_alone(who: Phrase, modal: Modal, verb: Verb, when: Adverbial) -> Pair:
    doing = alone(verb)
    return say(
        f"{who.english} {modal.english[who.agreement]} {base(doing)} {when[0]}",
        main(who, doing, in_modal(modal), time=when[1]),
    )


@construction(FUTURE_TIMES, PEOPLE, MODALS, DELIBERATE_ON_PEOPLE)
def modal_fronted_time(when: Adverbial, who: Phrase, modal: Modal, act: Action) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(
        f"{when[0]} {who.english} {modal.english[who.agreement]} {base(doing)}",
        main(who, doing, in_modal(modal), first=when[1]),
    )


@construction(PEOPLE, DELIBERATE, ("cannot", "can't"))
def modal_cannot(who: Phrase, act: Action, cannot: str) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {cannot} {base(doing)}", main(who, doing, in_modal(CAN), nicht="nicht"))


@construction(PEOPLE, DELIBERATE_ON_PEOPLE, LONG_AND_SHORT)
def modal_does_not_want(who: Phrase, act: Action, not_: str) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(
        f"{who.english} {grammar.do(who)}{not_} want to {base(doing)}",
        main(who, doing, in_modal(WANT_TO), nicht="nicht"),
    )


@construction(PEOPLE, PAST_MODALS, DELIBERATE, PAST_TIMES)
def modal_past(who: Phrase, modal: Modal, act: Action, when: Adverbial) -> Pair:
    doing = act.on_the
    return say(
        f"{who.english} {modal.english[who.agreement]} {base(doing)} {when[0]}",
        main(who, doing, in_modal(modal), time=when[1]),
    )


@construction(PEOPLE, DELIBERATE, FUTURE_TIMES, ("will", "going to"))
def future(who: Phrase, act: Action, when: Adverbial, style: str) -> Pair:
    doing = act.on_a
    auxiliary = "will" if style == "will" else f"{be(who)} going to"
    return say(f"{who.english} {auxiliary} {base(doing)} {when[0]}", main(who, doing, in_future, time=when[1]))


@construction(PEOPLE, DELIBERATE_ON_PEOPLE, ("will not", "won't"))
def future_negative(who: Phrase, act: Action, will_not: str) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {will_not} {base(doing)}", main(who, doing, in_future, nicht="nicht"))
