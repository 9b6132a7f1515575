"""A run on many hosts, from its first attempt to its end.

When a rank, an agent or a host is lost, all ranks are stopped and start anew from the last checkpoint, with the hosts
that answer. A host that comes back is taken in again. The global batches stay the same, whoever takes part.
"""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.cluster import copies
from dragoman.cluster.attempt import Attempt, Ended
from dragoman.cluster.crew import Outfit, part, reach
from dragoman.cluster.home import Home
from dragoman.cluster.hosts import Host
from dragoman.cluster.link import HostLostError, Link, UnreachableError, connect
from dragoman.cluster.machine import this_machine
from dragoman.cluster.pace import Pace
from dragoman.core.errors import UserError
from dragoman.core.progress import Silent

MOST_FRUITLESS = 3
"""Attempts in a row that may break without a new checkpoint."""
LOOK_AGAIN_S = 10.0
"""How often a lost host is tried; twice as long after each time that it was lost again."""
LONGEST_WAIT_S = 1800.0
COPY_EVERY_S = 2.0
LAST_TRIES = 3
REACH_WAIT_S = 120.0
"""How long an attempt waits for at least one host."""


@dataclass
class Absent:
    """A host that does not take part."""

    host: Host
    times_lost: int
    look_at: float


class Supervisor:
    """Keeps the run going until it is done, asked to stop, or does not get anywhere."""

    def __init__(self, hosts: Sequence[Host], outfit: Outfit, keep_copies: int = 0) -> None:
        self._hosts, self._outfit, self._home = tuple(hosts), outfit, Home(outfit.directory)
        self._keep_copies = keep_copies
        self._links: list[Link] = []
        self._absent: dict[str, Absent] = {}
        self._returned: list[Link] = []
        self._signal: int | None = None
        self._broken_at: float | None = None
        self._step = max(self._home.checkpoints(), default=0)

    async def run(self, links: Sequence[Link]) -> int:
        """Train with the hosts at the other ends of `links`; the exit code."""
        self._links = list(links)
        for host in self._hosts:
            if host.name not in [link.host.name for link in links]:
                self._miss(host)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._asked_to_stop, number)
        background = [asyncio.create_task(self._look_for_the_absent()), asyncio.create_task(self._copy_checkpoints())]
        try:
            return await self._attempts()
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self._copy_for_good()
            await part([*self._links, *self._returned])

    async def _attempts(self) -> int:
        fruitless = 0
        while True:
            before = max(self._home.checkpoints(), default=-1)
            ended = await self._attempt()
            if ended.kind == "done":
                return 0
            if self._signal is not None:
                return 128 + self._signal
            if ended.kind == "refused":
                print(f"dragoman: {ended.reason}", file=sys.stderr)
                return 2
            if ended.kind == "broken":
                fruitless = 0 if max(self._home.checkpoints(), default=-1) > before else fruitless + 1
                if fruitless >= MOST_FRUITLESS:
                    raise UserError(
                        f"training broke {fruitless} times without reaching a new checkpoint; the last time "
                        f"{ended.reason}", "see the lines above, and `dragoman check`",
                    )  # fmt: skip
            await self._regroup(ended)

    async def _attempt(self) -> Ended:
        links = self._links
        try:
            seats = [self._outfit.seat(link) for link in links]
            await asyncio.gather(*(self._outfit.deliver_run(link) for link in links))
            await copies.bring_newest(links[0], self._home, self._outfit)
        except HostLostError as error:
            return Ended("broken", str(error), lost_hosts=tuple(link.host.name for link in links if link.is_gone))
        pace = Pace.from_end_of(self._home.paths.steps(0), self._step)
        attempt = Attempt(links, seats, self._home, pace, self._wishes)
        started = time.time()
        told = asyncio.create_task(self._tell_when_recovered(pace, started, [seat.host for seat in seats]))
        ended = await attempt.run()
        told.cancel()
        self._step = pace.step
        if ended.kind == "broken":
            self._broken_at = self._broken_at or self._work_lost_since(started)
            self._say("broken", f"{ended.reason}; going on from the last checkpoint", rank=ended.rank)
        elif ended.kind == "stopped" and self._signal is None:
            self._broken_at = time.time()
        return ended

    def _work_lost_since(self, started: float) -> float:
        """From here on everything is done a second time."""
        newest = max(self._home.checkpoints(), default=None)
        saved = self._home.saved_at(newest) if newest is not None else None
        return max(started, saved or 0.0)

    async def _tell_when_recovered(self, pace: Pace, started: float, hosts: Sequence[str]) -> None:
        if self._broken_at is None:
            return
        while pace.num_steps == 0:
            await asyncio.sleep(0.2)
        lost_s, self._broken_at = time.time() - self._broken_at, None
        self._say("recovered", f"training again on {', '.join(hosts)}; {lost_s:.0f} s were lost", lost_s=lost_s)

    def _wishes(self) -> str | None:
        if self._signal is not None:
            return "it was asked to stop"
        if self._returned:
            return f"{self._returned[0].host.name} is back"
        return None

    def _asked_to_stop(self, number: int) -> None:
        if self._signal is not None:  # a second time means now
            for link in self._links:
                link.mark_gone()
            return
        self._signal = number
        print("dragoman: stopping all hosts, with a checkpoint; again stops at once", file=sys.stderr, flush=True)

    async def _regroup(self, ended: Ended) -> None:
        """The links of the next attempt: those that hold, those that can be made again, those that came back."""
        kept = [link for link in self._links if not link.is_gone]
        lost = [link.host for link in self._links if link.is_gone]
        for link in self._links:
            if link.is_gone:
                await link.hang_up()
        back, self._returned = self._returned, []
        reached = await reach(lost)
        for failure in reached.failures:
            self._miss(failure.host)
            self._say("host lost", f"{failure.host.name}: {failure.problem.text}; going on without it")
        found = [link for link in reached.links if await self._is_fit(link)]
        for link in reached.links:
            if link not in found:
                self._miss(link.host)
                self._say("host lost", f"{link.host.name}: it is not as it was before; going on without it")
        for link in back:
            self._say("host back", f"{link.host.name} takes part again")
        self._links = sorted([*kept, *found, *back], key=lambda link: self._place(link))
        deadline = time.monotonic() + REACH_WAIT_S
        while not self._links and self._signal is None:
            if time.monotonic() > deadline:
                raise UserError("none of the hosts can be reached any more", "run the same command when they can")
            await asyncio.sleep(1)
            self._links, self._returned = self._returned, []

    def _place(self, link: Link) -> tuple[bool, int]:
        """This machine first, since its ranks write checkpoints here; then in the order of the file."""
        return not link.is_local, [host.name for host in self._hosts].index(link.host.name)

    def _miss(self, host: Host) -> None:
        times = self._absent[host.name].times_lost + 1 if host.name in self._absent else 1
        wait_s = min(LOOK_AGAIN_S * 2 ** (times - 1), LONGEST_WAIT_S)
        self._absent[host.name] = Absent(host, times, time.monotonic() + wait_s)

    async def _look_for_the_absent(self) -> None:
        while True:
            await asyncio.sleep(1)
            present = {link.host.name for link in (*self._links, *self._returned)}
            for absent in list(self._absent.values()):
                if absent.host.name in present or time.monotonic() < absent.look_at:
                    continue
                absent.look_at = time.monotonic() + LOOK_AGAIN_S
                with contextlib.suppress(UnreachableError, HostLostError, UserError, OSError):
                    link = await connect(absent.host)
                    if await self._is_fit(link):
                        self._returned.append(link)

    async def _is_fit(self, link: Link) -> bool:
        """A host that was away still has the same Dragoman, and the corpus; else it stays away."""
        own = this_machine(self._outfit.directory)
        try:
            if (link.machine.source, link.machine.torch) == (own.source, own.torch):
                await self._outfit.deliver_corpus([link], Silent())
                return True
        except (HostLostError, UserError):
            pass
        await link.hang_up()
        return False

    async def _copy_checkpoints(self) -> None:
        while True:
            await asyncio.sleep(COPY_EVERY_S)
            # What goes wrong is tried again, or is the loss of a host, which is noticed elsewhere.
            with contextlib.suppress(HostLostError, UserError, OSError):
                await self._copy()

    async def _copy_for_good(self) -> None:
        """After the last step: no other round comes after this one, so what fails is tried again, and told."""
        for tries_left in reversed(range(LAST_TRIES)):
            try:
                await self._copy()
                return
            except (HostLostError, UserError, OSError) as error:
                if not tries_left:
                    self._say("save", f"the last checkpoints were not copied: {error}")
                    return
            await asyncio.sleep(COPY_EVERY_S)

    async def _copy(self) -> None:
        """Checkpoints of a far main rank come home; copies go to as many hosts as were asked for."""
        present = [link for link in self._links if not link.is_gone]
        if present and not present[0].is_local:
            await copies.bring_home(present[0], self._outfit, self._home)
        await copies.spread(present[1 : 1 + self._keep_copies], self._outfit, self._home)

    def _say(self, kind: str, text: str, rank: int = 0, lost_s: float | None = None) -> None:
        print(f"dragoman: {text}", file=sys.stderr, flush=True)
        self._home.event(kind, text, step=self._step, rank=rank, lost_s=lost_s)
