"""How long work tells how far it is.

The rooms that work call a `Progress`; the command line decides what a person sees of it. Work started without one
is silent.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Bar(Protocol):
    """One stage under way."""

    def advance(self, amount: int, *, pairs: int = 0) -> None:
        """`amount` more units of the stage's total are done, among them `pairs` sentence pairs."""


class Progress(Protocol):
    """Where stages are announced."""

    def stage(self, name: str, *, total: int | None, unit: str) -> AbstractContextManager[Bar]:
        """Begin a stage of `total` units ("bytes" or "pairs"); None where the total cannot be known."""


class _SilentBar:
    def advance(self, amount: int, *, pairs: int = 0) -> None:
        pass


class Silent:
    """Shows nothing."""

    @contextmanager
    def stage(self, name: str, *, total: int | None, unit: str) -> Iterator[Bar]:
        yield _SilentBar()
