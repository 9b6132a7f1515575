"""What every request and answer passes: who may ask, what a browser may do with the answer, and counting.

A server on loopback is reachable from every web page that its owner visits. So a request must name a host that is
ours (a name that an attacker points at 127.0.0.1 is not), and one that comes from a page must come from our own.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.serve.metrics import Metrics

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
HUNG_UP = 499


@dataclass(frozen=True)
class Doors:
    """Who may ask: the names that a request may call this server by (None: any), and pages of others."""

    hosts: Collection[str] | None = LOOPBACK
    origins: Sequence[str] = ()

    def admits_host(self, host: str) -> bool:
        if self.hosts is None:
            return True
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        return name in self.hosts

    def admits_origin(self, origin: str, host: str) -> bool:
        """Programs send no origin; our own page sends our own host."""
        return not origin or origin in self.origins or urlsplit_host(origin) == host.lower()


def urlsplit_host(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


class Guard:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, doors: Doors, metrics: Metrics) -> None:
        self._app = app
        self._doors = doors
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), HUNG_UP

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await (self._refusal(Headers(scope=scope)) or self._app)(scope, receive, send_guarded)
        finally:
            route = scope.get("route")
            self._metrics.answered(getattr(route, "path", "other"), status, time.perf_counter() - start)

    def _refusal(self, headers: Headers) -> ASGIApp | None:
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if not self._doors.admits_host(host):
            return JSONResponse({"error": f"This server is not called {host[:100]!r}."}, 421)
        if not self._doors.admits_origin(origin, host):
            return JSONResponse({"error": "Pages of other sites may not use this server."}, 403)
        return None
