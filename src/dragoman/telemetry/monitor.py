"""One thread a host that writes down, once a second, what the host does.

It never raises and never stops training: a record that cannot be written is missing, no more. What went wrong first is
logged once and kept in `note`. A full disk may have room again later, so it goes on trying.
"""

import logging
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from dragoman.core import records
from dragoman.core.paths import RunPaths
from dragoman.core.run_records import SystemRecord
from dragoman.telemetry import rates, samplers
from dragoman.telemetry.board import Board
from dragoman.telemetry.gpus import Gpus

logger = logging.getLogger(__name__)

EVERY_S = 1.0
LOOK_FOR_RANKS_EVERY = 30
"""Records between two looks at which processes train here: that walks through all processes of the host."""
CHART_EVERY = 10
"""Records between two points of TensorBoard's charts."""
CLOSE_WITHIN_S = 3.0


class Monitor:
    """Watches this host from `start` to `close`. `backend` is what carries the gradients: gloo or nccl.

    `nvml` stands in for pynvml. The charts of each host are a run of their own below `tensorboard/`, over the seconds
    since the host's first record, so that TensorBoard lays hosts upon each other.
    """

    def __init__(
        self, paths: RunPaths, host: str, *, backend: str = "gloo", every_s: float = EVERY_S, nvml: Any = None
    ) -> None:
        self.note: str | None = None
        self._file, self._host, self._backend, self._every_s = paths.telemetry(host), host, backend, every_s
        self._directory = paths.directory
        self._board = Board(paths.tensorboard / f"host-{host}")
        self._nvml = nvml
        self._gpus: Gpus | None = None
        self._num_records = 0
        self._processes: list[Any] = []
        self._gradient_nic: str | None = None
        self._cpu: tuple[float, float] | None = None
        self._charted: SystemRecord | None = None
        self._first_time: str | None = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        try:
            self._thread = threading.Thread(target=self._watch, name="dragoman-monitor", daemon=True)
            self._thread.start()
        except RuntimeError as error:  # the host has no thread left
            self._thread = None
            self._complain(error)
        return self

    def close(self) -> None:
        """Write no more. A sensor that hangs is left behind with its daemon thread."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(CLOSE_WITHIN_S)
        self._board.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _watch(self) -> None:
        due_s = time.monotonic()
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            due_s = max(due_s + self._every_s, time.monotonic())  # what was slept through is not made up for
            try:
                self.observe()
            except Exception as error:
                self._complain(error)
        if self._gpus is not None:
            self._gpus.close()

    def observe(self) -> None:
        """One record, on disk and now and then on the board."""
        record = self.sample()
        if self._num_records == 0:
            mend_last_line(self._file)
            self._first_time = first_time_of(self._file) or record.time
        append_whole_line(self._file, record)
        if self._num_records % CHART_EVERY == 0:
            second = rates.seconds_between(self._first_time or record.time, record.time) or 0.0
            for name, value in rates.scalars(self._charted, record).items():
                self._board.scalar(name, value, round(second))
            self._charted = record
        self._num_records += 1

    def sample(self) -> SystemRecord:
        """This host now."""
        nics = samplers.nics()
        if self._gpus is None:
            self._gpus = Gpus(self._nvml)
            names = [nic.name for nic in nics]
            self._gradient_nic = samplers.gradient_nic(samplers.own_environment(), names, self._backend)
        if self._num_records % LOOK_FOR_RANKS_EVERY == 0:
            self._processes = samplers.training_processes()
        before, self._cpu = self._cpu, samplers.cpu_seconds()
        memory, traffic = samplers.memory(), samplers.disk_traffic()
        return SystemRecord(
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            host=self._host,
            cpu_share=samplers.cpu_share(before, self._cpu),
            memory_used_bytes=memory[0] if memory else None,
            memory_total_bytes=memory[1] if memory else None,
            process_memory_bytes=samplers.memory_of(self._processes),
            disk_free_bytes=samplers.disk_free_bytes(self._directory),
            disk_read_bytes=traffic[0] if traffic else None,
            disk_written_bytes=traffic[1] if traffic else None,
            nics=nics,
            gradient_nic=self._gradient_nic,
            gpus=self._gpus.sample(),
        )

    def _complain(self, error: Exception) -> None:
        if self.note is None:
            self.note = f"the records of {self._host} have gaps: {error}; training goes on"
            logger.warning(self.note)


def append_whole_line(path: Path, record: object) -> None:
    """Add a record, or nothing: what a full disk took of a line is taken back, so that the next one stands alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = path.stat().st_size if path.exists() else 0
    try:
        records.append_line(path, record)
    except OSError:
        if path.exists():
            os.truncate(path, size)
        raise


def mend_last_line(path: Path) -> None:
    """Take away half a line that a crash left, so that the next record does not become its other half."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        keep = end
        while keep > 0:
            start = max(0, keep - 65_536)
            file.seek(start)
            newline = file.read(keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        if keep != end:
            file.truncate(keep)


def first_time_of(path: Path) -> str | None:
    """When the first record of a file was made; None if there is none that can be read."""
    try:
        return next(records.read_lines(path, SystemRecord)).time
    except (OSError, ValueError, StopIteration):
        return None
