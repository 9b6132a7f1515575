"""The preflight: everything that can be known about the machines before money is spent, each fault with its cure.

Checks come in the order in which they depend on each other; those that need what failed before are not made. What was
measured goes to `preflight.json`, where planning, the choice of how gradients travel, and the report read it.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path

from dragoman.cluster import findings, transfer
from dragoman.cluster.crew import Outfit, Reached, seat_of
from dragoman.cluster.findings import Line, all_good
from dragoman.cluster.home import now
from dragoman.cluster.hosts import resolved
from dragoman.cluster.link import HostLostError, Link
from dragoman.cluster.machine import Interface, this_machine
from dragoman.cluster.measure import Measured, measure
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths, cache_directory
from dragoman.core.progress import Progress
from dragoman.core.run_records import HostRecord, PreflightRecord
from dragoman.core.units import size
from dragoman.corpus.manifest import read_manifest
from dragoman.theory import cost

VERSION = 1
SPARE_DISK_BYTES = 200_000_000
"""For records and the system itself."""
PYTHON_BYTES = 700_000_000
"""What a rank needs before it holds a model."""
Tell = Callable[[Line], None]


@dataclass
class Preflight:
    """Checks one after the other; tells each line as soon as it is known."""

    reached: Reached
    tell: Tell
    outfit: Outfit | None = None
    """The run that the hosts are for; without one only the machines are checked."""
    may_be_public: bool = False
    keep_copies: int = 0
    lines: list[Line] = field(default_factory=list)
    record: PreflightRecord | None = None
    _interfaces: dict[str, Interface] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        return all_good(self.lines)

    @property
    def links(self) -> tuple[Link, ...]:
        return self.reached.links

    async def run(self, progress: Progress) -> None:
        """All checks; stops where the next would make no sense."""
        try:
            if not self._say(self._ssh()):
                return
            machines = {link.host.name: link.machine for link in self.links}
            own = this_machine(cache_directory())
            is_same = self._say(findings.versions(machines, own))
            self._say(findings.gpus(machines))
            self._say(findings.clocks(await self._skews()))
            self._say(await self._disk())
            self._say(self._memory())
            for lines in (self._addresses, self._routes, self._ports):
                if not self._say(await lines()):
                    return
            if is_same and self.is_good:
                await self._bring_and_measure(progress)
        except HostLostError as error:
            self._say([Line("ssh", False, str(error), "see that it runs and stays reachable")])

    def _say(self, lines: Sequence[Line]) -> bool:
        self.lines += lines
        for line in lines:
            self.tell(line)
        return all_good(lines)

    def _ssh(self) -> list[Line]:
        bad = [Line("ssh", False, f.problem.text, f.problem.fix, f.host.name) for f in self.reached.failures]
        names = ", ".join(link.host.name for link in self.links)
        return bad or [Line("ssh", True, f"{names} answer; their host keys are known")]

    async def _skews(self) -> dict[str, float]:
        async def skew(link: Link) -> tuple[str, float]:
            before = time.time()
            there = (await link.ask("machine"))["machine"]["time"]
            return link.host.name, there - (before + time.time()) / 2

        return dict(await asyncio.gather(*(skew(link) for link in self.links)))

    async def _disk(self) -> list[Line]:
        needs = {link.host.name: SPARE_DISK_BYTES for link in self.links}
        if self.outfit is not None:
            parcel, checkpoint = self.outfit.corpus_parcel(), cost.checkpoint_bytes(_parameters(self.outfit.config))
            for number, link in enumerate(self.links):
                if not link.is_local and not await transfer.is_there(link, parcel):
                    needs[link.host.name] += parcel.num_bytes
                if number == 0:
                    needs[link.host.name] += (self.outfit.config.training.keep_last + 2) * checkpoint
                elif number <= self.keep_copies:
                    needs[link.host.name] += 3 * checkpoint
        has = {link.host.name: link.machine.disk_free_bytes for link in self.links}
        return findings.room("disk", has, needs, "make room, or set directory to a larger disk")

    def _memory(self) -> list[Line]:
        state = cost.training_state_bytes(_parameters(self.outfit.config)) if self.outfit else 0
        ranks = {link.host.name: link.host.processes or link.machine.num_processes for link in self.links}
        needs = {name: number * (PYTHON_BYTES + state) for name, number in ranks.items()}
        has = {link.host.name: link.machine.memory_bytes for link in self.links}
        return findings.room("memory", has, needs, "end other programs there, or set fewer processes")

    async def _addresses(self) -> list[Line]:
        known = {link.host.name: resolved(link.host.address) for link in self.links}
        machines = {link.host.name: link.machine for link in self.links}
        hosts = [link.host for link in self.links]
        lines, self._interfaces = findings.addresses(hosts, machines, known, may_be_public=self.may_be_public)
        return lines

    async def _routes(self) -> list[Line]:
        peers = [interface.address for interface in self._interfaces.values()]
        answers = await asyncio.gather(*(link.ask("routes", peers=peers) for link in self.links))
        leaving = {link.host.name: answer["routes"] for link, answer in zip(self.links, answers, strict=True)}
        return findings.routes(self._interfaces, leaving)

    async def _ports(self) -> list[Line]:
        """Every host opens a door at its private address; all others knock there, and at its public addresses."""
        closed: list[tuple[str, str, str]] = []
        public: list[tuple[str, str]] = []

        async def knock(link: Link, there: Link, address: str, port: int, password: str) -> None:
            problem = (await link.ask("knock", address=address, port=port, password=password))["problem"]
            is_public = address != self._interfaces[there.host.name].address
            if problem and not is_public:
                closed.append((link.host.name, there.host.name, problem))
            if not problem and is_public:
                public.append((there.host.name, address))

        knocks = []
        for there in self.links:
            password, own = secrets.token_hex(16), self._interfaces[there.host.name].address
            try:
                port = (await there.ask("listen", address=own, port=0, password=password))["port"]
            except UserError as error:
                return [Line("ports", False, str(error), "end what holds the port")]
            others = [one.address for one in there.machine.interfaces if IPv4Address(one.address).is_global]
            targets = [own, *(address for address in others if address != own)]
            knocks += [
                knock(link, there, address, port, password)
                for link in self.links
                if link is not there
                for address in targets
            ]
        await asyncio.gather(*knocks)
        await asyncio.gather(*(link.ask("close") for link in self.links))
        return findings.doors(sorted(closed), sorted(set(public)))

    async def _bring_and_measure(self, progress: Progress) -> None:
        gradient = None
        if self.outfit is not None:
            try:
                await self.outfit.deliver_corpus(self.links, progress)
                await asyncio.gather(*(self.outfit.deliver_run(link) for link in self.links))
            except UserError as error:
                self._say([Line("corpus", False, error.problem, error.fix)])
                return
            manifest = read_manifest(Path(self.outfit.config.corpus.directory))
            text = f"{manifest.fingerprint[:12]} on every host, {size(self.outfit.corpus_parcel().num_bytes)}"
            self._say([Line("corpus", True, text)])
            gradient = cost.gradient_bytes(_parameters(self.outfit.config))
        seats = [seat_of(link, self.outfit.directory_on(link) if self.outfit else "") for link in self.links]
        measured = await measure(self.links, seats, gradient, self.outfit is not None)
        claimed = {seat.host: seat.claimed_mbps for seat in seats}
        if self._say(findings.wire(measured, claimed)):
            self.record = self._recorded(measured)

    def _recorded(self, measured: Measured) -> PreflightRecord:
        hosts = []
        for link in self.links:
            interface, machine = self._interfaces[link.host.name], link.machine
            hosts.append(
                HostRecord(
                    name=link.host.name,
                    address=interface.address,
                    interface=interface.name,
                    claimed_mbps=interface.claimed_mbps,
                    num_processes=link.host.processes or machine.num_processes,
                    cores=machine.cores,
                    memory_bytes=machine.memory_bytes,
                    gpu=measured.gpus.get(link.host.name),
                    price_per_hour=link.host.price_per_hour or None,
                )
            )
        return PreflightRecord(
            VERSION, now(), tuple(hosts), measured.exchanges, measured.compute_step_s, measured.last_backward_s,
            measured.stolen_s_per_byte,
        )  # fmt: skip


def save(record: PreflightRecord, paths: RunPaths) -> None:
    """Where planning and training look for it."""
    write_atomically(paths.preflight, records.dumps(record))


def _parameters(config: Config) -> int:
    vocabularies = read_manifest(Path(config.corpus.directory)).vocabularies
    return cost.parameters(config.model, vocabularies["source"].size, vocabularies["target"].size)
