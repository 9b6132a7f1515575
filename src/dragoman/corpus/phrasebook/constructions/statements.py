"""Constructions: statements about one verb and its object, in every tense, positive and negative.

The English simple past is the German perfect, the progressive the present. German order is fixed: time, object, nicht,
prepositional object; whatever comes first sends the subject behind the verb.
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
    DESCRIBED_ACTIONS,
    GIFTS,
    ONGOING,
    ONGOING_DESCRIBED,
    OWN_DEEDS,
    OWN_ONGOING,
    PEOPLE,
    RECIPIENTS,
    Action,
    DescribedAction,
    the_person,
)
from dragoman.corpus.phrasebook.grammar import (
    PRONOUNS,
    THE,
    Pair,
    Phrase,
    alone,
    be,
    contracted_be,
    have,
    in_perfect,
    in_present,
    indefinite,
    main,
    natural,
    participle,
    past,
    present,
    progressive,
    say,
)
from dragoman.corpus.phrasebook.lexicon import VERBS_ALONE, Verb
from dragoman.corpus.phrasebook.lexicon.adverbials import (
    COMMENTS,
    FREQUENCIES,
    FUTURE_TIMES,
    HABITS,
    NOW,
    PAST_TIMES,
    Adverbial,
)

# Present


@construction(PEOPLE, DELIBERATE, HABITS)
def present_habit(who: Phrase, act: Action, when: Adverbial) -> Pair:
    doing = act.on_a
    return say(f"{who.english} {present(who, doing)} {when[0]}", main(who, doing, in_present, time=when[1]))


@construction(PEOPLE, ACTIONS, FREQUENCIES)
def present_frequency(who: Phrase, act: Action, how_often: Adverbial) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {how_often[0]} {present(who, doing)}", main(who, doing, in_present, nicht=how_often[1]))


@construction(PEOPLE, ONGOING)
def present_definite(who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {progressive(who, doing)}", main(who, doing, in_present))


@construction(PEOPLE, DELIBERATE, NOW)
def progressive_now(who: Phrase, act: Action, when: Adverbial) -> Pair:
    doing = act.on_a
    return say(f"{who.english} {progressive(who, doing)} {when[0]}", main(who, doing, in_present, time=when[1]))


@construction(PEOPLE, OWN_ONGOING)
def present_own_thing(who: Phrase, act: Action) -> Pair:
    doing = act.on_own(who)
    return say(f"{who.english} {progressive(who, doing)}", main(who, doing, in_present))


@construction(PEOPLE, ONGOING_DESCRIBED)
def present_described(who: Phrase, act: DescribedAction) -> Pair:
    doing = act.action.on(natural(THE, act.action.noun, act.adjective))
    return say(f"{who.english} {progressive(who, doing)}", main(who, doing, in_present))


@construction(PRONOUNS, ONGOING)
def present_contracted(who: Phrase, act: Action) -> Pair | None:
    """I'm reading a book: the visitor's English, the same German."""
    if act.verb.is_state:
        return None
    doing = act.on_a
    return say(contracted_be(who) + progressive(who, doing).removeprefix(be(who)), main(who, doing, in_present))


@construction(FUTURE_TIMES, PEOPLE, DELIBERATE)
def fronted_time_present(when: Adverbial, who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{when[0]} {who.english} {progressive(who, doing)}", main(who, doing, in_present, first=when[1]))


@construction(PEOPLE, DELIBERATE_ON_PEOPLE, FUTURE_TIMES)
def present_person(who: Phrase, act: Action, when: Adverbial) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {progressive(who, doing)} {when[0]}", main(who, doing, in_present, time=when[1]))


@construction(PEOPLE, ACTS_WITH_PREPOSITION)
def prepositional_present(who: Phrase, act: Action) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {progressive(who, doing)}", main(who, doing, in_present))


@construction(PEOPLE, DELIBERATE_ALONE, HABITS)
def alone_habit(who: Phrase, verb: Verb, when: Adverbial) -> Pair:
    doing = alone(verb)
    return say(f"{who.english} {present(who, doing)} {when[0]}", main(who, doing, in_present, time=when[1]))


# Past


@construction(PEOPLE, ACTIONS)
def past_definite(who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {past(who, doing)}", main(who, doing, in_perfect))


@construction(PEOPLE, OWN_DEEDS, PAST_TIMES)
def past_own_thing(who: Phrase, act: Action, when: Adverbial) -> Pair:
    doing = act.on_own(who)
    return say(f"{who.english} {past(who, doing)} {when[0]}", main(who, doing, in_perfect, time=when[1]))


@construction(PEOPLE, DESCRIBED_ACTIONS, PAST_TIMES)
def past_described(who: Phrase, act: DescribedAction, when: Adverbial) -> Pair:
    doing = act.action.on(indefinite(act.action.noun, act.adjective))
    return say(f"{who.english} {past(who, doing)} {when[0]}", main(who, doing, in_perfect, time=when[1]))


@construction(PAST_TIMES, PEOPLE, ACTIONS)
def fronted_time_past(when: Adverbial, who: Phrase, act: Action) -> Pair:
    doing = act.on_a
    return say(f"{when[0]} {who.english} {past(who, doing)}", main(who, doing, in_perfect, first=when[1]))


@construction(COMMENTS, PEOPLE, ACTIONS)
def fronted_comment_past(comment: Adverbial, who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{comment[0]} {who.english} {past(who, doing)}", main(who, doing, in_perfect, first=comment[1]))


@construction(PEOPLE, ACTS_ON_PEOPLE, PAST_TIMES)
def past_person(who: Phrase, act: Action, when: Adverbial) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {past(who, doing)} {when[0]}", main(who, doing, in_perfect, time=when[1]))


@construction(PEOPLE, ACTS_WITH_PREPOSITION)
def prepositional_past(who: Phrase, act: Action) -> Pair | None:
    if who.noun is act.noun:
        return None
    doing = act.on(the_person(act.noun))
    return say(f"{who.english} {past(who, doing)}", main(who, doing, in_perfect))


@construction(PEOPLE, VERBS_ALONE, PAST_TIMES)
def alone_past(who: Phrase, verb: Verb, when: Adverbial) -> Pair:
    doing = alone(verb)
    return say(f"{who.english} {past(who, doing)} {when[0]}", main(who, doing, in_perfect, time=when[1]))


@construction(PEOPLE, ACTIONS)
def already_done(who: Phrase, act: Action) -> Pair:
    doing = act.on_the
    return say(f"{who.english} {have(who)} already {participle(doing)}", main(who, doing, in_perfect, nicht="schon"))


# Giving


@construction(PEOPLE, GIFTS, RECIPIENTS)
def giving_present(who: Phrase, act: Action, whom: Phrase) -> Pair | None:
    return _giving(who, act, whom, is_past=False)


@construction(PEOPLE, GIFTS, RECIPIENTS)
def giving_past(who: Phrase, act: Action, whom: Phrase) -> Pair | None:
    return _giving(who, act, whom, is_past=True)


def _giving(who: Phrase, act: Action, whom: Phrase, is_past: bool) -> Pair | None:
    """The person before the thing in both languages; "give me" has no "to", "explain" and "recommend" need one."""
    if who is whom or (who.noun and who.noun is whom.noun) or (who.own is whom.own and whom.english_object):
        return None
    thing = grammar.indefinite(act.noun) if is_past else natural(THE, act.noun)
    verb = act.verb
    needs_to = verb.english in ("explain", "recommend")
    both = f"{thing.english} to {whom.as_object}" if needs_to else f"{whom.as_object} {thing.english}"
    doing = grammar.VerbPhrase(verb, both, f"{whom.dat} {thing.acc}", "")
    if is_past:
        return say(f"{who.english} {past(who, doing)}", main(who, doing, in_perfect))
    return say(f"{who.english} {progressive(who, doing)}", main(who, doing, in_present))
