"""SSH as the user has set it up: own keys, own known hosts, never a question, never a shell string on this side.

The remote side of SSH is a shell by its nature: words that go there are quoted one by one.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.cluster.hosts import Host

SILENT_S = 40
"""Longer than TCP needs to come back after a cut of 20 seconds."""
SSH_FAILED = 255
"""Exit code of SSH itself; any other is that of the command over there."""
OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "10",
    "ServerAliveCountMax": str(SILENT_S // 10),
    "ClearAllForwardings": "yes",
    "ControlMaster": "no",  # an open connection may be shared; one that outlives us is not made
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "LogLevel": "ERROR",
}


@dataclass(frozen=True)
class Problem:
    """Why something cannot be done on a host, and what mends it."""

    text: str
    fix: str


def command(host: Host, remote: Sequence[str]) -> list[str]:
    """The argument list that runs `remote` on a host."""
    words = ["ssh", "-T"]
    for name, value in OPTIONS.items():
        words += ["-o", f"{name}={value}"]
    if host.port:
        words += ["-p", str(host.port)]
    if host.user:
        words += ["-l", host.user]
    if host.key:
        words += ["-i", str(Path(host.key).expanduser()), "-o", "IdentitiesOnly=yes"]
    return [*words, "--", host.address, shlex.join(remote)]


def by_hand(host: Host) -> str:
    """What a person types to reach the host."""
    port = f"-p {host.port} " if host.port else ""
    key = f"-i {shlex.quote(host.key)} " if host.key else ""
    return f"ssh {port}{key}{host.user + '@' if host.user else ''}{host.address}"


def diagnosis(host: Host, code: int | None, complaint: str) -> Problem:
    """Why the agent of a host did not come up, from SSH's exit code and words."""
    text = complaint.strip()
    last = text.splitlines()[-1].strip() if text else f"exit code {code}"
    if "IDENTIFICATION HAS CHANGED" in text:
        return Problem(
            "its SSH host key has changed: it was set up anew, or somebody stands between",
            f"make sure which, then `ssh-keygen -R {host.address}` and `{by_hand(host)}`",
        )
    if "Host key verification failed" in text or "host key is known" in text:
        return Problem("its SSH host key is not known", f"run `{by_hand(host)}` once and compare the fingerprint")
    if "Permission denied" in text and code == SSH_FAILED:
        return Problem("SSH does not let us in", f"run `ssh-copy-id` for it, until `{by_hand(host)}` asks nothing")
    if "No module named" in text and "dragoman" in text:
        return Problem(f"{host.interpreter} has no Dragoman", "run `dragoman check` with --install")
    if code in (126, 127):
        return Problem(f"there is no {host.interpreter}", "run `dragoman check` with --install, or set python")
    for sign, problem in (
        ("Could not resolve", "its name is not known here"),
        ("Connection refused", "nothing answers at its SSH port"),
        ("timed out", "it does not answer"),
        ("No route to host", "it does not answer"),
        ("unreachable", "there is no way to its network"),
    ):
        if sign in text:
            return Problem(problem, f"see that it runs, and that `{by_hand(host)}` works")
    return Problem(f"its agent did not start: {last[:200]}", f"see whether `{by_hand(host)}` works")
