"""How much one request, and all of them together, may ask for.

A server without limits stops for everybody when one client asks for too much. Each limit has an answer of its own, so
that a client knows whether to shorten the text, to wait, or to give up.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The defaults let a base model on two cores answer the largest text within its time."""

    body_bytes: int = 512_000
    """Of a text; 20,000 characters of any script fit, however they are escaped."""
    file_bytes: int = 2_000_000
    characters: int = 20_000
    """Of a request, over all its texts."""
    file_characters: int = 500_000
    sentences: int = 1_000
    file_sentences: int = 10_000
    alternatives: int = 8
    requests: int = 256
    """Being read, waiting or being translated at the same time."""
    queued_sentences: int = 20_000
    """Waiting over all requests."""
    connections: int = 512
    """Open at the same time; half of the files that a process may usually have open."""
    head_s: float = 10.0
    """For the first line and the headers of a request to arrive."""
    body_s: float = 20.0
    text_s: float = 30.0
    """From the whole request to its answer."""
    file_s: float = 300.0
    keep_alive_s: float = 15.0
    shutdown_s: float = 10.0
    """For the last answers after SIGTERM."""
