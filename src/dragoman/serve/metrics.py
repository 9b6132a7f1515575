"""What a server counts, for Prometheus."""

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from dragoman.serve.sentence_queue import Batch, SentenceQueue

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """A registry of its own, so that two servers in one process do not meet."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "dragoman_requests",
            "Requests answered, 499 for a client that hung up",
            ("route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "dragoman_request_seconds",
            "From a request's headers to the end of its answer",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "dragoman_batch_sentences",
            "Sentences that were translated together",
            buckets=_SENTENCES,
            registry=self._registry,
        )
        self._batch_seconds = Histogram(
            "dragoman_batch_seconds", "Time that a model took for a batch", buckets=_SECONDS, registry=self._registry
        )
        self._characters = Counter("dragoman_characters", "Characters given to models", registry=self._registry)
        self.in_flight = Gauge("dragoman_requests_in_flight", "Requests being worked on", registry=self._registry)
        self._waiting = Gauge("dragoman_sentences_waiting", "Sentences in the queue", registry=self._registry)
        self._memory = Gauge("dragoman_resident_bytes", "Memory of the process", registry=self._registry)

    def answered(self, route: str, status: int, seconds: float) -> None:
        self._answers.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def translated(self, batch: Batch, seconds: float) -> None:
        self._batches.observe(len(batch.parts))
        self._batch_seconds.observe(seconds)
        self._characters.inc(batch.characters)

    def text(self, queue: SentenceQueue) -> bytes:
        self._waiting.set(queue.num_waiting)
        self._memory.set(resident_bytes())
        return generate_latest(self._registry)


def resident_bytes(process: int | str = "self") -> float:
    """Memory that a process holds; not a number where the system does not say."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return float("nan")
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
