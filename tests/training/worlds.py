"""Several ranks for a test: a function, run once a rank by processes that meet through a file."""

import multiprocessing
import os
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from dragoman.training.world import World, joined

PRELOADED = ("torch._dynamo", "dragoman.training.rungs", "dragoman.training.preflight_worker")
"""Once, instead of by every rank. Optimizers of torch need `_dynamo`, which takes a second to import."""


def in_world(size: int, directory: Path, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What `function(world, *arguments)` gives on each rank. It must be a module's own function."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    store = directory / f"meeting-{os.urandom(4).hex()}"
    pipes, workers = [], []
    for rank in range(size):
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_rank, args=(there, rank, size, store, function, arguments), daemon=True)
        worker.start()
        there.close()
        pipes.append(here)
        workers.append(worker)
    try:
        answers = [_answer(rank, pipe) for rank, pipe in enumerate(pipes)]
    finally:
        for worker in workers:
            worker.join(10)
            worker.kill()
    problems = [problem for _, problem in answers if problem]
    assert not problems, "\n".join(problems)
    return [answer for answer, _ in answers]


def _answer(rank: int, pipe: "Connection") -> tuple[Any, str | None]:
    if not pipe.poll(60):
        return None, f"rank {rank} did not answer"
    try:
        answer: tuple[Any, str | None] = pipe.recv()
        return answer
    except EOFError:
        return None, f"rank {rank} ended without an answer"


def _rank(
    pipe: "Connection", rank: int, size: int, store: Path, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size), DRAGOMAN_STORE=str(store), GLOO_SOCKET_IFNAME="lo",
        DRAGOMAN_TIMEOUT_S="60",
    )  # fmt: skip
    torch.set_num_threads(1)
    try:
        with joined() as world:
            answer = function(world, *arguments)
        pipe.send((answer, None))
    except BaseException:
        pipe.send((None, f"rank {rank}: {traceback.format_exc()}"))


def alone() -> World:
    """One rank, without any others."""
    return World(rank=0, size=1, local_rank=0, device=torch.device("cpu"))
