"""A recipe on machines: how long a step takes and why, and what the whole costs.

    recipe ──workload──▶ operations, bytes ─┐
    machines ─────────▶ speed, links ───────┴──▶ step = compute + what the wire leaves uncovered ──▶ hours, money

Speed is a measurement where there is one, else the catalogue's prior with its range. Nothing here is fitted.
"""

from dataclasses import dataclass

from dragoman.core.errors import UserError
from dragoman.planner import memory
from dragoman.planner.hardware import prior
from dragoman.planner.machines import Machines
from dragoman.planner.memory import MemoryNeed
from dragoman.planner.workload import Workload
from dragoman.theory import wire
from dragoman.theory.schedule import num_single_steps
from dragoman.theory.wire import Compute, Rung

OPERATION_S = 10e-6
"""Starting one operation from Python; below this a GPU waits for its host. An assumption, 5 to 20 µs in practice."""
OPTIMIZER_BYTES = 28
"""Adam reads weight, gradient and two moments of each parameter and writes three of them back, in 32 bits."""


@dataclass(frozen=True)
class Speed:
    """Operations a second of one rank while it computes, with a range, and who says so."""

    flops_per_s: float
    low: float
    high: float
    source: str
    is_measured: bool


@dataclass(frozen=True)
class Parts:
    """Where the seconds of one update go on a rank."""

    forward_s: float
    backward_s: float
    optimizer_s: float
    exchange_s: float
    """One whole exchange, hidden or not."""
    exposed_s: float
    """The part of it that sticks out."""
    update_s: float


@dataclass(frozen=True)
class Estimate:
    """What one way of training costs."""

    name: str
    machines: str
    rung: str
    step_s: float
    """For the tokens of one step of the recipe."""
    step_range_s: tuple[float, float]
    """With the most and the least of the speed's range."""
    parts: Parts
    tokens_per_s: float
    hours: float
    cost: float | None
    nic_bytes: float
    """Through one host's interface each way in an update."""
    exposed_share: float
    num_updates: int
    changes_recipe: bool
    """It trains otherwise than the recipe says: larger steps, or steps of each rank on its own."""


def precision_of(work: Workload, machines: Machines) -> str:
    """What `auto` becomes on these machines."""
    if work.precision != "auto":
        return work.precision
    return machines.gpu.half_kind if machines.gpu else "fp32"


def speed_of(work: Workload, machines: Machines, measured: Speed | None = None) -> Speed:
    """How fast one rank computes: what the preflight timed, what a past run did, else the catalogue's prior."""
    if machines.compute_step_s:
        flops = work.flops_per_token * work.tokens_per_step / machines.num_ranks
        rate = flops / machines.compute_step_s
        return Speed(rate, rate, rate, "the step that the preflight timed", is_measured=True)
    if measured is not None:
        return measured
    if machines.gpu is None:
        raise UserError(
            "how fast a CPU computes is in no catalogue",
            "learn it from a run with --learn-from RUN, or from `dragoman check` with --preflight preflight.json",
        )
    gpu, precision = machines.gpu, precision_of(work, machines)
    expected, peak = prior(gpu, precision, work.model.width), gpu.peak(precision)
    source = f"{expected.share:.0%} of {peak / 1e12:.0f} TFLOP/s ({gpu.source}); {expected.source}"
    return Speed(expected.share * peak, expected.low * peak, expected.high * peak, source, is_measured=False)


