"""Constructions: sentences of two clauses, where the German verb moves to the end of the second or the first.

Because, that, if, whether, although, when, before, relative clauses, infinitives with zu. A comma always parts the
clauses.
"""

from dragoman.corpus.phrasebook import grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    ACQUAINTANCES,
    ACTIONS,
    ACTS_ON_PEOPLE,
    DELIBERATE,
    DELIBERATE_ALONE,
    DESCRIBED_ACTIONS,
    DESCRIBED_ACTS_ON_PEOPLE,
    DESCRIBED_PEOPLE,
    DESCRIBED_THINGS,
    FAMILY,
    MOODS,
    PEOPLE,
    SPEAKERS,
    Action,
    Described,
    DescribedAction,
    the_person,
)
from dragoman.corpus.phrasebook.german import DER
from dragoman.corpus.phrasebook.grammar import (
    CAN,
    HAVE_TO,
    IST,
    MUST,
    NO,
    THE,
    WANT_TO,
    I,
    Modal,
    Pair,
    Phrase,
    VerbPhrase,
    alone,
    back_reference,
    base,
    be,
    in_conditional,
    in_modal,
    in_perfect,
    in_present,
    main,
    natural,
    past,
    phrase,
    present,
    progressive,
    question,
    say,
    subordinate,
)
from dragoman.corpus.phrasebook.lexicon import STATES_ALL, Verb
from dragoman.corpus.phrasebook.lexicon.adverbials import FUTURE_TIMES, PAST_TIMES, Adverbial

OPINIONS = (
    ("know", "weiß weiß wissen"), ("think", "denke denkt denken"), ("hope", "hoffe hofft hoffen"),
    ("believe", "glaube glaubt glauben"), ("say", "sage sagt sagen"),
)  # fmt: skip
CLAUSE_MODALS = (MUST, HAVE_TO, WANT_TO)
DEEDS_ON_DESCRIBED = tuple(one for one in DESCRIBED_ACTIONS if not one.action.verb.is_state)
_REASONS = ("tired", "sick", "hungry", "sad", "angry", "nervous", "busy", "late", "on vacation", "in a hurry")
REASONS = tuple(state for state in STATES_ALL if state[0] in _REASONS)
DEEDS_ON_PEOPLE = tuple(
    one for one in DESCRIBED_ACTS_ON_PEOPLE if not one.action.verb.is_state and one.action.noun not in FAMILY
)
ASKED = tuple(act for act in ACTS_ON_PEOPLE if act.verb.english == "ask")
KNOWN = tuple(act for act in ACTS_ON_PEOPLE if act.verb.english == "know" and act.noun not in FAMILY + ACQUAINTANCES)
STATE_NAMES = tuple(state for state in STATES_ALL if state[0] not in ("married", "single"))


def _opinion(who: Phrase, opinion: tuple[str, str]) -> Pair:
    verb, forms = opinion
    third = verb + "s"
    return f"{who.english} {third if who.agreement == 1 else verb}", f"{who.nom} {forms.split()[who.agreement]}"


@construction(PEOPLE, DELIBERATE, REASONS)
def because_of_state(who: Phrase, act: Action, state: Adverbial) -> Pair:
    doing, again = act.on_a, back_reference(who)
    return say(
        f"{who.english} {grammar.negated(who, doing, ' not')} because {again.english} {be(again)} {state[0]}",
        f"{main(who, act.on(natural(NO, act.noun)), in_present)}, weil {again.nom} {state[1]} {IST[again.agreement]}",
    )


@construction(PEOPLE, MOODS, ACTIONS)
def because_of_deed(who: Phrase, state: Adverbial, act: Action) -> Pair:
    doing, again = act.on_the, back_reference(who)
    return say(
        f"{who.english} {be(who)} {state[0]} because {again.english} {past(again, doing)}",
        f"{who.nom} {IST[who.agreement]} {state[1]}, {subordinate('weil', again, doing, in_perfect)}",
    )


