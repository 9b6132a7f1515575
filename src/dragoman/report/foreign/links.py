"""Which kind of link carries so many bytes a second: physics for runs whose hardware nobody wrote down."""

from dragoman.core.units import size

PAYLOAD = 0.94
"""Of the nominal rate of Ethernet: what is left for TCP's payload with frames of 1,500 bytes (941 of 1,000 Mb/s)."""
CLASSES_MBPS = (10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)
FULL = 0.85
"""Of a link's payload: from here on it counts as full."""


def payload_bytes_per_s(mbps: float) -> float:
    """What a link of this nominal rate carries each way at best."""
    return PAYLOAD * mbps * 1e6 / 8


def class_name(mbps: float) -> str:
    """100 -> '100 Mb/s'; 2500 -> '2.5 Gb/s'."""
    return f"{mbps:g} Mb/s" if mbps < 1000 else f"{mbps / 1000:g} Gb/s"


def least_class(bytes_per_s: float) -> int | None:
    """The slowest common link that carries this; None beyond all of them."""
    return next((mbps for mbps in CLASSES_MBPS if payload_bytes_per_s(mbps) >= bytes_per_s), None)


def wire_sentence(sent_bytes: float, step_s: float, compute_s: float | None) -> str | None:
    """What the wire must have carried, and which link that is; None where a step leaves no time to carry anything.

    Backward, two thirds of the computing, may hide part of the exchange: it took between step − compute and
    step − compute/3. Without the computing it took at most the whole step, which gives only a least rate.
    """
    if not sent_bytes > 0 or not step_s > 0:
        return None
    if compute_s is None or compute_s >= step_s:
        rate = sent_bytes / step_s
        link = least_class(rate)
        told = f" or more, so a link of {class_name(link)} at least" if link else " or more"
        return f"The wire carried {size(rate)}/s{told}: {size(sent_bytes)} each way within {step_s:.3g} s."
    low, high = sent_bytes / (step_s - compute_s / 3), sent_bytes / (step_s - compute_s)
    rates = f"The wire carried {size(low)} to {size(high)} a second while gradients were exchanged"
    slower = [mbps for mbps in CLASSES_MBPS if payload_bytes_per_s(mbps) < low]
    link = least_class(high)
    if link is not None and low >= FULL * payload_bytes_per_s(link):
        return f"{rates}: what a {class_name(link)} link carries when it is full ({size(payload_bytes_per_s(link))}/s)."
    if not slower:
        return f"{rates}."
    return f"{rates}: more than a {class_name(slower[-1])} link can ({size(payload_bytes_per_s(slower[-1]))}/s)."
