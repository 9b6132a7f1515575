"""Files that a person names on the command line: a sentence a line, packed or not."""

import sys
from contextlib import closing
from pathlib import Path

from dragoman.core.errors import UserError


def sentences_in(path: Path) -> list[str]:
    """The lines of a file; UserError where it cannot be read."""
    from dragoman.corpus.lines import Lines

    with closing(Lines(path)) as file:
        lines, _ = file.take(sys.maxsize)
    return [line.removesuffix(b"\r").decode("utf-8", errors="replace") for line in lines]


def parallel_sentences(source: Path, target: Path) -> tuple[list[str], list[str]]:
    """The lines of two files; UserError, before any work, where they are not equally many."""
    sides = sentences_in(source), sentences_in(target)
    if len(sides[0]) != len(sides[1]):
        raise UserError(
            f"{source} has {len(sides[0]):,} lines, {target} has {len(sides[1]):,}",
            "line N of one belongs to line N of the other",
        )
    return sides