@construction(PEOPLE, DELIBERATE_ALONE, CLAUSE_MODALS, DELIBERATE, FUTURE_TIMES)
def because_of_duty(who: Phrase, verb: Verb, modal: Modal, act: Action, when: Adverbial) -> Pair:
    again, doing, undone = back_reference(who), act.on_a, alone(verb)
    duty = f"{modal.english[again.agreement]} {base(doing)} {when[0]}"
    reason = subordinate("weil", again, doing, in_modal(modal), time=when[1])
    return say(
        f"{who.english} cannot {base(undone)} because {again.english} {duty}",
        f"{main(who, undone, in_modal(CAN), nicht='nicht')}, {reason}",
    )


@construction(SPEAKERS, OPINIONS, PEOPLE, ACTIONS)
def that_past(thinker: Phrase, opinion: tuple[str, str], who: Phrase, act: Action) -> Pair | None:
    if (thinker.noun and thinker.noun is who.noun) or (thinker is who and thinker is not I):
        return None
    doing = act.on_the
    in_english, in_german = _opinion(thinker, opinion)
    return say(
        f"{in_english} that {who.english} {past(who, doing)}",
        f"{in_german}, {subordinate('dass', who, doing, in_perfect)}",
    )


@construction(SPEAKERS, OPINIONS, DESCRIBED_THINGS)
def that_description(thinker: Phrase, opinion: tuple[str, str], one: Described) -> Pair:
    thing = phrase(THE, one.noun)
    in_english, in_german = _opinion(thinker, opinion)
    return say(
        f"{in_english} that {thing.english} is {one.adjective.english}",
        f"{in_german}, dass {thing.nom} {one.adjective.german} ist",
    )


@construction((" not", "n't"), ("whether", "if"), PEOPLE, ACTIONS, FUTURE_TIMES)
def whether(not_: str, opener: str, who: Phrase, act: Action, when: Adverbial) -> Pair | None:
    if not act.verb.is_deliberate:
        return None
    doing = act.on_the
    return say(
        f"I do{not_} know {opener} {who.english} {progressive(who, doing)} {when[0]}",
        f"ich weiß nicht, {subordinate('ob', who, doing, in_present, time=when[1])}",
    )


@construction(SPEAKERS, ASKED, PEOPLE, DELIBERATE_ALONE)
def asked_if(asker: Phrase, act: Action, who: Phrase, verb: Verb) -> Pair | None:
    asked, doing = the_person(act.noun), alone(verb)
    if len({asker.own, asked.own, who.own}) < 3:
        return None
    return say(
        f"{asker.english} asked {asked.english} if {who.english} had {grammar.participle(doing)}",
        f"{main(asker, act.on(asked), in_perfect)}, {subordinate('ob', who, doing, in_perfect)}",
    )


@construction(PEOPLE, STATE_NAMES, DELIBERATE)
def although(who: Phrase, state: Adverbial, act: Action) -> Pair:
    again, doing = back_reference(who), act.on_the
    return say(
        f"{who.english} {progressive(who, doing)} although {again.english} {be(again)} {state[0]}",
        f"{main(who, doing, in_present)}, obwohl {again.nom} {state[1]} {IST[again.agreement]}",
    )


CONDITIONS = (
    ("it rains {}", "es {} regnet"),
    ("it snows {}", "es {} schneit"),
    ("it is cold {}", "es {} kalt ist"),
    ("it is hot {}", "es {} heiß ist"),
    ("the weather is bad {}", "das Wetter {} schlecht ist"),
    ("the weather is good {}", "das Wetter {} gut ist"),
    ("the train is late {}", "der Zug {} Verspätung hat"),
)


@construction(CONDITIONS, PEOPLE, DELIBERATE_ALONE, FUTURE_TIMES[:3])
def if_weather(condition: Adverbial, who: Phrase, verb: Verb, when: Adverbial) -> Pair:
    """The clause with wenn fills the first place, so the verb comes next."""
    doing = alone(verb)
    return say(
        f"if {condition[0].format(when[0])}, {who.english} will {base(doing)}",
        f"wenn {condition[1].format(when[1])}, {question(who, doing, grammar.in_future)}",
    )


