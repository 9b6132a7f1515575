"""Translated files until they are fetched: in memory, for a while, under names that cannot be guessed."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finished:
    """A translated file."""

    name: str
    content: bytes
    expires: float


class Shelf:
    """Holds so many bytes and seconds; the oldest goes first."""

    def __init__(self, most_bytes: int, keep_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes = most_bytes
        self._keep_s = keep_s
        self._clock = clock
        self._files: OrderedDict[str, Finished] = OrderedDict()

    def put(self, name: str, content: bytes) -> str:
        """Keep a file and give the key that fetches it."""
        key = secrets.token_urlsafe(24)
        self._files[key] = Finished(name, content, self._clock() + self._keep_s)
        self._tidy()
        return key

    def get(self, key: str) -> Finished | None:
        self._tidy()
        return self._files.get(key)

    def _tidy(self) -> None:
        size = sum(len(file.content) for file in self._files.values())
        while self._files:
            oldest = next(iter(self._files.values()))
            is_only_one = len(self._files) == 1
            if oldest.expires > self._clock() and (size <= self._most_bytes or is_only_one):
                return
            self._files.popitem(last=False)
            size -= len(oldest.content)
