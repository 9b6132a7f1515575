"""Checkpoints: whole or not there, checked when read, kept while of use, whatever happens to the writer."""

import fcntl
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.checkpoints.reading import FORMAT, MODEL_ONLY, PassedOver, Wanted, load, newest, steps_in
from dragoman.checkpoints.rotation import Scored, best_first, kept
from dragoman.checkpoints.store import Saved, Snapshot, Store
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import CheckpointPaths, RunPaths, step_name

FILES = ("model.safetensors", "optimizer.safetensors", "state.json", "SHA256SUMS")


def weights(step: int, size: int = 50) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(step)
    return {
        "embedding": torch.randn(size, 8, generator=generator),
        "encoder.0.weight": torch.randn(8, 8, generator=generator).t(),  # not contiguous
        "half": torch.randn(5, generator=generator).half(),
        "brain": torch.randn(5, generator=generator).bfloat16(),
        "count": torch.tensor(step),
        "mask": torch.tensor([True, False]),
        "nothing": torch.empty(0, 3),
    }


def snapshot(step: int, size: int = 50, scores: Mapping[str, float | None] | None = None, **state: Any) -> Snapshot:
    optimizer = {f"{name}.exp_avg": tensor + 1 for name, tensor in weights(step, size).items() if name != "mask"}
    return Snapshot(step, weights(step, size), optimizer, {"scores": scores or {}, **state})


def saved(store: Store, *steps: int, **more: Any) -> list[Saved]:
    outcomes = []
    for step in steps:
        store.save(snapshot(step, **more))
        outcomes += store.wait()
    return outcomes


def same(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(
        tensor.dtype == other[name].dtype and torch.equal(tensor, other[name]) for name, tensor in one.items()
    )


# Saving and loading


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (outcome,) = saved(store, 5_000, tokens=12, seed=2**62, note="ü")
    assert (outcome.step, outcome.is_whole, outcome.problem, outcome.removed) == (5_000, True, None, ())
    found = store.newest()
    assert found is not None and found.step == 5_000 and found.passed_over == ()
    assert same(found.model, weights(5_000)) and same(found.optimizer, snapshot(5_000).optimizer)
    assert found.state == {"format": FORMAT, "step": 5_000, "scores": {}, "tokens": 12, "seed": 2**62, "note": "ü"}


def test_the_layout_is_the_one_that_the_design_promises(tmp_path: Path) -> None:
    run = RunPaths(tmp_path)
    saved(Store(run.checkpoints), 5_000, scores={"dev_loss": 3.0, "bleu": 9.0})
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    expected = {f"checkpoints/step_0005000/{name}" for name in FILES}
    assert found == expected | {"checkpoints/latest", "checkpoints/best", "checkpoints/best_bleu"}
    assert (run.checkpoints / "latest").read_text() == "step_0005000\n"
    assert run.checkpoint(5_000).model == run.checkpoints / "step_0005000" / "model.safetensors"
    assert not {path.suffix for path in tmp_path.rglob("*")} & {".pt", ".pth", ".pkl", ".bin"}


def test_the_paths_of_a_run_are_those_of_the_design() -> None:
    run = RunPaths(Path("run"))
    assert [run.config.name, run.environment.name, run.plan.name] == ["config.toml", "environment.json", "plan.json"]
    assert [run.preflight.name, run.events.name, run.evals.name] == ["preflight.json", "events.jsonl", "evals.jsonl"]
    assert run.steps(0) == Path("run/steps/rank00.jsonl")
    assert run.telemetry("alpha") == Path("run/telemetry/alpha.jsonl")
    assert run.samples(5_000) == Path("run/samples/step_0005000.txt")
    assert run.tensorboard == Path("run/tensorboard")
    assert run.report("index.html") == Path("run/report/index.html")


def test_sha256sum_agrees_with_the_hashes(tmp_path: Path) -> None:
    saved(Store(tmp_path), 1)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(command, cwd=tmp_path / step_name(1), capture_output=True, check=False).returncode == 0


def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    saved(Store(tmp_path), 1)
    modes = {path.stat().st_mode for path in (tmp_path / step_name(1)).iterdir()}
    assert len(modes) == 1


def test_what_changes_after_save_has_returned_is_not_saved(tmp_path: Path) -> None:
    store, step = Store(tmp_path), snapshot(1, size=200_000, losses=[1.0])
    store.save(step)
    for tensor in step.model.values():
        tensor.zero_()
    step.state["losses"].append(2.0)
    store.wait()
    found = store.load(1)
    assert same(found.model, weights(1, size=200_000)) and found.state["losses"] == [1.0]


def test_a_loaded_tensor_can_be_changed_and_its_file_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1)
    store.load(1).model["embedding"].add_(1)
    assert same(store.load(1).model, weights(1))


