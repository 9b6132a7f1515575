"""The link between hosts, from exchanges that were timed on it."""

from collections.abc import Iterable

import numpy as np

from dragoman.core.run_records import PreflightRecord
from dragoman.theory.wire import Link, ring_bytes


def fitted_link(exchanges: Iterable[tuple[float, int, float]]) -> Link | None:
    """The link that fits timed rings best: (bytes of the row, ranks, seconds) each. None where nothing was sent.

    Relative errors count, so that small exchanges tell of latency and large ones of bandwidth.
    """
    timed = [(2.0 * (n - 1), ring_bytes(size, n), s) for size, n, s in exchanges if n > 1 and size > 0 and s > 0]
    if not timed:
        return None
    hops, sent, seconds = (np.array(column) for column in zip(*timed, strict=True))
    design = np.stack([hops / seconds, sent / seconds], axis=1)
    latency_s, s_per_byte = np.linalg.lstsq(design, np.ones(len(seconds)), rcond=None)[0]
    if latency_s < 0 or s_per_byte <= 0 or len(set(sent)) == 1:  # one size cannot tell the two apart
        largest = int(np.argmax(sent))
        return Link(float(sent[largest] / seconds[largest]))
    return Link(float(1 / s_per_byte), float(latency_s))


def measured_link(preflight: PreflightRecord) -> Link | None:
    """The link between hosts as the preflight timed it with all of them together, else its slowest pair."""
    groups: dict[tuple[str, ...], list[tuple[float, int, float]]] = {}
    for timed in preflight.exchanges:
        groups.setdefault(timed.hosts, []).append((timed.num_bytes, len(timed.hosts), timed.seconds))
    most = max((len(hosts) for hosts in groups), default=0)
    links = [fitted_link(group) for hosts, group in groups.items() if len(hosts) == most]
    return min((link for link in links if link is not None), key=lambda link: link.bytes_per_s, default=None)
