"""How the buckets of gradients travelled, from what the main rank wrote down of some exchanges."""

from pathlib import Path
from statistics import median

import msgspec

from dragoman.report.facts import Bucket
from dragoman.report.record_lines import Reader


class BucketLine(msgspec.Struct):
    """One bucket of one exchange."""

    num_bytes: int
    end_s: float
    exposed_s: float


class ExchangeLine(msgspec.Struct):
    """One exchange."""

    buckets: tuple[BucketLine, ...] = ()
    is_probe: bool = False


def read_buckets(path: Path) -> tuple[tuple[Bucket, ...], int]:
    """Medians over the exchanges that ran beside backward, and how many lines were none.

    A run that changed its buckets on the way is told by the last kind.
    """
    reader = Reader(ExchangeLine)
    lines = [line for block in reader.blocks(path) for line in block if line.buckets and not line.is_probe]
    if not lines:
        return (), reader.num_unread
    kind = sizes_of(lines[-1])
    alike = [line.buckets for line in lines if sizes_of(line) == kind]
    columns = zip(*alike, strict=True)
    buckets = [
        Bucket(same[0].num_bytes, median(one.end_s for one in same), median(one.exposed_s for one in same))
        for same in columns
    ]
    return tuple(buckets), reader.num_unread


def sizes_of(line: ExchangeLine) -> tuple[int, ...]:
    return tuple(bucket.num_bytes for bucket in line.buckets)
