"""What computes in C, built by this machine's own compiler: `*.c` next to this file. Attention and the loss are called
here, what lies between products in `compiled`.

Attention reads heads where the projections left them, in packed rows, and writes packed rows: nothing is padded or
copied. Built once, kept in the cache directory, and never required: without a compiler, `gathered`, `loss` and
`passes` compute the same.
"""

# N, M real tokens, packed (target, source)  G = sentences x heads  T queries  S keys  P, Q = parts x D  D width
# C tokens of one chunk  V vocabulary

import ctypes
import hashlib
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from dragoman.core.paths import cache_directory
from dragoman.model.geometry import Geometry
from dragoman.model.noise import Noise

SOURCES = tuple(Path(__file__).with_name(name) for name in ("attention.c", "loss.c", "passes.c"))
HEADERS = (Path(__file__).with_name("vectors.h"),)
REGISTERS = ("AVX512", "AVX2")
"""What torch calls the instructions that the sources are written for."""
LANES = 16
"""Numbers of the widest vector of the source: rows of attention weights are rounded up to it, heads are whole ones."""
FLAGS = (
    *("-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp", "-shared", "-fPIC"),
    *("-fassociative-math", "-fno-math-errno", "-fno-signed-zeros", "-fno-trapping-math"),
)
NUMBER_BYTES = 4
BUILD_TIMEOUT_S = 60


