"""Where two files that should be line-aligned come apart.

Takes two files whose line counts differ by `shift` and gives the line where the alignment most likely breaks: before
it, line i belongs to line i; after it, line i belongs to line i + shift. Judged by what survives translation: length
and digits. Knows nothing of languages; gives None where the text does not say.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.corpus.lines import Lines

MAX_LINES = 20_000_000  # two numbers a line are all that is held
MAX_SHIFT = 10_000
MIN_EVIDENCE = 6.0  # nats by which the best place must beat chance; below it a place would be a guess

Features = npt.NDArray[np.float32]


def where_lines_drift(source: Path, target: Path, shift: int) -> int | None:
    """The 1-based line of the shorter file at which the sides stop belonging together."""
    if not 0 < abs(shift) <= MAX_SHIFT:
        return None
    one, other = _features(source), _features(target)
    if shift < 0:
        one, other = other, one
    n = min(len(one), len(other) - abs(shift))
    if n < 1:
        return None
    aligned = _agreement(one[:n], other[:n])
    shifted = _agreement(one[:n], other[abs(shift) : abs(shift) + n])
    # The total agreement if the break comes before line k, for every k from 0 to n.
    before = np.concatenate([[0.0], np.cumsum(aligned)])
    after = np.concatenate([np.cumsum(shifted[::-1])[::-1], [0.0]])
    total = before + after
    best = int(np.argmax(total))
    return best + 1 if total[best] > MIN_EVIDENCE else None


def _features(path: Path) -> Features:
    """For each line its length (log, against the mean of the file) and its digits (as a number)."""
    lines = Lines(path)
    parts = [np.empty((0, 2), dtype=np.float32)]
    try:
        while (taken := lines.take(65_536)[0]) and 65_536 * len(parts) < MAX_LINES:
            rows = [(len(line), sum(line.count(digit) * weight for digit, weight in _DIGITS)) for line in taken]
            parts.append(np.array(rows, dtype=np.float32))
    finally:
        lines.close()
    features = np.concatenate(parts)
    features[:, 0] = np.log(features[:, 0] + 5)
    features[:, 0] -= features[:, 0].mean() if len(features) else 0  # languages differ in length as a whole
    return features


_DIGITS = [(str(digit).encode(), digit + 1) for digit in range(10)]


def _agreement(one: Features, other: Features) -> npt.NDArray[np.float64]:
    """How well each line fits its partner, in nats, against two lines that met by chance."""
    lengths = 0.5 - 4.0 * np.abs(one[:, 0] - other[:, 0])
    has_digits = (one[:, 1] > 0) | (other[:, 1] > 0)
    digits = np.where(has_digits, np.where(one[:, 1] == other[:, 1], 2.0, -2.0), 0.0)
    return np.asarray(np.clip(lengths, -2.0, 0.5) + digits, dtype=np.float64)
