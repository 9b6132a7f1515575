"""Files and marked-up texts: what of them is translated, and the file around it that stays as it was."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.documents import formats
from dragoman.documents.retelling import Note
from dragoman.serve.refusal import RefusedError, invalid

SUFFIXES = (".txt", ".md", ".html", ".htm", ".srt", ".po")
CANDIDATES = 3
"""Translations of a segment, of which the first that keeps its tags and numbers is taken."""
Rank = Callable[[Sequence[str], int], Awaitable[list[list[str]]]]
"""Texts and a number → so many translations of each, best first."""


@dataclass(frozen=True)
class Retold:
    """A file in the other language, and the lines whose text was left as it was."""

    text: str
    left_lines: tuple[int, ...] = ()


def readable(name: str, content: bytes) -> tuple[str, str]:
    """The text of a file and the suffix that says how to read it."""
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise RefusedError(415, f"Files of this kind are not translated; there are {', '.join(SUFFIXES)}.")
    try:
        return content.decode(), suffix
    except UnicodeDecodeError:
        raise invalid("the file is not UTF-8 text") from None


async def retold(text: str, suffix: str, rank: Rank) -> Retold:
    """A text of some kind in the other language."""
    kind = formats.format_of(Path(f"a{suffix}"))
    if kind == "text":
        [[translation, *_]] = await rank([text], 1)
        return Retold(translation)
    loop = asyncio.get_running_loop()
    asked: list[Future[list[list[str]]]] = []

    async def ranked(texts: Sequence[str]) -> list[list[str]]:
        return await rank(texts, CANDIDATES)

    def candidates(texts: Sequence[str]) -> list[list[str]]:
        asked.append(asyncio.run_coroutine_threadsafe(ranked(texts), loop))
        return asked[-1].result()

    def read_and_written() -> tuple[str, list[Note]]:
        return formats.retold(text, kind, candidates)

    try:
        # Reading and writing a large file takes a while: other requests go on meanwhile.
        translation, notes = await asyncio.to_thread(read_and_written)
    except UserError as error:
        raise invalid(str(error)) from None
    finally:
        for future in asked:  # nobody waits for them if this is cancelled
            future.cancel()
    return Retold(translation, tuple(note.line for note in notes))
