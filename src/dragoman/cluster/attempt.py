"""One attempt: the ranks of all hosts from their start until the first of them fails, all are done, or a stop is asked.

What hosts say arrives in one queue. A host that falls silent, a rank that dies and one that gives no sign end the
attempt; the supervisor decides what comes next.
"""

import asyncio
import contextlib
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dragoman.cluster.home import Home
from dragoman.cluster.link import HostLostError, Link
from dragoman.cluster.link_rates import LinkNews
from dragoman.cluster.messages import Message
from dragoman.cluster.pace import Pace
from dragoman.cluster.seats import Seat, host_of, rank_variables
from dragoman.cluster.ssh import SILENT_S
from dragoman.core.errors import UserError

WORKER = "dragoman.training.worker"
TICK_S = 0.5
NOTICED_SILENCE_S = 10.0
STUCK_S = 45.0
"""A rank that does not move, and waits for nobody, for so long is named."""
DEAD_S = 30.0
"""A rank that has not signed its heartbeat for so long is ended."""
FAILED_GRACE_S = 10.0
STOP_GRACE_S = 60.0
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
STOPPED_BY_SIGNAL = (0, 128 + signal.SIGTERM, 128 + signal.SIGINT)


@dataclass(frozen=True)
class Ended:
    """How an attempt ended."""

    kind: str
    """done, stopped (it was asked to), refused (the user can mend it) or broken."""
    reason: str = ""
    rank: int = 0
    lost_hosts: tuple[str, ...] = ()


