"""Every ✗ of the preflight, by breaking on a host what it looks for; none of these may start anything."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.hosts.ground import HOME, Ground
from tests.hosts.runs import HostsRun


def check(ground: Ground, hosts: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and findings of `dragoman check --json`."""
    process = ground.dragoman("check", *options, "--hosts", hosts, "--json", stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=100)
    assert ground.leftovers() == {}
    return process.returncode, json.loads(out)


def faults(ground: Ground, hosts: str, *options: str) -> list[str]:
    """The lines that are not good, as a person reads them."""
    code, found = check(ground, hosts, *options)
    bad = [line for line in found["lines"] if not line["is_good"]]
    assert code == (2 if bad else 0)
    assert found["is_good"] == (not bad)
    assert all(line["fix"] for line in bad), "every fault says what mends it"
    return [f"{line['check']} {line['host'] or ''}: {line['text']}; {line['fix']}" for line in bad]


def one(lines: list[str]) -> str:
    assert len(lines) == 1, lines
    return lines[0]


@pytest.fixture
def ground(two: HostsRun) -> Ground:
    return two.ground


def test_an_unknown_host_key_is_refused(two: HostsRun) -> None:
    known = two.ground.main.directory / ".ssh/known_hosts"
    known.write_text("".join(line for line in known.read_text().splitlines(keepends=True) if "10.77.0.2" not in line))
    fault = one(faults(two.ground, two.hosts))
    assert fault.startswith("ssh right: its SSH host key is not known; run `ssh 10.77.0.2` once")
    assert two.train() == 2
    assert "1 check failed; nothing was started" in two.words()
    assert not two.ground["right"].directory.joinpath("dragoman").exists()


def test_a_changed_host_key_is_told_from_an_unknown_one(two: HostsRun) -> None:
    known = two.ground.main.directory / ".ssh/known_hosts"
    left = next(line for line in known.read_text().splitlines() if "10.77.0.1" in line)
    known.write_text(f"{left}\n{left.replace('10.77.0.1', '10.77.0.2')}\n")
    assert "its SSH host key has changed" in one(faults(two.ground, two.hosts))


def test_a_key_that_is_not_let_in_is_told(two: HostsRun) -> None:
    (two.ground["right"].directory / "sshd/authorized_keys").write_text("")
    assert "ssh right: SSH does not let us in" in one(faults(two.ground, two.hosts))


def test_no_ssh_server_is_told(two: HostsRun) -> None:
    two.ground["right"].run("pkill", "-F", HOME / "sshd/pid")
    assert "ssh right: nothing answers at its SSH port" in one(faults(two.ground, two.hosts))


def test_a_host_that_is_off_is_told_in_seconds(two: HostsRun) -> None:
    two.ground["right"].cut()
    assert "ssh right: it does not answer" in one(faults(two.ground, two.hosts))


def test_a_host_without_python_or_without_dragoman_is_told(ground: Ground) -> None:
    hosts = ground.hosts_file(python_right="", right="")
    assert "ssh right: there is no dragoman/venv/bin/python; run `dragoman check` with --install" in one(
        faults(ground, hosts)
    )
    wrapper = ground["right"].directory / "bare"
    wrapper.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec {sys.executable} -I -S "$@"\n')
    wrapper.chmod(0o755)
    hosts = ground.hosts_file(python_right="", right=f'python = "{HOME / "bare"}"')
    assert "has no Dragoman; run `dragoman check` with --install" in one(faults(ground, hosts))


def python_with(ground: Ground, name: str, site: str) -> str:
    """A hosts.toml in which right's Python sees something else: `site` runs before anything."""
    place = ground["right"].directory / name
    place.mkdir()
    (place / "sitecustomize.py").write_text(site)
    wrapper = ground["right"].directory / f"python-{name}"
    wrapper.write_text(f'#!/bin/sh\nexport PYTHONPATH="{HOME / name}:$PYTHONPATH"\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    return ground.hosts_file(python_right="", right=f'python = "{HOME / f"python-{name}"}"')


def test_another_torch_is_told(ground: Ground) -> None:
    hosts = python_with(ground, "torch", "")
    information = ground["right"].directory / "torch/torch-1.0.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.0.0\n")
    fault = one(faults(ground, hosts))
    assert fault.startswith("versions right: has torch 1.0.0 (here 2."), fault
    assert fault.endswith("run `dragoman check` with --install")


def test_another_dragoman_and_other_code_of_the_same_are_told(ground: Ground) -> None:
    hosts = python_with(ground, "older", "import dragoman; dragoman.__version__ = '0.0.9'")
    assert "versions right: has dragoman 0.0.9 (here " in one(faults(ground, hosts))
    site = "import dragoman.cluster.machine as m; m.source_hash = lambda: 'other'"
    hosts = python_with(ground, "changed", site)
    assert "versions right: has dragoman's own code other (here " in one(faults(ground, hosts))


