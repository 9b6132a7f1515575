"""Placeholders and addresses: what programs, not people, read in a text."""

import re
from collections.abc import Sequence
from itertools import pairwise

from dragoman.documents.document import Code, Item

PLACEHOLDER = re.compile(
    r"""(?x)
    \{\{.*?\}\} | \{%.*?%\} | \$\{[^{}\s]*\} | \{[\w.!\[\]-]*(?::[^{}\s]*)?\} | (?<![\w$])\$[A-Za-z_]\w*
    | \{\w+,\s*(?:plural|select|selectordinal|number|date|time)\b(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}
    | (?<![\w%])%(?:\(\w+\))?(?:\d+\$)?[-+\#0]*(?:\*|\d+)?(?:\.\d+)?(?:hh|h|ll|l|L|z|j|t)?[diouxXeEfFgGaAcspn@](?!\w)
    | %(?:\(\w+\))[diouxXeEfFgGcs] | %\d+\$[ds@] | %% | %\d+(?!\d|\s*%)
    | (?:https?|ftp)://[^\s<>"')\]]*[^\s<>"')\].,;:!?]
    | [\w.+-]+@[\w-]+\.[\w.-]*\w
    """
)
_NUMBER = re.compile(r"\d+(?:[.,:  ]\d+)*")


def with_placeholders(items: Sequence[Item]) -> tuple[Item, ...]:
    """The same, with placeholders in its texts as codes."""
    found: list[Item] = []
    for item in items:
        found += [item] if isinstance(item, Code) else split_at(PLACEHOLDER, item)
    return merged(found)


def split_at(pattern: re.Pattern[str], text: str) -> list[Item]:
    """A text with the matches of a pattern as codes."""
    items: list[Item] = []
    start = 0
    for match in pattern.finditer(text):
        items += [text[start : match.start()], Code(match[0])]
        start = match.end()
    return [item for item in (*items, text[start:]) if item != ""]


def merged(items: Sequence[Item]) -> tuple[Item, ...]:
    """Neighbouring texts as one, without empty ones."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, str) and result and isinstance(result[-1], str):
            result[-1] += item
        elif item != "":
            result.append(item)
    return tuple(result)


def numbers_in(text: str) -> list[str]:
    """The numbers of a text, however their thousands are separated, in order of size."""
    return sorted(re.sub(r"\D", "", match) for match in _NUMBER.findall(text))


def partners(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Places of codes that open and close the same thing, inner ones first; what has no partner is not among them."""
    pairs: list[tuple[int, int]] = []
    open_places: list[int] = []
    for place, item in enumerate(items):
        if not isinstance(item, Code) or item.role == "alone":
            continue
        if item.role == "opens":
            open_places.append(place)
            continue
        for depth in range(len(open_places) - 1, -1, -1):
            opener = items[open_places[depth]]
            if isinstance(opener, Code) and opener.name == item.name:
                pairs.append((open_places[depth], place))
                del open_places[depth:]
                break
    return pairs


def are_nested(spans: Sequence[tuple[int, int]]) -> bool:
    """Whether no span ends inside another."""
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return all(b[1] <= a[1] or b[0] >= a[1] for i, a in enumerate(ordered) for b in ordered[i + 1 :]) and all(
        a != b for a, b in pairwise(ordered)
    )
