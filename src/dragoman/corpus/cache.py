"""The directory where data sets are kept once they have been fetched. One run at a time may fill it."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.core.files import building


def fill_once(directory: Path, cache: Path, fill: Callable[[Path], None]) -> None:
    """Make a directory of the cache with `fill`, which is given where to write, unless it is there already."""
    if not directory.exists():
        with filling(cache):
            if not directory.exists():  # another run may have made it just now
                with building(directory) as partial:
                    fill(partial)


@contextmanager
def filling(cache: Path) -> Iterator[None]:
    """Hold the cache directory while it is filled: two runs that append to one partial file would spoil it."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another run is filling the cache {cache}", "wait until it is done and run the same command again"
            ) from None
        yield
