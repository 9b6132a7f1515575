"""The agent of one host: `python -m dragoman.cluster.agent DIRECTORY`, started over SSH by the main machine.

Speaks `messages` on its standard input and output, opens no port but when asked to test one, and ends with its input:
when the main machine goes, or is not heard for a while, the ranks are asked to stop, then made to, and nothing is left.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from dragoman.cluster import doors
from dragoman.cluster.agent_files import Announced, Follower, Receiver, inside
from dragoman.cluster.agent_ranks import Ranks
from dragoman.cluster.machine import route_to, this_machine
from dragoman.cluster.messages import CHUNK_BYTES, GREETING, MOST_HEADER_BYTES, Message, ProtocolError, read
from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of, write_atomically

BEAT_S = 2.0
DEAF_S = 60.0
"""Without a word from the main machine for so long, it is taken for gone."""
GRACE_S = 60.0
"""To finish a step and write a checkpoint."""


class Agent:
    """Does what the main machine asks, one request at a time but for those that take long."""

    def __init__(self, directory: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._directory, self._reader, self._writer = directory, reader, writer
        self._ranks = Ranks(self.tell)
        self._doors = doors.Doors()
        self._receivers: dict[int, Receiver] = {}
        self._follower: Follower | None = None
        self._heard = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, kind: str, payload: bytes = b"", **fields: Any) -> None:
        if not self._writer.is_closing():
            self._writer.write(Message(kind, fields, payload).encoded())

    async def serve(self) -> None:
        self._writer.write(GREETING)
        self.tell("hello", machine=records.to_json(this_machine(self._directory)))
        pulse = asyncio.create_task(self._pulse())
        try:
            await self._obey()
        finally:
            pulse.cancel()
            self._doors.close()
            for receiver in self._receivers.values():
                with contextlib.suppress(UserError):
                    receiver.abandon(UserError("the main machine has gone"))
            await self._ranks.stop(GRACE_S)
            await self._bring_home()
            with contextlib.suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(self._writer.drain(), 5)

    async def _obey(self) -> None:
        """Until the main machine says goodbye, goes, or is silent for too long."""
        while True:
            try:
                message = await asyncio.wait_for(read(self._reader), DEAF_S)
            except TimeoutError:
                return
            if message is None or message.kind == "bye":
                return
            self._heard = time.monotonic()
            if message.kind == "beat":
                continue
            if message.kind in ("put", "data"):  # their order matters
                await self._answer(message)
            else:
                task = asyncio.create_task(self._answer(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Message) -> None:
        number = message.fields.get("id")
        try:
            request = self._requests().get(message.kind)
            if request is None:
                raise ProtocolError(f"unknown request {message.kind}")
            answer = await request(message)
        except UserError as error:
            self.tell("refusal", id=number, problem=error.problem, fix=error.fix)
        except (OSError, ProtocolError, ValueError, TypeError) as error:
            self.tell("refusal", id=number, problem=f"{type(error).__name__}: {error}", fix=None)
        else:
            if answer is not None:
                self.tell("reply", id=number, **answer)

    def _requests(self) -> dict[str, Callable[[Message], Awaitable[dict[str, Any] | None]]]:
        return {
            "machine": self._machine,
            "routes": self._routes,
            "listen": self._listen,
            "knock": self._knock,
            "close": self._close,
            "has": self._has,
            "put": self._put,
            "data": self._data,
            "get": self._get,
            "describe": self._describe,
            "adopt": self._adopt,
            "prune": self._prune,
            "start": self._start,
            "stop": self._stop,
            "follow": self._follow,
        }

    async def _machine(self, _message: Message) -> dict[str, Any]:
        return {"machine": records.to_json(this_machine(self._directory))}

    async def _routes(self, message: Message) -> dict[str, Any]:
        return {"routes": {peer: route_to(peer) for peer in message["peers"]}}

    async def _listen(self, message: Message) -> dict[str, Any]:
        return {"port": await self._doors.open(message["address"], message["port"], message["password"])}

    async def _knock(self, message: Message) -> dict[str, Any]:
        return {"problem": await doors.knock(message["address"], message["port"], message["password"])}

    async def _close(self, _message: Message) -> dict[str, Any]:
        self._doors.close()
        return {}

    async def _has(self, message: Message) -> dict[str, Any]:
        """Sizes of the files of a directory; none at all if it is not there."""
        place = inside(self._directory, message["path"])
        files = {path.relative_to(place).as_posix(): path.stat().st_size for path in place.rglob("*") if path.is_file()}
        return {"files": files}

    async def _put(self, message: Message) -> dict[str, Any] | None:
        files = [Announced(*entry) for entry in message["files"]]
        self._receivers[message["id"]] = Receiver(inside(self._directory, message["path"]), files)
        return self._finished(message["id"])

    async def _data(self, message: Message) -> dict[str, Any] | None:
        receiver = self._receivers.get(message["id"])
        if receiver is None:
            return None  # refused earlier; what was on its way is let fall
        try:
            receiver.write(message.payload)
            return self._finished(message["id"])
        except (OSError, UserError) as error:
            del self._receivers[message["id"]]
            receiver.abandon(error)
            return None

    def _finished(self, number: int) -> dict[str, Any] | None:
        if not self._receivers[number].is_complete:
            return None
        self._receivers.pop(number).finish()
        return {}

    async def _get(self, message: Message) -> dict[str, Any]:
        """Send the files of a directory, one after the other."""
        place = inside(self._directory, message["path"])
        names = []
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            names.append(path.relative_to(place).as_posix())
            with path.open("rb") as file:
                while content := file.read(CHUNK_BYTES):
                    self.tell("part", content, id=message["id"], name=names[-1])
                    await self._writer.drain()
        return {"names": names}

    async def _describe(self, message: Message) -> dict[str, Any]:
        """Names, sizes and hashes of the files of a directory."""
        place = inside(self._directory, message["path"])
        paths = sorted(path for path in place.iterdir() if path.is_file())
        return {"files": [[path.name, path.stat().st_size, sha256_of(path)] for path in paths]}

    async def _prune(self, message: Message) -> dict[str, Any]:
        """Keep only the newest checkpoints of a directory of copies."""
        place = inside(self._directory, message["path"])
        for path in sorted(place.glob("step_*"))[: -int(message["keep"])]:
            shutil.rmtree(path)
        return {}

    async def _adopt(self, message: Message) -> dict[str, Any]:
        """Put files that arrived in a box into a directory that may hold others."""
        box, place = (inside(self._directory, message[name]) for name in ("box", "path"))
        for path in sorted(box.iterdir()):
            write_atomically(place / path.name, path.read_bytes())
        shutil.rmtree(box)
        return {}

    async def _start(self, message: Message) -> dict[str, Any]:
        await self._ranks.start(
            message["module"], message["arguments"], message["ranks"], Path(message["directory"]), message["attempt"]
        )
        return {}

    async def _stop(self, message: Message) -> dict[str, Any]:
        await self._ranks.stop(float(message["grace_s"]))
        await self._bring_home()
        return {}

    async def _follow(self, message: Message) -> dict[str, Any]:
        self._follower = Follower(Path(message["directory"]), message["offsets"])
        return {}

    async def _pulse(self) -> None:
        while True:
            self.tell("beat", ranks=self._ranks.signs(), flows=self._ranks.flows())
            await self._bring_home()
            await asyncio.sleep(BEAT_S)

    async def _bring_home(self) -> None:
        if self._follower is None:
            return
        with contextlib.suppress(OSError):
            for name, place, content in self._follower.news():
                self.tell("record", content, name=name, place=place)
                await self._writer.drain()


async def main(directory: str) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_HEADER_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    place = Path(directory).expanduser().absolute()
    agent = Agent(place, reader, writer)
    serving = asyncio.create_task(agent.serve())
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        await serving


if __name__ == "__main__":
    os.umask(0o077)
    asyncio.run(main(sys.argv[1]))
