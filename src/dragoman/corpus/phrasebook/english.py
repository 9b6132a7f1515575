"""English inflection: pure functions from words to words.

Takes lemmas and gives plurals, verb forms, comparatives and the choice between "a" and "an". Phrasal verbs inflect in
their first word. Irregular words are listed here once. Knows nothing of German and nothing of meaning.
"""

from dragoman.corpus.phrasebook.tables import word_set


def _irregular(table: str) -> dict[str, list[str]]:
    """Rows of `lemma form form`, three to a line or so, parted by semicolons."""
    rows = (row.split() for row in table.replace("\n", ";").split(";"))
    return {row[0]: row[1:] for row in rows if row}


_PLURALS = _irregular("""
    man men; woman women; child children; foot feet; tooth teeth; mouse mice; sheep sheep; knife knives; wife wives;
    shelf shelves; scarf scarves; person people; bus buses; stomach stomachs; potato potatoes; tomato tomatoes
""")

# base, past, participle
_VERBS = _irregular("""
    buy bought bought; sell sold sold; have had had; find found found; lose lost lost; forget forgot forgotten
    see saw seen; eat ate eaten; drink drank drunk; cut cut cut; read read read; write wrote written; send sent sent
    understand understood understood; tell told told; sing sang sung; wear wore worn; put put put; build built built
    pay paid paid; show showed shown; take took taken; draw drew drawn; throw threw thrown; bring brought brought
    break broke broken; hear heard heard; feed fed fed; meet met met; know knew known; wake woke woken
    think thought thought; give gave given; lend lent lent; sleep slept slept; swim swam swum; run ran run
    get got gotten; fall fell fallen; go went gone; come came come; sit sat sat; ride rode ridden; make made made
    be was been; plan planned planned
""")

_DOUBLED_BEFORE_ING = word_set("cut forget get put run sit swim plan")

_COMPARED = _irregular("""
    good better best; bad worse worst; big bigger biggest; hot hotter hottest; wet wetter wettest
    narrow narrower narrowest
""")
_COMPARED_WITH_MORE = word_set("boring famous broken correct modern tired")

_VOWEL_SPELLED_CONSONANTS = ("uni", "use", "euro")
_SILENT_H = ("hour", "honest")


def plural(noun: str) -> str:
    """The plural of the last word: parking lots, strawberries, boxes."""
    head, space, last = noun.rpartition(" ")
    if last in _PLURALS:
        inflected = _PLURALS[last][0]
    elif last.endswith("y") and last[-2] not in "aeiou":
        inflected = last[:-1] + "ies"
    elif last.endswith(("s", "x", "ch", "sh")):
        inflected = last + "es"
    else:
        inflected = last + "s"
    return head + space + inflected


def with_article(phrase: str) -> str:
    """The phrase after "a" or "an", by its first sound."""
    low = phrase.lower()
    if low.startswith(_SILENT_H):
        return "an " + phrase
    starts_with_vowel = low[0] in "aeiou" and not low.startswith(_VOWEL_SPELLED_CONSONANTS)
    return ("an " if starts_with_vowel else "a ") + phrase


def possessive(phrase: str) -> str:
    """The owner in the singular: my boss's, Anna's."""
    return phrase + "'s"


def third_person(verb: str) -> str:
    first, space, rest = verb.partition(" ")
    if first in ("have", "be"):
        inflected = {"have": "has", "be": "is"}[first]
    elif first.endswith("y") and first[-2] not in "aeiou":
        inflected = first[:-1] + "ies"
    elif first.endswith(("s", "x", "ch", "sh", "o")):
        inflected = first + "es"
    else:
        inflected = first + "s"
    return inflected + space + rest


def past(verb: str) -> str:
    return _past_forms(verb)[0]


def participle(verb: str) -> str:
    return _past_forms(verb)[1]


def _past_forms(verb: str) -> tuple[str, str]:
    first, space, rest = verb.partition(" ")
    if first in _VERBS:
        forms = _VERBS[first]
    elif first.endswith("e"):
        forms = [first + "d"] * 2
    elif first.endswith("y") and first[-2] not in "aeiou":
        forms = [first[:-1] + "ied"] * 2
    else:
        forms = [first + "ed"] * 2
    return forms[0] + space + rest, forms[1] + space + rest


def gerund(verb: str) -> str:
    first, space, rest = verb.partition(" ")
    if first in _DOUBLED_BEFORE_ING:
        inflected = first + first[-1] + "ing"
    elif first == "lie":
        inflected = "lying"
    elif first.endswith("e") and not first.endswith("ee") and first != "be":
        inflected = first[:-1] + "ing"
    else:
        inflected = first + "ing"
    return inflected + space + rest


def comparative(adjective: str) -> str:
    return _compared(adjective)[0]


def superlative(adjective: str) -> str:
    return _compared(adjective)[1]


def _compared(adjective: str) -> tuple[str, str]:
    if adjective in _COMPARED:
        more, most = _COMPARED[adjective]
        return more, most
    if adjective in _COMPARED_WITH_MORE:
        return "more " + adjective, "most " + adjective
    num_vowel_groups = sum(
        a in "aeiouy" and b not in "aeiouy" for a, b in zip(adjective, adjective[1:] + " ", strict=True)
    )
    if adjective.endswith("y"):
        return adjective[:-1] + "ier", adjective[:-1] + "iest"
    if num_vowel_groups == 1 or (adjective.endswith("e") and num_vowel_groups == 2):
        root = adjective.removesuffix("e")
        return root + "er", root + "est"
    return "more " + adjective, "most " + adjective
