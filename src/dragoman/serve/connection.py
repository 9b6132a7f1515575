"""Connections that do not wait for ever: uvicorn's own, with a time for the head of a request and a most of them.

A client that opens hundreds of connections and sends a letter a minute on each would otherwise hold them all.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from dragoman.serve.limits import Limits


def impatient(limits: Limits) -> type[H11Protocol]:
    """The class of connections of a server with these limits."""

    class Connection(H11Protocol):
        """Closes when the head of a request takes too long, at once when there are too many connections."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                transport.abort()
                return
            self._watch_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_watching()
            super().connection_lost(exc)

        def _watch_head(self) -> None:
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._stop_watching()  # the head is there
            elif self._timer is None and self.timeout_keep_alive_task is None:
                self._timer = self.loop.call_later(limits.head_s, self.transport.abort)

        def _stop_watching(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Connection
