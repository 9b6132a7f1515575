"""Were the machines busy: question 4. Never from utilisation alone."""

import numpy as np

from dragoman.report.answers import UNDETERMINED, Advice, Answer, Bar, Bars, Number, percent, seconds
from dragoman.report.columns import Column, GpuColumns
from dragoman.report.facts import Facts
from dragoman.report.measures import Measures, measures_of
from dragoman.report.questions.exposure import exposure_of
from dragoman.report.questions.ladder import is_step_too_small
from dragoman.report.questions.stragglers import straggler_of

BUSY = 0.85
"""Share of a step spent on useful computing from which machines count as busy."""
SPINNING_POWER, SPINNING_USE = 0.5, 0.9
"""A GPU that reads at least this utilisation at less than this share of its power cap runs kernels that wait."""
THROTTLED = 0.1
SMALL_STEP = 0.15
"""Updating the weights takes as long for few tokens as for many: with more of a step than this, steps are too small."""
HARMLESS_REASONS = {
    "none",
    "idle",
    "gpu_idle",
    "applications_clocks_setting",
    "application_clocks",
    "display_clocks",
    "sync_boost",
}
RULE = (
    "A step is divided into computing and what was lost: waiting for input, exposed communication, waiting for slower "
    "ranks (or uneven ones, where none is slow lastingly), padding, small batches (where updating the weights, which "
    "takes as long for few tokens as for many, is more than 15 % of a step), the host. Busy: 85 % or more of a step "
    "computes real tokens. Work, power and waiting decide together; utilisation alone never does, because a kernel "
    "that waits counts as used."
)


def were_the_machines_busy(facts: Facts) -> Answer:
    """Question 4."""
    noun = "GPUs" if facts.settings.is_gpu or _gpus(facts) or facts.claims.gpu_utilisation is not None else "machines"
    question = f"Were the {noun} fully used?"
    measures = measures_of(facts)
    lost = lost_shares(measures)
    spinning = _spinning(facts)
    numbers, evidence = _numbers(measures), [*_utilisation_sentences(facts), *spinning]
    if lost is None and not spinning:
        why = "Undetermined: neither where the time of a step went nor power is known."
        if evidence:
            why = "Undetermined: utilisation alone proves nothing, and nothing else is known."
        return Answer("busy", 4, question, UNDETERMINED, why, "unknown", numbers, tuple(evidence), RULE)
    if lost is None:
        sentence = f"No: {spinning[0]}"
        return Answer("busy", 4, question, "waiting", sentence, "bad", numbers, tuple(evidence), RULE)
    useful = max(0.0, 1 - sum(lost.values()))
    cause = max(lost, key=lambda name: lost[name])
    throttled = _throttled(facts)
    evidence += [f"{percent(share)} of a step: {name}." for name, share in lost.items() if share >= 0.005]
    evidence += [f"Throttled: {reason} in {percent(share)} of the samples." for reason, share in throttled.items()]
    numbers = (Number("useful computing", useful, "share", percent(useful)), *numbers)
    chart = _split(lost, useful, measures)
    if useful >= BUSY and not spinning and not throttled:
        sentence = f"Yes: {percent(useful)} of a step computed real tokens{_work(measures)}."
        return Answer("busy", 4, question, "busy", sentence, "good", numbers, tuple(evidence), RULE, chart)
    if useful >= BUSY and throttled:
        reason = max(throttled, key=lambda name: throttled[name])
        sentence = f"Slowed down: {percent(useful)} of a step computed, but clocks were lowered ({reason})."
        advice = Advice("Cool the machine or raise its power cap.", f"clocks lowered in {percent(throttled[reason])} "
                        "of the samples", 0.1 * throttled[reason])  # fmt: skip
        return Answer("busy", 4, question, "throttled", sentence, "bad", numbers, tuple(evidence), RULE, chart,
                      (advice,))  # fmt: skip
    sentence = (
        f"No: {percent(useful)} of a step computed real tokens; the largest loss is {cause} ({percent(lost[cause])})."
    )
    return Answer("busy", 4, question, f"lost to {cause}", sentence, "bad", numbers, tuple(evidence), RULE, chart,
                  _larger_steps(lost))  # fmt: skip


def lost_shares(measures: Measures) -> dict[str, float] | None:
    """Shares of a step by cause, largest meaning first in time; None where the time of a step was not divided."""
    steps = measures.steady
    exposure = exposure_of(measures)
    if steps is None or not np.isfinite(steps.forward_s).any():
        if exposure is None:
            return None
        return {"exposed communication": exposure.wire.value}
    total = float(np.nansum(steps.step_s))
    parts = {name: float(np.nansum(getattr(steps, f"{name}_s"))) / total
             for name in ("data_wait", "forward", "backward", "optimizer", "exchange")}  # fmt: skip
    computing = parts["forward"] + parts["backward"] + parts["optimizer"]
    padding = 0.0
    if np.nansum(steps.padded_tokens) > 0:
        padding = float(1 - np.nansum(steps.real_tokens) / np.nansum(steps.padded_tokens))
    lost = {"waiting for input": parts["data_wait"]}
    is_small = exposure is not None and is_step_too_small(measures, exposure.compute_s)
    if exposure is not None:
        lost["small batches" if is_small else "exposed communication"] = exposure.wire.value
        whom = "slower ranks" if straggler_of(measures) is not None else "uneven ranks"
        lost[whom] = exposure.skew.value if exposure.skew is not None else 0.0
    lost["padding"] = padding * (parts["forward"] + parts["backward"])
    if is_small or parts["optimizer"] > SMALL_STEP:
        lost["small batches"] = lost.get("small batches", 0.0) + parts["optimizer"]
    lost["the host, between the parts"] = max(0.0, 1 - computing - parts["data_wait"] - parts["exchange"])
    return lost


