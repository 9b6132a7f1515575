"""How the main machine and the agents of the hosts talk: a line of JSON, then as many raw bytes as it announces.

    {"kind": "data", "id": 7, "bytes": 65536}\\n
    …65536 bytes…

Login scripts may print what they like first: the talk begins after a line that nobody prints by chance.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

GREETING = b"dragoman agent, protocol 1\n"
MOST_NOISE_BYTES = 65_536
MOST_HEADER_BYTES = 4_000_000
CHUNK_BYTES = 131_072


class ProtocolError(Exception):
    """The other side does not speak as agreed."""


@dataclass(frozen=True)
class Message:
    """One thing said. `fields` are plain JSON values."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    payload: bytes = b""

    def __getitem__(self, name: str) -> Any:
        try:
            return self.fields[name]
        except KeyError:
            raise ProtocolError(f"a {self.kind} message has no {name}") from None

    def encoded(self) -> bytes:
        header = {"kind": self.kind, **self.fields}
        if self.payload:
            header["bytes"] = len(self.payload)
        return json.dumps(header).encode() + b"\n" + self.payload


async def read(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None when the other side has gone."""
    try:
        line = await reader.readuntil(b"\n")
        header = json.loads(line)
        kind, num_bytes = header.pop("kind"), header.pop("bytes", 0)
        if not isinstance(kind, str) or not isinstance(num_bytes, int) or not 0 <= num_bytes <= CHUNK_BYTES:
            raise ValueError
        return Message(kind, header, await reader.readexactly(num_bytes))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except (ValueError, KeyError, AttributeError, TypeError, asyncio.LimitOverrunError):
        raise ProtocolError("what the other side says is no message of ours") from None


async def past_greeting(reader: asyncio.StreamReader) -> bool:
    """Skip what login scripts print; False if the greeting does not come."""
    seen = 0
    while seen < MOST_NOISE_BYTES:
        try:
            line = await reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return False
        if line.endswith(GREETING):
            return True
        seen += len(line)
    return False
