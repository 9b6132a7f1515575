"""What the preflight says: a line a finding, and the rules that make lines of what machines say of themselves. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dragoman.cluster.hosts import Host
from dragoman.cluster.machine import Interface, Machine
from dragoman.cluster.measure import Measured, rate_bytes_per_s
from dragoman.cluster.seats import find_interface, is_private
from dragoman.core.run_records import TimedExchange
from dragoman.core.units import duration, size

LARGEST_SKEW_S = 5.0
"""Records of hosts are laid side by side by their time."""
INSTALL = "run `dragoman check` with --install"


@dataclass(frozen=True)
class Line:
    """One finding: good, or what is wrong and what mends it."""

    check: str
    is_good: bool
    text: str
    fix: str | None = None
    host: str | None = None

    def __str__(self) -> str:
        words = f"{'✓' if self.is_good else '✗'} {self.check:<9} "
        if self.host:
            words += f"{self.host}: "
        return words + self.text + (f"; {self.fix}" if self.fix else "")


def all_good(lines: Sequence[Line]) -> bool:
    return all(line.is_good for line in lines)


def versions(machines: Mapping[str, Machine], own: Machine) -> list[Line]:
    """Every host must run the same Dragoman, torch and Python as this machine."""
    lines = []
    for name, machine in machines.items():
        pairs = [
            ("dragoman", machine.dragoman, own.dragoman),
            ("torch", public(machine.torch), public(own.torch)),
            ("Python", minor(machine.python), minor(own.python)),
        ]
        if machine.dragoman == own.dragoman:
            pairs.append(("dragoman's own code", machine.source, own.source))
        differing = [(what, there or "missing", here or "missing") for what, there, here in pairs if there != here]
        if differing:
            words = ", ".join(f"{what} {there} (here {here})" for what, there, here in differing)
            lines.append(Line("versions", False, f"has {words}", INSTALL, name))
    words = f"dragoman {own.dragoman}, torch {own.torch}, Python {minor(own.python)} everywhere"
    return lines or [Line("versions", True, words)]


def minor(version: str) -> str:
    """'3.11.7' -> '3.11'."""
    return ".".join(version.split(".")[:2])


def public(version: str | None) -> str | None:
    """'2.13.0+cpu' -> '2.13.0': a machine without GPUs may lead others that have them."""
    return version.partition("+")[0] if version else None


def gpus(machines: Mapping[str, Machine]) -> list[Line]:
    """All hosts have GPUs, or none has."""
    without = [name for name, machine in machines.items() if not machine.num_gpus]
    if without and len(without) < len(machines):
        problem = f"{' and '.join(without)} have no GPU, the others have"
        return [Line("gpu", False, problem, "leave out the one or the other kind")]
    number = sum(machine.num_gpus for machine in machines.values())
    return [Line("gpu", True, f"{number} in all" if number else "none: training on CPUs")]


def clocks(skews_s: Mapping[str, float]) -> list[Line]:
    """Seconds by which the clock of each host is ahead of this machine's."""
    lines = [
        Line(
            "clock", False, f"its clock is {duration(abs(skew))} {'ahead' if skew > 0 else 'behind'}",
            "set it, such as with `timedatectl set-ntp true`", name,
        )
        for name, skew in skews_s.items()
        if abs(skew) > LARGEST_SKEW_S
    ]  # fmt: skip
    largest = max((abs(skew) for skew in skews_s.values()), default=0.0)
    return lines or [Line("clock", True, f"all within {max(largest, 0.1):.1f} s")]


def room(check: str, has: Mapping[str, int | None], needs: Mapping[str, int], fix: str) -> list[Line]:
    """Disk or memory: what a host has free against what the run needs there."""
    lines = [
        Line(check, False, f"{size(free)} free, {size(needs[name])} needed", fix, name)
        for name, free in has.items()
        if free is not None and free < needs[name]
    ]
    known = [free for free in has.values() if free is not None]
    least = f"at least {size(min(known))} free everywhere" if known else "unknown"
    return lines or [Line(check, True, least)]


