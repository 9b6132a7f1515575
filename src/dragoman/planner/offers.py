"""Links and rented machines: what a port carries, and what instance types have and cost, each with its source."""

import difflib
from dataclasses import dataclass

from dragoman.core.errors import UserError

MBIT = 10**6 / 8
GBIT = 10**9 / 8
GOODPUT = 1448 / 1538
"""Payload in a full Ethernet frame: 1,500 bytes less IP, TCP and its time stamps, of 1,538 on the wire."""
ETHERNET_LATENCY_S = 0.0002
"""One message between two machines of one site; 0.1 to 0.5 ms in practice, an assumption until it is measured."""
SINGLE_FLOW_BYTES_PER_S = 5 * GBIT
"""Most that AWS lets one TCP connection carry outside a cluster placement group (EC2 user guide, "Amazon EC2 instance
network bandwidth"). A ring has one connection between two neighbours."""

LINKS: dict[str, tuple[float, str]] = {
    "100 Mb/s": (100 * MBIT, "Fast Ethernet, IEEE 802.3u"),
    "1 Gb/s": (1 * GBIT, "Gigabit Ethernet, IEEE 802.3ab"),
    "2.5 Gb/s": (2.5 * GBIT, "IEEE 802.3bz"),
    "10 Gb/s": (10 * GBIT, "IEEE 802.3ae"),
    "25 Gb/s": (25 * GBIT, "IEEE 802.3by"),
    "100 Gb/s": (100 * GBIT, "IEEE 802.3ba"),
}
"""Ports that can be bought, with their rates in bytes a second."""


@dataclass(frozen=True)
class Offer:
    """A machine for rent."""

    name: str
    gpu: str
    num_gpus: int
    port_bytes_per_s: float
    price_per_hour: float
    """On demand, Linux, in dollars; prices change, so the date is part of the source."""
    source: str


_AWS = "AWS instance type pages and on-demand price list, us-east-1, Linux, about 2024-01; not re-read since"

OFFERS: dict[str, Offer] = {
    name: Offer(name, gpu, num_gpus, port_gbit * GBIT, price, source)
    for name, gpu, num_gpus, port_gbit, price, source in (
        ("p3.2xlarge", "V100 SXM", 1, 10, 3.06, _AWS),
        ("p3.8xlarge", "V100 SXM", 4, 10, 12.24, _AWS),
        ("p3.16xlarge", "V100 SXM", 8, 25, 24.48, _AWS),
        ("g4dn.xlarge", "T4", 1, 25, 0.526, _AWS),
        ("g4dn.2xlarge", "T4", 1, 25, 0.752, _AWS),
        ("g4dn.12xlarge", "T4", 4, 50, 3.912, _AWS),
        ("g5.xlarge", "A10G", 1, 10, 1.006, _AWS),
        ("g5.12xlarge", "A10G", 4, 40, 5.672, _AWS),
        ("g5.48xlarge", "A10G", 8, 100, 16.288, _AWS),
        ("p4d.24xlarge", "A100 SXM", 8, 400, 32.773, _AWS),
        ("p5.48xlarge", "H100 SXM", 8, 3200, 98.32, _AWS),
    )
}


def find_offer(name: str) -> Offer:
    """An instance type by its name; a UserError suggests the nearest one."""
    if (offer := OFFERS.get(name.strip().lower())) is not None:
        return offer
    near = difflib.get_close_matches(name.strip().lower(), list(OFFERS), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(OFFERS)}"
    raise UserError(f"the catalogue has no instance type {name.strip()!r}", hint)


def payload(port_bytes_per_s: float) -> float:
    """What TCP carries of a port's rate, in bytes a second."""
    return port_bytes_per_s * GOODPUT


def offer_payload(offer: Offer) -> float:
    """What one connection of a rented machine carries: never more than its provider's limit for a single flow."""
    return payload(min(offer.port_bytes_per_s, SINGLE_FLOW_BYTES_PER_S))
