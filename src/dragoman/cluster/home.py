"""The run directory at home: where the records of all hosts come together, and where it is written what happened."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from dragoman.cluster.agent_files import COMES_HOME
from dragoman.core import records
from dragoman.core.files import write_atomically
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import EventRecord


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Home:
    """Takes what hosts send; believes no path of theirs."""

    def __init__(self, directory: Path) -> None:
        self.paths = RunPaths(directory)
        self._taken: dict[str, dict[str, int]] = {}

    def offsets(self, host: str) -> dict[str, int]:
        """How much of each file of a host has come."""
        return dict(self._taken.get(host, {}))

    def take(self, host: str, name: str, place: int, content: bytes) -> None:
        """Bytes of a record file. A piece that came before is let fall; a name that is not of ours too."""
        if not COMES_HOME.fullmatch(name):
            return
        path = self.paths.directory / name
        taken = self._taken.setdefault(host, {})
        if name.startswith(("samples/", "sentence_losses/", "environment", "checkpoints/")):
            with suppress(OSError):
                write_atomically(path, content)
            return
        if place < taken.get(name, 0):
            return
        taken[name] = place + len(content)
        with suppress(OSError):  # observing never stops training
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(content)

    def event(self, kind: str, text: str, *, step: int = 0, rank: int = 0, lost_s: float | None = None) -> None:
        lost = None if lost_s is None else round(lost_s, 1)
        with suppress(OSError):
            records.append_line(self.paths.events, EventRecord(now(), kind, step, rank, text, lost))

    def checkpoints(self) -> list[int]:
        """Steps that have a checkpoint here, in order."""
        with suppress(OSError):
            names = (re.fullmatch(r"step_(\d{7,})", path.name) for path in self.paths.checkpoints.iterdir())
            return sorted(int(name[1]) for name in names if name)
        return []

    def saved_at(self, step: int) -> float | None:
        """When the checkpoint of a step was written, in seconds since 1970."""
        with suppress(OSError):
            return self.paths.checkpoint(step).sums.stat().st_mtime
        return None
