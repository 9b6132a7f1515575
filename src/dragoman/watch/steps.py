"""The steps of all ranks: curves of the main one, and where the time of each one's last steps goes."""

import re
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dragoman.watch.curves import Curves
from dragoman.watch.following import Follower, number, whole_number
from dragoman.watch.view import PARTS, Pace, RankView

RECENT = 50


class _Rank:
    """One file of steps. The main rank's is read for its curves, of the others only the end."""

    def __init__(self, path: Path, rank: int, *, is_main: bool) -> None:
        self.rank = rank
        self.file = Follower(path) if is_main else Follower(path, num_spots=0)
        self.recent: deque[dict[str, Any]] = deque(maxlen=RECENT)


class Steps:
    """All files of `steps/`; new ranks are noticed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ranks: dict[int, _Rank] = {}
        self.curves = Curves()

    def look(self, revision: int) -> None:
        """Read what is new; curves that it changes are of this revision."""
        self.curves.revision = revision
        for path in sorted(self._directory.glob("rank*.jsonl")):
            if match := re.fullmatch(r"rank(\d+)\.jsonl", path.name):
                rank = int(match[1])
                self._ranks.setdefault(rank, _Rank(path, rank, is_main=not self._ranks))
        for number_, one in enumerate(self._ranks.values()):
            for group in one.file.look():
                one.recent.extend(group)
                if number_ == 0:
                    self._draw(group)

    def _draw(self, group: Iterable[dict[str, Any]]) -> None:
        for record in group:
            if (step := whole_number(record, "step")) is not None:
                self.curves.add(step, _chart_values(record))

    @property
    def num_bad_lines(self) -> int:
        return sum(one.file.num_bad_lines for one in self._ranks.values())

    @property
    def last(self) -> dict[str, Any]:
        """The main rank's newest record; nothing before the first step."""
        main = next(iter(self._ranks.values()), None)
        return main.recent[-1] if main and main.recent else {}

    def pace(self) -> Pace:
        """How the main rank's last steps went."""
        main = next(iter(self._ranks.values()), None)
        recent = list(main.recent) if main else []
        seconds = [number(record, "step_s") for record in recent]
        tokens = [number(record, "target_tokens") for record in recent]
        pairs = [(s, t) for s, t in zip(seconds, tokens, strict=True) if s and t is not None]
        return Pace(
            loss=number(self.last, "loss"),
            gradient_norm=number(self.last, "gradient_norm"),
            learning_rate=number(self.last, "learning_rate"),
            tokens_per_s=sum(t for _, t in pairs) / sum(s for s, _ in pairs) if pairs else None,
            step_s=_median(seconds),
        )

    def ranks(self) -> tuple[RankView, ...]:
        return tuple(_rank_view(one.rank, list(one.recent)) for _, one in sorted(self._ranks.items()))


def _chart_values(record: dict[str, Any]) -> dict[str, float | None]:
    step_s, tokens = number(record, "step_s"), number(record, "target_tokens")
    values = {name: number(record, name) for name in ("loss", "gradient_norm", "learning_rate", "step_s")}
    if step_s:
        values["tokens_per_s"] = tokens / step_s if tokens is not None else None
        for part in PARTS:
            seconds = number(record, part)
            values[part] = seconds
    return values


def _rank_view(rank: int, recent: Sequence[dict[str, Any]]) -> RankView:
    real = [number(record, "real_tokens") for record in recent]
    padded = [number(record, "padded_tokens") for record in recent]
    pairs = [(r, p) for r, p in zip(real, padded, strict=True) if r is not None and p]
    whole = sum(p for _, p in pairs)
    return RankView(
        rank=rank,
        step=whole_number(recent[-1], "step") if recent else None,
        step_s=_median(number(record, "step_s") for record in recent),
        parts={part: _median(number(record, part) for record in recent) for part in PARTS},
        padding_share=1 - sum(r for r, _ in pairs) / whole if whole else None,
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
