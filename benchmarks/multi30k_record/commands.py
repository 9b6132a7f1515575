"""Dragoman as a person calls it, and recipes of this folder with their places filled in."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ground import CACHE, shared_data

HERE, DIRECTORY = Path(__file__).parent, CACHE / "multi30k_record"
TEXTS = "{part}.lc.norm.tok.{language}.gz"


def dragoman(*words: str, given: str | None = None) -> str:
    """What a command prints; `given` is its standard input."""
    return subprocess.run(_command(words), check=True, stdout=subprocess.PIPE, input=given, text=True).stdout


def side_by_side(commands: Sequence[Sequence[str]]) -> None:
    """Several commands at once, each on its share of the cores; all have ended before a failure is told."""
    available = sorted(os.sched_getaffinity(0))
    running = []
    for place, words in enumerate(commands):
        share = available[place :: len(commands)] or available
        pinned = ["taskset", "-c", ",".join(map(str, share)), *_command(words)]
        running.append(subprocess.Popen(pinned, stdout=subprocess.DEVNULL))
    failed = [process for process in running if process.wait()]
    if failed:
        raise subprocess.CalledProcessError(failed[0].returncode, failed[0].args)


def filled(recipe: str, path: Path, **places: object) -> Path:
    """A recipe of this folder as a file that Dragoman reads."""
    text = (HERE / f"{recipe}.toml").read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(cache=DIRECTORY, data=data_directory(), **places), encoding="utf-8")
    return path


def data_file(part: str, language: str) -> Path:
    """Lower-cased, normalised, tokenised: a sentence a line."""
    return data_directory() / TEXTS.format(part=part, language=language)


def data_directory() -> Path:
    return shared_data() / "multi30k"


def cores() -> int:
    """Those that this process may use: `taskset` can leave the others to something else."""
    return len(os.sched_getaffinity(0))


def _command(words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "dragoman.cli.main", *words]