def test_a_mapped_checkpoint_outlives_its_removal(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_last=1, keep_best=0)
    saved(store, 1)
    found = store.load(1)
    assert saved(store, 2)[0].removed == (1,)
    assert same(found.model, weights(1))


def test_saves_in_a_row_are_all_made(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_last=10)
    for step in range(1, 6):
        store.save(snapshot(step, size=20_000))
    assert [outcome.step for outcome in store.wait()] == [1, 2, 3, 4, 5]
    assert steps_in(tmp_path) == [1, 2, 3, 4, 5]
    assert store.finished() == [] and not store.is_busy
    assert all(same(store.load(step).model, weights(step, 20_000)) for step in range(1, 6))


def test_the_model_alone_can_be_loaded(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1)
    CheckpointPaths(tmp_path / step_name(1)).optimizer.unlink()
    found = store.newest(MODEL_ONLY)
    assert found is not None and same(found.model, weights(1)) and found.optimizer == {}


def test_a_state_that_is_not_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for value in (float("nan"), object()):
        with pytest.raises((ValueError, TypeError)):
            Store(tmp_path).save(snapshot(1, value=value))
    assert list(tmp_path.iterdir()) == []


def test_a_score_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1, scores={"dev_loss": float("nan"), "bleu": None})
    assert store.load(1).state["scores"] == {"dev_loss": None, "bleu": None}
    assert store.best() is None


def test_no_checkpoint_at_all_is_none(tmp_path: Path) -> None:
    assert newest(tmp_path / "nowhere") is None
    assert Store(tmp_path).newest() is None


def test_a_step_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1_000, 2_000)
    with pytest.raises(UserError, match=r"has no checkpoint of step 3,000; there are: 1,000, 2,000"):
        store.load(3_000)


def test_another_model_is_told_tensor_by_tensor(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1)
    assert store.newest(Wanted(like_model=weights(1))) is not None
    wide = {**weights(1), "embedding": torch.zeros(50, 16)}
    with pytest.raises(UserError, match=r"embedding is float32\[50, 8\], expected float32\[50, 16\]; train with the"):
        store.newest(Wanted(like_model=wide))
    with pytest.raises(UserError, match=r"brain is bfloat16\[5\], expected not there"):
        store.load(1, Wanted(like_model={name: t for name, t in weights(1).items() if name != "brain"}))
    with pytest.raises(UserError, match=r"the optimizer state in .* more is not there, expected float32\[1\]"):
        store.load(1, Wanted(like_optimizer={**snapshot(1).optimizer, "more": torch.zeros(1)}))


# Damage


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    path.write_bytes(content)


def flip_a_bit_at_the_start(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [truncate, empty, flip_a_bit, flip_a_bit_at_the_start, Path.unlink])
@pytest.mark.parametrize("name", FILES)
def test_damage_is_found_and_the_one_before_is_used_and_told(tmp_path: Path, name: str, damage: Any) -> None:
    store = Store(tmp_path)
    saved(store, 1, 2)
    damage(tmp_path / step_name(2) / name)
    found = store.newest()
    assert found is not None and found.step == 1 and same(found.model, weights(1))
    (told,) = found.passed_over
    assert told.step == 2
    if name != "SHA256SUMS":  # with another hash in it, the file of that hash looks damaged
        assert told.reason in (f"{name} is not as it was written", f"{name} is missing")
    with pytest.raises(UserError, match=r"step_0000002 is damaged: .*; use another one"):
        store.load(2)


