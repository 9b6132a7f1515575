"""Counters become rates only where two records really say one."""

import dataclasses

import pytest

from dragoman.telemetry import rates
from tests.watched_run import gpu_sample, stamp, system_record


def test_rates_are_differences_over_time() -> None:
    found = rates.between(system_record(10), system_record(12))
    assert found is not None
    lo, eth0 = found.nics
    assert (found.seconds, eth0.name, eth0.speed_mbps) == (2.0, "eth0", 1000.0)
    assert (eth0.sent_bytes_per_s, eth0.received_bytes_per_s) == (1e8, 9e7)
    assert (found.disk_read_bytes_per_s, found.disk_written_bytes_per_s) == (0.0, 1e6)
    assert lo.name == "lo"


@pytest.mark.parametrize("later", [10.0, 9.0, 500.0])
def test_clocks_that_stand_jump_or_went_back_give_no_rate(later: float) -> None:
    assert rates.between(system_record(10), system_record(12, time=stamp(later))) is None


@pytest.mark.parametrize("time", ["yesterday", "", "2026-11-15T23:20:38.445"])
def test_a_time_that_is_none_gives_no_rate(time: str) -> None:
    assert rates.between(system_record(10), system_record(12, time=time)) is None


def test_counters_that_went_back_or_are_new_give_no_rate() -> None:
    before, now = system_record(10), system_record(12)
    restarted = rates.between(now, dataclasses.replace(before, time=stamp(14)))
    assert restarted is not None
    assert restarted.nics == ()
    assert restarted.disk_written_bytes_per_s is None
    new = rates.between(dataclasses.replace(before, nics=()), now)
    assert new is not None and new.nics == ()


def test_the_interface_of_the_gradients_is_shown_even_if_another_is_busier() -> None:
    found = rates.between(system_record(10), system_record(12))
    assert found is not None
    for gradient_nic, shown in (("lo", "lo"), ("eth0", "eth0"), (None, "eth0"), ("gone", "eth0")):
        nic = rates.busiest(found, gradient_nic)
        assert nic is not None and nic.name == shown


def test_all_that_is_known_has_a_name_and_nothing_else_has() -> None:
    record = system_record(12, gpus=(gpu_sample(temperature_c=None),), disk_free_bytes=None)
    named = rates.scalars(system_record(10), record)
    assert named["system/cpu_share"] == 0.8
    assert named["system/memory_share"] == pytest.approx(3.1 / 8)
    assert named["network/eth0_sent_mb_per_s"] == 100.0
    assert named["gpu/0_power_share"] == pytest.approx(42 / 250)
    assert "gpu/0_temperature_c" not in named and "system/disk_free_gb" not in named
    assert not [name for name in rates.scalars(None, record) if name.startswith("network/")]
