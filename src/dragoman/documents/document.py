"""What a document is to a translator: segments to translate, and everything around them, which stays as it is.

A segment is a sentence or a paragraph as people read it, with its codes: tags, placeholders, links, code. A segment
that is not translated is written as it was, to the byte. Pure values; the parsers of each format make them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["opens", "closes", "alone"]


@dataclass(frozen=True)
class Code:
    """Something inside a segment that is no language: it must be in the translation, as it is."""

    source: str
    role: Role = "alone"
    name: str = ""
    """What it opens or closes, such as b."""


Item = str | Code


@dataclass(frozen=True)
class Segment:
    """Something to translate: text as people read it, and codes, in their order."""

    raw: str
    """As the document has it."""
    items: tuple[Item, ...]
    line: int
    """Where it begins, from 1."""
    write: Callable[[str], str] = str
    """Text as the format writes it, such as with & as &amp;."""
    finish: Callable[[str], str] = str
    """The last touch to a whole translation, such as breaking it into lines."""

    is_original: bool = True
    """Whether `raw` is the text itself, and not the empty place for its translation."""

    def written(self, items: "tuple[Item, ...]") -> str:
        return self.finish("".join(item.source if isinstance(item, Code) else self.write(item) for item in items))


@dataclass(frozen=True)
class Document:
    """Text that stays, and segments, in their order."""

    parts: tuple[str | Segment, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(part for part in self.parts if isinstance(part, Segment))

    def rebuilt(self, translations: Mapping[int, tuple[Item, ...]]) -> str:
        """The document with these segments replaced, by their number; all others as they were."""
        text, number = [], 0
        for part in self.parts:
            if isinstance(part, str):
                text.append(part)
                continue
            items = translations.get(number)
            # A translation that is the original keeps the original's bytes, whatever other ways there are to write it.
            is_same = items is None or (part.is_original and items == part.items)
            text.append(part.raw if items is None or is_same else part.written(items))
            number += 1
        return "".join(text)