def compute_parts(work: Workload, machines: Machines, flops_per_s: float) -> tuple[float, float, float, Compute]:
    """Forward, backward and optimizer seconds of a rank's share of a step, and what can hide an exchange."""
    num_micro_batches = work.micro_batches(machines.num_ranks)
    flops = work.flops_per_token * work.tokens_per_step / machines.num_ranks
    model = work.model
    # Operations of forward: some 20 an encoder layer, 32 a decoder layer, 20 around them; backward has twice as many.
    num_operations = 3 * (20 * model.encoder_layers + 32 * model.decoder_layers + 20)
    starting_s = num_operations * OPERATION_S * num_micro_batches if machines.gpu else 0.0
    multiplies_s = max(flops / flops_per_s, starting_s)
    optimizer_s = OPTIMIZER_BYTES * work.num_parameters / machines.gpu.memory_bytes_per_s if machines.gpu else 0.0
    backward_s = wire.BACKWARD_SHARE * multiplies_s
    last_backward_s = machines.last_backward_s if machines.compute_step_s else None
    compute = Compute(multiplies_s + optimizer_s, last_backward_s or backward_s / num_micro_batches)
    return multiplies_s - backward_s, backward_s, optimizer_s, compute


def rung_of(work: Workload, machines: Machines, compute: Compute) -> tuple[Rung, str]:
    """How the trainer would exchange gradients, and why: inside one host always plainly."""
    if machines.num_hosts == 1:
        return wire.PLAIN, "plain: all ranks are on one machine"
    if work.communication == "auto":
        choice = wire.choose(compute, work.row, machines.wire, max_step_factor=work.max_step_factor)
        return choice.rung, choice.why
    name = work.communication
    name = f"larger_step_{work.max_step_factor}" if name == "larger_step" else name
    local_steps = int(name.rpartition("_")[2]) if name.startswith("local_steps_") else 1
    ladder = wire.ladder(machines.layout, max_step_factor=work.max_step_factor, local_steps=local_steps)
    for rung in ladder:
        if rung.name == name:
            return rung, f"{name}: the recipe says so"
    raise UserError(f"communication.mode = {work.communication} cannot be had on {machines}", "set it to auto")


def estimate(name: str, work: Workload, machines: Machines, speed: Speed, rung: Rung | None = None) -> Estimate:
    """One way of training; without a rung, the one that `auto` would choose."""
    forward_s, backward_s, optimizer_s, compute = compute_parts(work, machines, speed.flops_per_s)
    rung = rung or rung_of(work, machines, compute)[0]
    predicted = wire.predict(rung, compute, work.row, machines.wire)
    slow, fast = (
        wire.predict(rung, compute_parts(work, machines, bound)[3], work.row, machines.wire).step_s
        for bound in (speed.low, speed.high)
    )
    factor = rung.step_factor
    parts = Parts(
        factor * forward_s,
        factor * backward_s,
        optimizer_s,
        wire.exchange_s(machines.wire, work.row.num_bytes, rung, num_buckets=work.row.num_buckets),
        predicted.exposed_s,
        predicted.update_s,
    )
    num_single = num_single_steps(
        work.schedule, step_factor=factor, local_steps=rung.local_steps, total_steps=work.num_steps
    )
    num_single = min(work.num_steps, num_single)
    single_s = wire.predict(rung.at_first, compute, work.row, machines.wire).step_s
    hours = (num_single * single_s + (work.num_steps - num_single) * predicted.step_s) / 3600
    return Estimate(
        name=name,
        machines=str(machines),
        rung=rung.name,
        step_s=predicted.step_s,
        step_range_s=(fast, slow),
        parts=parts,
        tokens_per_s=work.tokens_per_step / predicted.step_s,
        hours=hours,
        cost=hours * machines.price_per_hour if machines.price_per_hour is not None else None,
        nic_bytes=predicted.nic_bytes,
        exposed_share=predicted.exposed_share,
        num_updates=num_single - (num_single - work.num_steps) // factor,
        changes_recipe=factor > 1 or rung.local_steps > 1,
    )


def memory_of(work: Workload, machines: Machines) -> MemoryNeed | None:
    """Of one GPU with the recipe's micro-batches; None on CPUs, whose memory nobody told us."""
    if machines.gpu is None:
        return None
    tokens = min(work.tokens_per_micro_batch, max(1, work.tokens_per_step // machines.num_ranks))
    return memory.need(work, precision_of(work, machines), machines.gpu.memory_bytes, tokens)
