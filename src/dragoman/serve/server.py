"""A server that listens: the socket, uvicorn around the application, and its end."""

import errno
import ipaddress
import logging
import socket
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from dragoman.core.errors import UserError
from dragoman.serve.connection import impatient
from dragoman.serve.limits import Limits


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listening_socket(host: str, port: int) -> socket.socket:
    """Bound and listening; UserError says why it cannot be."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise UserError(f"{host!r} is no address of this machine", "take --host 127.0.0.1") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UserError(f"port {port} is in use", "take another with --port, or 0 for any that is free") from None
        if error.errno == errno.EACCES:
            raise UserError(f"port {port} is not for ordinary users", "take one above 1023 with --port") from None
        raise UserError(f"cannot listen on {host}: {error.strerror}", "take --host 127.0.0.1") from None
    return listener


def read_keys(path: Path) -> list[str]:
    """API keys, one a line; UserError if there is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UserError(f"cannot read {path}: {reason}") from None
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not keys:
        raise UserError(f"there is no key in {path}", f"write one into it: openssl rand -hex 16 > {path}")
    return keys


def serve(app: Starlette, listener: socket.socket, limits: Limits | None = None) -> None:
    """Answer until SIGTERM or Ctrl-C; the last answers are given before this returns."""
    server_for(app, limits).run(sockets=[listener])


def server_for(app: Starlette, limits: Limits | None = None) -> uvicorn.Server:
    limits = limits or Limits()
    # Strangers send broken requests all day: not worth a line each.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=impatient(limits),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(limits.keep_alive_s),
            timeout_graceful_shutdown=int(limits.shutdown_s),
        )
    )
