"""Constructions: fixed phrases, alone, with a name, and after a word that catches attention.

They are always in the training split. Names and openings multiply them, because a phrase met once would not be learnt.
"""

from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import GENTLEMEN, LADIES, NAMES
from dragoman.corpus.phrasebook.grammar import Pair, Phrase
from dragoman.corpus.phrasebook.lexicon.phrases_for_visitors import UNADDRESSED
from dragoman.corpus.phrasebook.lexicon.phrases_said_to_someone import ADDRESSED
from dragoman.corpus.phrasebook.tables import pairs_of

ADDRESSED_PAIRS = pairs_of(ADDRESSED)
FIXED_PAIRS = ADDRESSED_PAIRS + pairs_of(UNADDRESSED)
PEOPLE_ADDRESSED = NAMES + LADIES + GENTLEMEN


@construction(FIXED_PAIRS)
def fixed_phrase(pair: Pair) -> Pair:
    return pair


@construction(ADDRESSED_PAIRS, PEOPLE_ADDRESSED)
def phrase_with_name(pair: Pair, name: Phrase) -> Pair:
    """The name comes last, before the mark: Good morning, Anna."""
    in_english, in_german = pair
    return f"{in_english[:-1]}, {name.english}{in_english[-1]}", f"{in_german[:-1]}, {name.nom}{in_german[-1]}"


@construction((("Excuse me, ", "Entschuldigung, "), ("Hello, ", "Hallo, ")), FIXED_PAIRS)
def phrase_with_opener(opener: Pair, pair: Pair) -> Pair | None:
    """A question after a word to catch someone's attention."""
    in_english, in_german = pair
    if not in_english.endswith("?") or in_english.startswith("Excuse me"):
        return None
    lowered = in_english if in_english.startswith(("I ", "I'm ")) else in_english[0].lower() + in_english[1:]
    return opener[0] + lowered, opener[1] + in_german[0].lower() + in_german[1:]
