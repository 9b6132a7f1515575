"""The exchange of one step: buckets leave while backward still runs, in an order that never changes, each timed.

    backward   |--------- decoder ---------|------ encoder ------|- embedding -|
    wire               |== bucket 0 ==|== bucket 1 ==|== bucket 2 ==|    |== last, with the extras ==|
                                                                              |<--- exposed wait --->|

A bucket leaves when autograd has visited all its parameters, whoever wrote their gradients: autograd itself, or the
hand-written ones that add in place. A thread carries one bucket after the other, so that packing and waiting need
nobody's attention. In a probe nothing leaves before backward is done: the same sums, to the byte, but compute and
exchange can be told apart.
"""

import queue
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.training.communication.sums import Plain, Sum
from dragoman.training.gradients import FIRST, Gradients
from dragoman.training.world import World


@dataclass(frozen=True)
class Delivery:
    """One bucket's way over the wire; times in seconds after the step's backward was done, negative before."""

    num_bytes: int
    """Of its gradients at full precision."""
    sent_bytes: int
    ready_s: float
    """When its last gradient was there."""
    start_s: float
    """When the wire was free for it."""
    end_s: float

    @property
    def exposed_s(self) -> float:
        """Of its time on the wire, the part after backward."""
        return max(0.0, self.end_s - max(0.0, self.start_s))

    def after(self, moment: float) -> "Delivery":
        """The same with times that count from a moment of the clock."""
        return replace(self, ready_s=self.ready_s - moment, start_s=self.start_s - moment, end_s=self.end_s - moment)


@dataclass(frozen=True)
class Letter:
    """A bucket that is ready to leave."""

    number: int
    ready_s: float
    written: torch.cuda.Event | None
    """On a GPU: when its gradients are in memory, too."""


@dataclass(frozen=True)
class Exchange:
    """What one exchange moved, and how long this rank waited for it."""

    num_bytes: int = 0
    """Sent by this rank."""
    wait_s: float = 0.0
    """After backward, until the last bucket was there."""
    is_probe: bool = False
    """Nothing was sent before backward was done."""
    skew_s: float | None = None
    """In a probe: the part of the wait that was for the slowest rank to arrive."""
    deliveries: tuple[Delivery, ...] = ()


class Wire:
    """Between one rank's gradients and all others'."""

    def __init__(self, gradients: Gradients, world: World, way: Sum, residual: Tensor | None = None) -> None:
        self._gradients, self._world, self._way = gradients, world, way
        self.residual = residual
        """What packing has not sent yet, in the places of the row; None where packing loses little."""
        self._is_plain = isinstance(way, Plain)
        self._is_open = False
        self._missing: list[int] = []
        self._num_sent = 0
        self._letters: queue.SimpleQueue[Letter | None] = queue.SimpleQueue()
        self._delivered: queue.SimpleQueue[Delivery | BaseException] = queue.SimpleQueue()
        self._hooks: list[Any] = []
        self._nodes: list[Any] = []

    @property
    def has_left(self) -> bool:
        """A bucket of this step is on its way: its gradients can no longer be taken back."""
        return self._num_sent > 0

    def open(self) -> None:
        """From here on, buckets leave as they fill. Call before the last backward of a step, with the extras set."""
        if self._world.size > 1:
            self._start()
            self._missing = [len(bucket.parameters) for bucket in self._gradients.buckets]
            self._is_open = True

    def close(self, *, is_probe: bool = False) -> Exchange:
        """Send what is left and wait for everything. Every rank must call this; a probe is one on all of them."""
        if self._world.size == 1:
            return Exchange()
        self._start()
        done = time.monotonic()
        self._is_open = False
        left_early = self._num_sent
        skew_s = self._time_to_arrive() if is_probe else None
        while self._num_sent < len(self._gradients.buckets):
            self._send_next()
        deliveries = tuple(self._receive().after(done) for _ in self._gradients.buckets)
        self._num_sent = 0
        return Exchange(
            num_bytes=sum(delivery.sent_bytes for delivery in deliveries),
            wait_s=time.monotonic() - done,
            is_probe=left_early == 0 or len(deliveries) == 1,  # the last bucket is ready only when backward is done
            skew_s=skew_s,
            deliveries=deliveries,
        )

    def spoil(self) -> None:
        """Make the step's sum not finite, so that all ranks leave it out: what has left cannot be called back."""
        self._is_open = False
        for bucket in self._gradients.buckets[self._num_sent :]:
            self._gradients.flat[max(bucket.start, FIRST) : bucket.end].fill_(float("nan"))

    def end(self) -> None:
        """Let the thread and the hooks go."""
        self._letters.put(None)
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._nodes = [], []

    def _start(self) -> None:
        """At the first use: a wire that is only held costs nothing."""
        if self._hooks:
            return
        threading.Thread(target=self._carry, name="dragoman-wire", daemon=True).start()
        for number, bucket in enumerate(self._gradients.buckets):
            for parameter in bucket.parameters:
                # A hook of the node, not of the tensor: it is called also where gradients were added in place and
                # autograd has nothing to add. The node lives as long as somebody holds it.
                node = _accumulator(parameter)
                self._nodes.append(node)
                self._hooks.append(node.register_hook(lambda *_, number=number: self._visited(number)))

    def _visited(self, number: int) -> None:
        if not self._is_open:
            return
        self._missing[number] -= 1
        while self._num_sent < len(self._missing) and not self._missing[self._num_sent]:
            self._send_next()

    def _send_next(self) -> None:
        written = torch.cuda.current_stream().record_event() if self._gradients.flat.is_cuda else None
        self._letters.put(Letter(self._num_sent, time.monotonic(), written))
        self._num_sent += 1

    def _time_to_arrive(self) -> float:
        start = time.monotonic()
        self._world.sum_(torch.zeros(1))
        return time.monotonic() - start

    def _receive(self) -> Delivery:
        answer = self._delivered.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _carry(self) -> None:
        """The thread: one bucket after the other."""
        # Beside the stream that computes.
        stream = torch.cuda.Stream() if self._gradients.flat.is_cuda else None  # type: ignore[no-untyped-call]
        while (letter := self._letters.get()) is not None:
            start = time.monotonic()
            try:
                if letter.written is not None:
                    letter.written.synchronize()
                with torch.cuda.stream(stream):
                    sent_bytes = self._add_up(letter.number)
                if stream is not None:
                    stream.synchronize()
                bucket = self._gradients.buckets[letter.number]
                num_bytes = 4 * (bucket.end - bucket.start)
                self._delivered.put(Delivery(num_bytes, sent_bytes, letter.ready_s, start, time.monotonic()))
            except BaseException as error:
                self._delivered.put(error)

    @torch.no_grad()
    def _add_up(self, number: int) -> int:
        bucket, flat = self._gradients.buckets[number], self._gradients.flat
        if self._is_plain:
            return self._way.add_up(flat[bucket.start : bucket.end], None)
        # The extras are counts and sums that must arrive as they are.
        inner = slice(max(bucket.start, FIRST), bucket.end)
        sent_bytes = self._way.add_up(flat[inner], None if self.residual is None else self.residual[inner])
        if bucket.start == 0:
            self._world.sum_(self._gradients.extra_numbers)
        return sent_bytes


def _accumulator(parameter: nn.Parameter) -> Any:
    """The node of the graph where a parameter's gradients arrive."""
    view = parameter.expand_as(parameter)
    assert view.grad_fn is not None
    return view.grad_fn.next_functions[0][0]
