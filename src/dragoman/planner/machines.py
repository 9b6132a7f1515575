"""The machines of a plan: from a line that a person wrote, or from what the preflight found.

    2 hosts x 2 V100, 1 Gb/s, $3.06/h        1 host x 4 A100       3 x g4dn.12xlarge       2 hosts x 1 CPU, 100 Mb/s

Parts are separated by commas: machines first, then the link between them and the price of one of them, in any order.
Strict: what is not understood is an error that shows how it is written.
"""

import re
from dataclasses import dataclass, replace

from dragoman.core.errors import UserError
from dragoman.core.run_records import PreflightRecord
from dragoman.core.units import counted, size
from dragoman.planner.hardware import BUS_SHARE, Gpu, find_gpu
from dragoman.planner.offers import ETHERNET_LATENCY_S, GBIT, MBIT, OFFERS, find_offer, offer_payload, payload
from dragoman.theory.link_fit import measured_link
from dragoman.theory.wire import Codecs, Layout, Link, Wire

EXAMPLE = "write it as '2 hosts x 2 V100, 1 Gb/s, $3.06/h'"
MAX_HOSTS = 4096
CPU_CODECS = Codecs(half_s_per_byte=1.0e-9, eight_bits_s_per_byte=3.2e-9)
"""What packing costs a CPU: the least of five tries on two busy cores of a Xeon, 2026-11-15. The trainer measures its
own. On GPUs it is taken as nothing."""
MAX_RANKS_PER_HOST = 64


@dataclass(frozen=True)
class Machines:
    """Equal hosts on one network. What is unknown is None."""

    num_hosts: int
    ranks_per_host: int
    gpu: Gpu | None
    """None: CPUs, of which only a measurement says how fast they are."""
    link: Link | None
    """Between hosts; None where there is one host, or where nobody said."""
    link_source: str
    price_per_hour: float | None
    """Of all hosts together."""
    compute_step_s: float | None = None
    """A step of the recipe on one rank's share without exchange, where the preflight measured it."""
    last_backward_s: float | None = None
    """Of that step, what an exchange can hide behind."""
    stolen_s_per_byte: float = 0.0
    """What a step loses for each byte that is exchanged beside it."""

    @property
    def num_ranks(self) -> int:
        return self.num_hosts * self.ranks_per_host

    @property
    def layout(self) -> Layout:
        return Layout(self.num_ranks, self.num_hosts)

    @property
    def wire(self) -> Wire:
        """For one host the link between hosts is never used, so any will do."""
        inside = Link(self.gpu.bus_bytes_per_s * BUS_SHARE) if self.gpu else None
        codecs = Codecs() if self.gpu else CPU_CODECS
        return Wire(self.layout, self.link or Link(float("inf")), inside, codecs, self.stolen_s_per_byte)

    @property
    def device(self) -> str:
        return self.gpu.name if self.gpu else "CPU"

    def on_one_host(self) -> "Machines":
        price = self.price_per_hour / self.num_hosts if self.price_per_hour is not None else None
        return replace(self, num_hosts=1, link=None, price_per_hour=price, compute_step_s=None)

    def __str__(self) -> str:
        text = f"{counted(self.num_hosts, 'host')} x {self.ranks_per_host} {self.device}"
        if self.num_hosts > 1 and self.link:
            text += f", {size(self.link.bytes_per_s)}/s each way"
        return text + (f", ${self.price_per_hour:,.2f}/h in all" if self.price_per_hour is not None else "")


def parse(text: str) -> Machines:
    """Machines from a line such as the examples above."""
    first, *others = [part.strip() for part in text.split(",")]
    machines = _machines(first)
    seen: set[str] = set()
    for part in others:
        kind, machines = _add(part, machines)
        if kind in seen:
            raise UserError(f"the cluster names its {kind} twice", EXAMPLE)
        seen.add(kind)
    if machines.num_hosts > 1 and machines.link is None:
        raise UserError(f"{counted(machines.num_hosts, 'host')} need a link between them", f"add one: {EXAMPLE}")
    return machines


def _machines(text: str) -> Machines:
    found = re.fullmatch(
        r"(?:(\d+)\s*(?:hosts?|machines?|nodes?)?\s*(?:[x×*]|with)\s*)?(?:(\d+)\s*[x×]?\s*)?(\S.*)", text
    )
    if not found or not re.search("[A-Za-z]", found[3]):
        raise UserError(f"cannot read {text!r} as machines", EXAMPLE)
    num_hosts, num_ranks, name = int(found[1] or 1), found[2], found[3].strip()
    if _is_offer(name):
        if num_ranks and found[1]:
            raise UserError(f"{name} says itself how many GPUs it has", f"write it as '{num_hosts} x {name}'")
        return _rented(int(found[1] or num_ranks or 1), name)
    ranks_per_host = int(num_ranks or 1)
    for number, most, noun in ((num_hosts, MAX_HOSTS, "hosts"), (ranks_per_host, MAX_RANKS_PER_HOST, "GPUs a host")):
        if not 1 <= number <= most:
            raise UserError(f"{number:,} {noun} cannot be planned", f"name 1 to {most:,}")
    return Machines(num_hosts, ranks_per_host, _gpu(name), None, "", None)


