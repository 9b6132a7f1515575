"""How long a report takes as runs grow, and how long its page takes to open.

Run directories are made up, with records as the trainer and the monitor write them: 8 ranks on 2 hosts with 4 GPUs
each, an evaluation every thousandth of the run, a sample of each host every second. `dragoman report` is timed as a
command, and the page that it writes is opened in Chromium, where there is one, until its charts stand. Nothing of this
depends on the content of the records, only on their number; the report itself is checked for the number of steps.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.config_text import to_toml
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord, EventRecord, GpuSample, NicSample, SentenceLosses, SystemRecord

NUM_RANKS, NUM_HOSTS = 8, 2
STEP_S = 0.6
WIRE_BYTES = 365_285_376
PROBE_EVERY = 100
START_S = 1_790_000_000.0
SIZES = (3_000, 30_000, 100_000, 300_000)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(START_S + seconds, UTC).isoformat(timespec="milliseconds")


def step_lines(rank: int, num_steps: int) -> Iterator[str]:
    """What one rank would write."""
    random = np.random.default_rng(rank)
    noise = np.exp(0.03 * random.standard_normal((num_steps, 4)))
    tokens = random.integers(5_500, 6_500, num_steps)
    for place, (step, real) in enumerate(zip(range(1, num_steps + 1), tokens.tolist(), strict=True)):
        is_probe = step % PROBE_EVERY == 0
        forward, backward, exchange, optimizer = (noise[place] * (0.15, 0.3, 0.25 if is_probe else 0.1, 0.02)).tolist()
        yield json.dumps({
            "step": step, "time": moment(STEP_S * step), "loss": 1.5 + 6 * (step + 500.0) ** -0.4,
            "smoothed_loss": 2.6 + 6 * (step + 500.0) ** -0.4, "gradient_norm": float(noise[place, 0]),
            "learning_rate": 2 * 512**-0.5 * min(step**-0.5, step * 8000**-1.5), "target_tokens": 50_000,
            "real_tokens": 2 * real, "padded_tokens": 2 * real + 600, "data_wait_s": 3.7e-06, "forward_s": forward,
            "backward_s": backward, "exchange_s": exchange, "optimizer_s": optimizer,
            "step_s": forward + backward + exchange + optimizer + 1e-3, "wire_bytes": WIRE_BYTES,
            "was_skipped": False, "is_probe": is_probe, "skew_s": 0.004 if is_probe else None,
        }) + "\n"  # fmt: skip


def host_lines(host: str, seconds: int) -> Iterator[str]:
    """What one monitor would write."""
    each = NUM_RANKS // NUM_HOSTS
    for second in range(seconds):
        sent = int(second / STEP_S) * WIRE_BYTES
        nics = (NicSample("eth0", sent, sent, sent // 1500, sent // 1500, 0, 10_000.0),
                NicSample("lo", second, second, second, second, 0, None))  # fmt: skip
        gpus = tuple(GpuSample(index, "Tesla V100-SXM2-16GB", 0.97, 12 << 30, 16 << 30, 251.5 + index, 300.0, 1380.0,
                               1530.0, 61.0) for index in range(each))  # fmt: skip
        record = SystemRecord(moment(second), host, 0.31, 40 << 30, 64 << 30, 12 << 30, 10**11, second, second, nics,
                              "eth0", gpus)  # fmt: skip
        yield json.dumps(records.to_json(record)) + "\n"


def make_run(directory: Path, num_steps: int) -> None:
    """A whole run directory."""
    paths = RunPaths(directory)
    for place in (paths.steps(0).parent, paths.telemetry("a").parent, paths.sentence_losses(1).parent):
        place.mkdir(parents=True)
    paths.config.write_text(to_toml(Config()), encoding="utf-8")
    paths.environment.write_text(json.dumps({"world_size": NUM_RANKS, "device": "Tesla V100-SXM2-16GB"}))
    for rank in range(NUM_RANKS):
        with paths.steps(rank).open("w") as file:
            file.writelines(step_lines(rank, num_steps))
    for host in "ab"[:NUM_HOSTS]:
        with paths.telemetry(host).open("w") as file:
            file.writelines(host_lines(host, int(num_steps * STEP_S)))
    evaluations = []
    for step in range(num_steps // 100, num_steps + 1, num_steps // 100):
        loss = 1.6 + 6 * (step + 500.0) ** -0.4
        evaluations.append(EvalRecord(step, moment(STEP_S * step), 50_000 * step, STEP_S * step, loss, loss - 0.1, 20.0,
                                      (19.0, 21.0), 50.0, "made up", "made up", 2000, 30.0))  # fmt: skip
        sentences = SentenceLosses(step, (loss * 20,) * 2000, (20,) * 2000)
        paths.sentence_losses(step).write_text(records.dumps(sentences))
    records.write_lines(paths.evals, evaluations)
    ends = [(0.0, "started", 0, "8 ranks"), (STEP_S * num_steps, "stopped", num_steps, "its steps are done")]
    records.write_lines(paths.events, [EventRecord(moment(at), kind, step, 0, text) for at, kind, step, text in ends])


def report_s(directory: Path, num_steps: int) -> tuple[float, float]:
    """Seconds of the command on the wall, and on the processor."""
    command = [sys.executable, "-m", "dragoman", "report", str(directory), "--json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    written = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    numbers = {number["name"]: number["value"] for number in json.loads(written)["answers"][0]["numbers"]}
    assert numbers["steps"] == num_steps, f"the report speaks of {numbers['steps']} steps"
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def page_s(page: Path) -> float:
    """Seconds until the browser, already started, has loaded the page and drawn it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("there is no chromium to open the report's page with: apt-get install chromium")
    with sync_playwright() as starter:
        browser = starter.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        opened.goto(page.as_uri())
        opened.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seconds = time.perf_counter() - start
        browser.close()
    return seconds


def measured() -> list[list[float]]:
    """Rows (steps, MB of records, seconds of the report, of them on the processor, seconds of its page)."""
    with tempfile.TemporaryDirectory(prefix="report_growth_") as root:
        return [one(num_steps, Path(root) / f"run_{num_steps}") for num_steps in SIZES]


def one(num_steps: int, directory: Path) -> list[float]:
    """One size: make it, report on it, open the page."""
    make_run(directory, num_steps)
    megabytes = sum(file.stat().st_size for file in directory.rglob("*.jsonl")) / 1e6
    seconds, cpu_s = report_s(directory, num_steps)
    opened_s = page_s(directory / "report" / "index.html")
    shutil.rmtree(directory)
    print(f"report of {num_steps:,} steps × {NUM_RANKS}: {seconds:.1f} s, its page {opened_s:.2f} s", flush=True)
    return [num_steps, megabytes, seconds, cpu_s, opened_s]
