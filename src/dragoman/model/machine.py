"""Settings of this process that make training on a CPU faster and change no result.

Asks glibc to keep freed memory instead of handing it back to the system and taking it again, page by page, at the next
layer; does nothing where there is no glibc. Has products in float32 made by oneDNN where MKL is slow.
"""

import ctypes
import re
from functools import cache
from pathlib import Path

import torch

# From malloc.h of glibc.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
NEVER = 2**31 - 1
ZEN_5 = 26
"""A family of processors."""


def keep_freed_memory() -> bool:
    """Let the allocator hold on to what it has; true if it will."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    wishes = ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, NEVER), (M_TOP_PAD, 1 << 26))
    return [mallopt(name, value) for name, value in wishes] == [1, 1, 1]


@cache
def is_slow_in_mkl() -> bool:
    """Whether this is an AMD CPU from Zen 5 on: MKL uses half of its width, 112 of 250 GFLOP/s a core (2026-11).

    On Zen 4 it made 90 of 105. Not a CPU with AMX, in which oneDNN would multiply float32 rounded to bfloat16.
    """
    able = torch.cpu.get_capabilities()
    if not able.get("avx512_f") or any(able.get(name) for name in ("amx_tile", "amx_bf16")):
        return False
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
    family = re.search(r"^cpu family\s*: (\d+)", text, re.MULTILINE)
    return "AuthenticAMD" in text and family is not None and int(family[1]) >= ZEN_5


def multiply_fast() -> None:
    """Have float32 products made by the faster library from now on, as precisely as by the other."""
    if is_slow_in_mkl():
        # Leave to use bfloat16, which oneDNN does with AMX alone; without this leave torch does not ask oneDNN at all.
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]


def prepare_cpu(num_threads: int) -> None:
    """Before the first tensor of a training process: threads, memory, products; no slow path for vanishing numbers."""
    keep_freed_memory()
    multiply_fast()
    torch.set_num_threads(num_threads)
    torch.set_flush_denormal(True)
