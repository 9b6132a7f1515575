"""Process-wide settings, each in a process of its own; and which CPUs they are for."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dragoman.model import machine

PRECISE = """
import torch
from dragoman.model import machine
machine.is_slow_in_mkl = lambda: not torch.cpu.get_capabilities().get("amx_tile")  # wherever it can be asked for
machine.prepare_cpu(2)
generator = torch.Generator().manual_seed(1)
for rows, inner, outer in ((64, 64, 64), (640, 256, 1024), (33, 1024, 256), (2048, 128, 384), (1, 512, 5000)):
    left, right = torch.randn(rows, inner, generator=generator), torch.randn(outer, inner, generator=generator)
    exact = left.double() @ right.double().t()
    for product in (
        torch.addmm(torch.zeros(rows, outer), left, right.t()),
        torch.mm(left.t().contiguous().t(), right.t()),
        torch.nn.functional.linear(left, right),
        torch.zeros(rows, outer).addmm_(left, right.t()),
    ):
        allowed = left.abs().double() @ right.abs().double().t() * 2.0**-20  # of bfloat16 it would be 2^-8
        assert ((product - exact).abs() <= allowed).all(), (rows, inner, outer)
print("precise")
"""


def said(code: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_preparing_the_process_sets_threads_and_keeps_working() -> None:
    code = (
        "import torch; from dragoman.model.machine import keep_freed_memory, prepare_cpu; prepare_cpu(1);"
        "print(torch.get_num_threads(), keep_freed_memory() in (True, False), torch.ones(3_000_000).sum().item())"
    )
    assert said(code) == ["1", "True", "3000000.0"]


def test_leave_to_round_is_not_taken_without_amx() -> None:
    assert said(PRECISE) == ["precise"]


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"architecture": "aarch64"},
        {"avx2": True, "avx512_f": False},
        {"avx512_f": True, "avx512_bf16": True, "amx_tile": True, "amx_bf16": True},
    ],
)
def test_no_cpu_without_avx512_and_none_with_amx_is_given_that_leave(
    monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, object]
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert not machine.is_slow_in_mkl.__wrapped__()


@pytest.mark.parametrize(
    "vendor, family, expected",
    [("AuthenticAMD", 26, True), ("AuthenticAMD", 25, False), ("GenuineIntel", 26, False)],
)
def test_of_those_with_avx512_amds_newer_ones_are(
    monkeypatch: pytest.MonkeyPatch, vendor: str, family: int, expected: bool
) -> None:
    text = f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: 2\n"
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": True, "avx512_bf16": True})
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: text)
    assert machine.is_slow_in_mkl.__wrapped__() is expected


@pytest.mark.parametrize("is_slow", [True, False])
def test_only_where_mkl_is_slow_a_training_process_asks_for_onednn(is_slow: bool) -> None:
    code = (
        "import torch; from dragoman.model import machine; matmul = torch.backends.mkldnn.matmul;"
        f"before = matmul.fp32_precision; machine.is_slow_in_mkl = lambda: {is_slow}; machine.prepare_cpu(1);"
        "print(before != 'bf16', matmul.fp32_precision == ('bf16' if machine.is_slow_in_mkl() else before))"
    )
    assert said(code) == ["True", "True"]
