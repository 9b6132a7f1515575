"""A server under load: `python -m benchmarks.serving MODEL`.

Starts `dragoman serve MODEL` on loopback and lets 200 clients ask for two minutes, each for one sentence after the
other on a connection of its own. No sentence comes twice within the server's memory. Clients that are told to come back
do so after the time they were told. Prints a table: answers a second, how long they took, and the server's memory.
"""

import argparse
import asyncio
import itertools
import json
import math
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from dragoman.serve.metrics import resident_bytes

WARM_UP_S = 30.0
MOST_LATENCIES = 1_000_000


@dataclass(frozen=True)
class Load:
    """Who asks, for how long, and what."""

    url: str
    clients: int
    seconds: float
    source: str
    target: str
    sentences: Sequence[str] = ()


@dataclass
class Outcome:
    """What clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)
    """Of answers with status 200."""
    seconds: float = 0.0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.latencies_s)
        return ordered[min(len(ordered) - 1, math.floor(share * len(ordered)))] if ordered else math.nan


def endless(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences again and again; without any, made ones that never come twice."""
    if sentences:
        return itertools.cycle(sentences)
    words = ["the old train", "my friend", "a quiet river", "the station", "arrives", "waits for", "tomorrow", "near"]
    chance = random.Random(1)
    return (" ".join(chance.choices(words, k=8)) + f" {number}?" for number in itertools.count())


async def loaded(load: Load) -> Outcome:
    """Let all clients ask until the time is over."""
    outcome, sentences, start = Outcome(), endless(load.sentences), time.perf_counter()
    end = start + load.seconds
    await asyncio.gather(*(_client(load, sentences, end, outcome) for _ in range(load.clients)))
    outcome.seconds = time.perf_counter() - start
    return outcome


async def _client(load: Load, sentences: Iterator[str], end: float, outcome: Outcome) -> None:
    parts = urlsplit(load.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        while (start := time.perf_counter()) < end:
            body = json.dumps({"q": next(sentences), "source": load.source, "target": load.target}).encode()
            writer.write(
                f"POST /translate HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
            await reader.readexactly(int(headers["content-length"]))
            status = int(head.split()[1])
            outcome.statuses[status] += 1
            if status == 200 and len(outcome.latencies_s) < MOST_LATENCIES:
                outcome.latencies_s.append(time.perf_counter() - start)
            elif status == 429:
                await asyncio.sleep(min(int(headers["retry-after"]), max(0.0, end - time.perf_counter())))
    finally:
        writer.close()


async def watched(load: Load, process: int) -> tuple[Outcome, list[float]]:
    """The outcome, and the server's memory once a second meanwhile."""
    memory: list[float] = []

    async def watch() -> None:
        while True:
            memory.append(resident_bytes(process))
            await asyncio.sleep(1)

    watching = asyncio.ensure_future(watch())
    outcome = await loaded(load)
    watching.cancel()
    return outcome, memory


def table(load: Load, outcome: Outcome, memory: Sequence[float]) -> str:
    """Markdown; memory is the median of the first and of the last tenth."""
    tenth = max(1, len(memory) // 10)
    first, last = statistics.median(memory[:tenth]) / 1e6, statistics.median(memory[-tenth:]) / 1e6
    answers = outcome.statuses[200]
    others = {status: number for status, number in outcome.statuses.items() if status not in (200, 429)}
    return "\n".join(
        [
            "| clients | seconds | answers/s | p50 ms | p99 ms | 429 | other errors | MB, first and last tenth |",
            "|---|---|---|---|---|---|---|---|",
            f"| {load.clients} | {outcome.seconds:.0f} | {answers / outcome.seconds:.0f}"
            f" | {1_000 * outcome.quantile(0.5):.0f} | {1_000 * outcome.quantile(0.99):.0f}"
            f" | {outcome.statuses[429]} | {others or 0} | {first:.0f}, {last:.0f} |",
        ]
    )


def main() -> None:
    """Read the command line, serve, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a folder made by `dragoman export`")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--sentences", type=Path, help="a file, one a line; made ones without it")
    options = parser.parse_args()
    sentences = options.sentences.read_text().splitlines() if options.sentences else ()
    card = json.loads((options.model / "model.json").read_text())
    command = [Path(sys.executable).with_name("dragoman"), "serve", options.model, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = next(line.strip() for line in server.stdout if line.startswith("http://"))
            load = Load(url, options.clients, WARM_UP_S, card["source_language"], card["target_language"], sentences)
            asyncio.run(loaded(load))
            load = Load(url, options.clients, options.seconds, load.source, load.target, sentences)
            outcome, memory = asyncio.run(watched(load, server.pid))
            print(table(load, outcome, memory))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