def test_all_damaged_is_an_error_and_no_fresh_start(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1, 2)
    for step in (1, 2):
        truncate(tmp_path / step_name(step) / "model.safetensors")
    with pytest.raises(UserError, match=r"no checkpoint in .* is whole \(step 2: model.*; step 1: model.*move the"):
        store.newest()


def test_going_on_from_the_one_before_replaces_the_damaged_one(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_last=3)
    saved(store, 1, 2, 4)
    flip_a_bit(tmp_path / step_name(4) / "optimizer.safetensors")
    assert saved(store, 3)[0].removed == (4,)
    assert steps_in(tmp_path) == [1, 2, 3]
    saved(store, 4)
    found = store.newest()
    assert found is not None and (found.step, found.passed_over) == (4, ())


def test_a_checkpoint_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved(store, 1, 2)
    paths = CheckpointPaths(tmp_path / step_name(2))
    state = json.loads(paths.state.read_text())
    paths.state.write_text(json.dumps({**state, "format": FORMAT + 1}))
    sums = [line for line in paths.sums.read_text().splitlines() if "state" not in line]
    paths.sums.write_text("\n".join([*sums, f"{sha256_of(paths.state)}  state.json"]) + "\n")
    with pytest.raises(UserError, match=r"newer version of dragoman \(format 2; this one reads up to 1\); update"):
        store.newest()


# Rotation


ROTATIONS = [
    # steps with (dev loss, BLEU), keep last, keep best, what stays
    ({1: (3.0, 1.0), 2: (2.0, 2.0), 3: (2.5, 1.5)}, 1, 1, {2, 3}),
    ({1: (3.0, 1.0), 2: (2.0, 2.0), 3: (2.5, 1.5)}, 1, 0, {3}),
    ({1: (3.0, 9.0), 2: (2.0, 2.0), 3: (2.5, 1.5), 4: (2.6, 1.5)}, 1, 1, {1, 2, 4}),
    ({1: (3.0, 9.0), 2: (2.0, 8.0), 3: (2.5, 1.5), 4: (2.6, 1.5)}, 2, 2, {1, 2, 3, 4}),
    ({1: (None, None), 2: (None, None), 3: (None, None)}, 2, 5, {2, 3}),
    ({1: (2.0, None), 2: (None, None), 3: (None, 5.0), 4: (None, None)}, 1, 1, {1, 3, 4}),
    ({1: (2.0, 5.0), 2: (2.0, 5.0), 3: (3.0, 4.0)}, 1, 1, {2, 3}),
    ({1: (float("nan"), 5.0), 2: (2.0, float("nan")), 3: (3.0, 4.0)}, 1, 1, {1, 2, 3}),
    ({1: (1.0, 1.0)}, 1, 0, {1}),
]


@pytest.mark.parametrize(("present", "keep_last", "keep_best", "expected"), ROTATIONS)
def test_the_last_and_the_best_stay(
    present: dict[int, tuple[float | None, float | None]], keep_last: int, keep_best: int, expected: set[int]
) -> None:
    named = {step: dict(zip(("dev_loss", "bleu"), scores, strict=True)) for step, scores in present.items()}
    checkpoints = [
        Scored(step, {name: value for name, value in scores.items() if value is not None})
        for step, scores in named.items()
    ]
    assert kept(checkpoints, max(present), keep_last, keep_best) == expected


def test_what_lies_beyond_the_newest_is_of_a_past_that_was_given_up() -> None:
    checkpoints = [Scored(1, {}), Scored(2, {}), Scored(9, {"dev_loss": 0.1, "bleu": 99.0})]
    assert kept(checkpoints, 2, keep_last=5, keep_best=5) == {1, 2}


