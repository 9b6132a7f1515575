"""The hosts of a run as a group: reached together, outfitted with corpus and run files, seated."""

import asyncio
import dataclasses
import hashlib
import re
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.cluster import transfer
from dragoman.cluster.agent_files import Announced
from dragoman.cluster.hosts import Host, resolved
from dragoman.cluster.link import Link, UnreachableError, connect
from dragoman.cluster.machine import Interface
from dragoman.cluster.seats import Seat, find_interface
from dragoman.cluster.transfer import Parcel
from dragoman.core.config import Config
from dragoman.core.config_text import to_toml
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import CorpusPaths, RunPaths
from dragoman.core.progress import Progress
from dragoman.corpus.manifest import read_manifest


@dataclass(frozen=True)
class Reached:
    """Which hosts answered, and why the others did not."""

    links: tuple[Link, ...]
    failures: tuple[UnreachableError, ...]


async def reach(hosts: Sequence[Host]) -> Reached:
    """Start the agents of all hosts at once; this machine comes first, and so holds the main rank."""
    outcomes = await asyncio.gather(*(connect(host) for host in hosts), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, UnreachableError):
            raise outcome
    links = [outcome for outcome in outcomes if isinstance(outcome, Link)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, UnreachableError)]
    return Reached(tuple(sorted(links, key=lambda link: not link.is_local)), tuple(failures))


async def part(links: Sequence[Link], grace_s: float = 10.0) -> None:
    """Say goodbye to all."""
    await asyncio.gather(*(link.close(grace_s) for link in links))


def interface_of(link: Link) -> Interface:
    """At which interface the others reach a host. UserError where that is not clear."""
    found = find_interface(link.host, link.machine, resolved(link.host.address))
    if not isinstance(found, Interface):
        raise UserError(f"{link.host.name}: {found.text}", found.fix)
    return found


def seat_of(link: Link, directory: str) -> Seat:
    """A host's part, from what it says of itself."""
    interface = interface_of(link)
    return Seat(
        host=link.host.name,
        address=interface.address,
        interface=interface.name,
        claimed_mbps=interface.claimed_mbps,
        num_processes=link.host.processes or link.machine.num_processes,
        directory=directory,
    )


@dataclass(frozen=True)
class Outfit:
    """What a host needs for a run."""

    config: Config
    directory: Path
    """The run directory at home."""

    @property
    def run_name(self) -> str:
        """Of the run directory on hosts: two runs of one name from two machines stay apart."""
        origin = f"{socket.gethostname()}:{self.directory.absolute()}"
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self.directory.name).lstrip(".-") or "run"
        return f"{name[:60]}-{hashlib.sha256(origin.encode()).hexdigest()[:8]}"

    def corpus_parcel(self) -> Parcel:
        directory = Path(self.config.corpus.directory)
        manifest = read_manifest(directory)
        own = CorpusPaths(directory).manifest
        files = [Announced(file.name, file.bytes, file.sha256) for file in (*manifest.files, *manifest.pages)]
        files.append(Announced(own.name, own.stat().st_size, sha256_of(own)))
        return Parcel(f"corpora/{manifest.fingerprint[:20]}", tuple(files), lambda name: directory / name)

    def directory_on(self, link: Link) -> str:
        """The run directory on a host, in full."""
        return str(self.directory.absolute()) if link.is_local else f"{link.machine.directory}/runs/{self.run_name}"

    def seat(self, link: Link) -> Seat:
        return seat_of(link, self.directory_on(link))

    async def deliver_corpus(self, links: Sequence[Link], progress: Progress) -> None:
        """Bring the corpus to every host that does not have it, once."""
        wanted = self.corpus_parcel()
        far = [link for link in links if not link.is_local]
        there = await asyncio.gather(*(transfer.is_there(link, wanted) for link in far))
        missing = [link for link, is_there in zip(far, there, strict=True) if not is_there]
        if not missing:
            return
        names = ", ".join(link.host.name for link in missing)
        with progress.stage(f"corpus to {names}", total=wanted.num_bytes * len(missing), unit="bytes") as bar:
            await asyncio.gather(*(transfer.send(link, wanted, bar.advance) for link in missing))

    async def deliver_run(self, link: Link) -> None:
        """Settings, vocabularies and what the preflight measured."""
        if link.is_local:
            return
        paths = RunPaths(self.directory)
        corpus = f"{link.machine.directory}/{self.corpus_parcel().path}"
        there = dataclasses.replace(self.config, corpus=dataclasses.replace(self.config.corpus, directory=corpus))
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            (place / paths.config.name).write_text(to_toml(there), encoding="utf-8")
            for path in (paths.vocabulary("source"), paths.vocabulary("target"), paths.preflight):
                if path.is_file():
                    (place / path.name).write_bytes(path.read_bytes())
            box = f"runs/{self.run_name}.files"
            await transfer.send(link, transfer.parcel(box, place, sorted(path.name for path in place.iterdir())))
        await link.ask("adopt", box=box, path=f"runs/{self.run_name}")
