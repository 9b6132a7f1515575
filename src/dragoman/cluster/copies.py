"""Checkpoints on other machines than the one that wrote them: home from a far main rank, and out as spare copies."""

import asyncio
import re
import shutil
from collections.abc import Sequence

from dragoman.cluster import transfer
from dragoman.cluster.agent_files import Announced
from dragoman.cluster.crew import Outfit
from dragoman.cluster.home import Home
from dragoman.cluster.link import Link
from dragoman.core.paths import step_name

FILES = ("SHA256SUMS", "model.safetensors", "optimizer.safetensors", "state.json")
KEPT_COPIES = 2


def _path(outfit: Outfit, step: int | None = None) -> str:
    place = f"runs/{outfit.run_name}/checkpoints"
    return place if step is None else f"{place}/{step_name(step)}"


async def steps_on(link: Link, outfit: Outfit) -> list[int]:
    """The steps that have a whole checkpoint on a host."""
    files = (await link.ask("has", path=_path(outfit)))["files"]
    found = {match[1] for name in files if (match := re.fullmatch(r"step_(\d{7,12})/SHA256SUMS", name))}
    return sorted(int(step) for step in found)


async def bring_newest(link: Link, home: Home, outfit: Outfit) -> None:
    """See that the main rank's host has the newest checkpoint that is at home."""
    newest = max(home.checkpoints(), default=None)
    if link.is_local or newest is None or newest in await steps_on(link, outfit):
        return
    directory = home.paths.checkpoint(newest).directory
    await transfer.send(link, transfer.parcel(_path(outfit, newest), directory, FILES))


async def bring_home(link: Link, outfit: Outfit, home: Home) -> None:
    """Copy what a far main rank has written, the newest first; drop what it has dropped."""
    there, here = await steps_on(link, outfit), home.checkpoints()
    for step in reversed(there):  # an older one may be dropped there meanwhile
        if step not in here:
            answer = await link.ask("describe", path=_path(outfit, step), timeout_s=120.0)
            files = [Announced(*entry) for entry in answer["files"]]
            if sorted(file.name for file in files) == sorted(FILES):
                await transfer.fetch(link, _path(outfit, step), home.paths.checkpoint(step).directory, files)
    for step in here:
        if there and step < there[-1] and step not in there:
            shutil.rmtree(home.paths.checkpoint(step).directory, ignore_errors=True)


async def spread(links: Sequence[Link], outfit: Outfit, home: Home) -> None:
    """The newest checkpoint to each of these hosts; older copies there give way."""
    newest = max(home.checkpoints(), default=None)
    if newest is None:
        return

    async def copy(link: Link) -> None:
        if newest not in await steps_on(link, outfit):
            parcel = transfer.parcel(_path(outfit, newest), home.paths.checkpoint(newest).directory, FILES)
            await transfer.send(link, parcel)
            await link.ask("prune", path=_path(outfit), keep=KEPT_COPIES)

    await asyncio.gather(*(copy(link) for link in links if not link.is_local))
