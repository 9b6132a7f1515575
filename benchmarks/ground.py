"""Where benchmarks keep their data and the environments of the peers: outside the repository, in the user's cache."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman" / "bench"


def shared_data() -> Path:
    """The corpora to measure on; they are not part of the project."""
    directory = Path(os.environ.get("DRAGOMAN_DATA") or ROOT.parent / "shared" / "data")
    if not directory.is_dir():
        raise SystemExit(f"there is no data in {directory}; name its place with DRAGOMAN_DATA=DIR")
    return directory


def environment(name: str, packages: Sequence[Sequence[str]]) -> Path:
    """A virtual environment of a peer, installed by name if it is not there."""
    directory = CACHE / "environments" / name
    if not (directory / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        for options in packages:
            subprocess.run([directory / "bin" / "pip", "install", "--quiet", *options], check=True)
        (directory / "ready").touch()
    return directory
