"""A document in another language: its segments translated, its codes and numbers all still there, or said which not.

Takes a document and a function that gives the best translations of texts. A segment without codes is translated as it
is. One with codes is translated whole: placeholders stay in the text, and what a tag marks is found again by its own
translation. Where that fails, the texts between the codes are translated one by one. What still loses a placeholder
or a number is left as it was, with a note. Knows no model.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dragoman.documents.codes import are_nested, merged, numbers_in, partners, split_at
from dragoman.documents.document import Code, Document, Item, Segment

Candidates = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts → the best few translations of each, best first."""


@dataclass(frozen=True)
class Note:
    """A segment that was left as it was."""

    line: int
    text: str


@dataclass(frozen=True)
class _Plan:
    """A segment on its way. The codes at its ends stay there; `inner` is what lies between them."""

    segment: Segment
    first: tuple[Item, ...]
    inner: tuple[Item, ...]
    last: tuple[Item, ...]

    def texts(self) -> list[str]:
        """Everything whose translation may be needed: the whole, what each tag marks, the texts between codes."""
        if not any(isinstance(item, Code) for item in self.inner):
            return [_plain(self.inner)] if self.inner else []
        spans = [_plain(self.inner[start:end]) for start, end in partners(self.inner)]
        return [_plain(self.inner), *spans, *(item for item in self.inner if isinstance(item, str))]


def retell(document: Document, candidates: Candidates) -> tuple[str, list[Note]]:
    """The document in the other language, and what was left."""
    plans = [_planned(segment) for segment in document.segments]
    texts = list(dict.fromkeys(text.strip() for plan in plans for text in plan.texts() if text.strip()))
    found = candidates(texts) if texts else []
    known = {text: [_ended(text, each) for each in best] for text, best in zip(texts, found, strict=True)}
    translations: dict[int, tuple[Item, ...]] = {}
    notes: list[Note] = []
    for number, plan in enumerate(plans):
        if not any(_has_words(item) for item in plan.inner if isinstance(item, str)):
            if not plan.segment.is_original:  # nothing to translate, but a place to fill
                translations[number] = plan.segment.items
            continue
        inner = _whole(plan.inner, known) or _between(plan.inner, known)
        if inner is None:
            notes.append(Note(plan.segment.line, _plain(plan.segment.items).strip()))
        else:
            translations[number] = merged((*plan.first, *inner, *plan.last))
    return document.rebuilt(translations), notes


def _planned(segment: Segment) -> _Plan:
    items = list(segment.items)
    start, end = 0, len(items)
    pairs = dict(partners(items))
    while start < end:
        item = items[start]
        if isinstance(item, str):
            break
        if item.role != "opens" or pairs.get(start) == end - 1:
            end -= pairs.get(start) == end - 1
            start += 1
        else:
            break
    while end > start and isinstance(last := items[end - 1], Code) and last.role == "alone":
        end -= 1
    return _Plan(segment, tuple(items[:start]), tuple(items[start:end]), tuple(items[end:]))


def _whole(items: tuple[Item, ...], known: dict[str, list[str]]) -> tuple[Item, ...] | None:
    """All of it translated as one, its codes put back; None where they cannot be."""
    text = _plain(items)
    pairs = partners(items)
    paired = {place for pair in pairs for place in pair}
    alone = [item for place, item in enumerate(items) if isinstance(item, Code) and place not in paired]
    if any(item.role != "alone" for item in alone):
        return None
    for candidate in known[text.strip()]:
        if candidate == text.strip():
            return items
        if not _keeps(text, candidate, [code.source for code in alone]):
            continue
        spans = [_span(_plain(items[start:end]), candidate, known) for start, end in pairs]
        if all(span is not None for span in spans):
            found = [span for span in spans if span is not None]
            marks = [(*span, items[start], items[end]) for span, (start, end) in zip(found, pairs, strict=True)]
            if are_nested(found):
                return _spaced(text, _with_codes(_marked(candidate, marks), alone))
    return None


def _marked(text: str, marks: Sequence[tuple[int, int, Item, Item]]) -> list[Item]:
    """A text with codes around spans of it; of two that begin together the longer opens first."""
    openings = sorted(((start, -end, code) for start, end, code, _ in marks), key=lambda entry: entry[:2])
    closings = sorted(((end, -start, code) for start, end, _, code in marks), key=lambda entry: entry[:2])
    cuts = sorted({0, len(text), *(entry[0] for entry in (*openings, *closings))})
    items: list[Item] = []
    for place, start in enumerate(cuts):
        items += [code for end, _, code in closings if end == start]
        items += [code for begin, _, code in openings if begin == start]
        items.append(text[start : cuts[place + 1]] if place + 1 < len(cuts) else "")
    return items


def _with_codes(items: Sequence[Item], codes: Sequence[Code]) -> list[Item]:
    """The same, with these codes no longer as text."""
    if not codes:
        return list(items)
    pattern = re.compile("|".join(re.escape(code.source) for code in sorted(codes, key=lambda code: -len(code.source))))
    return [part for item in items for part in ([item] if isinstance(item, Code) else split_at(pattern, item))]


def _span(marked: str, candidate: str, known: dict[str, list[str]]) -> tuple[int, int] | None:
    """Where what a tag marks stands in the translation of the whole: the one place that has its own translation."""
    for own in known.get(marked.strip(), [marked.strip()] if not _has_words(marked) else []):
        for form in (own, own.rstrip(".!?"), own[:1].lower() + own[1:], own[:1].lower() + own[1:].rstrip(".!?")):
            start = candidate.find(form)
            if form.strip() and start >= 0 and candidate.count(form) == 1 and _is_word(candidate, start, len(form)):
                return start, start + len(form)
    return None


def _between(items: tuple[Item, ...], known: dict[str, list[str]]) -> tuple[Item, ...] | None:
    """Each text between codes by itself; None where one loses a number."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, Code) or not _has_words(item):
            result.append(item)
            continue
        kept = [each for each in known[item.strip()] if _keeps(item, each, [])]
        if not kept:
            return None
        result += _spaced(item, [kept[0]])
    return tuple(result)


def _keeps(text: str, candidate: str, codes: Sequence[str]) -> bool:
    """Whether a translation has all that must stay: each code as often as the text, and the same numbers."""
    if not candidate.strip() or any(candidate.count(code) != text.count(code) for code in codes):
        return False
    places = [candidate.find(code) for code in codes]
    in_order = places == sorted(places) or len(set(codes)) != len(codes)
    return in_order and numbers_in(candidate) == numbers_in(text)


def _spaced(text: str, items: Sequence[Item]) -> tuple[Item, ...]:
    """With the white space that the text has at its ends."""
    stripped = text.strip()
    start = text.index(stripped)
    return merged([text[:start], *items, text[start + len(stripped) :]])


def _plain(items: Sequence[Item]) -> str:
    """As a person reads it: tags are not there, placeholders are."""
    return "".join(item if isinstance(item, str) else item.source if item.role == "alone" else "" for item in items)


def _ended(text: str, translation: str) -> str:
    """Without the full stop that a model puts after a heading or half a sentence, because it learnt sentences."""
    is_open = text[-1:].isalnum() and translation.endswith(".") and not translation.endswith("..")
    return translation[:-1] if is_open else translation


def _has_words(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_word(text: str, start: int, length: int) -> bool:
    before, after = text[start - 1 : start] if start else "", text[start + length : start + length + 1]
    return not before.isalnum() and not after.isalnum()