def test_the_best_is_the_lowest_loss_and_the_highest_bleu() -> None:
    checkpoints = [Scored(1, {"dev_loss": 2.0, "bleu": 3.0}), Scored(2, {"dev_loss": 1.0, "bleu": 2.0}), Scored(3, {})]
    assert best_first(checkpoints, "dev_loss") == [2, 1]
    assert best_first(checkpoints, "bleu") == [1, 2]


def test_a_run_keeps_the_last_and_the_best_and_points_to_them(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_last=2, keep_best=1)
    for step, loss, bleu in ((1, 3.0, 5.0), (2, 2.0, 4.0), (3, 2.5, 3.0), (4, 2.6, 2.0), (5, 2.7, 1.0)):
        saved(store, step, scores={"dev_loss": loss, "bleu": bleu})
    assert steps_in(tmp_path) == [1, 2, 4, 5]
    assert [(tmp_path / name).read_text() for name in ("latest", "best", "best_bleu")] == [
        f"{step_name(step)}\n" for step in (5, 2, 1)
    ]
    for by, step in (("dev_loss", 2), ("bleu", 1)):
        best = store.best(by)
        assert best is not None and best.step == step and best.optimizer == {}
    assert not list(tmp_path.glob(".*"))


def test_the_next_best_is_used_when_the_best_is_damaged(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_best=2)
    for step in (1, 2, 3):
        saved(store, step, scores={"dev_loss": float(step)})
    truncate(tmp_path / step_name(1) / "model.safetensors")
    best = store.best()
    assert best is not None and best.step == 2
    assert best.passed_over == (PassedOver(1, "model.safetensors is not as it was written"),)


# Writers that die, disks that are full, readers that are there at the same time


