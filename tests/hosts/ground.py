"""Several hosts on one machine: network namespaces on a bridge, each with its own files, name and SSH server.

A host is a process that holds three namespaces: network, mounts and host name. Its home directory is its own and no
other host can see it; Python and this project are the only files that hosts have in common. Keys and known hosts are
made for the test. Links take any rate (`tc tbf`). All is gone afterwards, also what a killed earlier test left.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.cluster.agent_ranks import started_at

HOME = Path("/mnt/home")
BRIDGE = "dragoman-br"
PREFIX = "dragoman-"
NETWORK = "10.77.0"
SSHD = "/usr/sbin/sshd"
LOCK = Path("/tmp/dragoman-ground.lock")
"""Held by the ground there is; lists its keepers, so that the next one can end what a killed one left."""


def what_is_missing() -> str | None:
    """Why hosts cannot be made here; None if they can."""
    if os.geteuid() != 0:
        return "not root"
    for program in ("ip", "tc", "sshd", "ssh", "ssh-keygen", "unshare", "nsenter"):
        if shutil.which(program) is None and not Path("/usr/sbin", program).exists():
            return f"no {program}"
    probe = subprocess.run(["unshare", "-m", "-n", "-u", "true"], capture_output=True, check=False)
    return None if probe.returncode == 0 else "this machine allows no namespaces"


def call(*words: str | Path, check: bool = True) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, f"{' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


@dataclass
class GroundHost:
    """One host: a keeper process whose namespaces it lives in."""

    name: str
    number: int
    directory: Path
    """What the host sees as its home."""
    keeper: "subprocess.Popen[bytes]"
    core: int

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number}"

    @property
    def link(self) -> str:
        """The end of its cable at the bridge."""
        return f"{PREFIX}{self.number}"

    def inside(self, *words: str | Path) -> list[str]:
        """A command line that runs in this host."""
        return ["nsenter", f"--target={self.keeper.pid}", "--mount", "--net", "--uts", *map(str, words)]

    def run(self, *words: str | Path, check: bool = True) -> str:
        return call(*self.inside(*words), check=check)

    def start(self, *words: str | Path, **options: object) -> "subprocess.Popen[str]":
        """A process in this host, in its home, on its core, in a session of its own."""
        command = ["taskset", "-c", str(self.core), "env", "-C", str(HOME), *map(str, words)]
        return subprocess.Popen(  # type: ignore[no-any-return]
            self.inside(*command),
            env=environment(),
            start_new_session=True,
            text=True,
            stdin=subprocess.DEVNULL,
            **options,  # type: ignore[call-overload]
        )

    def rate(self, mbit: float | None) -> None:
        """Shape both directions of its cable; None takes the limit away."""
        call("tc", "qdisc", "del", "dev", self.link, "root", check=False)
        self.run("tc", "qdisc", "del", "dev", "eth0", "root", check=False)
        if mbit is not None:
            shape = ["root", "tbf", "rate", f"{mbit}mbit", "burst", "128kb", "latency", "300ms"]
            call("tc", "qdisc", "replace", "dev", self.link, *shape)
            self.run("tc", "qdisc", "replace", "dev", "eth0", *shape)

    def end_everything(self) -> None:
        """As if its power were cut and came back: no process of its own lives on."""
        for pid in self.processes("."):
            if pid != self.keeper.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def open_ssh(self) -> None:
        self.run("taskset", "-c", str(self.core), SSHD, "-f", HOME / "sshd/config")

    def cut(self) -> None:
        """Pull the plug: nothing gets through, nobody is told."""
        call("ip", "link", "set", self.link, "nomaster")

    def mend(self) -> None:
        call("ip", "link", "set", self.link, "master", BRIDGE)

    def processes(self, pattern: str) -> list[int]:
        """Process ids in this host whose command line matches."""
        return _processes_beside(self.keeper.pid, pattern)


def _network_of(process: int | str) -> str:
    """Which network namespace a process lives in."""
    return str(Path(f"/proc/{process}/ns/net").readlink())


def _processes_beside(keeper: int, pattern: str) -> list[int]:
    """Those that live in the same network namespace."""
    own, found = _network_of(keeper), []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and _network_of(entry.name) == own:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if re.search(pattern, line) and not line.startswith(("ssh ", "nsenter", "taskset")):
                    found.append(int(entry.name))
    return found


def environment() -> dict[str, str]:
    """Of a login on a fresh machine; ranks do not fight for cores that they share with others."""
    own = {"HOME": str(HOME), "LANG": "C.UTF-8", "OMP_WAIT_POLICY": "passive"}
    return {**{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}, **own}


@dataclass
class Ground:
    """All hosts of a test. The first gives the commands."""

    directory: Path
    hosts: list[GroundHost] = field(default_factory=list)

    def __getitem__(self, name: str) -> GroundHost:
        return next(host for host in self.hosts if host.name == name)

    @property
    def main(self) -> GroundHost:
        return self.hosts[0]

    def hosts_file(self, names: Sequence[str] = (), **extra: str) -> str:
        """A hosts.toml for the main host, as its home shows it; `extra` are lines for the host of that name."""
        entries = []
        for host in self.hosts:
            if not names or host.name in names:
                python = f'python = "{sys.executable}"\n' if f"python_{host.name}" not in extra else ""
                lines = extra.get(host.name, "")
                entries.append(f'[[hosts]]\nname = "{host.name}"\naddress = "{host.address}"\n{python}{lines}\n')
        (self.main.directory / "hosts.toml").write_text("\n".join(entries))
        return str(HOME / "hosts.toml")

    def dragoman(self, *words: str | Path, **options: object) -> "subprocess.Popen[str]":
        """A `dragoman` command on the main host."""
        return self.main.start(sys.executable, "-m", "dragoman.cli.main", *words, **options)

    def leftovers(self, *names: str) -> dict[str, list[int]]:
        """Processes of ours that still run, by host."""
        chosen = [host for host in self.hosts if not names or host.name in names]
        found = {host.name: host.processes(r"dragoman\.(cluster|training|cli)") for host in chosen}
        return {name: pids for name, pids in found.items() if pids}


@contextlib.contextmanager
def ground(directory: Path, names: Sequence[str] = ("left", "right")) -> Iterator[Ground]:
    """Hosts of these names; all that they were is gone afterwards. One ground at a time on a machine."""
    with LOCK.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield from _ground(directory, names)


def _ground(directory: Path, names: Sequence[str]) -> Iterator[Ground]:
    clear_up()
    made = Ground(directory)
    key = directory / "key"
    directory.mkdir(parents=True, exist_ok=True)
    call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    call("ip", "link", "add", BRIDGE, "type", "bridge")
    call("ip", "link", "set", BRIDGE, "up")
    try:
        for number, name in enumerate(names, start=1):
            made.hosts.append(_host(directory, name, number))
        for host in made.hosts:
            _open_ssh(host, key)
        _introduce(made, key)
        yield made
    finally:
        for host in made.hosts:
            with contextlib.suppress(OSError):
                _end(host.keeper.pid)
            host.keeper.kill()
            host.keeper.wait()
        clear_up()


def _host(directory: Path, name: str, number: int) -> GroundHost:
    home = directory / name
    home.mkdir()
    passwd = home / "passwd"
    passwd.write_text(f"root:x:0:0:root:{HOME}:/bin/bash\nsshd:x:105:65534::/run/sshd:/usr/sbin/nologin\n")
    keeper = subprocess.Popen(
        ["unshare", "--mount", "--net", "--uts", "--propagation", "private", "sleep", "infinity"],
        start_new_session=True,
    )
    with LOCK.open("a") as file:
        file.write(f"{keeper.pid} {started_at(keeper.pid)}\n")
    host = GroundHost(name, number, home, keeper, core=(number - 1) % (os.cpu_count() or 1))
    while _network_of(keeper.pid) == _network_of("self"):
        time.sleep(0.01)
    host.run("hostname", name)
    host.run("mount", "-t", "tmpfs", "tmpfs", "/mnt")
    host.run("mkdir", "-p", HOME)
    host.run("mount", "--bind", home, HOME)
    host.run("mount", "--bind", passwd, "/etc/passwd")
    host.run("mount", "-t", "tmpfs", "tmpfs", "/run")
    host.run("mount", "-t", "sysfs", "sysfs", "/sys")
    host.run("mkdir", "-p", "/run/sshd")
    call("ip", "link", "add", host.link, "type", "veth", "peer", "name", "eth0", "netns", str(keeper.pid))
    call("ip", "link", "set", host.link, "master", BRIDGE, "up")
    host.run("ip", "link", "set", "lo", "up")
    host.run("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
    host.run("ip", "link", "set", "eth0", "up")
    return host


def _open_ssh(host: GroundHost, key: Path) -> None:
    """A real SSH server that lets in whoever has the test's key."""
    own = host.directory / "sshd"
    own.mkdir()
    call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", own / "host_key")
    (own / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
    settings = {
        "ListenAddress": host.address,
        "HostKey": HOME / "sshd/host_key",
        "AuthorizedKeysFile": HOME / "sshd/authorized_keys",
        "PidFile": HOME / "sshd/pid",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "SetEnv": " ".join(f"{name}={value}" for name, value in environment().items() if name not in ("PATH", "HOME")),
    }
    (own / "config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    host.open_ssh()


def _introduce(made: Ground, key: Path) -> None:
    """The main host has the key, and knows the host keys of all."""
    own = made.main.directory / ".ssh"
    own.mkdir(mode=0o700)
    shutil.copy(key, own / "id_ed25519")
    known = [f"{host.address} {(host.directory / 'sshd/host_key.pub').read_text()}" for host in made.hosts]
    (own / "known_hosts").write_text("".join(known))


def _end(keeper: int) -> None:
    """End everything that lives in a host, its keeper with it."""
    if _network_of(keeper) == _network_of("self"):  # it was ended before it had a network of its own
        os.kill(keeper, signal.SIGKILL)
        return
    for pid in _processes_beside(keeper, "."):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def clear_up() -> None:
    """Remove what an earlier test left that was killed: processes in their namespaces, cables, bridge."""
    for line in LOCK.read_text().splitlines():
        keeper, _, started = line.partition(" ")
        if str(started_at(int(keeper))) == started:
            with contextlib.suppress(OSError):
                _end(int(keeper))
    os.truncate(LOCK, 0)
    for line in call("ip", "-o", "link", "show").splitlines():
        name = line.split(": ")[1].split("@")[0]
        if re.fullmatch(rf"{PREFIX}\d+", name) or name == BRIDGE:
            call("ip", "link", "del", name, check=False)
