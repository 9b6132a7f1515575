"""What the tests of `dragoman prepare` share: a small text, the real command, and what lies on disk."""

import contextlib
import gzip
import hashlib
import io
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dragoman.cli.main import run_command

LETTERS = "abcdefghijklmnoprstuvwz"


def pairs(number: int, seed: int = 1) -> list[tuple[str, str]]:
    """Sentences of invented words and their translations, word by word: no two alike, none that a rule drops."""
    draw = random.Random(seed)
    words = sorted({"".join(draw.choices(LETTERS, k=draw.randint(3, 9))) for _ in range(600)})
    meaning = dict(zip(words, ["".join(draw.choices(LETTERS, k=len(word))) + "en" for word in words], strict=True))
    found: dict[str, str] = {}
    while len(found) < number:
        sentence = draw.choices(words, k=draw.randint(4, 12))
        found[" ".join(sentence)] = " ".join(meaning[word] for word in sentence)
    return list(found.items())


def write_text(directory: Path, name: str = "a", number: int = 600, seed: int = 1) -> tuple[Path, Path]:
    """Two line-aligned files."""
    source, target = directory / f"{name}.en", directory / f"{name}.de"
    sides = pairs(number, seed)
    source.write_text("".join(f"{one}\n" for one, _ in sides))
    target.write_text("".join(f"{other}\n" for _, other in sides))
    return source, target


def packed(path: Path) -> Path:
    """The same file, in gzip."""
    path.with_suffix(path.suffix + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    return path.with_suffix(path.suffix + ".gz")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The last line on standard error."""
        return self.err.rstrip("\n").rpartition("\n")[2]


def prepare(*arguments: object, size: int | None = 512) -> Done:
    """`dragoman prepare` in this process."""
    sizes = [] if size is None else ["--set", f"vocabulary.size={size}"]
    out, err = io.StringIO(), io.StringIO()
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(["prepare", *map(str, arguments), *sizes])
    finally:
        signal.signal(signal.SIGTERM, before)
    return Done(code, out.getvalue(), err.getvalue())


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dragoman.cli.main", *map(str, arguments)]


def dragoman(*arguments: object, directory: Path, cache: Path | None = None) -> Done:
    """The real command, in a process of its own."""
    environment = {**os.environ, "DRAGOMAN_CACHE": str(cache or directory / "cache")}
    done = subprocess.run(
        command(*arguments), cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return Done(done.returncode, done.stdout, done.stderr)


def listing(directory: Path) -> dict[str, str]:
    """Everything under a directory, hidden files too, with what it holds."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "directory"
        for path in sorted(directory.rglob("*"))
    }