def addresses(
    hosts: Sequence[Host], machines: Mapping[str, Machine], known: Mapping[str, str | None], *, may_be_public: bool
) -> tuple[list[Line], dict[str, Interface]]:
    """At which address of which interface each host is reached by the others."""
    lines, found = [], {}
    for host in hosts:
        interface = find_interface(host, machines[host.name], known[host.name])
        if not isinstance(interface, Interface):
            lines.append(Line("address", False, interface.text, interface.fix, host.name))
        elif not is_private(interface.address) and not may_be_public:
            problem = f"{interface.address} is a public address: anybody could speak to the ranks"
            fix = "use a private network or a VPN and set private_address, or --allow-public"
            lines.append(Line("address", False, problem, fix, host.name))
        else:
            found[host.name] = interface
    places = ", ".join(f"{name} {one.address} ({one.name})" for name, one in found.items())
    return lines or [Line("address", True, places)], found


def routes(found: Mapping[str, Interface], leaving: Mapping[str, Mapping[str, str | None]]) -> list[Line]:
    """Packets to every other host must leave through the interface that the others answer to."""
    lines = []
    for name, interface in found.items():
        for peer, other in found.items():
            own = leaving.get(name, {}).get(other.address, interface.address)
            if peer != name and own != interface.address:
                through = f"leaves from {own}, not from {interface.address}" if own else "has no route"
                fix = f"`ip -4 route get {other.address}` on {name} shows the way; mend it, or set private_address"
                lines.append(Line("route", False, f"its way to {peer} ({other.address}) {through}", fix, name))
    return lines or [Line("route", True, "every host reaches every other through the right interface")]


def doors(closed: Sequence[tuple[str, str, str]], open_to_the_world: Sequence[tuple[str, str]]) -> list[Line]:
    """`closed`: (from, to, why) where a knock failed; `open_to_the_world`: (host, public address) where it did not."""
    fix = "open TCP ports 1024–65535 between the private addresses of the hosts, and to nobody else"
    lines = [Line("ports", False, f"{there} does not let {name} in ({why})", fix) for name, there, why in closed]
    lines += [
        Line("ports", False, f"its ports are open at the public address {address}", "close them in the firewall", host)
        for host, address in open_to_the_world
    ]
    return lines or [Line("ports", True, "open between the hosts, bound to private addresses only")]


def wire(measured: Measured, claimed_mbps: Mapping[str, float | None]) -> list[Line]:
    """What the ranks found: the sum, the speed beside the claim, the step."""
    if measured.problems:
        fix = "see what it says there"
        return [Line("exchange", False, text, fix, host) for host, text in measured.problems.items()]
    if not measured.is_sum_right:
        return [Line("exchange", False, "a sum over all ranks came out wrong", "do not train on this network")]
    lines = [Line("exchange", True, "a sum over all ranks is right")]
    for hosts in dict.fromkeys(one.hosts for one in measured.exchanges):
        of_these = [one for one in measured.exchanges if one.hosts == hosts]
        claims = [mbps for host in hosts if (mbps := claimed_mbps.get(host)) is not None]
        lines.append(Line("exchange", True, _speed(of_these, min(claims, default=None))))
    if measured.compute_step_s is not None:
        lines.append(Line("step", True, f"{measured.compute_step_s:.3f} s of computing on the slowest rank"))
    return lines


def _speed(exchanges: Sequence[TimedExchange], claimed_mbps: float | None) -> str:
    largest, smallest = max(exchanges, key=lambda one: one.num_bytes), min(exchanges, key=lambda one: one.num_bytes)
    mbps = rate_bytes_per_s(largest) * 8 / 1e6
    claim = f" (the interface claims {claimed_mbps:,.0f})" if claimed_mbps is not None else ""
    latency = f", {size(smallest.num_bytes)} in {_short(smallest.seconds)}" if smallest != largest else ""
    return (
        f"{'–'.join(largest.hosts)}: {mbps:,.0f} Mb/s{claim}, "
        f"{size(largest.num_bytes)} in {_short(largest.seconds)}{latency}"
    )


def _short(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
