"""More text out of the same text: one model of each direction translates train, and a third learns from all of it.

Data diversification (Nguyen et al. 2020, arXiv 1911.01986). What a teacher writes is simpler than what people wrote,
and says the same in other words: 29,000 pairs become 116,000. Train alone is read; both teachers learn at the same
time, each on its half of the cores.
"""

import gzip
import json
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.multi30k_record.commands import cores, data_file, dragoman, filled, side_by_side
from dragoman.core import records
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EvalRecord

DIRECTIONS = (("en", "de"), ("de", "en"))
BEST = 2
"""Translations of each sentence that are written down."""


@dataclass(frozen=True)
class Spent:
    """On everything before the first step of the model that counts."""

    minutes: float = 0.0
    tokens: int = 0


def taught(directory: Path, seed: int) -> Spent:
    """Train the teachers and let them translate; what was done before is not done again.

    `directory` then has 1.en and 1.de, the best translation of each line of train, and 2.en and 2.de, the second best.
    """
    done = directory / "spent.json"
    if not done.exists():
        runs = [directory / f"{source}-{target}" for source, target in DIRECTIONS]
        recipes = [
            filled("teacher", run.with_suffix(".toml"), source=source, target=target)
            for run, (source, target) in zip(runs, DIRECTIONS, strict=True)
        ]
        processes = str(max(1, cores() // len(runs)))
        wanted = ("--processes", processes, "--set", f"training.seed={seed}")
        side_by_side(
            [("train", str(recipe), "--run", str(run), *wanted) for recipe, run in zip(recipes, runs, strict=True)]
        )
        last = [list(records.read_lines(RunPaths(run).evals, EvalRecord))[-1] for run in runs]
        started = time.monotonic()
        for run, (source, target) in zip(runs, DIRECTIONS, strict=True):
            _write_anew(run, source, target)
        seconds = max(one.training_s for one in last) + time.monotonic() - started
        spent = {"minutes": seconds / 60, "tokens": sum(one.tokens for one in last)}
        write_atomically(done, json.dumps(spent))
    return Spent(**json.loads(done.read_text(encoding="utf-8")))


def _write_anew(run: Path, source: str, target: str) -> None:
    """Train's sentences of one language in the other one."""
    model = run.with_name(f"model-{run.name}")
    dragoman("export", str(run), "--out", str(model), "--quantization", "float32", "--force")
    with gzip.open(data_file("train", source), "rt", encoding="utf-8") as text:
        given = text.read()
    written = dragoman("translate", str(model), "--n-best", str(BEST), given=given).splitlines()
    assert len(written) == BEST * given.count("\n"), "a translation of every line, as often as wanted"
    for place in range(BEST):
        lines = "\n".join(written[place::BEST]) + "\n"
        write_atomically(run.with_name(f"{place + 1}.{target}"), lines)
