"""Watching a run on another machine: `user@host:path` becomes a command line for ssh.

The other machine reads its own files and draws; only characters, or the page through a tunnel, cross the network. ssh
gets a list of arguments, the place is checked before it becomes one, and the path is quoted for the shell at the other
end.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import UserError

PLACE = re.compile(r"(?P<host>(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>.+)", re.DOTALL)
"""No word can begin with a dash, so none can be taken for an option of ssh."""
NOT_FOUND = 127
ENVIRONMENT = 'env PATH="$PATH:$HOME/dragoman/venv/bin"'
"""Where `dragoman check --install` puts it, after what its own path finds. Every shell understands this."""


@dataclass(frozen=True)
class Place:
    """A directory on another machine."""

    host: str
    path: str


def place_of(word: str) -> Place | None:
    """The other machine that a word names; None if it is a directory here."""
    if Path(word).exists() or "/" in word.partition(":")[0]:
        return None
    match = PLACE.fullmatch(word)
    if match is None:
        if ":" in word:
            raise UserError(f"{word!r} names no machine", "write user@host:path/to/run")
        return None
    path = match["path"].removeprefix("~/")  # ssh begins in the home directory
    if not path.isprintable():
        raise UserError(f"{word!r} holds characters that no path should", "write user@host:path/to/run")
    return Place(match["host"], path)


def command(place: Place, *, has_terminal: bool, once: bool, web_port: int | None) -> list[str]:
    """The arguments of ssh. A page is served there on loopback and reached here through a tunnel of the same port."""
    words = ["dragoman", "watch", *(["--once"] if once else [])]
    if web_port is not None:
        words += ["--web", "--port", str(web_port)]
    tunnel = ["-L", f"127.0.0.1:{web_port}:127.0.0.1:{web_port}"] if web_port is not None else []
    remote = " ".join([ENVIRONMENT, *(shlex.quote(word) for word in [*words, "--", place.path])])
    return ["ssh", *(["-t"] if has_terminal else []), *tunnel, "--", place.host, remote]


def watch(place: Place, *, has_terminal: bool, once: bool, web_port: int | None) -> int:
    """Run it; the exit code of the other side."""
    words = command(place, has_terminal=has_terminal, once=once, web_port=web_port)
    try:
        code = subprocess.run(words, check=False).returncode
    except FileNotFoundError:
        raise UserError("there is no ssh on this machine", "install an SSH client") from None
    if code == NOT_FOUND:
        raise UserError(f"{place.host} has no `dragoman` on its path", "install it there, or put it on the path")
    return code
