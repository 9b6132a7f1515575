"""What the driver says about every GPU of this host, through NVML.

The library is optional and passed in, so that a stand-in can take its place. A call that fails, because the board, the
driver or the container does not offer that sensor, gives None in its place; a host without the library has no GPUs.
"""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from dragoman.core.run_records import GpuSample

Value = TypeVar("Value")

LIMITS = {
    1 << 1: "application_clocks",
    1 << 2: "power_cap",
    1 << 3: "hardware_slowdown",
    1 << 4: "sync_boost",
    1 << 5: "software_thermal",
    1 << 6: "hardware_thermal",
    1 << 7: "power_brake",
    1 << 8: "display_clocks",
    1 << 9: "board_limit",
    1 << 10: "reliability",
}
"""What keeps the clock down, by NVML's bit. Bit 0, an idle GPU, holds nobody back and is left out."""


class Gpus:
    """The GPUs of this host, found once. `library` is pynvml or what stands in for it; None looks for pynvml."""

    def __init__(self, library: Any = None) -> None:
        self._library = library
        self._boards: list[tuple[int, str, Any]] = []
        try:
            self._library = library or importlib.import_module("pynvml")
            self._library.nvmlInit()
            for index in range(self._library.nvmlDeviceGetCount()):
                board = self._library.nvmlDeviceGetHandleByIndex(index)
                self._boards.append((index, self._name(board), board))
        except Exception:  # no library, no driver, or a board that fell off the bus: those found so far remain
            pass

    def sample(self) -> tuple[GpuSample, ...]:
        """Every GPU at this moment."""
        return tuple(self._sample(*board) for board in self._boards)

    def close(self) -> None:
        _try(lambda: self._library.nvmlShutdown())

    def _name(self, board: Any) -> str:
        name = _try(lambda: self._library.nvmlDeviceGetName(board))
        return name.decode(errors="replace") if isinstance(name, bytes) else str(name or "unknown")

    def _sample(self, index: int, name: str, board: Any) -> GpuSample:
        nvml = self._library
        memory: Any = _try(lambda: nvml.nvmlDeviceGetMemoryInfo(board))
        return GpuSample(
            index=index,
            name=name,
            utilisation=_scaled(lambda: nvml.nvmlDeviceGetUtilizationRates(board).gpu, 100),
            memory_used_bytes=_try(lambda: int(memory.used)),
            memory_total_bytes=_try(lambda: int(memory.total)),
            power_w=_scaled(lambda: nvml.nvmlDeviceGetPowerUsage(board), 1000),
            power_cap_w=_scaled(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(board), 1000),
            clock_mhz=_scaled(lambda: nvml.nvmlDeviceGetClockInfo(board, nvml.NVML_CLOCK_SM), 1),
            max_clock_mhz=_scaled(lambda: nvml.nvmlDeviceGetMaxClockInfo(board, nvml.NVML_CLOCK_SM), 1),
            temperature_c=_scaled(lambda: nvml.nvmlDeviceGetTemperature(board, nvml.NVML_TEMPERATURE_GPU), 1),
            throttle_reasons=_reasons(self._throttle_bits(board)),
        )

    def _throttle_bits(self, board: Any) -> int | None:
        """Drivers before 535 know only the older name."""
        bits = _try(lambda: int(self._library.nvmlDeviceGetCurrentClocksEventReasons(board)))
        if bits is None:
            bits = _try(lambda: int(self._library.nvmlDeviceGetCurrentClocksThrottleReasons(board)))
        return bits


def _try(sensor: Callable[[], Value]) -> Value | None:
    try:
        return sensor()
    except Exception:
        return None


def _scaled(sensor: Callable[[], float], divisor: float) -> float | None:
    return _try(lambda: float(sensor()) / divisor)


def _reasons(bits: int | None) -> tuple[str, ...] | None:
    return None if bits is None else tuple(name for bit, name in LIMITS.items() if bits & bit)
