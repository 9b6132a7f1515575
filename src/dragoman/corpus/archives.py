"""Members of archives, one by one.

Takes a tar (plain, gz, xz, bz2, zst), a zip, a Debian package or a single compressed file, and gives the wanted
members as streams, or writes them below a directory. Only regular files at relative paths come out; bytes, members and
the ratio of unpacked to packed size are capped while reading, so a bomb ends early. Every refusal is a `UserError`.
Knows nothing of what the members mean.
"""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

import zstandard

from dragoman.core.errors import UserError
from dragoman.core.files import write_whole
from dragoman.core.progress import Bar, Progress, Silent

CHUNK_BYTES = 1 << 18
# A tar pads to 10 KiB and pads well: below this size the ratio says nothing about intent.
RATIO_FREE_BYTES = 1 << 20
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, zstandard.ZstdError, EOFError, OSError)


@dataclass(frozen=True)
class Limits:
    """What an archive may cost at most. Text packs 3 to 20 times; the largest archive of the catalogue holds 3 GB."""

    max_file_bytes: int = 4 << 30
    max_total_bytes: int = 16 << 30
    max_members: int = 20_000
    max_ratio: int = 100


def unpack(
    archive: Path,
    to: Path,
    wanted: Collection[str],
    *,
    limits: Limits = Limits(),  # noqa: B008  frozen
    progress: Progress = Silent(),  # noqa: B008  stateless
) -> None:
    """Write the wanted members below `to` at their own paths; one that the archive lacks is an error."""
    missing = set(wanted)
    for name, stream in members(archive, missing.__contains__, limits=limits, progress=progress):
        write_whole(to / name, iter(lambda stream=stream: stream.read(CHUNK_BYTES), b""))  # type: ignore[misc]
        missing.remove(name)
        if not missing:
            return
    if missing:
        raise UserError(f"{archive.name} does not hold {', '.join(sorted(missing))}: it is not the archive expected")


def members(
    archive: Path,
    is_wanted: Callable[[str], bool],
    *,
    limits: Limits = Limits(),  # noqa: B008  frozen
    progress: Progress = Silent(),  # noqa: B008  stateless
) -> Iterator[tuple[str, BinaryIO]]:
    """Yield path and content of each wanted member, in the archive's order; a stream is good until the next one."""
    packed_bytes = archive.stat().st_size
    with archive.open("rb") as file, progress.stage(f"unpack {archive.name}", total=packed_bytes, unit="bytes") as bar:
        meter = _Meter(archive.name, file, packed_bytes, limits, bar)
        try:
            yield from _members(archive.name, file, is_wanted, meter)
        except DAMAGE as error:
            raise _damaged(archive.name, error) from error


def _members(
    archive: str, file: BinaryIO, is_wanted: Callable[[str], bool], meter: "_Meter"
) -> Iterator[tuple[str, BinaryIO]]:
    if archive.endswith(".zip"):
        yield from _zip_members(archive, file, is_wanted, meter)
        return
    if archive.endswith(".deb"):
        name, packed = _package_content(archive, file)
    else:
        name, packed = archive, file
    content = io.BufferedReader(_Watched(_decompressed(name, packed), archive, meter.count), CHUNK_BYTES)
    stem, _, suffix = name.rpartition(".")
    if stem.endswith(".tar") or suffix in ("tar", "tgz", "txz", "tbz2"):
        yield from _tar_members(archive, content, is_wanted, meter)
    elif is_wanted(stem):
        meter.max_total_bytes = min(meter.max_total_bytes, meter.limits.max_file_bytes)
        yield stem, content


def _tar_members(
    archive: str, content: BinaryIO, is_wanted: Callable[[str], bool], meter: "_Meter"
) -> Iterator[tuple[str, BinaryIO]]:
    with tarfile.open(fileobj=content, mode="r|") as tar:
        for member in tar:
            meter.count_member()
            name = str(PurePosixPath(member.name))
            if is_wanted(name) and not member.isdir():
                _check(archive, name, member.isreg() and not member.issparse(), member.size, meter.limits)
                stream = cast(IO[bytes], tar.extractfile(member))
                yield name, io.BufferedReader(_Watched(stream, archive), CHUNK_BYTES)


