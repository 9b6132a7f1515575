"""Make .venv, the environment in which Dragoman is developed, tested and shown; called by make.

The stamp .venv/complete is removed first and written last, so it exists only beside a whole environment. A second
make that comes at the same time waits for the first and then finds nothing left to do.
"""

import fcntl
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "complete"
SOURCES = (ROOT / "pyproject.toml", ROOT / "constraints.txt")


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - the very thing this line is for
        sys.exit(f"Dragoman needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.11")
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete():
            set_up()


def is_complete() -> bool:
    if not STAMP.is_file() or STAMP.read_text().strip() != str(ROOT):
        return False
    return STAMP.stat().st_mtime >= max(source.stat().st_mtime for source in SOURCES)


def set_up() -> None:
    print("Setting up .venv; the first time this takes a minute or two.", flush=True)
    STAMP.unlink(missing_ok=True)
    if not python_works():
        make_venv()
    # By themselves and first: setuptools builds the package, and torch by its exact version is the small build where
    # one is to be had; chosen by a dependency's dependency it brings gigabytes for cards that may not be there.
    install("setuptools", *([SOURCES[1].read_text().split()[0]] if needs_torch() else []))
    install("--no-build-isolation", "--editable", ".[dev]")
    STAMP.write_text(f"{ROOT}\n")


def python_works() -> bool:
    """Whether an earlier environment can be kept; not when its Python has gone or is too old."""
    python = VENV / "bin" / "python"
    check = [str(python), "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"]
    return python.exists() and subprocess.run(check, check=False, capture_output=True).returncode == 0


def make_venv() -> None:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        sys.exit("This Python has no venv; on Debian and Ubuntu: apt install python3-venv. Then call make again.")
    run(sys.executable, "-m", "venv", "--clear", str(VENV))


def needs_torch() -> bool:
    import tomllib

    project = tomllib.loads(SOURCES[0].read_text())["project"]
    return any(dependency.startswith("torch") for dependency in project["dependencies"])


def install(*what: str) -> None:
    pip = (str(VENV / "bin" / "python"), "-m", "pip", "-qq", "--disable-pip-version-check", "--no-input")
    run(*pip, "install", "--constraint", "constraints.txt", *what)


def run(*command: str) -> None:
    code = subprocess.run(command, check=False, cwd=ROOT).returncode
    if code:
        sys.exit(f"Setting up .venv failed: {' '.join(command[1:])} ended with code {code}; its words are above.")


if __name__ == "__main__":
    main()
