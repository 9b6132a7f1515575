"""What `training.precision` means on a device."""

from contextlib import nullcontext

import pytest
import torch

from dragoman.core.errors import UserError
from dragoman.training import precision
from dragoman.training.precision import LossScale, Precision, agreed_precision, precision_for
from dragoman.training.world import World

CPU = torch.device("cpu")
FULL, HALF = Precision("fp32"), Precision("bf16", multiplied_in=torch.bfloat16)


@pytest.fixture(autouse=True)
def _a_cpu_that_mkl_serves_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "is_slow_in_mkl", lambda: False)


@pytest.mark.parametrize(
    ("wanted", "capabilities", "expected"),
    [
        ("auto", {"avx512_bf16": True, "amx_bf16": True}, HALF),
        ("auto", {"avx512_bf16": True, "amx_bf16": False}, HALF),
        ("auto", {"avx512_bf16": False, "amx_bf16": True}, HALF),
        ("auto", {"avx512_f": True, "avx512_bf16": False, "amx_bf16": False}, FULL),
        ("auto", {"architecture": "aarch64"}, FULL),
        ("auto", {}, FULL),
        ("fp32", {"avx512_bf16": True, "amx_bf16": True}, FULL),
        ("fp32", {}, FULL),
        ("bf16", {"avx512_bf16": True}, HALF),
        ("bf16", {}, HALF),
    ],
)
def test_a_cpu_takes_bfloat16_where_it_has_it_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, wanted: str, capabilities: dict[str, object], expected: Precision
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert precision_for(wanted, CPU) == expected


def test_where_mkl_is_slow_rows_are_filled_up_for_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "is_slow_in_mkl", lambda: True)
    assert precision_for("fp32", CPU) == Precision("fp32", multiplied_in=torch.float32)
    assert precision_for("bf16", CPU) == HALF
    assert precision_for("fp32", torch.device("cuda")) == FULL


@pytest.mark.parametrize("capabilities", [{}, {"avx512_bf16": True, "avx512_fp16": True}])
def test_fp16_is_refused_on_a_cpu(monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, object]) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    with pytest.raises(UserError, match=r"training\.precision = fp16 needs a GPU; set training\.precision = auto"):
        precision_for("fp16", CPU)


@pytest.mark.parametrize("wanted", ["auto", "fp32", "bf16"])
def test_a_cpu_needs_neither_autocast_nor_a_loss_scale(wanted: str) -> None:
    precision = precision_for(wanted, CPU)
    assert precision.autocast is nullcontext
    assert precision.loss_scale == LossScale() and not precision.loss_scale.is_dynamic


@pytest.mark.parametrize(
    ("wanted", "capability", "name", "is_scaled"),
    [
        ("auto", (7, 0), "fp16", True),
        ("auto", (8, 0), "bf16", False),
        ("auto", (9, 0), "bf16", False),
        ("fp16", (8, 0), "fp16", True),
        ("bf16", (8, 0), "bf16", False),
        ("fp32", (8, 0), "fp32", False),
    ],
)
def test_a_gpu_takes_the_half_that_it_has(
    monkeypatch: pytest.MonkeyPatch, wanted: str, capability: tuple[int, int], name: str, is_scaled: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    precision = precision_for(wanted, torch.device("cuda"))
    assert (precision.name, precision.loss_scale.is_dynamic) == (name, is_scaled)
    assert precision.multiplied_in is None, "on a GPU autocast chooses what is multiplied in half"
    assert (precision.autocast is nullcontext) == (name == "fp32")


class Mixed(World):
    """A world whose other rank has no half precision."""

    def gather_bytes(self, own: bytes) -> list[bytes]:
        return [own, b"fp32"]


def test_ranks_whose_devices_differ_compute_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert agreed_precision("auto", World(0, 1, 0, CPU)) == HALF
    assert agreed_precision("auto", Mixed(0, 2, 0, CPU)) == FULL
