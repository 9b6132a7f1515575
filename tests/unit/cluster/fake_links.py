"""A link to an agent that is not there: it answers every request, and says what a test has it say."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, cast

from dragoman.cluster.hosts import Host
from dragoman.cluster.link import HostLostError, Link
from dragoman.cluster.machine import Machine
from dragoman.cluster.messages import Message
from tests.unit.cluster.test_seats import machine


class FakeLink:
    """Stands in for `Link`. `files` is what it has; `on_start` is called when its ranks are started."""

    def __init__(self, name: str, *, is_local: bool = False, machine_there: Machine | None = None) -> None:
        self.host, self.is_local = Host(name=name, address=name), is_local
        self.machine = machine_there or machine()
        self.heard: Callable[[Any, Message], None] = lambda _link, _message: None
        self.heard_at, self.silent_s, self.is_gone = 0.0, 0.0, False
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, int] = {}
        self.on_start: Callable[[str], None] = lambda _attempt: None

    async def ask(self, kind: str, *, timeout_s: float = 30.0, **fields: Any) -> Message:
        if self.is_gone:
            raise HostLostError(f"{self.host.name} has gone")
        self.asked.append((kind, fields))
        await asyncio.sleep(0)
        if kind == "start":
            asyncio.get_running_loop().call_soon(self.on_start, fields["attempt"])
        return Message("reply", {"port": 40_000, "files": self.files, "machine": {"time": time.time()}, "routes": {}})

    def say(self, kind: str, **fields: Any) -> None:
        self.heard(self, Message(kind, fields))

    def mark_gone(self) -> None:
        self.is_gone = True

    async def hang_up(self) -> None:
        self.is_gone = True

    async def close(self, grace_s: float = 10.0) -> None:
        self.is_gone = True

    @property
    def as_link(self) -> Link:
        return cast(Link, self)

    @property
    def requests(self) -> list[str]:
        return [kind for kind, _ in self.asked]