def test_a_clock_that_is_wrong_is_told(ground: Ground) -> None:
    hosts = python_with(ground, "late", "import time; now = time.time; time.time = lambda: now() - 90")
    assert "clock right: its clock is 1 min 30 s behind; set it" in one(faults(ground, hosts))


def test_too_little_memory_is_told(ground: Ground) -> None:
    (ground["right"].directory / "meminfo").write_text("MemTotal: 900000 kB\nMemAvailable: 300000 kB\n")
    ground["right"].run("mount", "--bind", HOME / "meminfo", "/proc/meminfo")
    fault = one(faults(ground, ground.hosts_file()))
    assert "memory right: 307.2 MB free, 700.0 MB needed; end other programs" in fault


def test_a_full_disk_is_told_and_one_that_fills_up_meanwhile_leaves_nothing_half(two: HostsRun) -> None:
    right = two.ground["right"]
    right.run("mkdir", "-p", "/mnt/small")
    right.run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", "/mnt/small")
    two.hosts = two.ground.hosts_file(right='directory = "/mnt/small/dragoman"')
    fault = one(faults(two.ground, two.hosts, "tiny.toml", "--run", "run"))
    assert fault.startswith("disk right: 262.1 kB free, 200.5 MB needed; make room"), fault
    assert two.train("--skip-check") == 2
    assert "right: the disk that holds /mnt/small/dragoman/corpora/" in two.words()
    assert right.run("find", "/mnt/small", "-type", "f") == ""
    assert two.ground.leftovers() == {}


def test_a_private_address_on_no_interface_is_told(ground: Ground) -> None:
    fault = one(faults(ground, ground.hosts_file(right='private_address = "10.99.0.2"')))
    assert "address right: none of its interfaces has the private_address 10.99.0.2" in fault
    assert "its addresses are 10.77.0.2 (eth0)" in fault


def test_the_wrong_interface_is_told_and_the_right_one_is_found_among_several(ground: Ground) -> None:
    for host in ground.hosts:  # every host has such a network of its own, with the same address
        host.run("ip", "link", "add", "docker0", "type", "bridge")
        host.run("ip", "address", "add", "172.17.0.1/16", "dev", "docker0")
        host.run("ip", "link", "set", "docker0", "up")
    _, found = check(ground, ground.hosts_file())
    assert {host["interface"] for host in found["preflight"]["hosts"]} == {"eth0"}
    lines = faults(ground, ground.hosts_file(right='private_address = "172.17.0.1"'))
    assert any("its way to left (10.77.0.1) leaves from 10.77.0.2, not from 172.17.0.1" in line for line in lines), (
        lines
    )


def test_a_public_address_is_refused_unless_it_is_allowed(ground: Ground) -> None:
    for number, host in enumerate(ground.hosts, start=1):
        host.run("ip", "address", "flush", "dev", "eth0")
        host.run("ip", "address", "add", f"93.184.216.{number}/24", "dev", "eth0")
        host.run("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
    hosts = ground.hosts_file(**{h.name: f'private_address = "93.184.216.{h.number}"' for h in ground.hosts})
    lines = faults(ground, hosts)
    assert [line.split(":")[0] for line in lines] == ["address left", "address right"]
    assert "93.184.216.1 is a public address: anybody could speak to the ranks" in lines[0]
    assert "--allow-public" in lines[0]
    assert faults(ground, hosts, "--allow-public") == []


def test_ports_that_the_world_can_reach_are_told(ground: Ground) -> None:
    """A router that passes everything on, as clouds have them: what listens at the private address is public."""
    left, right = ground["left"], ground["right"]
    right.run("ip", "link", "add", "wan0", "type", "bridge")
    right.run("ip", "address", "add", "93.184.216.2/32", "dev", "wan0")
    right.run("ip", "link", "set", "wan0", "up")
    left.run("ip", "route", "add", "93.184.216.2", "via", right.address)
    assert faults(ground, ground.hosts_file()) == [], "nothing listens at the public address itself"
    passed_on = ["-d", "93.184.216.2", "-j", "DNAT", "--to-destination", right.address]
    right.run("iptables", "-t", "nat", "-A", "PREROUTING", *passed_on)
    fault = one(faults(ground, ground.hosts_file()))
    assert fault == "ports right: its ports are open at the public address 93.184.216.2; close them in the firewall"


def test_a_firewall_is_told(ground: Ground) -> None:
    ground["right"].run("iptables", "-A", "INPUT", "-p", "tcp", "--dport", "1024:65535", "--syn", "-j", "DROP")
    fault = one(faults(ground, ground.hosts_file()))
    assert fault.startswith("ports : right does not let left in (no answer); open TCP ports")


def test_names_alone_are_enough(ground: Ground) -> None:
    (ground["right"].directory / "dragoman/venv/bin").mkdir(parents=True)
    python = ground["right"].directory / "dragoman/venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    code, found = check(ground, "10.77.0.1,root@10.77.0.2")
    assert code == 0, found
    assert [host["name"] for host in found["preflight"]["hosts"]] == ["10.77.0.1", "10.77.0.2"]
