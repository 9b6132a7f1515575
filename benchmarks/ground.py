"""Where benchmarks keep their data and the environments of the peers: outside the repository, in the user's cache."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman" / "bench"


def machine() -> str:
    """What numbers were taken on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = said.get("model name", "unknown")
    if "cpu family" in said:  # one name is sold for many generations
        name += f" (family {said['cpu family']}, model {said.get('model', 'unknown')})"
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} × {name}, {memory_gib:.0f} GiB, Python {platform.python_version()}"


def shared_data() -> Path:
    """The corpora to measure on; they are not part of the project."""
    directory = Path(os.environ.get("DRAGOMAN_DATA") or ROOT.parent / "shared" / "data")
    if not directory.is_dir():
        raise SystemExit(f"there is no data in {directory}; name its place with DRAGOMAN_DATA=DIR")
    return directory


def peers_directory() -> Path:
    """Where the environments of the peers are."""
    return Path(os.environ.get("DRAGOMAN_PEERS") or CACHE.parent / "peers")


def environment(name: str, packages: Sequence[Sequence[str]]) -> Path:
    """The interpreter of a peer's own virtual environment, which is installed by name if it is not there.

    Our own libraries lie behind the peer's on its path: all have one and the same torch, and nobody downloads it
    again. pip sees what is there and leaves it alone, since it is outside of the environment.
    """
    directory = peers_directory() / name
    python, stamp = directory / "bin" / "python", directory / "ready"
    ours = sysconfig.get_paths()["purelib"]
    wanted = "\n".join([ours, f"torch=={version('torch')}", *(" ".join(options) for options in packages)]) + "\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {name} into {directory}", file=sys.stderr, flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    Path(own, "shared.pth").write_text(f"{ours}\n")
    constraints = directory / "constraints.txt"
    constraints.write_text(f"torch=={version('torch').partition('+')[0]}\n")
    for options in packages:
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        # pip tells at length of dependencies that are left out on purpose: heard only where it fails.
        subprocess.run([*command, "--constraint", str(constraints), *options], check=True, capture_output=True)
    stamp.write_text(wanted)
    return python
