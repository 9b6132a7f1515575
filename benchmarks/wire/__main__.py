"""Step time of every rung on two hosts and a cable of any rate, against the prediction: needs root.

python -m benchmarks.wire 50 100 unlimited     appends to benchmarks/wire/results.jsonl and prints the table
python -m benchmarks.wire 75%                  the rate at which plain spends 75 % of the step waiting
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from benchmarks.wire import link
from dragoman.theory import wire as theory

RESULTS = Path(__file__).with_name("results.jsonl")
RUNGS = ("plain", "half", "eight_bits", "larger_step_4", "local_steps_16")
STEPS = 8
"""A multiple of the batches that are measured on."""
WAITING_SHARE = 0.75


def rate_for(share: float, found: dict[str, Any]) -> float:
    """Mb/s at which a plain step spends a share of its time waiting."""
    compute_s, overlap_s = float(found["compute_s"]), float(found["backward_s"])
    exposed_s = share / (1 - share) * compute_s
    sent = theory.ring_bytes(found["row"]["num_bytes"], 2)
    return 8e-6 * float(sent) / (exposed_s + overlap_s)


def ask(main: Any, rungs: tuple[str, ...], steps: int) -> dict[str, Any]:
    order = {"rungs": rungs, "steps": steps, "local_steps": 16, "max_step_factor": 1}
    main.stdin.write(json.dumps(order) + "\n")
    main.stdin.flush()
    answer: dict[str, Any] = json.loads(main.stdout.readline())
    return answer


def table(found: Mapping[str, Any]) -> str:
    """A link's rungs as Markdown."""
    rungs = found["rungs"]
    plain = rungs["plain"]["measured_s"]
    lines = [
        f"\n### {title(found)}\n\n"
        f"Computing {found['compute_s']:.3f} s (backward {found['backward_s']:.3f}); the link gives "
        f"{8e-6 * found['link']['bytes_per_s']:.0f} Mb/s, {1e3 * found['link']['latency_s']:.2f} ms a hop. "
        f"`auto` takes {found['why']}\n",
        "| rung | computing s | step s | predicted | error | tokens/s against plain |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for rung, one in rungs.items():
        if rung == "compute_bound":
            continue
        predicted = one.get("predicted_s")
        error = f"{predicted / one['measured_s'] - 1:+.1%}" if predicted else "–"
        said = f"{predicted:.3f}" if predicted else "–"
        computing = f"{one['compute_s']:.3f}" if "compute_s" in one else "–"
        gain = plain / one["measured_s"]
        lines.append(f"| {rung} | {computing} | {one['measured_s']:.3f} | {said} | {error} | {gain:.2f} |")
    if "compute_bound" in rungs:
        share = rungs["compute_bound"]["alone_s"] / rungs["compute_bound"]["measured_s"]
        lines.append(f"\nWith sixteen times the tokens a step: {share:.1%} of twice one host's tokens/s.")
    return "\n".join(lines)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that hosts and ranks are gone afterwards
    wanted = sys.argv[1:] or ["50", "100", "200", "500", "75%", "unlimited"]
    with link.two_hosts():
        ranks = [link.start(rank, "benchmarks.wire.rank") for rank in range(2)]
        try:
            for name in wanted:
                measure(ranks[0], name)
            assert ranks[0].stdin is not None
            ranks[0].stdin.close()
            for rank in ranks:
                rank.wait(60)
        finally:
            for rank in ranks:
                rank.kill()


def title(found: Mapping[str, Any]) -> str:
    if found["mbit"] is None:
        return "No limit"
    why = ", where plain waits for three quarters of the step" if found["name"] == "75%" else ""
    return f"{found['mbit']:.0f} Mb/s{why}"


def measure(main_rank: Any, name: str) -> None:
    link.set_rate(None)
    if name == "75%":
        mbit: float | None = rate_for(WAITING_SHARE, ask(main_rank, (), STEPS))
    else:
        mbit = None if name == "unlimited" else float(name)
    link.set_rate(mbit)
    rungs = RUNGS if mbit is not None else ("plain", "ddp", "plain", "ddp", *RUNGS[1:], "compute_bound")
    found = ask(main_rank, rungs, STEPS)
    record = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"), "name": name, "mbit": mbit, "torch": torch.__version__,
        "cores": os.cpu_count(), "model": "small", "data": "multi30k", **found,
    }  # fmt: skip
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print(table(record), flush=True)


if __name__ == "__main__":
    main()
