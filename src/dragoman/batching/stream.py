"""The steps of one rank, prepared in the background.

Takes a plan, a split and the last step done; gives the steps after it for ever, each with this rank's micro-batches and
the number of target tokens that all ranks' losses are divided by. A thread works a few steps ahead. What goes wrong in
it is raised where the step would have come. Knows nothing of models and devices.
"""

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import TracebackType

import numpy as np

from dragoman.batching.gather import PairReader
from dragoman.batching.plan import TARGET, Plan
from dragoman.batching.shares import Padding, micro_batches, padding_of, shares
from dragoman.batching.shuffle import Numbers
from dragoman.corpus.shards import Split
from dragoman.model.batch import Batch

PREFETCHED_STEPS = 8


@dataclass(frozen=True)
class Step:
    """What a rank needs for one update."""

    number: int
    epoch: int
    pairs: Numbers
    """The numbers of this rank's pairs, in the order of its batches."""
    batches: list[Batch]
    """Of this rank; none where the step has fewer pairs than there are ranks."""
    num_target_tokens: int
    """Of all ranks together."""
    padding: Padding
    """Of this rank."""
    waited_s: float = 0.0
    """How long the one who asked for the step waited for it."""


def step_of(
    plan: Plan, reader: PairReader, *, rank: int, world_size: int, tokens_per_micro_batch: int
) -> Callable[[int], Step]:
    """The function that makes a rank's part of any step."""

    def make(number: int) -> Step:
        pairs = plan.pairs(number)
        lengths = plan.lengths[pairs]
        num_target_tokens = int(lengths[:, TARGET].sum(dtype=np.int64))
        share = shares(lengths, world_size)[rank]
        pairs, lengths = pairs[share], lengths[share]
        cuts = micro_batches(lengths, tokens_per_micro_batch)
        padding = sum((padding_of(lengths[cut]) for cut in cuts), start=Padding())
        batches = reader.batches(pairs, cuts) if cuts else []
        return Step(number, plan.place(number).epoch, pairs, batches, num_target_tokens, padding)

    return make


@dataclass(frozen=True)
class _End:
    """Nothing comes any more: the thread was told to stop, or could not go on."""

    error: BaseException | None = None


class Stream:
    """Steps, one after the other; to be closed when no more are wanted."""

    def __init__(
        self, make: Callable[[int], Step], after_step: int = 0, prefetched_steps: int = PREFETCHED_STEPS
    ) -> None:
        """`make(number)` is called in a thread, for after_step + 1 and so on, at most `prefetched_steps` ahead."""
        self._ready: queue.SimpleQueue[Step | _End] = queue.SimpleQueue()
        # A queue and no semaphore: to put into it never gives the interpreter to the thread at the caller's cost.
        self._free: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(prefetched_steps):
            self._free.put(None)
        self._is_closing = False
        self._end: _End | None = None
        self._thread = threading.Thread(
            target=self._work, args=(make, after_step), name="dragoman-batches", daemon=True
        )
        self._thread.start()

    def _work(self, make: Callable[[int], Step], after_step: int) -> None:
        end = _End()
        try:
            for number in itertools.count(after_step + 1):
                self._free.get()
                if self._is_closing:
                    break
                self._ready.put(make(number))
        except BaseException as error:
            end = _End(error)
        finally:
            self._ready.put(end)  # whatever happens: the one who waits is woken

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        if self._end is None:
            start = time.monotonic()
            step = self._ready.get()
            waited_s = time.monotonic() - start
            if isinstance(step, Step):
                self._free.put(None)
                return replace(step, waited_s=waited_s)
            self._end = step
        if self._end.error is not None:
            raise self._end.error
        raise StopIteration

    def close(self) -> None:
        """Stop the thread; returns when it has ended, after at most the step that it is making."""
        self._is_closing = True
        self._free.put(None)
        self._thread.join()
        if self._end is None or self._end.error is None:
            self._end = _End()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_stream(
    plan: Plan, split: Split, pad: int, *, rank: int, world_size: int, tokens_per_micro_batch: int, after_step: int = 0
) -> Stream:
    """A rank's steps from `after_step` + 1 on; `plan` must be of the same split."""
    reader = PairReader(split, pad)
    make = step_of(plan, reader, rank=rank, world_size=world_size, tokens_per_micro_batch=tokens_per_micro_batch)
    return Stream(make, after_step)
