"""Noun phrases and verb phrases in both languages at once.

Takes lexemes and gives `Phrase` (a noun phrase in all four cases, with its English) and `VerbPhrase` (a verb with its
object), and from those the finite forms and the middle of a clause. English tenses map to German ones by rule: the
simple past to the perfect, the progressive to the present. Knows no construction: those put these pieces in order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from dragoman.corpus.phrasebook import english, german
from dragoman.corpus.phrasebook.german import Predicate
from dragoman.corpus.phrasebook.lexicon import Adjective, Noun, Place, Verb

Pair = tuple[str, str]
Forms = tuple[str, str, str]  # as for I/ich, he/er, we/wir


class Determiner(NamedTuple):
    english: str
    kind: str  # how it and the adjective after it decline: "der", "ein", "dieser" or "" for not at all
    stem: str = ""


THE = Determiner("the", "der")
A = Determiner("a", "ein", "ein")
NO = Determiner("no", "ein", "kein")
BARE = Determiner("", "")
THIS = Determiner("this", "dieser", "dies")
THESE = Determiner("these", "dieser", "dies")
WHICH = Determiner("which", "dieser", "welch")
MY = Determiner("my", "ein", "mein")
YOUR = Determiner("your", "ein", "Ihr")
HIS = Determiner("his", "ein", "sein")
HER = Determiner("her", "ein", "ihr")
OUR = Determiner("our", "ein", "unser")
THEIR = Determiner("their", "ein", "ihr")
POSSESSIVES = (MY, YOUR, HIS, HER, OUR, THEIR)


@dataclass(frozen=True, eq=False, slots=True)
class Phrase:
    """Someone or something, ready to be used in any place of a sentence."""

    english: str
    nom: str
    acc: str
    dat: str
    gen: str
    gender: str  # m, f, n, or p for the plural
    agreement: int  # 0 agrees like I/ich, 1 like he/er, 2 like we/wir
    own: Determiner = THEIR  # the possessive that refers back to it
    english_object: str = ""  # only pronouns differ
    noun: Noun | None = None

    def case(self, name: str) -> str:
        return {"nom": self.nom, "acc": self.acc, "dat": self.dat, "gen": self.gen}[name]

    @property
    def as_object(self) -> str:
        return self.english_object or self.english


I = Phrase("I", "ich", "mich", "mir", "", "p", 0, MY, "me")  # noqa: E741
YOU = Phrase("you", "Sie", "Sie", "Ihnen", "", "p", 2, YOUR, "you")
HE = Phrase("he", "er", "ihn", "ihm", "", "m", 1, HIS, "him")
SHE = Phrase("she", "sie", "sie", "ihr", "", "f", 1, HER, "her")
IT = Phrase("it", "es", "es", "ihm", "", "n", 1, HIS, "it")
WE = Phrase("we", "wir", "uns", "uns", "", "p", 2, OUR, "us")
THEY = Phrase("they", "sie", "sie", "ihnen", "", "p", 2, THEIR, "them")
PRONOUNS = (I, YOU, HE, SHE, WE, THEY)


def back_reference(who: Phrase) -> Phrase:
    """The pronoun that refers back to someone: my sister ... she, das Mädchen ... sie, das Kind ... es."""
    if who in PRONOUNS:
        return who
    if who.agreement == 2:
        return THEY
    if who.own is HER:
        return SHE
    return IT if who.gender == "n" else HE


@cache
def phrase(determiner: Determiner, noun: Noun, adjective: Adjective | None = None, is_plural: bool = False) -> Phrase:
    """The noun phrase in both languages: phrase(A, car, new) is "a new car" and "ein neues Auto" in all its cases."""
    gender = "p" if is_plural else noun.gender
    in_german = []
    for case in german.CASES:
        attribute = german.adjective(adjective.german, determiner.kind, case, gender) if adjective else ""
        article = german.article(determiner.kind, determiner.stem, case, gender)
        in_german.append(german.words(article, attribute, noun.form(case, is_plural)))
    head = english.plural(noun.english) if is_plural else noun.english
    described = german.words(adjective.english if adjective else "", head)
    in_english = english.with_article(described) if determiner is A else german.words(determiner.english, described)
    nom, acc, dat, gen = in_german
    return Phrase(in_english, nom, acc, dat, gen, gender, 2 if is_plural else 1, _own(noun, is_plural), noun=noun)


def _own(noun: Noun, is_plural: bool) -> Determiner:
    if is_plural:
        return THEIR
    return HER if noun.gender == "f" or noun.german == "Mädchen" else HIS


def named(name: str, gender: str) -> Phrase:
    return Phrase(name, name, name, name, name + "s", gender, 1, HER if gender == "f" else HIS)


def natural(determiner: Determiner, noun: Noun, adjective: Adjective | None = None) -> Phrase:
    """The noun phrase in the number one would use: the car, but the shoes."""
    if determiner is THIS and noun.is_usually_plural:
        determiner = THESE
    return phrase(determiner, noun, adjective, noun.is_usually_plural)


def indefinite(noun: Noun, adjective: Adjective | None = None) -> Phrase:
    """With "a" if one can count it, bare if not: a car, bread, shoes."""
    return natural(BARE if noun.is_mass or noun.is_usually_plural else A, noun, adjective)


class VerbPhrase(NamedTuple):
    """A verb with its object. German "nicht" stands between the two German parts."""

    verb: Verb
    english_object: str
    before_nicht: str
    after_nicht: str


def with_object(verb: Verb, thing: Phrase) -> VerbPhrase:
    in_german = thing.case(verb.case)
    if verb.preposition:
        return VerbPhrase(verb, thing.as_object, "", german.contracted(verb.preposition, in_german))
    return VerbPhrase(verb, thing.as_object, in_german, verb.fixed)


def alone(verb: Verb) -> VerbPhrase:
    return VerbPhrase(verb, "", "", verb.fixed)


def middle(subject: Phrase, act: VerbPhrase, time: str = "", nicht: str = "") -> tuple[str, ...]:
    """The middle of a German clause: reflexive, time, object, nicht, prepositional object."""
    return reflexive(subject, act), time, act.before_nicht, nicht, act.after_nicht


def reflexive(subject: Phrase, act: VerbPhrase) -> str:
    """The reflexive pronoun; it is dative only beside an accusative object: ich sehe mir das Bild an."""
    if not act.verb.is_reflexive:
        return ""
    if subject is I:
        return "mir" if act.before_nicht else "mich"
    return "uns" if subject is WE else "sich"


# English verb phrases


def _finish(verb_form: str, act: VerbPhrase) -> str:
    return f"{verb_form} {act.english_object}" if act.english_object else verb_form


def base(act: VerbPhrase) -> str:
    return _finish(act.verb.english, act)


def present(subject: Phrase, act: VerbPhrase) -> str:
    if act.verb.english.startswith("be "):
        return _finish(f"{be(subject)} {act.verb.english[3:]}", act)
    return _finish(english.third_person(act.verb.english) if subject.agreement == 1 else act.verb.english, act)


def past(subject: Phrase, act: VerbPhrase) -> str:
    if act.verb.english.startswith("be "):
        return _finish(f"{was(subject)} {act.verb.english[3:]}", act)
    return _finish(english.past(act.verb.english), act)


def participle(act: VerbPhrase) -> str:
    return _finish(english.participle(act.verb.english), act)


def progressive(subject: Phrase, act: VerbPhrase) -> str:
    """The English progressive, or the simple present for verbs of state, which have none."""
    if act.verb.is_state:
        return present(subject, act)
    return f"{be(subject)} {_finish(english.gerund(act.verb.english), act)}"


def negated(subject: Phrase, act: VerbPhrase, not_: str, is_past: bool = False) -> str:
    """The English negative, `not_` being " not" or "n't": does not buy, doesn't buy, is not interested in."""
    if not act.verb.english.startswith("be "):
        return f"{'did' if is_past else do(subject)}{not_} {base(act)}"
    auxiliary = (was if is_past else be)(subject)
    return _finish(f"{auxiliary}{' not' if auxiliary == 'am' else not_} {act.verb.english[3:]}", act)