def _larger_steps(lost: dict[str, float]) -> tuple[Advice, ...]:
    share = lost.get("small batches")
    if share is None:
        return ()
    text = "Take more tokens a step: updating the weights costs the same however many there are."
    return (Advice(text, f"twice the tokens a step save {percent(share / 2)} of the time", share / 2,
                   "batching.tokens_per_step"),)  # fmt: skip


def _gpus(facts: Facts) -> list[GpuColumns]:
    return [gpu for host in facts.hosts.values() for gpu in host.gpus.values()]


def _median(column: Column) -> float | None:
    known = column[np.isfinite(column)]
    return float(np.median(known)) if len(known) else None


def _use_and_power(facts: Facts) -> tuple[float | None, float | None, float | None]:
    """Median utilisation, watts and cap over all GPUs; else what a person saw."""
    gpus = _gpus(facts)
    if gpus:
        columns = ("utilisation", "power_w", "power_cap_w")
        use, power, cap = (_median(np.concatenate([getattr(gpu, name) for gpu in gpus])) for name in columns)
        return use, power, cap
    claims = facts.claims
    return claims.gpu_utilisation, claims.gpu_power_w, claims.gpu_power_cap_w


def _spinning(facts: Facts) -> list[str]:
    use, power, cap = _use_and_power(facts)
    if use is None or power is None or not cap or use < SPINNING_USE or power / cap >= SPINNING_POWER:
        return []
    return [
        f"the GPUs read {percent(use)} at {power:.0f} W of {cap:.0f} W: kernels that spin while they wait, not work."
    ]


def _utilisation_sentences(facts: Facts) -> list[str]:
    use, power, cap = _use_and_power(facts)
    found = []
    if use is not None:
        found.append(f"Utilisation reads {percent(use)}, which counts kernels that wait as well and decides nothing.")
    if power is not None and cap:
        found.append(f"Power: {power:.0f} W of {cap:.0f} W.")
    cpus = [_median(host.cpu_share) for host in facts.hosts.values()]
    if not _gpus(facts) and any(cpu is not None for cpu in cpus):
        shown = ", ".join(
            f"{name} {percent(cpu)}" for name, cpu in zip(facts.hosts, cpus, strict=True) if cpu is not None
        )
        found.append(f"Cores in use: {shown}.")
    return found


def _throttled(facts: Facts) -> dict[str, float]:
    """Reasons that lowered clocks in many samples, with their share."""
    told = [gpu.throttled for gpu in _gpus(facts) if gpu.throttled is not None]
    shares: dict[str, float] = {}
    for reasons in told:
        for reason, share in reasons.items():
            if reason.lower() not in HARMLESS_REASONS:
                shares[reason] = shares.get(reason, 0.0) + share / len(told)
    return {reason: share for reason, share in shares.items() if share > THROTTLED}


def _numbers(measures: Measures) -> tuple[Number, ...]:
    numbers = []
    if measures.tokens_per_s:
        numbers.append(Number("target tokens a second", measures.tokens_per_s, "1/s", f"{measures.tokens_per_s:,.0f}"))
    flops, device = measures.flops_per_s, measures.facts.device
    if flops:
        numbers.append(Number("useful work of a rank", flops, "FLOP/s", _flops(measures, flops)))
        if device:
            share = flops / device.peak_flops
            text = f"{percent(share)} of {device.peak_flops / 1e12:.0f} TFLOP/s ({device.source})"
            numbers.append(Number("of the device's peak", share, "share", text))
    return tuple(numbers)


def _work(measures: Measures) -> str:
    flops, device = measures.flops_per_s, measures.facts.device
    if not flops:
        return ""
    peak = f", {percent(flops / device.peak_flops)} of the {device.name}'s peak" if device else ""
    return f", {_flops(measures, flops)} a rank{peak}"


def _flops(measures: Measures, flops: float) -> str:
    return f"{'at least ' * measures.draws_columns}{flops / 1e9:,.0f} GFLOP/s"


def _split(lost: dict[str, float], useful: float, measures: Measures) -> Bars | None:
    step = measures.step_s
    if step is None:
        return None
    parts = (
        ("computing", useful * step.value),
        *((name, share * step.value) for name, share in lost.items() if share > 0.002),
    )
    return Bars("Where the time of a step went", "s", (Bar("step", parts, seconds(step.value)),))