@construction(PEOPLE, STATE_NAMES, DELIBERATE)
def when_in_state(who: Phrase, state: Adverbial, act: Action) -> Pair:
    again, doing = back_reference(who), act.on_a
    return say(
        f"when {who.english} {be(who)} {state[0]}, {again.english} always {present(again, doing)}",
        f"wenn {who.nom} {state[1]} {IST[who.agreement]}, {question(again, doing, in_present, time='immer')}",
    )


@construction(PEOPLE, DELIBERATE, DELIBERATE_ALONE)
def before_doing(who: Phrase, act: Action, verb: Verb) -> Pair:
    again, doing, later = back_reference(who), act.on_the, alone(verb)
    return say(
        f"before {who.english} {present(who, later)}, {again.english} {present(again, doing)}",
        f"{subordinate('bevor', who, later, in_present)}, {question(again, doing, in_present)}",
    )


@construction(
    SPEAKERS, DELIBERATE, (("time", "Zeit"), ("money", "Geld"), ("a car", "ein Auto"), ("more time", "mehr Zeit"))
)
def if_i_had(who: Phrase, act: Action, wish: Adverbial) -> Pair:
    again, doing = back_reference(who), act.on_a
    return say(
        f"if {who.english} had {wish[0]}, {again.english} would {base(doing)}",
        f"wenn {who.nom} {wish[1]} {grammar.HAETTE[who.agreement]}, {question(again, doing, in_conditional)}",
    )


@construction(DEEDS_ON_DESCRIBED, SPEAKERS, PAST_TIMES)
def relative_object(one: DescribedAction, who: Phrase, when: Adverbial) -> Pair:
    return _relative_object(one, who, when, "that")


@construction(DEEDS_ON_PEOPLE, SPEAKERS, PAST_TIMES)
def relative_person(one: DescribedAction, who: Phrase, when: Adverbial) -> Pair | None:
    return None if who.noun is one.action.noun else _relative_object(one, who, when, "whom")


def _relative_object(one: DescribedAction, who: Phrase, when: Adverbial, opener: str) -> Pair:
    """The thing that someone acted on is so-and-so; the relative pronoun takes the case the verb governs."""
    thing, verb = natural(THE, one.action.noun), one.action.verb
    bare = VerbPhrase(verb, "", "", "")
    pronoun = DER[verb.case][thing.gender]
    relative = subordinate(pronoun, who, bare, in_perfect, time=when[1])
    return say(
        f"{thing.english} {opener} {who.english} {past(who, bare)} {when[0]} {be(thing)} {one.adjective.english}",
        f"{thing.nom}, {relative}, {IST[thing.agreement]} {one.adjective.german}",
    )


@construction(DESCRIBED_PEOPLE, ACTIONS)
def relative_subject(one: Described, act: Action) -> Pair | None:
    """The person who does something is so-and-so."""
    if one.noun in FAMILY:
        return None
    person, doing = phrase(THE, one.noun), act.on_the
    pronoun = Phrase("who", DER["nom"][person.gender], "", "", "", person.gender, 1)
    return say(
        f"{person.english} who {past(person, doing)} is {one.adjective.english}",
        f"{person.nom}, {subordinate('', pronoun, doing, in_perfect)}, ist {one.adjective.german}",
    )


@construction(
    KNOWN, ACTIONS, (("do you know", "kennen Sie", "?"), ("I know", "ich kenne", "."), ("we know", "wir kennen", "."))
)
def relative_known(known: Action, act: Action, frame: tuple[str, str, str]) -> Pair:
    """Do you know the person who did it?"""
    person, doing = phrase(THE, known.noun), act.on_the
    pronoun = Phrase("who", DER["nom"][person.gender], "", "", "", person.gender, person.agreement)
    return say(
        f"{frame[0]} {person.english} who {past(person, doing)}",
        f"{frame[1]} {person.acc}, {subordinate('', pronoun, doing, in_perfect)}",
        frame[2],
    )
