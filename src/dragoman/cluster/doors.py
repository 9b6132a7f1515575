"""Whether one host can reach a port of another: somebody listens, somebody knocks, a password goes there and back."""

import asyncio
import contextlib
import os

from dragoman.core.errors import UserError

KNOCK_S = 5.0
PASSWORD_BYTES = 32


class Doors:
    """Ports that are open for a test."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []

    async def open(self, address: str, port: int, password: str) -> int:
        """Listen on one address, on any free port if `port` is 0; which it became. UserError where it is taken."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                asked = await asyncio.wait_for(reader.readexactly(PASSWORD_BYTES), KNOCK_S)
                if asked == password.encode():
                    writer.write(asked[::-1])
                    await writer.drain()
            writer.close()

        try:
            server = await asyncio.start_server(answer, address, port)
        except OSError as error:
            raise UserError(f"port {port} of {address} cannot be used: {error.strerror}") from None
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def close(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()


async def knock(address: str, port: int, password: str) -> str | None:
    """None if whom we expect opens; else why not."""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection(address, port), KNOCK_S)
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return os.strerror(error.errno).lower() if error.errno else str(error)
    try:
        writer.write(password.encode())
        answer = await asyncio.wait_for(reader.readexactly(PASSWORD_BYTES), KNOCK_S)
        return None if answer == password.encode()[::-1] else "somebody else answers"
    except (TimeoutError, OSError, asyncio.IncompleteReadError):
        return "somebody else answers"
    finally:
        writer.close()
