"""A stand-in for pynvml: two boards whose every sensor is known, or broken on purpose."""

import types
from typing import Any


class FakeNvml:
    """Two boards, as pynvml shows them."""

    NVML_CLOCK_SM, NVML_TEMPERATURE_GPU = 1, 0

    def __init__(self, broken: tuple[str, ...] = ()) -> None:
        self.broken = broken
        self.is_open = False

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml") and any(part in name for part in object.__getattribute__(self, "broken")):
            raise RuntimeError(f"{name}: not supported")
        return object.__getattribute__(self, name)

    def nvmlInit(self) -> None:  # noqa: N802
        self.is_open = True

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.is_open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:  # noqa: N802
        return f"board {index}"

    def nvmlDeviceGetName(self, board: str) -> str | bytes:  # noqa: N802
        return b"Tesla V100" if board == "board 0" else "Tesla P100"

    def nvmlDeviceGetUtilizationRates(self, board: str) -> Any:  # noqa: N802
        return types.SimpleNamespace(gpu=100, memory=30)

    def nvmlDeviceGetMemoryInfo(self, board: str) -> Any:  # noqa: N802
        return types.SimpleNamespace(used=5_000_000_000, total=16_000_000_000)

    def nvmlDeviceGetPowerUsage(self, board: str) -> int:  # noqa: N802
        return 42_500

    def nvmlDeviceGetEnforcedPowerLimit(self, board: str) -> int:  # noqa: N802
        return 250_000

    def nvmlDeviceGetClockInfo(self, board: str, kind: int) -> int:  # noqa: N802
        return {1: 1380}[kind]

    def nvmlDeviceGetMaxClockInfo(self, board: str, kind: int) -> int:  # noqa: N802
        return {1: 1530}[kind]

    def nvmlDeviceGetTemperature(self, board: str, kind: int) -> int:  # noqa: N802
        return {0: 37}[kind]

    def nvmlDeviceGetCurrentClocksEventReasons(self, board: str) -> int:  # noqa: N802
        return 0b1 if board == "board 0" else 0b1000100

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, board: str) -> int:  # noqa: N802
        return 0b1000
