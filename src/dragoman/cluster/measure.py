"""The part of the preflight that ranks do: real sums over the real network, real steps of the recipe."""

import asyncio
import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dragoman.cluster.link import HostLostError, Link
from dragoman.cluster.messages import Message
from dragoman.cluster.seats import Seat, host_of, rank_variables
from dragoman.core.run_records import TimedExchange

WORKER = "dragoman.training.preflight_worker"
MARK = "PREFLIGHT "
TINY_BYTES = 4096
"""Tells of latency alone."""
SMALLEST_BYTES = 256 * 1024
LONGEST_EXCHANGE_S = 3.0
"""A row that would take longer is not sent: what smaller ones tell is enough."""
LONGEST_S = 120.0
LAST_WORDS_S = 3.0
TAIL_LINES = 5


@dataclass(frozen=True)
class Measured:
    """What the ranks found."""

    is_sum_right: bool
    exchanges: tuple[TimedExchange, ...]
    compute_step_s: float | None
    """Of the slowest rank: the others wait for it."""
    last_backward_s: float | None
    stolen_s_per_byte: float | None
    """Mean over ranks."""
    gpus: dict[str, str | None]
    """By host; None where there is none."""
    problems: dict[str, str]
    """By host: why it did not work."""


def sizes_up_to(gradient_bytes: int | None) -> list[int]:
    """A tiny row, then 256 KB, 1 MB, 4 MB … and the gradient itself."""
    largest = max(gradient_bytes or 16 * 1024 * 1024, SMALLEST_BYTES)
    sizes, size = [TINY_BYTES], SMALLEST_BYTES
    while size < largest:
        sizes.append(size)
        size *= 4
    return [*sizes, largest // 4 * 4]


async def measure(
    links: Sequence[Link], seats: Sequence[Seat], gradient_bytes: int | None, has_recipe: bool
) -> Measured:
    """Run the preflight's ranks on all hosts to their end."""
    findings, queue = _Findings(seats), asyncio.Queue[tuple[Link, Message]]()
    for link in links:
        link.heard = lambda link, message: queue.put_nowait((link, message))
    try:
        await _start(links, seats, findings.attempt, sizes_up_to(gradient_bytes), has_recipe)
        async with asyncio.timeout(LONGEST_S) as limit:
            while not findings.are_complete:
                link, message = await queue.get()
                findings.take(link.host.name, message)
                if findings.problems:  # others now wait for nobody; but they may have something to say too
                    limit.reschedule(min(limit.when() or math.inf, asyncio.get_running_loop().time() + LAST_WORDS_S))
    except TimeoutError:
        if not findings.problems:
            findings.problems[", ".join(findings.unfinished)] = f"not done after {LONGEST_S:.0f} s"
    except HostLostError as error:
        findings.problems |= {link.host.name: str(error) for link in links if link.is_gone}
    finally:
        await asyncio.gather(*(_stop(link) for link in links))
        for link in links:
            link.heard = lambda _link, _message: None
    return findings.result()


async def _start(
    links: Sequence[Link], seats: Sequence[Seat], attempt: str, sizes: Sequence[int], has_recipe: bool
) -> None:
    port = (await links[0].ask("listen", address=seats[0].address, port=0, password=""))["port"]
    await links[0].ask("close")
    leaders = first_ranks(seats)
    for link, seat, ranks in zip(links, seats, rank_variables(seats, port, attempt), strict=True):
        run = seat.directory if has_recipe else None
        order = {"leaders": leaders, "sizes": sizes, "longest_s": LONGEST_EXCHANGE_S, "run": run}
        directory = f"{link.machine.directory}/check"
        await link.ask(
            "start", module=WORKER, arguments=[json.dumps(order)], ranks=ranks, attempt=attempt, directory=directory
        )


async def _stop(link: Link) -> None:
    try:
        await link.ask("stop", grace_s=1.0, timeout_s=15.0)
    except HostLostError:
        link.mark_gone()


def first_ranks(seats: Sequence[Seat]) -> list[int]:
    """The first rank of each host."""
    return [sum(seat.num_processes for seat in seats[:number]) for number in range(len(seats))]


class _Findings:
    """What ranks say, gathered until each of them has ended."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self.attempt = secrets.token_hex(8)
        self.problems: dict[str, str] = {}
        self._ranks = {rank: host_of(rank, seats) for rank in range(sum(seat.num_processes for seat in seats))}
        self._ended: set[int] = set()
        self._tails: dict[str, list[str]] = {}
        self._sums: list[bool] = []
        self._steps: list[tuple[float, float]] = []
        self._stolen: list[float] = []
        self._gpus: dict[str, str | None] = {}
        self._exchanges: list[TimedExchange] = []

    @property
    def unfinished(self) -> list[str]:
        """Hosts with ranks that have not ended."""
        return sorted({host for rank, host in self._ranks.items() if rank not in self._ended})

    @property
    def are_complete(self) -> bool:
        return len(self._ended) == len(self._ranks) or "gone" in self.problems.values()

    def take(self, host: str, message: Message) -> None:
        if message.kind == "gone":
            self.problems[host] = "gone"
        elif message.kind == "exited" and message["attempt"] == self.attempt:
            self._ended.add(int(message["rank"]))
            if message["code"]:
                said = "; ".join(self._tails.get(host, [])[-TAIL_LINES:])
                self.problems.setdefault(host, said or f"its rank ended with code {message['code']}")
        elif message.kind == "output" and message["attempt"] == self.attempt:
            text = str(message["text"])
            if text.startswith(MARK):
                self._note(host, int(message["rank"]), json.loads(text.removeprefix(MARK)))
            else:
                self._tails.setdefault(host, []).append(text)

    def _note(self, host: str, rank: int, found: dict[str, Any]) -> None:
        if found.get("problem"):
            self.problems[host] = found["problem"]
        elif found["kind"] == "device":
            self._gpus[host] = found["name"]
        elif found["kind"] == "sum":
            self._sums.append(bool(found["is_right"]))
        elif found["kind"] == "steps":
            self._steps.append((float(found["seconds"]), float(found["last_backward_s"])))
        elif found["kind"] == "stolen":
            self._stolen.append(float(found["s_per_byte"]))
        elif found["kind"] == "exchange" and rank == found["ranks"][0]:
            hosts = tuple(self._ranks[number] for number in found["ranks"])
            self._exchanges.append(TimedExchange(hosts, int(found["num_bytes"]), float(found["seconds"])))

    def result(self) -> Measured:
        step_s, backward_s = max(self._steps) if len(self._steps) == len(self._ranks) else (None, None)
        return Measured(
            is_sum_right=len(self._sums) == len(self._ranks) and all(self._sums),
            exchanges=tuple(self._exchanges),
            compute_step_s=step_s,
            last_backward_s=backward_s,
            stolen_s_per_byte=fmean(self._stolen) if self._stolen else None,
            gpus=self._gpus,
            problems=self.problems,
        )


def rate_bytes_per_s(exchange: TimedExchange) -> float:
    """What one network interface sent a second: a ring sends 2(M-1)/M of the row through each of M hosts."""
    hosts = len(exchange.hosts)
    return 2 * (hosts - 1) / hosts * exchange.num_bytes / max(exchange.seconds, 1e-9)
