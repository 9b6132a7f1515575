"""Files that a person names on the command line: a sentence a line."""

from pathlib import Path

from dragoman.core.errors import UserError


def sentences_in(path: Path) -> list[str]:
    """The lines of a file; UserError where it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    return lines[:-1] if lines[-1] == "" else lines
