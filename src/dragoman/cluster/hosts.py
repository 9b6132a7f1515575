"""The machines of a run: `hosts.toml`, or names on the command line.

    [[hosts]]
    name = "left"
    address = "10.0.0.1"
    price_per_hour = 3.06

Strict as a recipe is. What is written here reaches SSH's command line, so it may not look like an option of it.
"""

import re
import socket
from collections import Counter
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path

from dragoman.core import config_file
from dragoman.core.config import setting
from dragoman.core.errors import UserError

MOST_HOSTS = 64
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
USER = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,62}")
FORBIDDEN_IN_PATHS = re.compile(r"^-|[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Host:
    """One machine. Relative paths begin in the home directory of the user there."""

    name: str = setting("", "what reports and output call it; its address if left empty")
    address: str = setting("", "where SSH finds it: an IPv4 address or a name; its name if left empty")
    private_address: str = setting("", "IPv4 address at which the other hosts reach it; found if left empty")
    user: str = setting("", "SSH user; SSH's own choice if left empty")
    port: int = setting(0, "SSH port; 0 is SSH's own choice", at_least=0, at_most=65_535)
    key: str = setting("", "private key file; SSH's own choice if left empty")
    processes: int = setting(0, "ranks; 0 is one, or one a GPU", at_least=0, at_most=1024)
    price_per_hour: float = setting(0.0, "what it costs; 0 is nothing or unknown", at_least=0.0)
    python: str = setting("", "a Python that has Dragoman; the one that `--install` makes if left empty")
    directory: str = setting("dragoman", "where Dragoman keeps corpora and runs there")

    @property
    def interpreter(self) -> str:
        """The Python to start there."""
        return self.python or f"{self.directory}/venv/bin/python"


@dataclass(frozen=True)
class HostsFile:
    """All of `hosts.toml`."""

    hosts: tuple[Host, ...] = setting((), "the machines, the one that gives the commands among them or not")


def read_hosts(text: str) -> tuple[Host, ...]:
    """The hosts of a file, or of `a,b,user@c`."""
    if text.endswith(".toml") or Path(text).is_file():
        path = Path(text)
        try:
            content = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise UserError(f"there is no {path}", "write one [[hosts]] with an address for each machine") from None
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {path}: {error}") from None
        hosts = config_file.parse_onto(HostsFile(), content, str(path)).hosts
        return _checked(hosts, str(path))
    return _checked(tuple(_from_word(word.strip()) for word in text.split(",")), "--hosts")


def _from_word(word: str) -> Host:
    user, at, address = word.rpartition("@")
    return Host(address=address, user=user) if at else Host(address=word)


def _checked(hosts: tuple[Host, ...], where: str) -> tuple[Host, ...]:
    if not hosts:
        raise UserError(f"{where} names no host", "add [[hosts]] with an address")
    if len(hosts) > MOST_HOSTS:
        raise UserError(f"{where} names {len(hosts)} hosts", f"name {MOST_HOSTS} at most")
    complete = tuple(replace(host, name=host.name or host.address, address=host.address or host.name) for host in hosts)
    for number, host in enumerate(complete, start=1):
        if problem := _fault(host):
            raise UserError(f"{where}: host {number}: {problem}")
    for field in ("name", "private_address"):
        value, times = (
            Counter(getattr(host, field) for host in complete if getattr(host, field)).most_common(1)[0]
            if (any(getattr(host, field) for host in complete))
            else ("", 0)
        )
        if times > 1:
            raise UserError(f"{where}: {times} hosts have the {field.replace('_', ' ')} {value}", "give each its own")
    return complete


def _fault(host: Host) -> str | None:
    """What is wrong with the words of a host, before any of them reaches a command line."""
    if not host.name:
        return "it has neither a name nor an address"
    for field, pattern in (("address", NAME), ("name", NAME)):
        if not pattern.fullmatch(getattr(host, field)):
            return f"{field} {getattr(host, field)!r} must be letters, digits, dots and dashes"
    if host.user and not USER.fullmatch(host.user):
        return f"user {host.user!r} must be letters, digits, dots and dashes"
    for field in ("key", "python", "directory"):
        if FORBIDDEN_IN_PATHS.search(getattr(host, field)):
            return f"{field} {getattr(host, field)!r} is no path"
    if not host.directory or host.directory.startswith("~"):
        return f"directory {host.directory!r} must be a path; a relative one begins in the home directory"
    if host.private_address:
        try:
            IPv4Address(host.private_address)
        except ValueError:
            return f"private_address {host.private_address!r} is not an IPv4 address such as 10.0.0.1"
    return None


def resolved(address: str) -> str | None:
    """The IPv4 address of a name, as this machine knows it; None for a name that only SSH's settings know."""
    try:
        return str(socket.getaddrinfo(address, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return None


def is_this_machine(host: Host) -> bool:
    """Its address is one of ours. A port of its own on loopback is the door to another machine."""
    address = resolved(host.address)
    if address is None or (host.port and IPv4Address(address).is_loopback):
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
