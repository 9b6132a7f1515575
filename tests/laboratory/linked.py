"""Two hosts and what joins them, made so that the truth about the link is known; real runs of both, checked first.

The hosts are namespaces with cables between them (`tests.hosts.ground`). A run is started as a user would start it, so
that its preflight measures the link, its ranks talk over the link and its interfaces count what crosses.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dragoman.report.answers import Answer
from dragoman.report.run_directory import read_run
from tests.hosts.ground import HOME, Ground, GroundHost, call
from tests.laboratory.asking import answers
from tests.laboratory.real_runs import bring, drawn_words

PATIENCE_S = 400.0
OTHER_NETWORK = "10.78.0"
TUNNEL_NETWORK = "10.79.0"
UNTROUBLED = ("communication.mode=plain", "training.evaluate_every_steps=0", "training.save_every_steps=0")


@dataclass(frozen=True)
class Linked:
    """Two hosts with a recipe that is ready on the first."""

    ground: Ground

    @property
    def hosts(self) -> list[GroundHost]:
        return self.ground.hosts

    def rate(self, mbit: float | None) -> None:
        """Of the cable, each way."""
        for host in self.hosts:
            host.rate(mbit)

    def trained(
        self, name: str, steps: int, *settings: str, meanwhile: Callable[[Path], None] | None = None
    ) -> dict[str, Answer]:
        """What a report says of a run; `meanwhile` gets its directory when it has begun."""
        directory = self.ground.main.directory / name
        log = self.ground.main.directory / f"{name}.log"
        everything = (f"training.max_steps={steps}", *UNTROUBLED, *settings)
        chosen = [word for setting in everything for word in ("--set", setting)]
        with log.open("w") as file:
            process = self.ground.dragoman(
                "train", "recipe.toml", "--hosts", "hosts.toml", "--run", name, *chosen, stdout=file, stderr=file
            )
            if meanwhile is not None:
                meanwhile(directory)
            code = process.wait(PATIENCE_S)
        assert code == 0, log.read_text()
        return answers(read_run(directory), but=("trained",))


def linked(ground: Ground, corpus: Path) -> Linked:
    bring(drawn_words, corpus, ground.main.directory, HOME)
    ground.hosts_file()
    return Linked(ground)


def steps_done(directory: Path) -> int:
    records = directory / "steps" / "rank00.jsonl"
    return records.read_bytes().count(b"\n") if records.exists() else 0


def wait_for_step(directory: Path, step: int) -> int:
    """The step that it has come to by then."""
    deadline = time.monotonic() + PATIENCE_S
    while steps_done(directory) < step:
        assert time.monotonic() < deadline, f"{directory} has made {steps_done(directory)} steps"
        time.sleep(0.05)
    return steps_done(directory)


@contextmanager
def second_cable(ground: Ground) -> Iterator[None]:
    """Another cable between the hosts, which their routes prefer: what is meant for eth0 leaves through eth1."""
    left, right = ground.hosts
    ends = [("netns", str(host.keeper.pid)) for host in (left, right)]
    call("ip", "link", "add", "eth1", *ends[0], "type", "veth", "peer", "name", "eth1", *ends[1])
    try:
        for host, other in ((left, right), (right, left)):
            host.run("ip", "address", "add", f"{OTHER_NETWORK}.{host.number}/24", "dev", "eth1")
            host.run("ip", "link", "set", "eth1", "up")
            # As where two ports lead into one network: the address is the right one, the way is not.
            host.run("ip", "route", "add", f"{other.address}/32", "dev", "eth1", "src", host.address)
        yield
    finally:
        left.run("ip", "link", "delete", "eth1", check=False)


@contextmanager
def slow_tunnel(ground: Ground, delay_s: float) -> Iterator[None]:
    """A tunnel between the hosts that holds every packet for a while, and the hosts file that names its ends."""
    keepers = [str(host.keeper.pid) for host in ground.hosts]
    relay = subprocess.Popen(
        [sys.executable, "-m", "tests.laboratory.relay", str(delay_s), *keepers], stdout=subprocess.PIPE, text=True
    )
    try:
        assert relay.stdout is not None
        assert relay.stdout.readline() == "ready\n"
        for host in ground.hosts:
            host.run("ip", "address", "add", f"{TUNNEL_NETWORK}.{host.number}/24", "dev", "far0")
            host.run("ip", "link", "set", "far0", "mtu", "9000", "up")
        ground.hosts_file(**{h.name: f'private_address = "{TUNNEL_NETWORK}.{h.number}"' for h in ground.hosts})
        yield
    finally:
        relay.kill()
        relay.wait()
        ground.hosts_file()
