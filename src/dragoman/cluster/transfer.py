"""Directories sent to hosts: once, whole, with the hash of every byte checked where they arrive."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.cluster.agent_files import Announced, Receiver
from dragoman.cluster.link import HostLostError, Link
from dragoman.cluster.messages import CHUNK_BYTES
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of

LONGEST_S = 24 * 3600.0
STALLED_S = 120.0
"""A transfer that moves nothing for so long is given up."""


@dataclass(frozen=True)
class Parcel:
    """A directory to be at `path` below a host's own directory."""

    path: str
    files: tuple[Announced, ...]
    contents: Callable[[str], Path]
    """Where the bytes of a file are on this machine."""

    @property
    def num_bytes(self) -> int:
        return sum(file.num_bytes for file in self.files)


def parcel(path: str, directory: Path, names: Sequence[str]) -> Parcel:
    """Files of a directory, under their own names."""
    files = tuple(Announced(name, (directory / name).stat().st_size, sha256_of(directory / name)) for name in names)
    return Parcel(path, files, lambda name: directory / name)


async def is_there(link: Link, wanted: Parcel) -> bool:
    """The host has the directory already. It is whole if it exists; sizes are compared all the same."""
    found = (await link.ask("has", path=wanted.path))["files"]
    return all(found.get(file.name) == file.num_bytes for file in wanted.files)


async def send(link: Link, wanted: Parcel, advance: Callable[[int], None] = lambda _: None) -> None:
    """UserError if the host refuses: its disk is full, or what arrived is not what was sent."""
    number = link.expect()
    files = [[file.name, file.num_bytes, file.sha256] for file in wanted.files]
    link.tell("put", id=number, path=wanted.path, files=files)
    for file in wanted.files:
        with wanted.contents(file.name).open("rb") as opened:
            while (content := opened.read(CHUNK_BYTES)) and not link.has_answer(number):
                link.tell("data", content, id=number)
                try:
                    await asyncio.wait_for(link.drain(), STALLED_S)
                except TimeoutError:
                    raise HostLostError(f"{link.host.name} takes no more bytes") from None
                advance(len(content))
    await link.answer(number, STALLED_S)


async def fetch(link: Link, path: str, directory: Path, files: Sequence[Announced]) -> None:
    """Bring a directory of a host home, whole or not at all. HostLostError or UserError where that fails."""
    receiver = Receiver(directory, sorted(files, key=lambda file: file.name))
    number = link.expect()
    problem: list[BaseException] = []

    def take(_name: str, content: bytes) -> None:
        try:
            if not problem:
                receiver.write(content)
        except (UserError, OSError) as error:
            problem.append(error)

    link.take_parts(number, take)
    try:
        link.tell("get", id=number, path=path)
        await link.answer(number, LONGEST_S)
        if problem or not receiver.is_complete:
            raise problem[0] if problem else UserError(f"{path} did not come whole from {link.host.name}")
    except BaseException as error:
        receiver.abandon(error)
    receiver.finish()
