"""Work shared among processes: the same results in the same order, however many cores there are.

Takes a function of one argument and a stream of arguments, gives a stream of results, and holds only a few of either.
With no processes the caller's own does the work, which for little text is faster than starting others.
"""

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

from dragoman.core.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def num_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


class Workers:
    """A number of processes that end with this one, whatever ends it."""

    def __init__(self, num_processes: int) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._most_under_way = 2 * num_processes
        self._children_of_others = set(multiprocessing.active_children())
        if num_processes:
            context = multiprocessing.get_context("spawn")  # forking a process that shows progress in a thread may hang
            self._pool = ProcessPoolExecutor(num_processes, context, initializer=_begin)

    def map(self, function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> Iterator[Result]:
        """`function` of each argument, in order."""
        if self._pool is None:
            yield from map(function, arguments)
            return
        under_way: deque[Future[Result]] = deque()
        try:
            for argument in arguments:
                under_way.append(self._submitted(function, argument))
                if len(under_way) > self._most_under_way:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool:
            problem = "a process that shared the work was killed, perhaps because memory ran out"
            raise UserError(problem, "free some memory and run the same command again") from None

    def _submitted(self, function: Callable[[Argument], Result], argument: Argument) -> "Future[Result]":
        assert self._pool is not None
        try:
            with _signals_held_back():  # to submit may start a process
                return self._pool.submit(function, argument)
        except OSError as error:  # a pool that breaks at this very moment closes its pipes under us
            raise BrokenProcessPool from error

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        if error is not None:
            # One that was started while another died is overlooked by the pool, which would then wait for it for ever.
            for process in set(multiprocessing.active_children()) - self._children_of_others:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=error is not None)


STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """A process that is started here is neither stopped before `_begin` nor left half-started by what stops us.

    To block them in this thread keeps them from the child; another thread may still receive them, so they are also
    only remembered until the child is there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def remember(number: int, _frame: object) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, remember) for number in STOPPING}
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        for number, action in before.items():
            signal.signal(number, action)
        if arrived:
            signal.raise_signal(arrived[0])


def _begin() -> None:
    # Ctrl-C reaches every process of the terminal; only the first decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
