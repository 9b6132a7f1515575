"""The hosts of a run: what their records say now, and as curves over time."""

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from dragoman.core import records
from dragoman.core.run_records import SystemRecord
from dragoman.telemetry import rates
from dragoman.watch.curves import Curves
from dragoman.watch.following import Follower
from dragoman.watch.view import HostView

CURVE_MS = 1000
"""Width of the narrowest bucket: hosts write about a record a second."""


class Host:
    """One file of telemetry."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._file = Follower(path, 200_000, 60_000, num_spots=200, records_a_spot=2)  # a record takes 0.4 ms to check
        self._num_strange = 0
        self._last: SystemRecord | None = None
        self._nic: rates.NicRate | None = None
        self.curves = Curves(width=CURVE_MS)

    def look(self, revision: int) -> None:
        """Read what is new. Rates are made of neighbours only: between two spots anything may have happened."""
        self.curves.revision = revision
        for number, group in enumerate(self._file.look()):
            understood = [record for value in group if (record := self._understood(value)) is not None]
            if number > 0 and understood:
                self._last, *understood = understood
            for record in understood:
                self._add(record)

    @property
    def num_bad_lines(self) -> int:
        return self._file.num_bad_lines + self._num_strange

    def view(self) -> HostView | None:
        """As last seen; None if no record could be read."""
        if self._last is None:
            return None
        stamp = _unix_s(self._last.time)
        age_s = max(0.0, time.time() - stamp) if stamp is not None else None
        return HostView.of(self._last, self._nic, age_s)

    def _understood(self, value: dict[str, Any]) -> SystemRecord | None:
        try:
            return records.from_json(SystemRecord, value)
        except (ValueError, TypeError):
            self._num_strange += 1
            return None

    def _add(self, record: SystemRecord) -> None:
        between = rates.between(self._last, record) if self._last else None
        self._nic = rates.busiest(between, record.gradient_nic) if between else None
        self._last = record
        if (stamp := _unix_s(record.time)) is None:
            return
        values = rates.scalars(None, record)
        if self._nic:
            values["sent_mb_per_s"] = self._nic.sent_bytes_per_s / 1e6
            values["received_mb_per_s"] = self._nic.received_bytes_per_s / 1e6
        self.curves.add(round(1000 * stamp), values)


class Hosts:
    """All files of `telemetry/`; new hosts are noticed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.by_name: dict[str, Host] = {}

    def look(self, revision: int) -> None:
        for path in sorted(self._directory.glob("*.jsonl")):
            self.by_name.setdefault(path.stem, Host(path))
        for host in self.by_name.values():
            host.look(revision)

    def views(self) -> tuple[HostView, ...]:
        return tuple(view for host in self.by_name.values() if (view := host.view()) is not None)

    @property
    def num_bad_lines(self) -> int:
        return sum(host.num_bad_lines for host in self.by_name.values())


def _unix_s(stamp: str) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
