"""Dragoman brought to a host that has nothing but Python and SSH, and no internet."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dragoman.cluster.install import build_wheel, pinned
from tests.hosts.ground import HOME, GroundHost
from tests.hosts.runs import HostsRun


def stand_in(name: str, version: str, directory: Path) -> None:
    """An empty package: what the real ones do is not asked for here, and they weigh half a gigabyte."""
    stem = f"{re.sub('[-.]+', '_', name)}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(directory / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", metadata)
        archive.writestr(f"{stem}.dist-info/WHEEL", wheel)
        archive.writestr(f"{stem}.dist-info/RECORD", "")


def without_a_path_to_our_source(host: GroundHost) -> None:
    """Start its SSH server anew, without the variable that leads the hosts of other tests to Dragoman."""
    settings = host.directory / "sshd/config"
    settings.write_text(re.sub(r" PYTHONPATH=\S+", "", settings.read_text().replace("SetEnv ", "SetEnv  ")))
    assert "PYTHONPATH" not in settings.read_text()
    host.run("pkill", "-F", HOME / "sshd/pid")
    host.open_ssh()


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheelhouse")
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    needed = pinned(wheel)
    assert any(line.startswith("torch==") and "+" not in line for line in needed)
    for line in needed:
        name, version = line.split("==")
        stand_in(name, version, directory)
    return directory


@pytest.mark.slow
def test_a_bare_host_gets_the_same_dragoman_and_nothing_global(two: HostsRun, wheelhouse: Path) -> None:
    ground, right = two.ground, two.ground["right"]
    without_a_path_to_our_source(right)
    hosts = ground.hosts_file(python_right="")
    process = ground.dragoman(
        "check", "--hosts", hosts, "--install", "--wheelhouse", str(wheelhouse),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    out, err = process.communicate(timeout=200)
    assert "✓ ssh       left, right answer" in out, out + err
    assert "✓ versions" in out, out
    venv = right.directory / "dragoman/venv"
    assert (venv / "pyvenv.cfg").is_file()
    where = "import dragoman; print(dragoman.__file__)"
    found = right.run("env", "-u", "PYTHONPATH", HOME / "dragoman/venv/bin/python", "-c", where)
    assert found.startswith(str(HOME / "dragoman/venv/lib/")), found
    assert not (right.directory / ".local").exists()
    assert ground.leftovers() == {}


def test_a_host_with_a_python_of_its_own_is_left_alone(two: HostsRun) -> None:
    process = two.ground.dragoman("check", "--hosts", two.hosts, "--install", stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "right have a python of their own; install there by hand, or leave out python" in err


def test_a_host_without_our_python_is_told(two: HostsRun) -> None:
    wrong = two.ground["right"].directory / "bin"
    wrong.mkdir()
    for name in (f"python3.{sys.version_info.minor}", "python3"):
        (wrong / name).write_text("#!/bin/sh\necho Python 3.9.2\n")
        (wrong / name).chmod(0o755)
        two.ground["right"].run("mount", "--bind", HOME / "bin" / name, f"/usr/bin/{name}")
    hosts = two.ground.hosts_file(python_right="")
    process = two.ground.dragoman("check", "--hosts", hosts, "--install", stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 2
    assert f"right has no Python 3.{sys.version_info.minor}; install it there" in err
