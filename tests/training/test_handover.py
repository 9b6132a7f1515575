"""Ranks on machines without the checkpoint start from the main rank's."""

from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.checkpoints.store import Snapshot, Store
from dragoman.core.errors import UserError
from dragoman.training import handover
from dragoman.training.world import World
from tests.training.worlds import alone, in_world

MODEL = {"weights": torch.arange(6.0).reshape(2, 3), "nothing": torch.zeros(0), "one": torch.tensor(7.0)}
OPTIMIZER = {"step": torch.tensor([3.0]), "packed": torch.tensor([1, 2, 255], dtype=torch.uint8)}


def save(directory: Path, step: int) -> None:
    store = Store(directory)
    store.save(Snapshot(step, MODEL, OPTIMIZER, {"state": {"step": step}, "note": "größer"}))
    (saved,) = store.wait()
    assert saved.is_whole, saved.problem


def newest(world: World, directory: Path) -> Any:
    """What a rank with a directory of its own starts from, and whether its tensors are those that were saved."""
    loaded = handover.newest(directory / f"host{world.rank}", world)
    if loaded is None:
        return None
    is_equal = all(
        set(got) == set(saved) and all(torch.equal(got[name], saved[name]) for name in saved)
        for got, saved in ((loaded.model, MODEL), (loaded.optimizer, OPTIMIZER))
    )
    return loaded.step, loaded.state["note"], is_equal, [one.step for one in loaded.passed_over]


def problem(world: World, directory: Path) -> str:
    try:
        newest(world, directory)
    except UserError as error:
        return str(error)
    return "none"


def test_a_rank_without_files_receives_them_from_the_main_rank(tmp_path: Path) -> None:
    save(tmp_path / "host0", 5)
    assert in_world(3, tmp_path, newest, tmp_path) == 3 * [(5, "größer", True, [])]


def test_the_main_rank_decides_also_where_another_has_a_later_checkpoint(tmp_path: Path) -> None:
    save(tmp_path / "host0", 5)
    save(tmp_path / "host1", 9)
    assert in_world(2, tmp_path, newest, tmp_path) == 2 * [(5, "größer", True, [])]


def test_a_fresh_start_is_fresh_on_all_ranks(tmp_path: Path) -> None:
    save(tmp_path / "host1", 9)
    assert in_world(2, tmp_path, newest, tmp_path) == [None, None]


def test_what_the_main_rank_passed_over_all_know(tmp_path: Path) -> None:
    save(tmp_path / "host0", 5)
    save(tmp_path / "host0", 6)
    (tmp_path / "host0" / "step_0000006" / "model.safetensors").write_bytes(b"broken")
    assert in_world(2, tmp_path, newest, tmp_path) == 2 * [(5, "größer", True, [6])]


def test_a_main_rank_that_cannot_go_on_tells_the_others_why(tmp_path: Path) -> None:
    save(tmp_path / "host0", 6)
    (tmp_path / "host0" / "step_0000006" / "model.safetensors").write_bytes(b"broken")
    first, second = in_world(2, tmp_path, problem, tmp_path)
    assert first == second != "none"


def test_equal_files_are_read_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one rank nothing can be received; with several, `_same_files` says whether anything must be."""
    save(tmp_path, 5)
    _, header = handover._read(tmp_path)
    assert handover._same_files(tmp_path, header) is not None
    assert handover._same_files(tmp_path, {**header, "sums": "other"}) is None
    assert handover._same_files(tmp_path / "nowhere", header) is None
    monkeypatch.setattr(handover, "_received", None)
    loaded = handover.newest(tmp_path, alone())
    assert loaded is not None and loaded.step == 5