def asked(subject: Phrase, act: VerbPhrase, is_past: bool = False) -> str:
    """The English question without its mark: does he buy, is he interested in."""
    if act.verb.english.startswith("be "):
        auxiliary, rest = (was if is_past else be)(subject), _finish(act.verb.english[3:], act)
    else:
        auxiliary, rest = "did" if is_past else do(subject), base(act)
    return f"{auxiliary} {subject.english} {rest}"


def be(subject: Phrase) -> str:
    return ("am", "is", "are")[subject.agreement]


def contracted_be(subject: Phrase) -> str:
    """I'm, he's, we're: for pronouns only."""
    return subject.english + ("'m", "'s", "'re")[subject.agreement]


def was(subject: Phrase) -> str:
    return ("was", "was", "were")[subject.agreement]


def have(subject: Phrase) -> str:
    return ("have", "has", "have")[subject.agreement]


def do(subject: Phrase) -> str:
    return ("do", "does", "do")[subject.agreement]


# German predicates

IST = ("bin", "ist", "sind")
WAR = ("war", "war", "waren")
HAT = ("habe", "hat", "haben")
HATTE = ("hatte", "hatte", "hatten")
WIRD = ("werde", "wird", "werden")
WURDE = ("wurde", "wurde", "wurden")
HAETTE = ("hätte", "hätte", "hätten")
WUERDE = ("würde", "würde", "würden")


class Modal(NamedTuple):
    english: Forms
    german: Forms


def _always(word: str) -> Forms:
    return word, word, word