def in_a_process_of_its_own(function: Callable[..., None], *arguments: object) -> None:
    """Run in a process that may fork, as it has no threads; its assertions are ours."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["dragoman.checkpoints.store"])
    process = processes.Process(target=function, args=arguments)
    process.start()
    process.join()
    assert process.exitcode == 0, "see the captured standard error"


def forked(function: Callable[..., None], *arguments: object) -> int:
    """The number of a new process that runs the function and ends."""
    torch.set_num_threads(1)
    number = os.fork()
    if number == 0:
        try:
            function(*arguments)
        finally:
            os._exit(0)
    return number


def save_for_ever(directory: Path, whole: Connection) -> None:
    store = Store(directory, keep_last=2)
    first = (steps_in(directory) or [0])[-1] + 1
    for step in range(first, first + 10_000):
        store.save(snapshot(step, size=20_000))
        assert all(outcome.is_whole for outcome in store.wait())
        whole.send(step)


def kill_at_random_moments(directory: Path) -> None:
    delay = random.Random(7)
    last_whole = 0
    for _ in range(30):
        receiver, sender = multiprocessing.Pipe(duplex=False)
        number = forked(save_for_ever, directory, sender)
        last_whole = max(last_whole, receiver.recv())  # it has begun
        time.sleep(delay.uniform(0.0, 0.06))
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
        while receiver.poll():
            last_whole = max(last_whole, receiver.recv())
        found = newest(directory)
        assert found is not None and found.passed_over == ()
        assert found.step in (last_whole, last_whole + 1)  # killed between the rename and the message
        assert same(found.model, weights(found.step, 20_000))
        last_whole = found.step
    Store(directory)
    assert leftovers_in(directory) == []


def leftovers_in(directory: Path) -> list[Path]:
    return [*directory.glob(".*"), *directory.glob("*.partial")]


def test_a_writer_killed_at_any_moment_leaves_the_newest_that_was_finished(tmp_path: Path) -> None:
    in_a_process_of_its_own(kill_at_random_moments, tmp_path)


def save_until_operation(directory: Path, last_operation: int) -> None:
    """Save step 3, replace the damaged step 4, rotate; die before the n-th operation on the file system."""
    operations = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal operations
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod") and (
            str(directory) in str(arguments) or event in ("os.remove", "os.rmdir")
        ):
            operations += 1
            if operations > last_operation:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    store = Store(directory, keep_last=2, keep_best=0)
    for step in (3, 4):
        store.save(snapshot(step))
        store.wait()


def kill_before_every_operation(root: Path) -> None:
    original, directory = root / "original", root / "copy"
    for last_operation in range(1_000):
        shutil.copytree(original, directory)
        _, status = os.waitpid(forked(save_until_operation, directory, last_operation), 0)
        found = newest(directory)
        assert found is not None and same(found.model, weights(found.step))
        assert {told.step for told in found.passed_over} <= {4}
        for step in set(steps_in(directory)) - {4}:  # a directory that exists is whole; 4 was damaged before
            assert same(load(directory, step).model, weights(step))
        store = Store(directory, keep_last=2)
        assert leftovers_in(directory) == []
        again = store.newest()
        assert again is not None and again.step == found.step
        shutil.rmtree(directory)
        if status == 0:
            assert found.step == 4 and last_operation > 50
            return
    raise AssertionError("the writer never came to its end")


def test_a_writer_killed_before_any_file_operation_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    saved(Store(tmp_path / "original", keep_last=3), 1, 2, 4)
    flip_a_bit(tmp_path / "original" / step_name(4) / "model.safetensors")
    in_a_process_of_its_own(kill_before_every_operation, tmp_path)


@pytest.fixture
def locked_partial(tmp_path: Path) -> Iterator[Path]:
    """What another, living process is writing."""
    partial = tmp_path / ".step_0000001.partial"
    partial.mkdir()
    descriptor = os.open(partial, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield partial
    os.close(descriptor)


def test_what_a_living_writer_is_writing_is_left_alone(tmp_path: Path, locked_partial: Path) -> None:
    (tmp_path / ".step_0000002.partial").mkdir()
    Store(tmp_path)
    assert leftovers_in(tmp_path)[0] == locked_partial
    assert not (tmp_path / ".step_0000002.partial").exists()


def test_two_writers_of_one_checkpoint_do_not_mix(tmp_path: Path, locked_partial: Path) -> None:
    (outcome,) = saved(Store(tmp_path), 1)
    assert not outcome.is_whole and outcome.problem is not None
    assert outcome.problem.startswith("another process is building") and locked_partial.exists()


def test_a_reader_always_finds_a_whole_checkpoint_while_others_are_written_and_removed(tmp_path: Path) -> None:
    store = Store(tmp_path, keep_last=1, keep_best=0)
    saved(store, 1)
    is_done = threading.Event()
    seen: list[int] = []
    problems: list[object] = []

    def read() -> None:
        while not is_done.is_set():
            found = newest(tmp_path)
            if found is None or found.passed_over or not same(found.model, weights(found.step)):
                problems.append(found)
            else:
                seen.append(found.step)

    reader = threading.Thread(target=read)
    reader.start()
    saved(store, *range(2, 40))
    is_done.set()
    reader.join()
    assert problems == [] and seen == sorted(seen) and len(set(seen)) > 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_a_value_and_older_checkpoints_stay(small_disk: Path) -> None:
    store = Store(small_disk / "checkpoints", keep_last=5)
    assert saved(store, 1)[0].is_whole
    (outcome,) = saved(store, 2, size=100_000)
    assert not outcome.is_whole and outcome.removed == ()
    assert outcome.problem == f"the disk that holds {small_disk / 'checkpoints'} is full; make room, or write elsewhere"
    assert sorted(path.name for path in (small_disk / "checkpoints").iterdir()) == ["latest", "step_0000001"]
    found = store.newest()
    assert found is not None and found.step == 1
    assert saved(store, 3)[0].is_whole  # the training has gone on, and there is room for a small one


def test_a_directory_that_cannot_be_made_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write to"):
        Store(tmp_path / "file" / "checkpoints")
