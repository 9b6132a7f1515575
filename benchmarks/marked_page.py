"""Pages of `docs/` that benchmarks write into: what was measured stands between two marks, people write the rest."""

from pathlib import Path

from dragoman.core.files import write_atomically


def replaced(text: str, part: str, measured: str) -> str:
    """The page with what was measured between the part's marks."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"the page has no place between {begin} and {end}")
    return f"{before}{begin}\n\n{measured}\n\n{end}{after}"


def put(page: Path, part: str, measured: str) -> None:
    """In place of what stood between the marks."""
    write_atomically(page, replaced(page.read_text(encoding="utf-8"), part, measured))
