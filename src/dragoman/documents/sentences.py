"""Text in sentences, as a model learnt to read them.

Careful rather than keen: two sentences that stay together are translated well, one that is torn apart is not. So an
end needs a mark, white space, and something that can begin a sentence; a full stop after an initial, an abbreviation
or a number ends nothing. Line breaks always separate. Nothing is lost: the units with what stands between them are
the text. Knows the marks of many scripts and the common abbreviations of a few languages.
"""

import re
from dataclasses import dataclass

LINE_BREAK = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_END = re.compile(
    r"(?P<mark>[.!?…؟۔।॥]+)[\"'”’»«“‘›‹)\]]*(?P<space>[^\S\n]+)(?=[\"'“„”«»‘‚(\[¿¡–—-]*\s*(?P<next>\S))"
    r"|[。！？｡]+[”’」』）]*(?P<none>[^\S\n]*)(?=\S)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]*$")
_ABBREVIATION = re.compile(
    r"""(?xi)
    mrs? | ms | dr | prof | st | sr | jr | vs | vol | pp | figs? | eds | al | ca | approx | dept | gen | gov | hon | inc
    | ltd | corp | rev | capt | lt | sgt | maj | jan | feb | apr | aug | sept | oct | nov | dec | e\.g | i\.e | cf | viz
    | z\.b | d\.h | u\.a | o\.ä | u\.ä | s\.o | s\.u | z\.t | i\.d\.r | v\.a | bzw | usw | evtl | ggf | inkl | exkl
    | zzgl | nr | str | tel | abs | bd | hr | frl | dipl | ing
    | mme | mlle | mm | av | env | p\.ex | etc | éd | fasc | sra | srta | uds | dña | págs? | núm | avda
    | sigg | sig\.ra | dott | avv | pag | ecc
    """
)
_LONGEST_BEFORE_NUMBER = 4
"""Letters of a short word whose full stop before a number ends nothing: No. 5, Fig. 3, Art. 12."""


@dataclass(frozen=True)
class Unit:
    """White space before it (only of the first of a line), a sentence, and what separates it from the next."""

    before: str
    text: str
    after: str


def units_of(text: str) -> list[Unit]:
    """The sentences of a text; joined again they are the text. An empty line is a unit without text."""
    units: list[Unit] = []
    start = 0
    for match in LINE_BREAK.finditer(text):
        units += _of_line(text[start : match.start()], match[0])
        start = match.end()
    return units + _of_line(text[start:], "") if start < len(text) or not units else units


def _of_line(line: str, end: str) -> list[Unit]:
    body = line.strip()
    if not body:
        return [Unit(line, "", end)]
    first = line.index(body)
    before, after = line[:first], line[first + len(body) :] + end
    units, start = [], 0
    for match in _END.finditer(body):
        group = "none" if match["mark"] is None else "space"
        if group == "none" or _ends_sentence(body[start : match.start("space")], match["mark"], match["next"]):
            units.append(Unit(before, body[start : match.start(group)], match[group]))
            start, before = match.end(group), ""
    return [*units, Unit(before, body[start:], after)]


def _ends_sentence(sentence: str, mark: str, following: str) -> bool:
    if following.islower() or (mark == "…" and not following.isupper()):
        return False
    if mark != ".":
        return True
    bare = sentence.rstrip("\"'”’»«“‘›‹)]").removesuffix(".")
    found = _LAST_WORD.search(bare)
    word = found[0] if found else ""
    is_initial = len(word) == 1 and word.isalpha()
    is_label = following.isdecimal() and len(word) <= _LONGEST_BEFORE_NUMBER
    is_short = is_initial or is_label or word.isdecimal() or _ABBREVIATION.fullmatch(word)
    return bool(word) and not is_short
