"""The main machine's end of its talk with the agent of one host."""

import asyncio
import contextlib
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

from dragoman.cluster import messages, ssh
from dragoman.cluster.hosts import Host, is_this_machine
from dragoman.cluster.machine import Machine
from dragoman.cluster.messages import Message, ProtocolError
from dragoman.cluster.ssh import Problem
from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.core.paths import cache_directory

CONNECT_S = 30.0
BEAT_S = 2.0
MOST_COMPLAINT_BYTES = 4_000


class HostLostError(Exception):
    """The agent of a host has gone, or does not answer."""


class UnreachableError(Exception):
    """A host could not be reached at all."""

    def __init__(self, host: Host, problem: Problem) -> None:
        super().__init__(f"{host.name}: {problem.text}; {problem.fix}")
        self.host, self.problem = host, problem


Heard = Callable[["Link", Message], None]


class Link:
    """An open talk. `heard` is called with what the agent says unasked; with a "gone" message at the end."""

    def __init__(self, host: Host, process: asyncio.subprocess.Process, *, is_local: bool) -> None:
        self.host, self.is_local = host, is_local
        self.heard: Heard = lambda _link, _message: None
        self.heard_at = time.monotonic()
        self.machine: Machine
        self.is_gone = False
        self._process = process
        self._numbers = itertools.count(1)
        self._awaited: dict[int, asyncio.Future[Message]] = {}
        self._parts: dict[int, Callable[[str, bytes], None]] = {}
        assert process.stderr is not None
        self._complaint = asyncio.create_task(_complaint(process.stderr))
        self._tasks: list[asyncio.Task[Any]] = [self._complaint]

    async def begin(self) -> None:
        """Hear who is there, then listen. UnreachableError if it is no agent, or one of another Dragoman."""
        assert self._process.stdout is not None
        greeted = await messages.past_greeting(self._process.stdout)
        hello = await messages.read(self._process.stdout) if greeted else None
        if hello is None or hello.kind != "hello":
            code = await self._process.wait()
            raise UnreachableError(self.host, ssh.diagnosis(self.host, code, await self._complaint))
        try:
            self.machine = records.from_json(Machine, hello["machine"])
        except ValueError:
            problem = Problem("its Dragoman is another than this one", "run `dragoman check` with --install")
            raise UnreachableError(self.host, problem) from None
        self._tasks += [asyncio.create_task(self._listen()), asyncio.create_task(self._beat())]

    async def ask(self, kind: str, *, timeout_s: float = 30.0, **fields: Any) -> Message:
        """The agent's answer. UserError if it refuses, HostLostError if there is none."""
        number = next(self._numbers)
        self.tell(kind, id=number, **fields)
        return await self.answer(number, timeout_s)

    async def answer(self, number: int, timeout_s: float) -> Message:
        if self.is_gone:
            raise HostLostError(f"{self.host.name} has gone")
        future = self._awaited.setdefault(number, asyncio.get_running_loop().create_future())
        try:
            answer = await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            raise HostLostError(f"{self.host.name} does not answer") from None
        finally:
            self._awaited.pop(number, None)
        if answer.kind == "refusal":
            raise UserError(f"{self.host.name}: {answer['problem']}", answer["fix"])
        return answer

    def expect(self) -> int:
        """A number for a talk of several messages; its answer may come before it is awaited."""
        number = next(self._numbers)
        self._awaited[number] = asyncio.get_running_loop().create_future()
        return number

    def has_answer(self, number: int) -> bool:
        future = self._awaited.get(number)
        return future is None or future.done()

    def take_parts(self, number: int, take: Callable[[str, bytes], None]) -> None:
        """Hand the pieces of files that belong to request `number` to `take`."""
        self._parts[number] = take

    def tell(self, kind: str, payload: bytes = b"", **fields: Any) -> None:
        """Say something without waiting; to one who has gone it is lost."""
        if not self.is_gone and self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(Message(kind, fields, payload).encoded())

    async def drain(self) -> None:
        """Wait until what was said is on its way."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.drain()
        except ConnectionError:
            raise HostLostError(f"{self.host.name} has gone") from None

    @property
    def silent_s(self) -> float:
        """Seconds since the agent was heard."""
        return time.monotonic() - self.heard_at

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ProtocolError):
            while (message := await messages.read(self._process.stdout)) is not None:
                self.heard_at = time.monotonic()
                self._take(message)
        self.mark_gone()

    def _take(self, message: Message) -> None:
        if message.kind in ("reply", "refusal"):
            future = self._awaited.get(message["id"])
            if future is not None and not future.done():
                future.set_result(message)
        elif message.kind == "part":
            if take := self._parts.get(message["id"]):
                take(message["name"], message.payload)
        else:
            self.heard(self, message)

    async def _beat(self) -> None:
        while not self.is_gone:
            self.tell("beat")
            await asyncio.sleep(BEAT_S)

    def mark_gone(self) -> None:
        """Nothing is expected of this host any more."""
        if self.is_gone:
            return
        self.is_gone = True
        for future in self._awaited.values():
            if not future.done():
                future.set_exception(HostLostError(f"{self.host.name} has gone"))
                future.exception()  # seen, also where nobody waits for it
        self.heard(self, Message("gone"))

    async def close(self, grace_s: float = 10.0) -> None:
        """Say goodbye; after `grace_s` hang up."""
        self.tell("bye")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), grace_s)
        await self.hang_up()

    async def hang_up(self) -> None:
        """End the talk at once. The agent notices, and ends its ranks."""
        self.mark_gone()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def connect(host: Host) -> Link:
    """Start the agent of a host. UnreachableError says why that failed."""
    is_local = is_this_machine(host)
    interpreter = sys.executable if is_local else host.interpreter
    # This machine's corpora and runs are where its user has them; only leftovers of checks need a place.
    directory = str(cache_directory() / "cluster") if is_local else host.directory
    words = [interpreter, "-m", "dragoman.cluster.agent", directory]
    process = await asyncio.create_subprocess_exec(
        *(words if is_local else ssh.command(host, words)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=messages.MOST_HEADER_BYTES,
        start_new_session=True,  # Ctrl-C is for us; we tell the hosts ourselves
    )
    link = Link(host, process, is_local=is_local)
    try:
        async with asyncio.timeout(CONNECT_S):
            await link.begin()
    except (TimeoutError, ProtocolError):
        await link.hang_up()
        raise UnreachableError(host, ssh.diagnosis(host, None, "timed out")) from None
    except BaseException:  # whatever it was: no process and no pipe of this talk stays behind
        await link.hang_up()
        raise
    return link


async def _complaint(stream: asyncio.StreamReader) -> str:
    """What SSH says, as far as it matters; read to its end so that nobody waits on a full pipe."""
    kept = b""
    while content := await stream.read(MOST_COMPLAINT_BYTES):
        kept = (kept + content)[:MOST_COMPLAINT_BYTES]
    return kept.decode(errors="replace")
