"""Curves of bounded size over an unbounded axis.

Points fall into buckets of equal width. When there are too many, the width doubles and neighbours merge, so that a
curve of ten steps and one of a million cost the same and no part is drawn finer than another. Each bucket remembers in
which revision it last changed: a page that has the rest asks only for those.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_BUCKETS = 600


@dataclass
class _Bucket:
    count: int = 0
    sum_x: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    revision: int = 0

    def mean(self, name: str) -> float | None:
        return self.sums[name] / self.counts[name] if name in self.sums else None

    def add(self, other: "_Bucket") -> None:
        self.count += other.count
        self.sum_x += other.sum_x
        self.revision = max(self.revision, other.revision)
        for name, value in other.sums.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + other.counts[name]


@dataclass(frozen=True)
class Point:
    """The mean of a bucket; `y` is None where nothing was known. `key` names the bucket until the next reset."""

    key: int
    x: float
    y: float | None


class Curves:
    """Several curves over one axis, such as all that is known of steps. Each has its names; values are means."""

    def __init__(self, most_buckets: int = MOST_BUCKETS, width: int = 1) -> None:
        self._most, self._width = most_buckets, width
        self._buckets: dict[int, _Bucket] = {}
        self._newest: int | None = None
        self.revision = 1
        """What changes from now on is of this revision; set by the owner at each look."""
        self.reset_revision = 0
        """The revision of the last change that was not an addition: whoever is older needs everything anew."""

    def add(self, x: int, values: Mapping[str, float | None]) -> None:
        """One more point. An axis that goes back is a resume: what lay behind is forgotten."""
        if self._newest is not None and x <= self._newest:
            self._forget_from(x)
        self._newest = x
        bucket = self._buckets.setdefault(x // self._width, _Bucket())
        known = {name: value for name, value in values.items() if value is not None}
        bucket.add(_Bucket(1, x, known, dict.fromkeys(known, 1), self.revision))
        while len(self._buckets) > self._most:
            self._widen()

    def points(self, name: str, since: int = 0) -> list[Point]:
        """A curve from left to right; of what is known at revision `since`, only what has changed."""
        changed = ((key, bucket) for key, bucket in sorted(self._buckets.items()) if bucket.revision > since)
        return [Point(key, bucket.sum_x / bucket.count, bucket.mean(name)) for key, bucket in changed]

    def names(self) -> list[str]:
        """Every curve that has a point."""
        return sorted({name for bucket in self._buckets.values() for name in bucket.sums})

    def __len__(self) -> int:
        return len(self._buckets)

    def _forget_from(self, x: int) -> None:
        for key in [key for key in self._buckets if key >= x // self._width]:
            del self._buckets[key]
        self.reset_revision = self.revision

    def _widen(self) -> None:
        merged: dict[int, _Bucket] = {}
        for key, bucket in sorted(self._buckets.items()):
            merged.setdefault(key // 2, _Bucket()).add(bucket)
        self._width, self._buckets, self.reset_revision = self._width * 2, merged, self.revision