def _gpu(name: str) -> Gpu | None:
    if name.upper() in ("CPU", "CPUS", "PROCESS", "PROCESSES"):
        return None
    try:
        return find_gpu(name)
    except UserError as error:
        if not name.endswith("s"):
            raise
        try:  # "2 V100s"
            return find_gpu(name[:-1])
        except UserError:
            raise error from None


def _is_offer(name: str) -> bool:
    return name.lower() in OFFERS or re.fullmatch(r"[a-z]\w*\.\w+", name.lower()) is not None


def _rented(num_hosts: int, name: str) -> Machines:
    offer = find_offer(name)
    if not 1 <= num_hosts <= MAX_HOSTS:
        raise UserError(f"{num_hosts:,} hosts cannot be planned", f"name 1 to {MAX_HOSTS:,}")
    link = Link(offer_payload(offer), ETHERNET_LATENCY_S) if num_hosts > 1 else None
    price = offer.price_per_hour * num_hosts
    return Machines(num_hosts, offer.num_gpus, find_gpu(offer.gpu), link, f"one connection of {offer.name}", price)


_UNITS = {"gb/s": GBIT, "gbps": GBIT, "gbit/s": GBIT, "mb/s": MBIT, "mbps": MBIT, "mbit/s": MBIT}
_BYTE_UNITS = {"MB/s": 1e6, "GB/s": 1e9, "MiB/s": 2.0**20, "GiB/s": 2.0**30}


def _add(part: str, machines: Machines) -> tuple[str, Machines]:
    """The kind of a part, and the machines with it."""
    if found := re.fullmatch(r"([\d.,]+)\s*([A-Za-z]+(?:/s)?)", part):
        return "link", _with_link(found[1], found[2], part, machines)
    if found := re.fullmatch(r"(\$?)\s*([\d.]+)\s*((?:USD)?)\s*/\s*h(?:our)?(?:\s+(in all|a host|a GPU))?", part):
        if not found[1] and not found[3]:  # in double quotes a shell makes .06/h of $3.06/h
            raise UserError(
                f"the price {part!r} has no $", "put the cluster in single quotes: a shell swallows it in others"
            )
        price = _number(found[2], part)
        times = {"in all": 1, "a GPU": machines.num_ranks}.get(found[4] or "", machines.num_hosts)
        return "price", replace(machines, price_per_hour=price * times)
    raise UserError(f"cannot read {part!r} in the cluster", EXAMPLE)


def _with_link(number: str, unit: str, part: str, machines: Machines) -> Machines:
    rate = _number(number, part)
    if unit in _BYTE_UNITS:  # a capital B is bytes: a rate that somebody measured
        bytes_per_s, source = rate * _BYTE_UNITS[unit], "as given"
    elif unit.lower() in _UNITS:
        bytes_per_s, source = payload(rate * _UNITS[unit.lower()]), "payload of the port"
    else:
        raise UserError(f"{unit} in {part!r} is no unit of a link", "use Gb/s or Mb/s, or MB/s for a measured rate")
    if bytes_per_s <= 0:
        raise UserError(f"a link of {part} carries nothing", "name its rate, such as 1 Gb/s")
    return replace(machines, link=Link(bytes_per_s, ETHERNET_LATENCY_S), link_source=source)


def _number(text: str, part: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{text!r} in {part!r} is no number", EXAMPLE) from None


def from_preflight(preflight: PreflightRecord) -> Machines:
    """Machines as the preflight found them; they must be alike, since the slowest sets the pace."""
    if not preflight.hosts:
        raise UserError("the preflight found no hosts", "run `dragoman check --hosts hosts.toml`")
    kinds = {(host.gpu, host.num_processes) for host in preflight.hosts}
    if len(kinds) > 1:
        raise UserError(
            "the hosts differ in GPUs or processes; a plan needs equal ones", "describe them with --cluster"
        )
    gpu, num_processes = next(iter(kinds))
    prices = [host.price_per_hour for host in preflight.hosts]
    price = sum(price for price in prices if price is not None) if None not in prices else None
    link = measured_link(preflight) if len(preflight.hosts) > 1 else None
    if link is None and len(preflight.hosts) > 1:
        raise UserError("the preflight timed no exchange between the hosts", "run `dragoman check --hosts hosts.toml`")
    found = find_gpu(gpu) if gpu else None
    source = f"measured by the preflight of {preflight.time}"
    return Machines(
        len(preflight.hosts), num_processes, found, link, source, price, preflight.compute_step_s,
        preflight.last_backward_s, preflight.stolen_s_per_byte or 0.0,
    )  # fmt: skip
