"""Reading numbers and lines out of logs."""

import math
import re
from datetime import UTC, datetime

NUMBER = r"[-+]?(?:\d[\d,]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|NaN|NAN|-?inf(?:inity)?|-?Inf(?:inity)?)"
"""As C++ and Python print numbers, thousands with commas or without."""

_TAGS = (
    re.compile(r"^.{0,40}?\[\d+,(?P<rank>\d+)\]<std(?:out|err)>:\s?"),  # mpirun --tag-output, horovodrun
    re.compile(r"^\[(?:default|rank|host\d+-)?(?P<rank>\d+)\]:?\s"),  # torchrun and others
    re.compile(r"^slurm_procid (?P<rank>\d+)\s*:\s?"),
    re.compile(r"^\s*(?P<rank>\d+): "),  # srun --label
)
"""How launchers mark the lines of a rank."""
TAGGED_SHARE = 0.5
"""Of the lines that are not empty: fewer with the look of a tag are no tags."""
_CLOCK = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)")


_LINE_END = re.compile(r"\r\n|\n|\r")


def lines_of(text: str) -> list[str]:
    """Lines that were written to their end; half a line at the end of a log is left out, for it may be half a number.

    Unix, Windows and the carriage returns of progress bars end a line; nothing else does.
    """
    return _LINE_END.split(text)[:-1]


def of_one_rank(lines: list[str]) -> list[str]:
    """The lines of the lowest rank, tags taken off; untagged lines belong to all."""
    filled = sum(1 for line in lines if line.strip())
    for tag in _TAGS:
        matches = [tag.match(line) for line in lines]
        ranks = {int(match["rank"]) for match in matches if match}
        if ranks and sum(1 for match in matches if match) >= TAGGED_SHARE * filled:
            lowest = min(ranks)
            pairs = zip(lines, matches, strict=True)
            return [line[match.end() :] if match else line for line, match in pairs if _is_of(match, lowest)]
    return lines


def _is_of(match: "re.Match[str] | None", rank: int) -> bool:
    return match is None or int(match["rank"]) == rank


def number(words: str) -> float:
    """The number that `NUMBER` found."""
    return float(words.replace(",", ""))


def whole(words: str | float | None) -> int | None:
    """A count, or None where there is none."""
    if words is None:
        return None
    try:
        value = float(str(words).replace(",", ""))
    except ValueError:
        return None
    return int(value) if math.isfinite(value) and value == int(value) else None


def positive(value: object) -> int | None:
    """A count above zero; zero often means "not set"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = whole(value)
    return found if found is not None and found > 0 else None


def clock_s(words: str) -> float | None:
    """Unix seconds of the first date and time in a line, as if it were UTC: only differences are meant."""
    match = _CLOCK.search(words)
    if match is None:
        return None
    try:
        return datetime.fromisoformat(f"{match[1]}T{match[2]}").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
