"""What ranks measure before a run: right sums, times of exchanges and of steps."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.cluster.local import worker_variables
from dragoman.training.preflight_worker import MARK, architecture_problem
from tests.training.tiny_run import TinyRun, environment


def measured(directory: Path, order: dict[str, Any], num_ranks: int) -> list[list[dict[str, Any]]]:
    """What each rank says."""
    command = [sys.executable, "-m", "dragoman.training.preflight_worker", json.dumps(order)]
    cores = sorted(os.sched_getaffinity(0))
    processes = [
        subprocess.Popen(
            command,
            env={**environment(), **worker_variables(rank, num_ranks, cores, directory / "meeting")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(num_ranks)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * num_ranks, outputs
    marked = [[line for line in output.splitlines() if line.startswith(MARK)] for output in outputs]
    return [[json.loads(line.removeprefix(MARK)) for line in lines] for lines in marked]


def test_three_ranks_time_all_together_then_each_pair_then_steps(tmp_path: Path, whole_run: TinyRun) -> None:
    order = {"leaders": [0, 1, 2], "sizes": [4096, 262_144], "longest_s": 3.0, "run": str(whole_run.directory)}
    before = sorted(path for path in whole_run.directory.rglob("*"))
    ranks = measured(tmp_path, order, 3)
    for found in ranks:
        assert [entry["is_right"] for entry in found if entry["kind"] == "sum"] == [True]
        (steps,) = [entry for entry in found if entry["kind"] == "steps"]
        assert 0 < steps["last_backward_s"] < steps["seconds"] < 10
        (stolen,) = [entry["s_per_byte"] for entry in found if entry["kind"] == "stolen"]
        assert 0 <= stolen < 1e-5, "a second for a hundred kilobytes would be no measurement"
    exchanges = [entry for entry in ranks[0] if entry["kind"] == "exchange"]
    assert [(entry["ranks"], entry["num_bytes"]) for entry in exchanges] == [
        ([0, 1, 2], 4096), ([0, 1, 2], 262_144), ([0, 1], 4096), ([0, 1], 262_144), ([0, 2], 4096), ([0, 2], 262_144),
    ]  # fmt: skip
    assert all(entry["seconds"] > 0 for entry in exchanges)
    assert sorted(path for path in whole_run.directory.rglob("*")) == before, "a check changes nothing in the run"


def test_a_size_that_would_take_too_long_is_left_out(tmp_path: Path) -> None:
    order = {"leaders": [0, 1], "sizes": [4096, 262_144, 8_000_000, 16_000_000], "longest_s": 1e-9, "run": None}
    found = measured(tmp_path, order, 2)[0]
    assert [entry["num_bytes"] for entry in found if entry["kind"] == "exchange"] == [4096, 262_144]


@pytest.mark.parametrize(
    ("capability", "built_for", "is_good"),
    [
        ((8, 0), ["sm_70", "sm_80"], True),
        ((8, 6), ["sm_80", "sm_90"], True),
        ((7, 0), ["sm_75", "sm_80"], False),
        ((9, 0), ["sm_80"], False),
        ((9, 0), ["sm_80", "compute_80"], True),
        ((9, 0), ["sm_90a"], True),
        ((12, 0), ["sm_100", "sm_120"], True),
        ((8, 0), ["sm_86"], False),
    ],
)
def test_a_gpu_must_be_among_what_torch_was_built_for(
    capability: tuple[int, int], built_for: list[str], is_good: bool
) -> None:
    problem = architecture_problem("V100", capability, built_for)
    assert (problem is None) == is_good
    if problem:
        assert problem.startswith(f"V100 (sm_{capability[0]}{capability[1]}) is not among what this torch")
