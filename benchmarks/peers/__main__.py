"""Ours and its peers, side by side: `make bench-peers`, or `python -m benchmarks.peers --columns training-small`.

Installs the peers by name into environments of their own, gives all the same data, vocabulary, model, batch and
threads, lets them take turns, and writes what was found after every round: `benchmarks/peers/results.json`, the
tables of `docs/PEERS.md` and of the README, the chart `docs/images/peers.svg`. Columns that are not measured
again stay as they were.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

import torch

from benchmarks import decoding, prepare, training
from benchmarks.ground import ROOT, machine
from benchmarks.marked_page import put
from benchmarks.peers.chart import chart
from benchmarks.peers.decoders import ENGINES, exported
from benchmarks.peers.page import TITLES, page, summary
from benchmarks.peers.preparers import PREPARERS
from benchmarks.peers.results import Column, Results, Row, joined, load, rows_of, save
from benchmarks.peers.roster import DRAGOMAN, HALF_PEERS, PEERS, install_all
from benchmarks.turns import FailedError, Race, race
from dragoman.core.files import write_atomically
from dragoman.training.precision import precision_for

RESULTS = ROOT / "benchmarks" / "peers" / "results.json"
README, PAGE, CHART = ROOT / "README.md", ROOT / "docs" / "PEERS.md", ROOT / "docs" / "images" / "peers.svg"
PEERS_AT_ONCE = {"small": 6, "base": 2}
"""More of `base` would not fit into the memory of the machine; the rest takes turns with ours in another heat."""
FLOAT_ENGINES = (DRAGOMAN, "dragoman-torch", "ctranslate2", "marian", "huggingface", "opennmt", "eole", "joeynmt")
INT8_ENGINES = ("dragoman-int8", "ctranslate2-int8", "marian-int8")
VOCABULARIES = {"opennmt": "opennmt-vocabulary", "eole": "eole-vocabulary"}
"""What these two prepare is not a corpus."""

Found = tuple[tuple[Row, ...], dict[str, str]]
"""Rows, and why others are not among them."""


def train(column: str, options: argparse.Namespace) -> Iterator[Found]:
    """Training speed in as many heats as memory needs; with bfloat16 only those who have it."""
    _, preset, *half = column.split("-")
    ending = training.HALF if half else ""
    entries, failed = training.entries(is_quiet=options.quiet), dict(options.missing)
    peers = [key for key in (HALF_PEERS if half else PEERS) if key != DRAGOMAN and key not in failed]
    done: list[tuple[Row, ...]] = []
    for first in range(0, len(peers), PEERS_AT_ONCE[preset]):
        chosen = [training.CEILING, DRAGOMAN, *peers[first : first + PEERS_AT_ONCE[preset]]]
        starts = {key + ending: entries[key + ending].start(preset) for key in chosen}
        heat: tuple[Row, ...] = ()
        for now in race(starts, options.rounds, options.slice_s):
            heat, failed = training_rows(now, column, training.CEILING + ending), failed | now.failed
            yield joined([*done, heat]), failed
        done.append(heat)


def training_rows(now: Race, column: str, ceiling: str) -> tuple[Row, ...]:
    """Rows of one heat, the ceiling taken as what the others are measured by."""
    rates = {each.name: each.rates("wall_s") for each in now.participants}
    peaks = rates.pop(ceiling)
    peaks_mb = {each.name: each.peak_rss_mb for each in now.participants}
    return rows_of(column, rates, peaks_mb, peaks, partial(training.flops_of, preset=column.split("-")[1]))


def decode(name: str, engines: Sequence[str], options: argparse.Namespace) -> Iterator[Found]:
    """Decoding speed of `small` with one kind of numbers."""
    missing = {
        engine: options.missing[ENGINES[engine][1]] for engine in engines if ENGINES[engine][1] in options.missing
    }
    starts = {engine: decoding.start_of(engine, "small", 2) for engine in engines if engine not in missing}
    for kind in {ENGINES[engine][2] for engine in engines}:  # here, so that nobody's peak is that of making a model
        for writes_all in (False, True):
            exported("small", kind, writes_all=writes_all)
    for now in race(starts, options.rounds, options.slice_s, warm_up_s=1.0):
        rates = {each.name: each.rates("wall_s") for each in now.participants}
        peaks_mb = {each.name: each.peak_rss_mb for each in now.participants}
        yield rows_of(name, rates, peaks_mb), missing | now.failed


def prepare_text(options: argparse.Namespace) -> Iterator[Found]:
    """Preparation speed, each from its start to its end."""
    stem = prepare.repeated("multi30k/train", options.copies)
    there = [key for key in PREPARERS if key not in options.missing]
    for runs in prepare.measure(stem, there, options.rounds):
        named = {VOCABULARIES.get(key, key): own for key, own in runs.items()}
        rates = {key: [one.pairs_per_s for one in own] for key, own in named.items()}
        yield (
            rows_of("preparation", rates, {key: max(one.peak_mb for one in own) for key, own in named.items()}),
            options.missing,
        )


COLUMNS: dict[str, tuple[str, Callable[[argparse.Namespace], Iterator[Found]]]] = {
    **{
        f"training-{kind}": ("target tokens/s", partial(train, f"training-{kind}"))
        for kind in ("small", "base", "small-bf16", "base-bf16")
    },
    "decoding-float32": ("sentences/s", partial(decode, "decoding-float32", FLOAT_ENGINES)),
    "decoding-int8": ("sentences/s", partial(decode, "decoding-int8", INT8_ENGINES)),
    "preparation": ("sentence pairs/s", prepare_text),
}
"""The unit of each, and what measures it."""


def publish(results: Results) -> None:
    """Write numbers, tables and chart."""
    save(RESULTS, results)
    put(PAGE, "measured", page(results))
    put(README, "peers", summary(results))
    write_atomically(CHART, chart(results))


def main() -> None:
    """Read the command line, install, measure, publish after every round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", nargs="*", default=list(TITLES), choices=tuple(TITLES))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--slice-s", type=float, default=6.0)
    parser.add_argument("--copies", type=int, default=35, help="of the 29,000 pairs that are prepared")
    parser.add_argument(
        "--quiet", action="store_true", help="nothing else runs: ours pins its threads, as it does then"
    )
    parser.add_argument("--install", action="store_true", help="only install the peers")
    options = parser.parse_args()
    options.missing = install_all()
    for key, reason in options.missing.items():
        print(f"{PEERS[key].name}: {reason}", flush=True)
    if options.install:
        return
    results = load(RESULTS)
    for name in options.columns:
        if name.endswith(training.HALF) and precision_for("auto", torch.device("cpu")).name != "bf16":
            print(f"{name}: this processor has no arithmetic for it", flush=True)
            continue
        unit, measure = COLUMNS[name]
        command = f"python -m benchmarks.peers --columns {name} --rounds {options.rounds} --slice-s {options.slice_s:g}"
        command += " --quiet" * options.quiet + f" --copies {options.copies}" * (name == "preparation")
        try:
            for rows, failed in measure(options):
                day = datetime.now(UTC).date().isoformat()
                results = results.with_column(Column(name, unit, day, command, rows, failed, machine()))
                publish(results)
                print(f"{name}: {len(rows[0].rates)} rounds", flush=True)
        except FailedError as error:
            raise SystemExit(f"{name}: {error}") from None
    print(page(results))


if __name__ == "__main__":
    main()