class Task(ctypes.Structure):
    """`Attention` of the source."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "k", "v")),
        *((name, ctypes.c_int64) for name in ("q_stride", "kv_stride")),
        *((name, ctypes.c_void_p) for name in ("q_first", "k_first")),
        *((name, ctypes.c_int64) for name in ("sentences", "heads", "width", "queries", "keys", "keys_stride")),
        *((name, ctypes.c_int64) for name in ("is_causal", "threads")),
        ("scale", ctypes.c_float),
        *((name, ctypes.c_void_p) for name in ("keep", "weights")),
    )


@dataclass(frozen=True)
class Kernel:
    """The functions of a built library, on tensors."""

    library: ctypes.CDLL

    def forward(
        self, rows_NP: Tensor, memory_MQ: Tensor | None, geometry: Geometry, noise: Noise
    ) -> tuple[Tensor, tuple[Tensor | None, ...]]:
        """The context of every row, without dropout's factor; and what `backward` needs."""
        queries, num_keys = geometry.queries, geometry.num_keys
        num_matrices, stride = len(queries.lengths) * geometry.heads, -(-num_keys // LANES) * LANES
        width = _width(rows_NP, memory_MQ)
        keep_GTS = noise.keep(rows_NP.new_empty(()).expand(num_matrices, queries.longest, num_keys))
        weights_GTS = rows_NP.new_empty(num_matrices, queries.longest, stride)
        context_ND = rows_NP.new_empty(queries.num_tokens, width)
        task = _task(rows_NP, memory_MQ, geometry, keep_GTS, weights_GTS)
        self._run("attention_forward", ctypes.byref(task), *map(ctypes.c_int64, (context_ND.data_ptr(), width)))
        return context_ND, (rows_NP, memory_MQ, keep_GTS, weights_GTS)

    def backward(
        self, d_context_ND: Tensor, saved: tuple[Tensor | None, ...], geometry: Geometry
    ) -> tuple[Tensor, Tensor | None]:
        """Gradients of the rows and of the memory's rows."""
        rows_NP, memory_MQ, keep_GTS, weights_GTS = saved
        assert rows_NP is not None and weights_GTS is not None
        d_rows_NP = torch.empty_like(rows_NP[: geometry.queries.num_tokens])
        d_memory_MQ = None if memory_MQ is None else torch.empty_like(memory_MQ[: geometry.keys.num_tokens])
        width = _width(rows_NP, memory_MQ)
        task = _task(rows_NP, memory_MQ, geometry, keep_GTS, weights_GTS)
        places = d_context_ND.data_ptr(), width, *_places(d_rows_NP, d_memory_MQ, width)
        self._run("attention_backward", ctypes.byref(task), *map(ctypes.c_int64, places))
        return d_rows_NP, d_memory_MQ

    def loss_rows(self, logits_CV: Tensor, target_C: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
        """Logits in bfloat16 become their own gradient; the logit and the probability of each target.

        There may be more rows of logits than targets; those are left alone.
        """
        told_2C = torch.empty(2, len(target_C))
        places = (told_2C[0].data_ptr(), told_2C[1].data_ptr(), torch.get_num_threads())
        self._run(
            "loss_rows",
            ctypes.c_void_p(logits_CV.data_ptr()),
            *(ctypes.c_int64(number) for number in (len(target_C), logits_CV.shape[1], target_C.data_ptr())),
            ctypes.c_float(smoothing),
            *map(ctypes.c_int64, places),
        )
        return told_2C[0], told_2C[1]

    def _run(self, name: str, *arguments: object) -> None:
        if getattr(self.library, name)(*arguments):
            raise MemoryError


def kernel_for(rows: Tensor, head_width: int) -> Kernel | None:
    """The kernel, where there is one and it can do this."""
    return built() if rows.dtype == torch.float32 and head_width % LANES == 0 else None


@cache
def built() -> Kernel | None:
    """The kernel from the cache directory, built if it is not there; None without compiler or place for it."""
    if torch.backends.cpu.get_cpu_capability() not in REGISTERS:
        return None  # its tiles fill the registers of these: with fewer, torch's own may be faster
    with suppress(OSError, subprocess.SubprocessError):
        texts = (file.read_bytes() for file in (*SOURCES, *HEADERS))
        key = hashlib.sha256(b"\0".join((*texts, " ".join(FLAGS).encode(), _processor())))
        library = cache_directory() / "kernels" / f"kernels-{key.hexdigest()[:16]}.so"
        if not library.exists():
            _build(library)
        return Kernel(ctypes.CDLL(str(library)))
    return None


def _build(library: Path) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as directory:
        fresh = Path(directory) / library.name
        command = ["cc", *FLAGS, "-o", str(fresh), *map(str, SOURCES)]
        subprocess.run(command, check=True, capture_output=True, timeout=BUILD_TIMEOUT_S)
        fresh.replace(library)  # ranks of one host may build at once: all make the same


def _processor() -> bytes:
    """What `-march=native` depends on: a cache directory may be shared by machines that differ."""
    lines = Path("/proc/cpuinfo").read_bytes().splitlines()
    return next((line for line in lines if line.startswith(b"flags")), b"")


def _width(rows_NP: Tensor, memory_MQ: Tensor | None) -> int:
    return rows_NP.shape[1] // 3 if memory_MQ is None else rows_NP.shape[1]


def _places(rows_NP: Tensor, memory_MQ: Tensor | None, width: int) -> tuple[int, int, int]:
    """Where queries, keys and values begin."""
    part = width * NUMBER_BYTES
    if memory_MQ is None:
        first = rows_NP.data_ptr()
        return first, first + part, first + 2 * part
    return rows_NP.data_ptr(), memory_MQ.data_ptr(), memory_MQ.data_ptr() + part


def _task(
    rows_NP: Tensor, memory_MQ: Tensor | None, geometry: Geometry, keep_GTS: Tensor | None, weights_GTS: Tensor
) -> Task:
    width = _width(rows_NP, memory_MQ)
    head_width = width // geometry.heads
    q, k, v = _places(rows_NP, memory_MQ, width)
    return Task(
        *(q, k, v, rows_NP.shape[1], (rows_NP if memory_MQ is None else memory_MQ).shape[1]),
        *(geometry.queries.first_rows.data_ptr(), geometry.keys.first_rows.data_ptr()),
        *(len(geometry.queries.lengths), geometry.heads, head_width),
        *(geometry.queries.longest, geometry.num_keys, weights_GTS.shape[2]),
        *(geometry.is_causal, torch.get_num_threads(), head_width**-0.5),
        *(None if keep_GTS is None else keep_GTS.data_ptr(), weights_GTS.data_ptr()),
    )
