"""How fast a run goes, from the step records of the main rank as they come; and whether its links have become slow."""

import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

USUAL_STEPS = 20
"""Of an attempt, from its start: their median does not mind that the first ones are slow."""
LATE_STEPS = 10
SLOW_FACTOR = 4.0
RECOVERED_FACTOR = 2.0
LEAST_S = 0.02
"""An exchange shorter than this is not worth a word."""


@dataclass(frozen=True)
class Turn:
    """Exchanges have become slow, or are again as they were."""

    is_slow: bool
    exchange_s: float
    usual_s: float


@dataclass
class Pace:
    """Reads `steps/rank00.jsonl` from where it ends when an attempt begins."""

    path: Path
    step: int = 0
    num_steps: int = 0
    """Of this attempt."""
    is_slow: bool = False
    _offset: int = 0
    _usual: list[float] = field(default_factory=list)
    _late: "deque[float]" = field(default_factory=lambda: deque(maxlen=LATE_STEPS))

    @classmethod
    def from_end_of(cls, path: Path, step: int) -> "Pace":
        return cls(path, step, _offset=path.stat().st_size if path.exists() else 0)

    def news(self) -> list[Turn]:
        """Read the steps that have come; what turned meanwhile."""
        turns = []
        for step, exchange_s in self._read():
            self.step, self.num_steps = step, self.num_steps + 1
            self._late.append(exchange_s)
            if len(self._usual) < USUAL_STEPS:
                self._usual.append(exchange_s)
            elif turn := self._judge():
                turns.append(turn)
        return turns

    def _judge(self) -> Turn | None:
        """A slow link slows every exchange, a late rank only some: so the fastest of the last ones counts."""
        usual, late = median(self._usual), min(self._late)
        if not self.is_slow and late > max(SLOW_FACTOR * usual, LEAST_S):
            self.is_slow = True
            return Turn(True, late, usual)
        if self.is_slow and median(self._late) < RECOVERED_FACTOR * usual:
            self.is_slow = False
            return Turn(False, median(self._late), usual)
        return None

    def _read(self) -> list[tuple[int, float]]:
        found = []
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                with suppress(ValueError, KeyError, TypeError):
                    record = json.loads(line)
                    found.append((int(record["step"]), float(record["exchange_s"])))
        return found
