"""Files that are whole or not there.

Everything that must survive a crash is written beside its place, flushed to the disk and renamed into it.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from dragoman.core.errors import UserError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Readers see the old file or the new one, never half of one."""
    write_whole(path, [content.encode() if isinstance(content, str) else content])


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file that is there whole or not at all; its directory is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_of(path)
    try:
        with partial.open("wb") as file:
            file.writelines(chunks)
        publish(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """Where `path` is while it is being written."""
    return path.with_name(path.name + ".partial")


def publish(partial: Path, path: Path) -> None:
    """Give a finished file or directory its name, so that the name outlives a power cut."""
    flush(partial)
    partial.replace(path)
    flush(path.parent)


def flush(path: Path) -> None:
    """Wait until a file's bytes, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """The hash of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def building(directory: Path) -> Iterator[Path]:
    """Yield an empty directory that becomes `directory` when the block ends well and vanishes when it does not.

    What an earlier, killed run left behind is removed first. A second process that builds the same directory is
    refused; an existing `directory` is replaced whole.
    """
    directory = directory.resolve()  # a link stays a link; what it points to is replaced
    partial = directory.with_name(f".{directory.name}.partial")
    replaced = directory.with_name(f".{directory.name}.replaced")
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is a file; a directory of that name cannot be built")
    new_parents = [parent for parent in directory.parents if not parent.exists()]
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _only_builder(directory, partial):
        if replaced.exists() and not directory.exists():  # killed between the two renames below
            replaced.rename(directory)
        try:
            _empty(partial)
            yield partial
            for path in partial.rglob("*"):
                flush(path)
            if directory.exists():
                shutil.rmtree(replaced, ignore_errors=True)
                directory.rename(replaced)
            publish(partial, directory)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            with contextlib.suppress(OSError):  # someone else has put something into one
                for parent in new_parents:
                    parent.rmdir()
            raise
        # The lock went with the rename: a `partial` that appears from here on is the next builder's.
        shutil.rmtree(replaced, ignore_errors=True)


@contextlib.contextmanager
def _only_builder(directory: Path, partial: Path) -> Iterator[None]:
    """Make `partial` and hold a lock on it; the kernel frees the lock when its holder dies, however it dies."""
    descriptor = _lock(partial)
    if descriptor is None:
        raise UserError(f"another process is building {directory}", "wait for it or stop it first")
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(partial: Path) -> int | None:
    """The open descriptor that holds the lock, or None if another builder has it."""
    descriptor = None
    try:
        partial.mkdir(exist_ok=True)
        descriptor = os.open(partial, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between these lines the other builder may have finished and renamed the directory under us.
        if os.path.samestat(os.fstat(descriptor), partial.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    if descriptor is not None:
        os.close(descriptor)
    return None


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextlib.contextmanager
def explaining_disk_errors(directory: Path) -> Iterator[None]:
    """Say in a sentence what a full, read-only or forbidden disk means for the directory being written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise UserError(f"the disk that holds {directory} is full", "make room, or write elsewhere") from None
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG):
            raise UserError(f"cannot write to {directory}: {error.strerror}", "write elsewhere") from None
        raise
