"""The live page: one HTML file and one JSON answer, on the loopback interface only.

The page asks every second for what has changed since its last answer. Nothing of a request reaches the file system:
there are two addresses, and the run was chosen on the command line. A request whose Host header is not this server's is
refused, so that a web site cannot read the page by pointing its own name at 127.0.0.1.
"""

import base64
import hashlib
import json
import re
import secrets
import sys
import threading
import time
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from socketserver import TCPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from dragoman.core import records
from dragoman.core.errors import UserError
from dragoman.watch.charts import charts
from dragoman.watch.observer import Observer
from dragoman.watch.sentences import (
    evaluation_line,
    event_line,
    gpu_line,
    host_line,
    pace_line,
    progress_line,
    rank_lines,
)  # fmt: skip
from dragoman.watch.view import View

ADDRESS = "127.0.0.1"
LOOK_EVERY_S = 0.5
REQUEST_TIMEOUT_S = 10.0


class Answers:
    """What the page is told. Many pages may ask: the run is read at most twice a second."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._session = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._view: View | None = None
        self._looked_at_s = -float("inf")

    def answer(self, session: str, since: int) -> dict[str, Any]:
        """How things stand, and every curve as far as it has changed after revision `since` of this session."""
        with self._lock:
            try:
                if time.monotonic() - self._looked_at_s >= LOOK_EVERY_S:
                    self._view = self._observer.look()
                    self._looked_at_s = time.monotonic()
            except UserError as error:
                return {"problem": str(error)}
            assert self._view is not None
            is_known = session == self._session and 0 < since <= self._observer.revision
            return self._told(self._view, since if is_known else 0)

    def _told(self, view: View, since: int) -> dict[str, Any]:
        sources = self._observer.curves()
        if any(curves.reset_revision > since for curves in sources.values()):
            since = 0  # a curve was made coarser or went back: what the page holds no longer fits
        drawn = []
        for chart in charts(self._observer):
            series = [
                {
                    "label": one.label,
                    "points": [[p.key, _short(p.x), _short(p.y)] for p in sources[one.origin].points(one.name, since)],
                }
                for one in chart.series
            ]
            drawn.append({**records.to_json(chart), "series": series})
        return {
            "session": self._session,
            "revision": self._observer.revision,
            "since": since,
            "name": view.name,
            "status": records.to_json(view.status),
            "share": view.progress.share,
            "step": view.progress.step,
            "lines": _head_lines(view),
            "ranks": rank_lines(view),
            "hosts": [line for host in view.hosts for line in (host_line(host), *map(gpu_line, host.gpus))],
            "events": [event_line(event.time, event.kind, event.step, event.text) for event in view.events],
            "samples": records.to_json(view.samples),
            "notes": list(view.notes),
            "charts": drawn,
        }


def _head_lines(view: View) -> list[str]:
    if view.progress.step is None and view.evaluation is None:
        return []
    lines = [progress_line(view.progress)]
    if view.progress.step is not None:
        lines.append(pace_line(view.pace))
    if view.evaluation is not None:
        lines.append(evaluation_line(view.evaluation))
    return lines


def _short(value: float | None) -> float | None:
    """Six digits: finer than any screen, half the bytes. Times in milliseconds stay whole."""
    if value is None:
        return None
    return round(value) if abs(value) >= 1e6 else float(f"{value:.6g}")


class PageServer(ThreadingHTTPServer):
    """Serves one run until it is shut down."""

    daemon_threads = True

    def __init__(self, observer: Observer, port: int) -> None:
        self.answers = Answers(observer)
        try:
            super().__init__((ADDRESS, port), _Conversation)
        except OSError as error:
            raise UserError(f"cannot listen on port {port}: {error.strerror}", "name another with --port") from None
        except OverflowError:
            raise UserError(f"{port} is no port", "name one from 1 to 65535 with --port") from None

    def server_bind(self) -> None:
        """As the base class does, without asking the network for a name of this machine."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    @cached_property
    def page(self) -> bytes:
        return resources.files("dragoman.watch").joinpath("page.html").read_bytes()

    @cached_property
    def content_policy(self) -> str:
        """What the page may do: run its own script, use its own style, ask this server. Nothing else is loaded."""
        script, style = (
            base64.b64encode(hashlib.sha256(part).digest()).decode()
            for kind in (b"script", b"style")
            for part in re.findall(b"<" + kind + b">(.*?)</" + kind + b">", self.page, flags=re.DOTALL)
        )
        return (
            f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away in the middle of an answer is no news; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def is_own_name(self, host: str | None) -> bool:
        names = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}
        return host in (names | {ADDRESS, "localhost"} if self.server_port == 80 else names)


class _Conversation(BaseHTTPRequestHandler):
    """One connection of a browser."""

    timeout = REQUEST_TIMEOUT_S
    server_version, sys_version = "dragoman", ""

    def do_GET(self) -> None:
        server = cast(PageServer, self.server)
        if not server.is_own_name(self.headers.get("Host")):
            self._reply(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"this page has another name\n")
            return
        asked = urlsplit(self.path)
        if asked.path == "/":
            self._reply(HTTPStatus.OK, "text/html; charset=utf-8", server.page)
        elif asked.path == "/data":
            words = parse_qs(asked.query[:200])
            since = words.get("since", ["0"])[0]
            number = int(since) if re.fullmatch(r"[0-9]{1,12}", since) else 0
            answer = server.answers.answer(words.get("session", [""])[0], number)
            self._reply(HTTPStatus.OK, "application/json", json.dumps(answer, allow_nan=False).encode())
        else:
            self._reply(HTTPStatus.NOT_FOUND, "text/plain", b"there is / and /data\n")

    def _reply(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", cast(PageServer, self.server).content_policy)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """A poll a second is no news."""
