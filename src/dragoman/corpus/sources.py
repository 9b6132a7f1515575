"""Parallel text as it lies on disk, read as a stream of blocks.

Takes two line-aligned files or one TSV and gives blocks of undecoded line pairs, bounded in number and bytes.
Knows nothing of languages, cleaning or encodings. Two sides of unequal length are a `UserError` that says where
they drift apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.corpus.drift import where_lines_drift
from dragoman.corpus.lines import FileRead, Lines

BLOCK_PAIRS = 32_768
BLOCK_BYTES = 8_000_000


@dataclass(frozen=True)
class ParallelText:
    """Where one corpus lies: two line-aligned files, or one TSV of source, target and, optionally, a document id."""

    name: str
    source: Path
    target: Path | None = None
    weight: float = 1.0

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.source,) if self.target is None else (self.source, self.target)


@dataclass(frozen=True)
class Block:
    """Consecutive pairs of one text, as bytes without line ends. `overlong` are the places of lines left out."""

    first_line: int
    sources: list[bytes]
    targets: list[bytes]
    documents: list[bytes] | None
    overlong: frozenset[int]

    def __len__(self) -> int:
        return len(self.sources)


class Reader:
    """All pairs of one text, in order; once they have been read, `files` says what they came from."""

    def __init__(self, text: ParallelText, on_bytes: Callable[[int], None] = lambda num_bytes: None) -> None:
        self.text = text
        self.files: tuple[FileRead, ...] = ()
        self._on_bytes = on_bytes

    def blocks(self) -> Iterator[Block]:
        """UserError where a file cannot be read to its end or the sides do not have the same number of lines."""
        sides = [Lines(path, self._on_bytes) for path in self.text.files]
        try:
            yield from self._tsv_blocks(*sides) if self.text.target is None else self._paired_blocks(*sides)
            self.files = tuple(side.summary() for side in sides)
        finally:
            for side in sides:
                side.close()

    def _paired_blocks(self, source: Lines, target: Lines) -> Iterator[Block]:
        first_line = 1
        while True:
            sources, source_overlong = source.take(BLOCK_PAIRS, BLOCK_BYTES)
            targets, target_overlong = target.take(max(len(sources), 1), BLOCK_BYTES)
            if bool(sources) != bool(targets):
                raise _unequal(self.text, source.count_all(), target.count_all())
            if not sources:
                return
            size = len(targets)
            source.put_back(sources[size:], (place - size for place in source_overlong if place >= size))
            overlong = target_overlong | {place for place in source_overlong if place < size}
            yield Block(first_line, sources[:size], targets, None, overlong)
            first_line += size

    def _tsv_blocks(self, lines: Lines) -> Iterator[Block]:
        first_line = 1
        while True:
            rows, overlong = lines.take(BLOCK_PAIRS, BLOCK_BYTES)
            if not rows:
                return
            # A row without a tab has an empty target; cells beyond the third mean nothing to us.
            cells = [[*row.rstrip(b"\r").split(b"\t", 3), b"", b""][:3] for row in rows]
            sources, targets, documents = (list(column) for column in zip(*cells, strict=True))
            yield Block(first_line, sources, targets, documents if any(documents) else None, overlong)
            first_line += len(rows)


def _unequal(text: ParallelText, num_source: int, num_target: int) -> UserError:
    assert text.target is not None
    problem = f"{text.source} has {num_source:,} lines but {text.target} has {num_target:,}"
    line = where_lines_drift(text.source, text.target, num_target - num_source)
    return UserError(problem, f"they seem to drift apart near line {line:,}" if line else "look at their ends")
