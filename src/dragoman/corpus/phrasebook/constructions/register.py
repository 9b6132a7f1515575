"""The register of constructions.

A construction is a named function from one filler per slot to an English and a German sentence, or None where the
fillers do not go together. Its slots span a product space; a sentence is an index into that space, so it needs no
storage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from dragoman.corpus.phrasebook.fillers import Combination
from dragoman.corpus.phrasebook.grammar import Pair

Build = Callable[..., Pair | None]


@dataclass(frozen=True, eq=False)
class Construction:
    name: str
    slots: tuple[Sequence[Any], ...]
    build: Build
    has_combination: bool

    @property
    def size(self) -> int:
        return prod(len(slot) for slot in self.slots)

    def fillers(self, index: int) -> list[Any]:
        """The fillers at `index` of the product space, the last slot turning fastest."""
        chosen = []
        for slot in reversed(self.slots):
            index, position = divmod(index, len(slot))
            chosen.append(slot[position])
        chosen.reverse()
        return chosen

    def narrowed(self, is_wanted: Callable[[Any], bool]) -> "Construction":
        """The same construction with only the wanted combinations in the first slot that has any of them."""
        for position, slot in enumerate(self.slots):
            wanted = [filler for filler in slot if hasattr(filler, "combinations") and is_wanted(filler)]
            if wanted:
                return replace(self, slots=(*self.slots[:position], wanted, *self.slots[position + 1 :]))
        return replace(self, slots=((),))


CONSTRUCTIONS: dict[str, Construction] = {}


def construction(*slots: Sequence[Any]) -> Callable[[Build], Build]:
    """Registers a function as the construction of its name; it is called with one filler of each slot."""

    def register(build: Build) -> Build:
        has_combination = any(hasattr(slot[0], "combinations") for slot in slots)
        assert build.__name__ not in CONSTRUCTIONS, f"two constructions are called {build.__name__}"
        CONSTRUCTIONS[build.__name__] = Construction(build.__name__, slots, build, has_combination)
        return build

    return register


def combinations(fillers: Sequence[Any]) -> list[Combination]:
    """The lexeme combinations that a choice of fillers brings together."""
    return [pair for filler in fillers if hasattr(filler, "combinations") for pair in filler.combinations]