class Attempt:
    """The hosts at work. `wishes` is asked every half second whether, and why, it should stop."""

    def __init__(
        self, links: Sequence[Link], seats: Sequence[Seat], home: Home, pace: Pace, wishes: Callable[[], str | None]
    ) -> None:
        self._links, self._seats, self._home, self._wishes = list(links), list(seats), home, wishes
        self._name = secrets.token_hex(8)
        self._queue: asyncio.Queue[tuple[Link, Message]] = asyncio.Queue()
        self._codes: dict[int, int] = {}
        self._size = sum(seat.num_processes for seat in seats)
        self._named: set[str] = set()
        self._silent_since: dict[str, float] = {}
        self._stopping: list[asyncio.Task[None]] = []
        self.pace, self._link_news = pace, LinkNews(pace, seats)
        self.stop_reason: str | None = None

    async def run(self) -> Ended:
        for link in self._links:
            link.heard = lambda link, message: self._queue.put_nowait((link, message))
        try:
            await self._start()
            return await self._watch()
        except HostLostError as error:
            return await self._end(Ended("broken", str(error), lost_hosts=self._gone()))
        except UserError as error:
            return await self._end(Ended("refused", str(error)))
        finally:
            for link in self._links:
                link.heard = lambda _link, _message: None

    async def _start(self) -> None:
        main, seat = self._links[0], self._seats[0]
        port = (await main.ask("listen", address=seat.address, port=0, password=""))["port"]
        await main.ask("close")
        orders = rank_variables(self._seats, port, self._name)
        for link, own in zip(self._links, self._seats, strict=True):
            if not link.is_local:
                await link.ask("follow", directory=own.directory, offsets=self._home.offsets(link.host.name))
        await asyncio.gather(
            *(
                link.ask(
                    "start", module=WORKER, arguments=[own.directory], ranks=ranks, directory=own.directory,
                    attempt=self._name,
                )
                for link, own, ranks in zip(self._links, self._seats, orders, strict=True)
            )
        )  # fmt: skip

    async def _watch(self) -> Ended:
        while True:
            try:
                self._take(*await asyncio.wait_for(self._queue.get(), TICK_S))
                while not self._queue.empty():
                    self._take(*self._queue.get_nowait())
            except TimeoutError:
                pass
            for sentence in self._link_news.sentences(time.monotonic()):
                self._say("link", sentence)
            if self.stop_reason is None and (wish := self._wishes()):
                self.stop_reason = wish
                for link in self._links:
                    self._ask_to_stop(link)
            if ended := self._judged():
                return await self._end(ended)

    def _ask_to_stop(self, link: Link) -> None:
        async def stop() -> None:
            with contextlib.suppress(HostLostError, UserError):  # the watch sees it
                await link.ask("stop", grace_s=STOP_GRACE_S, timeout_s=STOP_GRACE_S + 30)

        self._stopping.append(asyncio.create_task(stop()))

    def _take(self, link: Link, message: Message) -> None:
        name = link.host.name
        if message.kind == "record":
            self._home.take(name, message["name"], message["place"], message.payload)
        elif message.kind == "beat":
            self._look_at(name, message["ranks"])
            self._link_news.take(name, message["flows"], time.monotonic())
        elif message.kind == "output" and message["attempt"] == self._name:
            text = CONTROL_CHARACTERS.sub("", str(message["text"]))
            print(f"{name} │ {text}", file=sys.stderr, flush=True)
        elif message.kind == "exited" and message["attempt"] == self._name:
            self._codes.setdefault(int(message["rank"]), int(message["code"]))

    def _look_at(self, host: str, signs: dict[str, list[object]]) -> None:
        """Name a rank that has stopped moving while nobody keeps it waiting."""
        for rank, (age, words) in signs.items():
            state, _, still = str(words).partition(" ")
            still_s = float(still or 0)
            is_asleep = float(str(age)) > DEAD_S
            if (is_asleep or (state == "working" and still_s > STUCK_S)) and rank not in self._named:
                self._named.add(rank)
                what = "has given no sign" if is_asleep else "has not moved"
                self._say("stuck", f"rank {rank} on {host} {what} for {max(float(str(age)), still_s):.0f} s", int(rank))
            if is_asleep:
                self._codes.setdefault(int(rank), -signal.SIGSTOP)

    def _judged(self) -> Ended | None:
        for link in self._links:
            self._notice_silence(link)
            if link.silent_s > SILENT_S:
                link.mark_gone()
        gone = self._gone()
        if gone:
            return Ended("broken", f"{' and '.join(gone)} cannot be reached any more", lost_hosts=gone)
        bad = {rank: code for rank, code in self._codes.items() if code not in STOPPED_BY_SIGNAL}
        if bad:
            rank, code = next(iter(bad.items()))
            kind = "refused" if code == 2 else "broken"
            return Ended(kind, f"rank {rank} on {host_of(rank, self._seats)} {_how(code)}", rank)
        if len(self._codes) < self._size:
            return None
        if self.stop_reason is not None:
            return Ended("stopped", self.stop_reason)
        if any(self._codes.values()):
            rank = next(rank for rank, code in self._codes.items() if code)
            return Ended("broken", f"rank {rank} on {host_of(rank, self._seats)} was stopped by somebody else", rank)
        return Ended("done")

    def _notice_silence(self, link: Link) -> None:
        name = link.host.name
        if link.silent_s > NOTICED_SILENCE_S:
            self._silent_since.setdefault(name, link.heard_at)
        elif since := self._silent_since.pop(name, None):
            lost_s = time.monotonic() - since
            self._say("silence", f"{name} was silent for {lost_s:.0f} s and is back", lost_s=lost_s)

    def _gone(self) -> tuple[str, ...]:
        return tuple(link.host.name for link in self._links if link.is_gone)

    async def _end(self, ended: Ended) -> Ended:
        """Leave no rank running; what hosts still bring home is taken."""
        grace_s = STOP_GRACE_S if ended.kind == "stopped" else FAILED_GRACE_S

        async def end(link: Link) -> None:
            try:
                await link.ask("stop", grace_s=grace_s, timeout_s=grace_s + 15)
            except (HostLostError, UserError):
                await link.hang_up()

        await asyncio.gather(*(end(link) for link in self._links))
        while not self._queue.empty():
            self._take(*self._queue.get_nowait())
        self.pace.news()
        return ended

    def _say(self, kind: str, text: str, rank: int = 0, lost_s: float | None = None) -> None:
        print(f"dragoman: {text}", file=sys.stderr, flush=True)
        self._home.event(kind, text, step=self.pace.step, rank=rank, lost_s=lost_s)


def _how(code: int) -> str:
    """What an exit code means."""
    if code == -signal.SIGSTOP:
        return "gave no sign of life"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    if code == 75:
        return "did not move and ended itself"
    return f"ended with code {code}"
