"""German inflection and word order: pure functions from forms to forms.

Takes lemmas with their irregular forms and gives articles, adjective endings, noun cases, verb forms and clauses in
which the verb stands second, first or last. Only the persons a phrasebook needs: ich, er/sie/es, and wir/sie/Sie,
which are alike. Knows nothing of English and nothing of meaning.
"""

from typing import NamedTuple

CASES = ("nom", "acc", "dat", "gen")
GENDERS = "mfnp"  # the plural behaves like a fourth gender

# Rows: nominative, accusative, dative, genitive. Columns: masculine, feminine, neuter, plural.
_DER = ("der die das die", "den die das die", "dem der dem den", "des der des der")
_EIN = ("- e - e", "en e - e", "em er em en", "es er es er")
_DIESER = ("er e es e", "en e es e", "em er em en", "es er es er")
_AFTER_DER = ("e e e en", "en e e en", "en en en en", "en en en en")
_AFTER_EIN = ("er e es en", "en e es en", "en en en en", "en en en en")
_ALONE = ("er e es e", "en e es e", "em er em en", "en er en er")


def _table(rows: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return {
        case: dict(zip(GENDERS, row.replace("-", "").split(" "), strict=True))
        for case, row in zip(CASES, rows, strict=True)
    }


DER, EIN, DIESER = _table(_DER), _table(_EIN), _table(_DIESER)
ADJECTIVE_ENDINGS = {"der": _table(_AFTER_DER), "ein": _table(_AFTER_EIN), "": _table(_ALONE)}

VOWELS = "aeiouäöüy"
_CONTRACTIONS = {
    ("in", "das"): "ins",
    ("in", "dem"): "im",
    ("an", "das"): "ans",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}


def article(kind: str, stem: str, case: str, gender: str) -> str:
    """The determiner `stem` of the declension `kind` ("der", "ein", "dieser" or "") in one case and gender."""
    if kind == "der":
        return DER[case][gender]
    if kind == "ein":
        return stem + EIN[case][gender]
    if kind == "dieser":
        return stem + DIESER[case][gender]
    return stem


def adjective(positive: str, kind: str, case: str, gender: str) -> str:
    """An adjective before its noun, after a determiner of declension `kind`."""
    endings = ADJECTIVE_ENDINGS["der" if kind == "dieser" else kind]
    return adjective_stem(positive) + endings[case][gender]


def adjective_stem(positive: str) -> str:
    """The form that takes endings: teuer loses an e, dunkel too, hoch its c, müde its final e."""
    if positive == "hoch":
        return "hoh"
    if positive.endswith("el") or positive.endswith(("auer", "euer")):
        return positive[:-2] + positive[-1]
    return positive.removesuffix("e")


def comparative(positive: str, irregular: str = "") -> str:
    return irregular or adjective_stem(positive) + "er"


def superlative_stem(positive: str, irregular: str = "") -> str:
    """The superlative without its ending: kleinst-, lautest-."""
    root = positive.removesuffix("e")
    needs_e = root.endswith(("t", "d", "ß", "s", "z", "sch"))
    return irregular or root + ("est" if needs_e else "st")


def genitive_singular(noun: str, gender: str) -> str:
    """The regular genitive: feminine unchanged, one syllable or a hissing end takes -es, the rest -s."""
    if gender == "f":
        return noun
    is_short = (
        sum(a in VOWELS and b not in VOWELS for a, b in zip(noun.lower(), noun.lower()[1:] + " ", strict=True)) == 1
    )
    return noun + ("es" if is_short or noun.endswith(("s", "ß", "x", "z")) else "s")


def dative_plural(plural: str) -> str:
    return plural if plural.endswith(("n", "s", "a")) else plural + "n"


def contracted(preposition: str, phrase: str) -> str:
    """Preposition and noun phrase, melted where German does so: in dem Park -> im Park."""
    first, _, rest = phrase.partition(" ")
    short = _CONTRACTIONS.get((preposition, first))
    return f"{short} {rest}" if short and rest else f"{preposition} {phrase}"


def stem(infinitive: str) -> str:
    return infinitive.removesuffix("n") if infinitive.endswith(("eln", "ern")) else infinitive.removesuffix("en")


def present(infinitive: str, third: str = "") -> tuple[str, str, str]:
    """The forms for ich, er and wir of a verb without its prefix; `third` if the er-form is irregular."""
    root = stem(infinitive)
    first = root[:-2] + "le" if infinitive.endswith("eln") else root + "e"
    needs_e = root.endswith(("t", "d", "chn", "ffn"))
    return first, third or root + ("et" if needs_e else "t"), infinitive


class Predicate(NamedTuple):
    """What a verb gives to a clause: the finite form, what closes the clause, and both when the verb is last."""

    finite: str
    closing: str
    last: str


def words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def verb_second(subject: str, predicate: Predicate, *middle: str) -> str:
    return words(subject, predicate.finite, *middle, predicate.closing)


def verb_first(subject: str, predicate: Predicate, *middle: str) -> str:
    return words(predicate.finite, subject, *middle, predicate.closing)


def verb_last(opener: str, subject: str, predicate: Predicate, *middle: str) -> str:
    """A subordinate clause after a conjunction, a relative pronoun or a question word."""
    return words(opener, subject, *middle, predicate.last)
