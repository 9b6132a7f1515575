"""More text out of the same text: a teacher of both directions translates train, and its pupils learn from all of it.

Data diversification (Nguyen et al. 2020, arXiv 1911.01986) by one model instead of several, and what it writes is
chosen: of its best few translations of a sentence the one that is nearest to what a person wrote, which is sequence-
level interpolation (Kim and Rush 2016, arXiv 1606.07947). Train alone is read.
"""

import gzip
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.multi30k_record.commands import cores, data_file, dragoman, filled
from benchmarks.multi30k_record.spending import Spent, spent_at_once
from dragoman.core.files import write_atomically
from dragoman.decoding.score import nearest

DIRECTIONS = (("en", "de"), ("de", "en"))
CANDIDATES = 5
"""Translations of each sentence that one is chosen from."""


def teacher_in(directory: Path) -> Path:
    """Its run."""
    return directory / "teacher"


def taught(directory: Path, seed: int) -> Spent:
    """Train the teacher and let it translate; what was done before is not done again.

    `directory` then has best.en and best.de, its best translation of each line of train, and near.en and near.de, the
    one of its best few that is nearest to train's own line.
    """
    run, done = teacher_in(directory), directory / "translating.json"
    if not done.exists():
        recipe = filled("teacher", run.with_suffix(".toml"))
        wanted = ("--processes", str(cores()), "--set", f"training.seed={seed}")
        dragoman("train", str(recipe), "--run", str(run), *wanted)
        started = time.monotonic()
        _write_anew(run)
        write_atomically(done, json.dumps({"minutes": (time.monotonic() - started) / 60}))
    return spent_at_once([run]) + Spent(**json.loads(done.read_text(encoding="utf-8")))


def _write_anew(run: Path) -> None:
    """Train's sentences of either language in the other one."""
    model = run.with_name("model")
    dragoman("export", str(run), "--out", str(model), "--quantization", "int8", "--force")
    train = {language: _lines_of(data_file("train", language)) for language in ("en", "de")}
    written = []
    for source, _ in DIRECTIONS:
        given = "".join(f"{line}\n" for line in train[source])
        written.append(dragoman("translate", str(model), "--n-best", str(CANDIDATES), given=given).splitlines())
    targets = [target for _, target in DIRECTIONS]
    with ProcessPoolExecutor(len(targets)) as pool:
        chosen = pool.map(nearest_of, written, [train[target] for target in targets])
        for target, candidates, near in zip(targets, written, chosen, strict=True):
            for name, lines in (("best", candidates[::CANDIDATES]), ("near", near)):
                write_atomically(run.with_name(f"{name}.{target}"), "".join(f"{line}\n" for line in lines))


def nearest_of(candidates: list[str], references: list[str]) -> list[str]:
    """For each line that one of its candidates, which follow one another, which is nearest to it."""
    assert len(candidates) == CANDIDATES * len(references), "as many translations of every line"
    chosen = []
    for place, reference in enumerate(references):
        own = candidates[CANDIDATES * place : CANDIDATES * (place + 1)]
        chosen.append(own[nearest(own, reference, "none")])
    return chosen


def _lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as text:
        return text.read().splitlines()
