"""What each change would buy: the rungs of the ladder, fewer hosts, other links, other GPUs, machines for rent.

Takes work and machines, gives a `Plan`: the estimate as things are, the table of changes, the cheapest and the fastest
of them, and what to do, in sentences. All rows train on the same number of tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dragoman.core.units import duration
from dragoman.planner.estimate import (
    Estimate,
    Speed,
    compute_parts,
    estimate,
    memory_of,
    precision_of,
    rung_of,
    speed_of,
)
from dragoman.planner.hardware import find_gpu
from dragoman.planner.machines import Machines, parse
from dragoman.planner.memory import MemoryNeed
from dragoman.planner.offers import ETHERNET_LATENCY_S, LINKS, OFFERS, Offer, payload
from dragoman.planner.workload import Workload
from dragoman.theory import wire
from dragoman.theory.wire import Link, Rung

PLAN_VERSION = 1
OTHER_GPUS = ("T4", "V100", "A10G", "L4", "RTX 4090", "A100", "H100")
ACCUMULATE = Rung("accumulate_4", "32 bits, a step of 4 times the tokens", step_factor=4)
LARGER_STEP = 4
LOCAL_STEPS = 16


@dataclass(frozen=True)
class Plan:
    """Everything that `dragoman plan` says."""

    version: int
    machines: str
    num_ranks: int
    precision: str
    num_parameters: int
    gradient_bytes: int
    checkpoint_bytes: int
    tokens_per_step: int
    num_steps: int
    speed: Speed
    link_source: str
    memory: MemoryNeed | None
    now: Estimate
    """What the recipe would do on these machines."""
    why: str
    choices: tuple[Estimate, ...]
    cheapest: str | None
    """Of all choices that keep the recipe; None where no price is known."""
    fastest: str
    fastest_here: str
    """Of those on the machines of the plan."""
    advice: tuple[str, ...]
    assumptions: tuple[str, ...]


def plan(work: Workload, machines: Machines, measured: Speed | None = None) -> Plan:
    """Everything that can be said before the first step."""
    speed = speed_of(work, machines, measured)
    compute = compute_parts(work, machines, speed.flops_per_s)[3]
    rung, why = rung_of(work, machines, compute)
    now = estimate("as planned", work, machines, speed, rung)
    here = (now, *_rungs(work, machines, speed), *_fewer_hosts(work, machines, speed))
    rows = (*here, *_other_machines(work, machines, speed))
    same_recipe = [now, *(row for row in rows if not row.changes_recipe)]
    priced = [row for row in same_recipe if row.cost is not None]
    need = memory_of(work, machines)
    return Plan(
        version=PLAN_VERSION,
        machines=str(machines),
        num_ranks=machines.num_ranks,
        precision=precision_of(work, machines),
        num_parameters=work.num_parameters,
        gradient_bytes=work.gradient_bytes,
        checkpoint_bytes=work.checkpoint_bytes,
        tokens_per_step=work.tokens_per_step,
        num_steps=work.num_steps,
        speed=speed,
        link_source=machines.link_source,
        memory=need,
        now=now,
        why=why,
        choices=rows,
        cheapest=min(priced, key=lambda row: row.cost or 0.0).name if priced else None,
        fastest=min(same_recipe, key=lambda row: row.step_s).name,
        fastest_here=min(
            (row for row in here if row is now or not row.changes_recipe), key=lambda row: row.step_s
        ).name,
        advice=tuple(_advice(rows, machines, need)),
        assumptions=(*work.assumptions, *_assumptions(speed, machines)),
    )


def _rungs(work: Workload, machines: Machines, speed: Speed) -> Iterator[Estimate]:
    if machines.num_hosts == 1:
        return
    rungs = wire.ladder(machines.layout, max_step_factor=LARGER_STEP, local_steps=LOCAL_STEPS)
    for rung in (*rungs, ACCUMULATE):
        if rung.step_factor in (1, LARGER_STEP):
            yield estimate(rung.name, work, machines, speed, rung)


def _fewer_hosts(work: Workload, machines: Machines, speed: Speed) -> Iterator[Estimate]:
    if machines.num_hosts > 1:
        yield estimate("one host", work, machines.on_one_host(), speed)


def _other_machines(work: Workload, machines: Machines, speed: Speed) -> Iterator[Estimate]:
    """One change at a time; the way of exchanging is chosen anew for each."""
    if machines.link is not None:
        for name, (port, _source) in LINKS.items():
            if payload(port) > 1.2 * machines.link.bytes_per_s:
                link = Link(payload(port), ETHERNET_LATENCY_S)
                yield estimate(f"{name} link", work, replace(machines, link=link), speed)
    for name in OTHER_GPUS:
        if machines.gpu is not None and name != machines.gpu.name:
            other = replace(machines, gpu=find_gpu(name), price_per_hour=None, compute_step_s=None)
            if work.precision in ("auto", "fp32", other.gpu.half_kind if other.gpu else ""):
                yield estimate(f"{name} instead", work, other, speed_of(work, other))
    cheapest: dict[tuple[str, int], Offer] = {}
    for offer in sorted(OFFERS.values(), key=lambda offer: offer.price_per_hour):
        cheapest.setdefault((offer.gpu, offer.num_gpus), offer)
    for offer in cheapest.values():
        rented = parse(offer.name)
        if work.precision in ("auto", "fp32", rented.gpu.half_kind if rented.gpu else ""):
            yield estimate(f"rent 1 x {offer.name}", work, rented, speed_of(work, rented))


def _advice(rows: tuple[Estimate, ...], machines: Machines, need: MemoryNeed | None) -> Iterator[str]:
    """What to do, the weightiest first."""
    by_name = {row.name: row for row in rows}
    now = by_name["as planned"]
    if need is not None and need.fits is False:
        end = f"; set batching.tokens_per_micro_batch = {need.largest_tokens}" if need.largest_tokens else ""
        yield need.sentence() + end
    if (one := by_name.get("one host")) is not None:
        yield from _about_one_host(one, by_name, now)
    if (plain := by_name.get("plain")) is not None and plain.exposed_share >= wire.ENOUGH:
        yield (
            f"the wire is the bottleneck: with plain exchange {plain.exposed_share:.0%} of each step would be waiting"
        )
    larger = by_name.get(f"larger_step_{LARGER_STEP}")
    if larger is not None and larger.step_s < 0.8 * now.step_s:
        yield (
            f"if the recipe allowed steps of {LARGER_STEP} times the tokens, the same tokens would take "
            f"{duration(3600 * larger.hours)} instead of {duration(3600 * now.hours)}"
        )


def _about_one_host(one: Estimate, by_name: dict[str, Estimate], now: Estimate) -> Iterator[str]:
    plain = by_name["plain"]
    if one.step_s <= now.step_s:
        yield f"use one host: {one.step_s:.3g} s a step alone, {now.step_s:.3g} s together"
    elif one.step_s <= plain.step_s:
        yield (
            f"with plain exchange one host would be faster ({one.step_s:.3g} s a step) than all together "
            f"({plain.step_s:.3g} s); {now.rung} makes the others worth having ({now.step_s:.3g} s)"
        )
    if one.cost is not None and now.cost is not None and one.step_s > now.step_s and one.cost < 0.9 * now.cost:
        yield f"one host is cheaper: ${one.cost:,.2f} in {duration(3600 * one.hours)}, instead of ${now.cost:,.2f}"


def _assumptions(speed: Speed, machines: Machines) -> Iterator[str]:
    if not speed.is_measured:
        yield "speed is a prior, not a measurement; `dragoman check` or a past run (--learn-from) replaces it"
    if machines.gpu is not None:
        yield "memory is a formula that no GPU has confirmed"
    if machines.num_hosts > 1 and "measured" not in machines.link_source:
        yield f"the link is {machines.link_source}; `dragoman check` measures it"