def _zip_members(
    archive: str, file: BinaryIO, is_wanted: Callable[[str], bool], meter: "_Meter"
) -> Iterator[tuple[str, BinaryIO]]:
    with zipfile.ZipFile(file) as package:
        for member in package.infolist():
            meter.count_member()
            name = str(PurePosixPath(member.filename))
            if is_wanted(name) and not member.is_dir():
                # The upper half of external_attr is the Unix mode; archives made elsewhere leave it 0.
                kind = stat.S_IFMT(member.external_attr >> 16)
                is_plain = kind in (0, stat.S_IFREG) and not member.flag_bits & 1
                _check(archive, name, is_plain, member.file_size, meter.limits)
                with package.open(member) as stream:
                    yield name, io.BufferedReader(_Watched(stream, archive, meter.count), CHUNK_BYTES)


def _package_content(archive: str, file: BinaryIO) -> tuple[str, BinaryIO]:
    """The `data.tar.*` of a Debian package: an `ar` container, 60 bytes of header before each member (man 5 ar)."""
    if file.read(8) != b"!<arch>\n":
        raise UserError(f"{archive} is not a Debian package")
    while len(header := file.read(60)) == 60:
        name, size = header[:16].decode("latin-1").strip().rstrip("/"), header[48:58].strip()
        if not size.isdigit():
            break
        if name.startswith("data.tar"):
            return name, io.BytesIO(file.read(int(size)))
        file.seek(int(size) + int(size) % 2, io.SEEK_CUR)
    raise UserError(f"{archive} is a damaged Debian package: it has no data.tar", "get it anew")


def _decompressed(name: str, file: BinaryIO) -> IO[bytes]:
    stem, _, suffix = name.rpartition(".")
    if suffix in ("gz", "tgz"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if suffix in ("xz", "txz"):
        return lzma.LZMAFile(file)
    if suffix in ("bz2", "tbz2"):
        return bz2.BZ2File(file)
    if suffix == "zst" and stem.endswith(".tar"):  # a cut frame goes unnoticed here; inside a tar, tarfile misses it
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))
    if suffix == "tar":
        return file
    raise UserError(f"{name} is not an archive of a known kind", "known are tar, zip, deb, gz, xz and bz2")


def _check(archive: str, name: str, is_plain: bool, size_bytes: int, limits: Limits) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise UserError(f"{archive} is refused: its member {name!r} points outside of the directory it is unpacked to")
    if not is_plain:
        raise UserError(f"{archive} is refused: its member {name} is not a plain file")
    if size_bytes > limits.max_file_bytes:
        raise UserError(f"{archive} is refused: its member {name} is larger than {limits.max_file_bytes:,} bytes")


def _damaged(archive: str, error: BaseException) -> UserError:
    detail = str(error) or type(error).__name__
    return UserError(f"{archive} is damaged: {detail}", "get it anew and run the same command again")


class _Meter:
    """Counts what one archive has cost so far."""

    def __init__(self, archive: str, file: BinaryIO, packed_bytes: int, limits: Limits, bar: Bar) -> None:
        self.limits = limits
        self.max_total_bytes = limits.max_total_bytes
        self._archive, self._file, self._bar = archive, file, bar
        self._max_by_ratio_bytes = max(RATIO_FREE_BYTES, limits.max_ratio * packed_bytes)
        self._unpacked_bytes = self._read_bytes = self._num_members = 0

    def count(self, num_bytes: int) -> None:
        self._unpacked_bytes += num_bytes
        if self._unpacked_bytes > self.max_total_bytes:
            raise UserError(f"{self._archive} is refused: it unpacks to more than {self.max_total_bytes:,} bytes")
        if self._unpacked_bytes > self._max_by_ratio_bytes:
            raise UserError(
                f"{self._archive} is refused: it unpacks to more than {self.limits.max_ratio} times its size"
            )
        read_bytes = max(self._file.tell(), self._read_bytes)
        self._bar.advance(read_bytes - self._read_bytes)
        self._read_bytes = read_bytes

    def count_member(self) -> None:
        self._num_members += 1
        if self._num_members > self.limits.max_members:
            raise UserError(f"{self._archive} is refused: it has more than {self.limits.max_members:,} members")


class _Watched(io.RawIOBase):
    """A stream whose bytes are counted, and whose damage is told in a sentence."""

    def __init__(self, inner: IO[bytes], archive: str, count: Callable[[int], None] = lambda num_bytes: None) -> None:
        self._inner, self._archive, self._count = inner, archive, count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            chunk = self._inner.read(len(buffer))
        except DAMAGE as error:
            raise _damaged(self._archive, error) from error
        self._count(len(chunk))
        buffer[: len(chunk)] = chunk
        return len(chunk)
