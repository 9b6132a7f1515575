"""Models that translate without a model, and a server around them."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dragoman.serve.application import build
from dragoman.serve.limits import Limits
from dragoman.serve.models import Models
from dragoman.serve.server import listening_socket, server_for


@dataclass(frozen=True)
class FakeHypothesis:
    text: str


@dataclass
class FakeEngine:
    """Turns letters around, or does what a test asks for."""

    source_language: str = "en"
    target_language: str = "de"
    name: str = "fake"
    seconds: float = 0.0
    """That a batch takes."""
    batches: list[list[str]] = field(default_factory=list)

    def translate(self, texts: Sequence[str]) -> list[str]:
        self.batches.append(list(texts))
        time.sleep(self.seconds)
        if any("BREAK" in text for text in texts):
            raise RuntimeError("a secret of the model")
        return [text.swapcase() for text in texts]

    def hypotheses(self, texts: Sequence[str], num: int) -> list[list[FakeHypothesis]]:
        return [[FakeHypothesis(text + "!" * rank) for rank in range(num)] for text in self.translate(texts)]

    def alternatives(self, text: str, prefix: str, num: int) -> list[str]:
        return [f"{prefix}way {number}" for number in range(num)]


def two_ways() -> Models:
    return Models([FakeEngine(), FakeEngine("de", "en", "fake back")])


@contextlib.contextmanager
def served(models: Models | None = None, *, limits: Limits | None = None, **options: Any) -> Iterator[str]:
    """A real server on a free port, in a thread; gives its address."""
    listener: socket.socket = listening_socket("127.0.0.1", 0)
    app = build(models or two_ways(), limits=limits, **options)
    server = server_for(app, limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()
