"""The lines of one file, some at a time.

Opens plain, gzip, xz and zstandard files by what they hold, not by their name. Memory is bounded whatever the file
holds: a line longer than a megabyte is taken as an empty one and its place is marked. Bytes are counted and hashed
as they pass, so that no input is read twice. Decodes nothing.
"""

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import zstandard

from dragoman.core.errors import UserError

MAX_LINE_BYTES = 1_000_000
CHUNK_BYTES = 1 << 18
ZSTANDARD_CHUNK_BYTES = 2_048  # of compressed input: a frame of zeros unpacks to at most 64 MB of it
MAX_NUL_SHARE = 0.001


@dataclass(frozen=True)
class FileRead:
    """What was found in one input file that was read to its end."""

    path: str
    bytes: int
    text_bytes: int
    lines: int
    sha256: str


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Lines:
    """The lines of one file, without their ends."""

    def __init__(self, path: Path, on_bytes: Callable[[int], None] = lambda num_bytes: None) -> None:
        self.path = path
        self._raw = _Counted(path, on_bytes)
        self._stream = _decompressed(self._raw)
        self._pending: list[bytes] = []  # whole lines, the next one last
        self._tail = b""
        self._skipping = False  # inside an overlong line whose end has not been seen
        self._ended = False
        self._overlong: set[int] = set()  # line numbers, from 0
        self._num_taken = 0
        self._num_lines = 0  # split off so far
        self._num_text_bytes = 0

    def take(self, num_lines: int, num_bytes: int | None = None) -> tuple[list[bytes], frozenset[int]]:
        """Up to `num_lines` next lines (fewer once they hold `num_bytes`) and the places of overlong ones."""
        taken: list[bytes] = []
        num_taken_bytes = 0
        while len(taken) < num_lines and (num_bytes is None or num_taken_bytes < num_bytes):
            if not self._pending and not self._fill():
                break
            room = num_lines - len(taken)
            piece = self._pending[-room:][::-1]
            del self._pending[-room:]
            taken += piece
            num_taken_bytes += sum(map(len, piece))
        end = self._num_taken + len(taken)
        overlong = frozenset(number - self._num_taken for number in self._overlong if number < end)
        self._overlong = {number for number in self._overlong if number >= end}
        self._num_taken = end
        return taken, overlong

    def put_back(self, lines: list[bytes], overlong: Iterable[int]) -> None:
        """Undo the taking of `lines`, the last that were taken; `overlong` are the places of overlong ones."""
        self._num_taken -= len(lines)
        self._pending += lines[::-1]
        self._overlong.update(self._num_taken + place for place in overlong)

    def count_all(self) -> int:
        """The number of lines of the whole file; what was not taken is passed over."""
        self._pending.clear()
        while self._fill():
            self._pending.clear()
        return self._num_lines

    def summary(self) -> FileRead:
        """What was read, once the file is at its end."""
        self._raw.drain()
        sha256 = self._raw.sha256.hexdigest()
        return FileRead(str(self.path), self._raw.num_bytes, self._num_text_bytes, self._num_lines, sha256)

    def close(self) -> None:
        self._raw.close()

    def _fill(self) -> bool:
        """Split off the next lines. False at the end of the file."""
        while not self._pending and not self._ended:
            chunk = self._read_chunk()
            text = self._tail + chunk
            lines = text.split(b"\n")
            self._tail = lines.pop()
            if not chunk:
                self._ended = True
                if self._tail or self._skipping:  # the last line has no end
                    lines = [self._tail]
            if self._skipping and lines:
                self._leave_out(lines, 0)
                self._skipping = False
            if len(text) > MAX_LINE_BYTES:
                for place, line in enumerate(lines):
                    if len(line) > MAX_LINE_BYTES:
                        self._leave_out(lines, place)
            if len(self._tail) > MAX_LINE_BYTES or self._skipping:
                self._tail = b""
                self._skipping = True
            self._num_lines += len(lines)
            self._pending = lines[::-1]
        return bool(self._pending)

    def _leave_out(self, lines: list[bytes], place: int) -> None:
        lines[place] = b""
        self._overlong.add(self._num_lines + place)

    def _read_chunk(self) -> bytes:
        try:
            chunk = self._stream.read(CHUNK_BYTES)
        except (EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, gzip.BadGzipFile) as error:
            raise UserError(f"{self.path} is cut off or damaged ({error})", "fetch or compress it again") from None
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror or error}") from None
        if self._num_text_bytes == 0:
            _refuse_binary(chunk, self.path)
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        self._num_text_bytes += len(chunk)
        return chunk


def _refuse_binary(beginning: bytes, path: Path) -> None:
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{path} is UTF-16, not UTF-8", f"convert it: iconv -f UTF-16 -t UTF-8 {path} > {path}.utf8")
    if beginning.count(b"\0") > MAX_NUL_SHARE * len(beginning):
        raise UserError(f"{path} is not a text file: it is full of NUL bytes")


class _Counted(io.RawIOBase):
    """A raw file that counts and hashes the bytes that pass."""

    def __init__(self, path: Path, on_bytes: Callable[[int], None]) -> None:
        try:
            if path.is_dir():
                raise UserError(f"{path} is a directory; expected a text file")
            self._file = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise UserError(f"there is no file {path}") from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise UserError(f"cannot read {path!s}: {getattr(error, 'strerror', None) or error}") from None
        self._on_bytes = on_bytes
        self.num_bytes = 0
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        num_bytes = self._file.readinto(buffer) or 0
        self.sha256.update(memoryview(buffer)[:num_bytes])
        self.num_bytes += num_bytes
        self._on_bytes(num_bytes)
        return num_bytes

    def drain(self) -> None:
        """Pass over what a decompressor left unread."""
        while self.read(CHUNK_BYTES):
            pass

    def close(self) -> None:
        self._file.close()
        super().close()


def _decompressed(raw: _Counted) -> _Readable:
    buffered: Any = io.BufferedReader(cast(Any, raw), CHUNK_BYTES)
    try:
        magic = buffered.peek(6)
    except OSError:
        return cast(_Readable, buffered)  # the first read will say what is wrong
    if magic.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=buffered)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(buffered)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _Zstandard(buffered)
    return cast(_Readable, buffered)


class _Zstandard:
    """Zstandard frames to their very end; the library's own stream reader takes a truncated file for a whole one."""

    def __init__(self, compressed: _Readable) -> None:
        self._compressed = compressed
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._is_inside = False

    def read(self, size: int, /) -> bytes:
        text = bytearray()
        while len(text) < size:
            chunk = self._compressed.read(ZSTANDARD_CHUNK_BYTES)
            if not chunk:
                if self._is_inside:
                    raise EOFError("it ends inside a frame")
                break
            while chunk:
                text += self._frame.decompress(chunk)
                self._is_inside = not self._frame.eof
                chunk = b""
                if self._frame.eof:
                    chunk = self._frame.unused_data
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
        return bytes(text)
