"""Reading the text tables the lexicon is written in.

A table is a string of rows, one to a line, cells parted by `|`. Knows nothing of what the cells mean.
"""

from collections.abc import Iterator


def rows(table: str, num_columns: int) -> Iterator[list[str]]:
    """The cells of each row, stripped; missing cells at the end are empty."""
    for line in table.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        yield cells + [""] * (num_columns - len(cells))


def pairs_of(table: str) -> tuple[tuple[str, str], ...]:
    """A table of two columns, usually English and German."""
    return tuple((cells[0], cells[1]) for cells in rows(table, 2))


def word_list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())
