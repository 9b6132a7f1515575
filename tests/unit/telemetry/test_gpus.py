"""GPUs through a stand-in for NVML: what it says, and what happens when it does not."""

import sys

import pytest

from dragoman.core.run_records import GpuSample
from dragoman.telemetry.gpus import Gpus
from tests.fake_nvml import FakeNvml


def test_every_gpu_is_read_in_our_units() -> None:
    library = FakeNvml()
    gpus = Gpus(library)
    first, second = gpus.sample()
    assert first == GpuSample(
        index=0,
        name="Tesla V100",
        utilisation=1.0,
        memory_used_bytes=5_000_000_000,
        memory_total_bytes=16_000_000_000,
        power_w=42.5,
        power_cap_w=250.0,
        clock_mhz=1380.0,
        max_clock_mhz=1530.0,
        temperature_c=37.0,
        throttle_reasons=(),
    )
    assert (second.index, second.name) == (1, "Tesla P100")
    assert second.throttle_reasons == ("power_cap", "hardware_thermal")
    gpus.close()
    assert not library.is_open


@pytest.mark.parametrize(
    "call, field",
    [
        ("UtilizationRates", "utilisation"),
        ("MemoryInfo", "memory_used_bytes"),
        ("PowerUsage", "power_w"),
        ("EnforcedPowerLimit", "power_cap_w"),
        ("GetClockInfo", "clock_mhz"),
        ("MaxClockInfo", "max_clock_mhz"),
        ("Temperature", "temperature_c"),
    ],
)
def test_a_sensor_that_fails_is_none_and_the_others_stay(call: str, field: str) -> None:
    first, _ = Gpus(FakeNvml((call,))).sample()
    assert getattr(first, field) is None
    assert first.name == "Tesla V100"
    assert [first.utilisation, first.power_w].count(None) <= 1


def test_an_older_driver_is_asked_by_the_older_name() -> None:
    first, _ = Gpus(FakeNvml(("ClocksEventReasons",))).sample()
    assert first.throttle_reasons == ("hardware_slowdown",)


def test_a_driver_that_does_not_say_what_holds_a_gpu_back_does_not_say_nothing() -> None:
    first, _ = Gpus(FakeNvml(("ClocksEventReasons", "ClocksThrottleReasons"))).sample()
    assert first.throttle_reasons is None


def test_a_gpu_that_falls_off_the_bus_stays_with_nothing_known() -> None:
    library = FakeNvml()
    gpus = Gpus(library)
    library.broken = ("Get",)
    first, _ = gpus.sample()
    assert first == GpuSample(0, "Tesla V100", None, None, None, None, None, None, None, None)


@pytest.mark.parametrize("broken", ["nvmlInit", "DeviceGetCount", "HandleByIndex"])
def test_a_driver_that_is_not_there_means_no_gpus(broken: str) -> None:
    gpus = Gpus(FakeNvml((broken,)))
    assert gpus.sample() == ()
    gpus.close()


def test_without_the_library_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    gpus = Gpus()
    assert gpus.sample() == ()
    gpus.close()


def test_a_name_that_cannot_be_read_is_unknown() -> None:
    assert [gpu.name for gpu in Gpus(FakeNvml(("GetName",))).sample()] == ["unknown", "unknown"]
