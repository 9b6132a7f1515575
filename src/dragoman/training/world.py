"""The ranks that train together, and how they agree.

The environment says which rank this is, and `meeting` where they find each other. Collectives carry plain numbers and
bytes, never pickled objects, and end with an error after minutes, not half an hour. Every rank must call each of them.
"""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist

from dragoman.core.errors import UserError
from dragoman.training.meeting import meet


@dataclass(frozen=True)
class World:
    """Who this process is among the others."""

    rank: int
    size: int
    local_rank: int
    device: torch.device

    @property
    def is_main(self) -> bool:
        """For files and talk that only one rank should write; never for control flow."""
        return self.rank == 0

    @property
    def host(self) -> str:
        return os.environ.get("DRAGOMAN_HOST") or socket.gethostname()

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Add the tensors of all ranks, in place."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def sums(self, *numbers: float) -> list[float]:
        """The sum over ranks of each number."""
        total = self.sum_(torch.tensor(numbers, dtype=torch.float64))
        return [float(number) for number in total]

    def any(self, flag: bool) -> bool:
        """True on every rank if true on one."""
        return self.sums(float(flag))[0] > 0

    def broadcast_(self, tensor: torch.Tensor) -> torch.Tensor:
        """The main rank's tensor on every rank, in place."""
        if self.size > 1 and tensor.numel():
            dist.broadcast(tensor, 0)
        return tensor

    def from_main(self, own: bytes) -> bytes:
        """What the main rank brings, on every rank."""
        length = int(self.broadcast_(torch.tensor([len(own)])))
        content = bytearray(own) if self.is_main else bytearray(length)
        if length:
            self.broadcast_(torch.frombuffer(content, dtype=torch.uint8))
        return bytes(content)

    def gather_bytes(self, own: bytes) -> list[bytes]:
        """What every rank brings, in order of rank."""
        if self.size == 1:
            return [own]
        lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(lengths, torch.tensor([len(own)]))
        longest = max(1, *(int(length) for length in lengths))
        padded = torch.zeros(longest, dtype=torch.uint8)
        padded[: len(own)] = torch.frombuffer(bytearray(own or b"\0"), dtype=torch.uint8)[: len(own)]
        parts = [torch.zeros(longest, dtype=torch.uint8) for _ in range(self.size)]
        dist.all_gather(parts, padded)
        return [bytes(part[: int(length)].numpy()) for part, length in zip(parts, lengths, strict=True)]

    def gather_rows(self, own: torch.Tensor) -> list[torch.Tensor]:
        """Equally long rows of all ranks, in order, on the main rank; elsewhere none."""
        if self.size == 1:
            return [own]
        # As bytes, and by way of main memory: whatever kind of number they are, the backend can send them.
        sent = own.detach().cpu().contiguous().view(torch.uint8)
        received = [torch.empty_like(sent) for _ in range(self.size)] if self.is_main else None
        dist.gather(sent, received, 0)
        return [row.view(own.dtype).view(own.shape) for row in received or []]

    def must_agree(self, what: str, own: str) -> None:
        """UserError on every rank if the ranks do not all bring the same text."""
        brought = [part.decode() for part in self.gather_bytes(own.encode())]
        if len(set(brought)) > 1:
            seen = ", ".join(f"rank {rank} has {text[:40]}" for rank, text in enumerate(brought))
            raise UserError(f"the ranks do not have the same {what}: {seen}", "copy the same files to all machines")


def _environment_number(names: Sequence[str], default: int) -> int:
    for name in names:
        if name in os.environ:
            return int(os.environ[name])
    return default


@contextmanager
def joined() -> Iterator[World]:
    """Meet the other ranks; leave them at the end."""
    rank = _environment_number(("RANK", "SLURM_PROCID"), 0)
    size = _environment_number(("WORLD_SIZE", "SLURM_NTASKS"), 1)
    local_rank = _environment_number(("LOCAL_RANK", "SLURM_LOCALID"), 0)
    has_gpu = torch.cuda.is_available()
    if has_gpu and local_rank >= torch.cuda.device_count():
        raise UserError(
            f"local rank {local_rank} has no GPU: this machine has {torch.cuda.device_count()}", "start fewer processes"
        )
    device = torch.device("cuda", local_rank) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    if size > 1:
        # gloo beside NCCL: agreement and text travel as CPU tensors, gradients on the device's own backend.
        meet("cpu:gloo,cuda:nccl" if has_gpu else "gloo", rank, size)
    try:
        yield World(rank, size, local_rank, device)
    finally:
        if size > 1:
            dist.destroy_process_group()
