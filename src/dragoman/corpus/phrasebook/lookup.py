"""Finding a sentence in a construction without enumerating its product space.

Takes the name of a construction and an English sentence and gives the German one, or None if the construction cannot
say it. A filler is tried only if its English could stand in the sentence, which leaves few enough choices to build.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from dragoman.corpus.phrasebook import english
from dragoman.corpus.phrasebook.constructions.register import CONSTRUCTIONS
from dragoman.corpus.phrasebook.fillers import Action, Described, DescribedAction, Together
from dragoman.corpus.phrasebook.grammar import Determiner, Phrase
from dragoman.corpus.phrasebook.lexicon import Adjective, Noun, Place, Region, Verb
from dragoman.corpus.phrasebook.lexicon.numbers import english_number


def lookup(construction: str, sentence: str) -> str | None:
    """The German of an English sentence, as this construction makes it."""
    one = CONSTRUCTIONS[construction]
    lowered = sentence.lower()
    candidates = [_candidates(slot, lowered) for slot in one.slots]
    for fillers in product(*candidates):
        pair = one.build(*fillers)
        if pair is not None and pair[0] == sentence:
            return pair[1]
    return None


def _candidates(slot: Sequence[Any], sentence: str) -> list[Any]:
    unique = {id(filler): filler for filler in slot}.values()  # pronouns stand in a slot more than once
    return [filler for filler in unique if _may_occur(filler, sentence)]


def _may_occur(filler: Any, sentence: str) -> bool:
    """Whether the filler could have given its English to the lowered sentence; True where that is hard to tell."""
    match filler:
        case Noun():
            forms = [filler.english, english.plural(filler.english)]
        case Verb():
            base = filler.english.removeprefix("be ")
            forms = [
                base,
                english.third_person(base),
                english.past(base),
                english.participle(base),
                english.gerund(base),
            ]
        case Adjective():
            forms = [filler.english, english.comparative(filler.english), english.superlative(filler.english)]
        case Phrase():
            forms = [filler.english, filler.as_object]
        case Region():
            forms = [filler.english]
        case Determiner():
            forms = [filler.english]
        case bool():
            return True
        case int():
            forms = [english_number(filler)]
        case Place():
            return _may_occur(filler.noun, sentence)
        case Action():
            return _may_occur(filler.verb, sentence) and _may_occur(filler.noun, sentence)
        case Described():
            return _may_occur(filler.adjective, sentence) and _may_occur(filler.noun, sentence)
        case DescribedAction():
            return _may_occur(filler.action, sentence) and _may_occur(filler.adjective, sentence)
        case Together():
            return _may_occur(filler.first, sentence) and _may_occur(filler.second, sentence)
        case (str(first), str(), *_):
            return all(word.strip(".,?!") in sentence for word in first.lower().split() if "{" not in word)
        case _:
            return True
    return any(form.lower() in sentence for form in forms)