CAN = Modal(_always("can"), ("kann", "kann", "können"))
MUST = Modal(_always("must"), ("muss", "muss", "müssen"))
HAVE_TO = Modal(("have to", "has to", "have to"), ("muss", "muss", "müssen"))
WANT_TO = Modal(("want to", "wants to", "want to"), ("will", "will", "wollen"))
MAY = Modal(("am allowed to", "is allowed to", "are allowed to"), ("darf", "darf", "dürfen"))
SHOULD = Modal(_always("should"), ("sollte", "sollte", "sollten"))
WOULD_LIKE_TO = Modal(_always("would like to"), ("möchte", "möchte", "möchten"))
MODALS = (CAN, MUST, HAVE_TO, WANT_TO, MAY, SHOULD, WOULD_LIKE_TO)
COULD = Modal(("was able to", "was able to", "were able to"), ("konnte", "konnte", "konnten"))
HAD_TO = Modal(_always("had to"), ("musste", "musste", "mussten"))
WANTED_TO = Modal(_always("wanted to"), ("wollte", "wollte", "wollten"))
WAS_ALLOWED_TO = Modal(("was allowed to", "was allowed to", "were allowed to"), ("durfte", "durfte", "durften"))
PAST_MODALS = (COULD, HAD_TO, WANTED_TO, WAS_ALLOWED_TO)


Tense = Callable[[Phrase, Verb], Predicate]


def in_present(subject: Phrase, verb: Verb) -> Predicate:
    finite = verb.present[subject.agreement]
    return Predicate(finite, verb.prefix, verb.prefix + finite)


def in_perfect(subject: Phrase, verb: Verb) -> Predicate:
    """The perfect, the everyday past of every verb but haben (and sein and the modals), which keep the simple past."""
    if verb.infinitive == "haben":
        return Predicate(HATTE[subject.agreement], "", HATTE[subject.agreement])
    finite = (IST if verb.takes_sein else HAT)[subject.agreement]
    return Predicate(finite, verb.participle, f"{verb.participle} {finite}")


def with_auxiliary(subject: Phrase, auxiliary: Forms, infinitive: str) -> Predicate:
    """A finite auxiliary with an infinitive at the end: wird kaufen, muss kaufen, würde kaufen."""
    finite = auxiliary[subject.agreement]
    return Predicate(finite, infinitive, f"{infinitive} {finite}")


def in_modal(modal: Modal) -> Tense:
    return lambda subject, verb: with_auxiliary(subject, modal.german, verb.infinitive)


def in_future(subject: Phrase, verb: Verb) -> Predicate:
    return with_auxiliary(subject, WIRD, verb.infinitive)


def in_conditional(subject: Phrase, verb: Verb) -> Predicate:
    return with_auxiliary(subject, WUERDE, verb.infinitive)


def zu_infinitive(act: VerbPhrase, *time: str) -> str:
    """An infinitive clause of an act one does oneself, without a reflexive: das Buch zu lesen."""
    return german.words(*time, act.before_nicht, act.after_nicht, act.verb.zu_infinitive)


# German clauses


def main(who: Phrase, act: VerbPhrase, tense: Tense, first: str = "", time: str = "", nicht: str = "") -> str:
    """A main clause, the verb second. Whatever comes first sends the subject behind the verb."""
    if first:
        return f"{first} {question(who, act, tense, time, nicht)}"
    return german.verb_second(who.nom, tense(who, act.verb), *middle(who, act, time, nicht))


def question(who: Phrase, act: VerbPhrase, tense: Tense, time: str = "", nicht: str = "") -> str:
    """The verb first. The reflexive precedes a noun (freut sich Anna) but follows a pronoun (freue ich mich)."""
    pronoun, *rest = middle(who, act, time, nicht)
    order = (who.nom, pronoun) if who.english_object else (pronoun, who.nom)
    return german.verb_first(german.words(*order), tense(who, act.verb), *rest)


def subordinate(opener: str, who: Phrase, act: VerbPhrase, tense: Tense, time: str = "", nicht: str = "") -> str:
    """A clause after weil, dass, ob, wo and their like, the verb last."""
    return german.verb_last(opener, who.nom, tense(who, act.verb), *middle(who, act, time, nicht))


# Places


def at_place(place: Place, determiner: Determiner = THE) -> Pair:
    there = phrase(determiner, place.noun)
    return f"{place.english_at} {there.english}", german.contracted(place.german_at, there.dat)


def to_place(place: Place, determiner: Determiner = THE) -> Pair:
    there = phrase(determiner, place.noun)
    in_german = there.dat if place.german_to == "zu" else there.acc
    return f"to {there.english}", german.contracted(place.german_to, in_german)


# Sentences


def say(in_english: str, in_german: str, mark: str = ".") -> Pair:
    """Two clauses as sentences: capital first letter, and the mark at the end."""
    return in_english[0].upper() + in_english[1:] + mark, in_german[0].upper() + in_german[1:] + mark


def ask(in_english: str, in_german: str) -> Pair:
    return say(in_english, in_german, "?")
