"""`dragoman train --hosts`: reach the hosts, check them, bring what is missing, and train."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dragoman.cluster.crew import Outfit, part, reach
from dragoman.cluster.findings import Line
from dragoman.cluster.hosts import Host
from dragoman.cluster.preflight import Preflight, save
from dragoman.cluster.supervise import Supervisor
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.core.progress import Progress
from dragoman.core.units import counted


@dataclass(frozen=True)
class Order:
    """What the command line asks for."""

    config: Config
    directory: Path
    hosts: tuple[Host, ...]
    is_checked: bool = True
    keep_copies: int = 0
    may_be_public: bool = False
    is_detached: bool = False
    """Only check and copy: another process will train."""


def train_on_hosts(order: Order, progress: Progress) -> int:
    """Train a prepared run; the exit code."""
    return asyncio.run(_train(order, progress))


async def _train(order: Order, progress: Progress) -> int:
    outfit = Outfit(order.config, order.directory)
    reached = await reach(order.hosts)
    try:
        if order.is_checked:
            await _pass(Preflight(reached, _print, outfit, order.may_be_public, order.keep_copies), outfit, progress)
        if not reached.links:
            raise UserError(f"no host can be reached: {reached.failures[0]}")
        for failure in reached.failures:
            print(f"dragoman: going on without {failure}", file=sys.stderr)
        if order.is_detached:
            await part(reached.links)
            return 0
        await outfit.deliver_corpus(reached.links, progress)
        supervisor = Supervisor(order.hosts, outfit, order.keep_copies)
    except BaseException:
        await part(reached.links)
        raise
    return await supervisor.run(reached.links)


async def _pass(preflight: Preflight, outfit: Outfit, progress: Progress) -> None:
    """UserError where the machines do not pass."""
    await preflight.run(progress)
    if not preflight.is_good:
        faults = [line for line in preflight.lines if not line.is_good]
        raise UserError(f"{counted(len(faults), 'check')} failed; nothing was started", "mend it, or use --skip-check")
    if preflight.record is not None:
        save(preflight.record, RunPaths(outfit.directory))


def check_hosts(order: Order, progress: Progress, tell: Callable[[Line], None]) -> Preflight:
    """The preflight alone."""

    async def check() -> Preflight:
        outfit = Outfit(order.config, order.directory) if order.config.corpus.directory else None
        reached = await reach(order.hosts)
        preflight = Preflight(reached, tell, outfit, order.may_be_public, order.keep_copies)
        try:
            await preflight.run(progress)
        finally:
            await part(reached.links)
        return preflight

    return asyncio.run(check())


def _print(line: Line) -> None:
    print(line, file=sys.stderr, flush=True)
