"""This very Dragoman on every host: a wheel of it, in a virtual environment of its own there; nothing global."""

import asyncio
import contextlib
import email
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import dragoman
from dragoman.cluster import ssh
from dragoman.cluster.hosts import Host, is_this_machine
from dragoman.core.errors import UserError
from dragoman.core.progress import Progress

LONGEST_S = 1800.0


def install(hosts: Sequence[Host], wheelhouse: Path | None, progress: Progress) -> None:
    """Build a wheel here and install it on every other host. UserError says where that failed, and why."""
    far = [host for host in hosts if not is_this_machine(host)]
    own = [host.name for host in far if host.python]
    if own:
        raise UserError(f"{' and '.join(own)} have a python of their own", "install there by hand, or leave out python")
    if wheelhouse is not None and not wheelhouse.is_dir():
        raise UserError(f"there is no wheelhouse {wheelhouse}", "`pip download dragoman --dest DIR` makes one")
    with tempfile.TemporaryDirectory() as temporary:
        wheel = build_wheel(Path(temporary))
        constraints = Path(temporary) / "constraints.txt"
        constraints.write_text("\n".join(pinned(wheel)) + "\n")
        parts = sorted(wheelhouse.glob("*.whl")) if wheelhouse else []
        files = [wheel, constraints, *(part for part in parts if not part.name.startswith("dragoman-"))]

        async def everywhere() -> None:
            with progress.stage("installing", total=None, unit="bytes"):
                await asyncio.gather(*(_install(host, files, is_offline=wheelhouse is not None) for host in far))

        asyncio.run(everywhere())


def build_wheel(directory: Path) -> Path:
    """A wheel of the source that this process runs from, built from a copy: what earlier builds left does not count."""
    source = Path(dragoman.__file__).resolve().parent.parent.parent
    if not (source / "pyproject.toml").is_file():
        raise UserError("this Dragoman does not run from its source directory", "install the same there by hand")
    copy = directory / "source"
    shutil.copytree(source / "src/dragoman", copy / "src/dragoman", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (source / name).is_file():
            shutil.copy(source / name, copy / name)
    # Without setuptools here, pip has to fetch it.
    offline = ["--no-build-isolation"] if importlib.util.find_spec("setuptools") else []
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", *offline]
    done = subprocess.run(
        [*command, "--wheel-dir", str(directory), str(copy)], capture_output=True, text=True, check=False
    )
    wheels = sorted(directory.glob("dragoman-*.whl"))
    if done.returncode or not wheels:
        raise UserError(f"the wheel could not be built: {_last_line(done.stderr)}")
    return wheels[0]


def pinned(wheel: Path) -> list[str]:
    """What a wheel needs, directly or not, in the versions of this machine, whatever their build (+cpu)."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    left, found = list(metadata.get_all("Requires-Dist") or []), dict[str, str]()
    while left:
        requirement = left.pop()
        match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
        if match is None or "extra ==" in requirement or match[0].lower() in found:
            continue
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # needed on other systems only
            found[match[0].lower()] = importlib.metadata.version(match[0]).partition("+")[0]
            left += importlib.metadata.requires(match[0]) or []
    return [f"{name}=={version}" for name, version in sorted(found.items())]


async def _install(host: Host, files: Sequence[Path], *, is_offline: bool) -> None:
    box = f"{host.directory}/install"
    await _run(host, ["mkdir", "-p", box])
    for file in files:
        await _run(host, ["tee", f"{box}/{file.name}"], content=file)
    python = await _base_python(host)
    await _run(host, [python, "-m", "venv", f"{host.directory}/venv"])
    sources = ["--no-index", "--find-links", box] if is_offline else []
    pip = [host.interpreter, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]
    wheel = f"{box}/{files[0].name}"
    await _run(
        host, [host.interpreter, "-m", "pip", "install", "--quiet", *sources, "-c", f"{box}/constraints.txt", wheel]
    )
    await _run(host, [*pip, *sources, wheel])  # the same version number may have other code


async def _base_python(host: Host) -> str:
    """A Python there of the same minor version as ours."""
    wanted = f"{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (f"python{wanted}", "python3"):
        code, said = await _try(host, [candidate, "--version"])
        if code == 0 and said.strip().startswith(f"Python {wanted}."):
            return candidate
        if code == ssh.SSH_FAILED:
            problem = ssh.diagnosis(host, code, said)
            raise UserError(f"{host.name}: {problem.text}", problem.fix)
    raise UserError(f"{host.name} has no Python {wanted}", f"install it there (`apt install python{wanted}-venv`)")


async def _run(host: Host, words: Sequence[str], content: Path | None = None) -> None:
    code, said = await _try(host, words, content)
    if code:
        if code == ssh.SSH_FAILED:
            problem = ssh.diagnosis(host, code, said)
            raise UserError(f"{host.name}: {problem.text}", problem.fix)
        raise UserError(f"{host.name}: `{' '.join(words[:4])} …` failed: {_last_line(said)}")


async def _try(host: Host, words: Sequence[str], content: Path | None = None) -> tuple[int, str]:
    """Exit code and words of a command on a host; `content` is its input."""
    with (content or Path("/dev/null")).open("rb") as given:
        process = await asyncio.create_subprocess_exec(
            *ssh.command(host, words),
            stdin=given,
            stdout=asyncio.subprocess.PIPE if content is None else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.STDOUT if content is None else asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        out, err = await asyncio.wait_for(process.communicate(), LONGEST_S)
    return process.returncode or 0, ((out or b"") + (err or b"")).decode(errors="replace")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
