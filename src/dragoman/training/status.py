"""The one line that says how a run goes: rewritten in a terminal, a plain line now and then elsewhere."""

import sys
import time

from dragoman.core.units import count, duration

PLAIN_LINE_EVERY_S = 10.0
LIVE_LINE_EVERY_S = 0.2
SMOOTHING = 0.9


class Status:
    """Prints only on the main rank."""

    def __init__(self, is_main: bool) -> None:
        self._is_main = is_main
        self._is_live = sys.stderr.isatty()
        self._printed_at = -float("inf")
        self._loss: float | None = None  # the last that was known
        self._pace: tuple[float, float] | None = None  # running means of step time and tokens a second

    def line(
        self, *, step: int, last_step: int | None, loss: float | None, rate: float, tokens: int, step_s: float,
        waited_s: float, left_s: float | None, cost: float | None, is_last: bool,
    ) -> None:  # fmt: skip
        pace = (step_s, tokens / max(step_s, 1e-9))
        old = self._pace or pace
        self._pace = tuple(SMOOTHING * a + (1 - SMOOTHING) * b for a, b in zip(old, pace, strict=True))  # type: ignore[assignment]
        self._loss = self._loss if loss is None else loss
        every = LIVE_LINE_EVERY_S if self._is_live else PLAIN_LINE_EVERY_S
        if not self._is_main or (time.monotonic() - self._printed_at < every and not is_last):
            return
        self._printed_at = time.monotonic()
        mean_step_s, tokens_per_s = self._pace or pace
        goal = f"/{count(last_step)}  {step / last_step:.1%}" if last_step else ""
        words = [
            f"step {count(step)}{goal}",
            "loss –" if self._loss is None else f"loss {self._loss:.3f}",
            f"lr {rate:.2e}",
            f"{count(round(tokens_per_s))} tok/s",
            f"step {mean_step_s:.3f} s (waiting {waited_s / max(step_s, 1e-9):.0%})",
        ]
        if left_s is not None:
            words.append(f"{duration(left_s)} left")
        if cost is not None:
            words.append(f"cost {cost:.2f}")
        self._write("  ".join(words))

    def say(self, text: str) -> None:
        """A line that stays."""
        if self._is_main:
            print(("\r\033[K" if self._is_live else "") + text, file=sys.stderr, flush=True)

    def _write(self, line: str) -> None:
        if self._is_live:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._is_main and self._is_live:
            print(file=sys.stderr)
