"""Files of a host: directories that arrive whole or not at all, and records that go home while they grow."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dragoman.cluster.messages import CHUNK_BYTES
from dragoman.core.errors import UserError
from dragoman.core.files import building, explaining_disk_errors

GROWING = ("steps/*.jsonl", "exchanges/*.jsonl", "telemetry/*.jsonl", "events.jsonl", "evals.jsonl", "tensorboard/**/*")
"""Files of a run that are only appended to."""
WRITTEN_ONCE = (
    "samples/*.txt",
    "sentence_losses/*.json",
    "environment.json",
    "checkpoints/latest",
    "checkpoints/best*",
)
COMES_HOME = re.compile(
    r"""(?:steps|exchanges)/rank\d{2,4}\.jsonl | telemetry/\w[\w.-]{0,80}\.jsonl | (?:events|evals)\.jsonl
    | environment\.json | tensorboard/(?:\w[\w.-]{0,80}/)?\w[\w.-]{0,200} | samples/step_\d{7,12}\.txt
    | sentence_losses/step_\d{7,12}\.json | checkpoints/(?:latest|best|best_bleu)""",
    re.VERBOSE,
)
"""What a host may write into the run directory at home: nothing else, wherever it says the file belongs."""
SAFE_PART = re.compile(r"[\w][\w.-]{0,200}")


@dataclass(frozen=True)
class Announced:
    """A file that is about to arrive."""

    name: str
    num_bytes: int
    sha256: str


def inside(root: Path, path: str) -> Path:
    """A path below `root`. UserError for one that leads out of it."""
    parts = path.split("/")
    if not all(SAFE_PART.fullmatch(part) for part in parts):
        raise UserError(f"{path!r} is no path inside {root}")
    return root.joinpath(*parts)


class Receiver:
    """One directory on its way in."""

    def __init__(self, directory: Path, files: list[Announced]) -> None:
        self._stack = ExitStack()
        self._directory, self._left = directory, list(files)
        self._stack.enter_context(explaining_disk_errors(directory))
        self._place = self._stack.enter_context(building(directory))
        self._file: IO[bytes] | None = None
        self._current = Announced("", 0, "")
        self._hash, self._missing = hashlib.sha256(), 0
        self._advance()

    @property
    def is_complete(self) -> bool:
        return self._file is None and not self._left

    def write(self, content: bytes) -> None:
        """The next bytes, in the order of the files that were announced."""
        while content:
            if self._file is None:
                raise UserError(f"more bytes than announced for {self._directory}")
            part, content = content[: self._missing], content[self._missing :]
            self._file.write(part)
            self._hash.update(part)
            self._missing -= len(part)
            self._advance()

    def finish(self) -> None:
        """Give the directory its name."""
        self._stack.close()

    def abandon(self, error: BaseException) -> None:
        """Leave nothing behind; raises what is wrong as a sentence."""
        if self._file:
            self._file.close()
        self._stack.__exit__(type(error), error, error.__traceback__)
        raise error

    def _advance(self) -> None:
        """Close files that are complete; open the next."""
        while self._missing == 0:
            if self._file is not None:
                self._file.close()
                self._file = None
                if self._hash.hexdigest() != self._current.sha256:
                    raise UserError(f"{self._current.name} did not arrive as it was sent", "try again")
            if not self._left:
                return
            self._current = self._left.pop(0)
            path = inside(self._place, self._current.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file, self._hash, self._missing = path.open("wb"), hashlib.sha256(), self._current.num_bytes


class Follower:
    """Says what a run directory has gained since it was last asked."""

    def __init__(self, directory: Path, offsets: dict[str, int], clock: Callable[[], float] = time.time) -> None:
        """`offsets`: how many bytes of a file are at home already; a file that is not named is there whole."""
        self._directory, self._clock = directory, clock
        self._offsets = {name: path.stat().st_size for name, path in self._files(GROWING)} | offsets
        self._seen = {name: path.stat().st_mtime_ns for name, path in self._files(WRITTEN_ONCE)}

    def news(self) -> Iterator[tuple[str, int, bytes]]:
        """Name, place and bytes of what is new. Lines of records come whole; a file that cannot be read waits."""
        for name, path in self._files(GROWING):
            with suppress(OSError):
                yield from self._growth(name, path)
        for name, path in self._files(WRITTEN_ONCE):
            with suppress(OSError):
                modified = path.stat().st_mtime_ns
                content = path.read_bytes() if self._seen.get(name) != modified else None
                if content is not None and len(content) <= CHUNK_BYTES:
                    self._seen[name] = modified
                    yield name, 0, content

    def _growth(self, name: str, path: Path) -> Iterator[tuple[str, int, bytes]]:
        while True:
            start = self._offsets.get(name, 0)
            with path.open("rb") as file:
                file.seek(start)
                content = file.read(CHUNK_BYTES)
            if name.endswith(".jsonl"):
                content = content[: content.rfind(b"\n") + 1]
            if not content:
                return
            self._offsets[name] = start + len(content)
            yield name, start, content

    def _files(self, patterns: tuple[str, ...]) -> list[tuple[str, Path]]:
        found = [
            (path.relative_to(self._directory).as_posix(), path) for p in patterns for path in self._directory.glob(p)
        ]
        return sorted((name, path) for name, path in found if COMES_HOME.fullmatch(name))
