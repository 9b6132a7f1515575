"""Sentences of many requests, translated in common batches by a thread a core.

A model translates many sentences at once much faster than one after the other, so what waits is put together, whoever
sent it. Requests take turns sentence by sentence: a book does not hold up a word. A batch holds about as much as the
model translates in a quarter of a second, by what was measured, so a new sentence does not wait long for its turn.
"""

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dragoman.serve.refusal import busy

Answer = TypeVar("Answer")
BATCH_S = 0.25
"""How long a batch should take."""
LEAST_CHARACTERS, MOST_CHARACTERS = 400, 40_000
"""Of a batch, whatever was measured."""
COMPANY_S = 0.003
"""How long the first sentence waits for others when nothing is being translated."""
_log = logging.getLogger(__name__)


class ModelFailedError(Exception):
    """The model raised an error; the log has it, the client gets a sentence."""


@dataclass(eq=False)
class _Job(Generic[Answer]):
    """The sentences of one request."""

    kind: Hashable
    run: Callable[[list[str]], Sequence[Answer]]
    texts: list[str]
    answers: "asyncio.Future[list[Answer]]"
    done: dict[int, Answer] = field(default_factory=dict)
    num_taken: int = 0

    @property
    def num_waiting(self) -> int:
        return 0 if self.answers.done() else len(self.texts) - self.num_taken


@dataclass(frozen=True)
class Batch:
    """Which sentence of which job goes to the model together."""

    parts: tuple[tuple[_Job[Any], int], ...]

    @property
    def texts(self) -> list[str]:
        return [job.texts[index] for job, index in self.parts]

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))

    @property
    def by_job(self) -> list["Batch"]:
        jobs = dict.fromkeys(job for job, _ in self.parts)
        return [Batch(tuple(part for part in self.parts if part[0] is job)) for job in jobs]


class SentenceQueue:
    """Bounded; every method but the threads' own is for the event loop it was started in."""

    def __init__(
        self,
        most_sentences: int,
        observe: Callable[[Batch, float], None] = lambda batch, seconds: None,
        threads: int = 1,
    ) -> None:
        self._most_sentences = most_sentences
        self._observe = observe
        self._jobs: deque[_Job[Any]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._characters_per_s: float | None = None
        self._threads = [
            threading.Thread(target=self._work, name=f"translating-{number}", daemon=True) for number in range(threads)
        ]

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish the batches at hand and take no more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    @property
    def is_alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    @property
    def num_waiting(self) -> int:
        with self._changed:
            return sum(job.num_waiting for job in self._jobs)

    async def translate(
        self, kind: Hashable, run: Callable[[list[str]], Sequence[Answer]], texts: Sequence[str]
    ) -> list[Answer]:
        """What `run` says of each text; texts of the same kind may be given to the `run` of any of them.

        Cancelling takes what still waits out of the queue. Refuses with 429 when too much waits.
        """
        if not texts:
            return []
        job = _Job(kind, run, list(texts), self._loop.create_future())
        with self._changed:
            num_waiting = sum(other.num_waiting for other in self._jobs)
            if num_waiting and num_waiting + len(texts) > self._most_sentences:
                raise busy(self._seconds_to_empty())
            self._jobs.append(job)
            self._changed.notify()
        return await job.answers

    def _seconds_to_empty(self) -> int:
        waiting = sum(len(text) for job in self._jobs for text in job.texts[job.num_taken :])
        return 1 if self._characters_per_s is None else min(60, math.ceil(waiting / self._characters_per_s))

    def _work(self) -> None:
        while (batch := self._next_batch()) is not None:
            start = time.perf_counter()
            answers = _answers_to(batch)
            if answers is None and len(batch.by_job) > 1:  # one request's sentence must not spoil the others'
                outcomes = [(each, _answers_to(each)) for each in batch.by_job]
            else:
                outcomes = [(batch, answers)]
            seconds = time.perf_counter() - start
            self._learn_pace(batch.characters, seconds)
            self._observe(batch, seconds)
            for each, answers in outcomes:
                self._loop.call_soon_threadsafe(_deliver, each, answers)

    def _next_batch(self) -> Batch | None:
        """Wait for sentences; None when the queue is closed."""
        with self._changed:
            if not self._jobs:
                self._changed.wait_for(lambda: self._jobs or self._is_closed)
                if not self._is_closed:
                    self._changed.wait_for(lambda: self._is_closed, timeout=COMPANY_S)
            while not self._is_closed:
                self._jobs = deque(job for job in self._jobs if job.num_waiting)
                if self._jobs:
                    return self._take()
                self._changed.wait_for(lambda: self._jobs or self._is_closed)
            return None

    def _take(self) -> Batch:
        """Sentences of the first job's kind, one of each such job in turn until the batch is full."""
        pace = self._characters_per_s or 4 * LEAST_CHARACTERS
        room = max(LEAST_CHARACTERS, min(MOST_CHARACTERS, pace * BATCH_S))
        kind = self._jobs[0].kind
        turns = deque(job for job in self._jobs if job.kind == kind)
        parts: list[tuple[_Job[Any], int]] = []
        while turns and room > 0:
            job = turns.popleft()
            parts.append((job, job.num_taken))
            room -= len(job.texts[job.num_taken])
            job.num_taken += 1
            if job.num_waiting:
                turns.append(job)
        # Those that got a sentence go behind the others, so that no request and no model waits for ever.
        served = {id(job) for job, _ in parts}
        self._jobs = deque(sorted(self._jobs, key=lambda job: id(job) in served))
        return Batch(tuple(parts))

    def _learn_pace(self, characters: int, seconds: float) -> None:
        pace = characters / max(seconds, 1e-6)
        old = self._characters_per_s
        self._characters_per_s = pace if old is None else 0.8 * old + 0.2 * pace


def _answers_to(batch: Batch) -> Sequence[object] | None:
    """None if the model fails."""
    try:
        answers: Sequence[object] = batch.parts[0][0].run(batch.texts)
        if len(answers) != len(batch.parts):
            raise ValueError(f"{len(batch.parts)} sentences went in, {len(answers)} came out")
    except Exception:
        _log.exception("the model failed on a batch of %d sentences", len(batch.parts))
        return None
    return answers


def _deliver(batch: Batch, answers: Sequence[object] | None) -> None:
    """In the event loop: jobs whose last sentence is there get their answers."""
    for number, (job, index) in enumerate(batch.parts):
        if job.answers.done():  # the client has gone, or another sentence of it failed
            continue
        if answers is None:
            job.answers.set_exception(ModelFailedError())
            continue
        job.done[index] = answers[number]
        if len(job.done) == len(job.texts):
            job.answers.set_result([job.done[each] for each in range(len(job.texts))])
