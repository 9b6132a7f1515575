"""What happens to runs out there: other launchers, full disks, stopped ranks, files that do not fit."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.checkpoints import reading
from dragoman.core.paths import RunPaths
from tests.training.tiny_run import TinyRun, environment

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[Path]:
    """A file system of its own in memory."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_torchrun_starts_the_same_run(tiny_run: TinyRun, whole_run_of_two: TinyRun) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words = tiny_run.command(processes=0)[3:]  # without python -m dragoman.cli.main
    done = subprocess.run(
        [*launcher, "-m", "--", "dragoman", *words],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert tiny_run.weights(12) == whole_run_of_two.weights(12)
    assert (tiny_run.directory / "trainer").read_text(), "its main rank held the run, for nobody else to train it"


@needs_root
def test_a_disk_that_fills_up_stops_no_training_and_costs_no_older_checkpoint(
    tiny_run: TinyRun, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "size=3m") as disk:
        run = TinyRun(tiny_run.recipe, disk / "run")
        settings = ("training.max_steps=0", "training.evaluate_every_steps=0", "training.save_every_steps=10")
        process = subprocess.Popen(run.command(*settings), stderr=subprocess.PIPE, text=True, env=environment())
        assert process.stderr is not None
        run.wait_for(10)
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space left"), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        words = next(line for line in process.stderr if "not written" in line)
        assert "checkpoint" in words and "is full" in words
        whole = reading.newest(RunPaths(run.directory).checkpoints)
        assert whole is not None and whole.step >= 10
        filler.unlink()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(timeout=120) == 143, rest
        assert "Traceback" not in rest
        newest = reading.newest(RunPaths(run.directory).checkpoints)
        assert newest is not None and newest.step > whole.step


@needs_root
def test_a_disk_that_is_full_at_the_start_is_one_sentence(tiny_run: TinyRun, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=64k") as disk:
        (disk / "filler").write_bytes(bytes(60_000))
        done = TinyRun(tiny_run.recipe, disk / "run").train()
    assert done.returncode == 2
    assert "is full" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_stopped_rank_is_named_within_a_minute(tiny_run: TinyRun) -> None:
    command = tiny_run.command("training.max_steps=100000", "training.evaluate_every_steps=0", processes=2)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment())
    stopped = 0
    try:
        steps = RunPaths(tiny_run.directory).steps(1)
        while not steps.is_file() or len(steps.read_text().splitlines()) < 3:
            time.sleep(0.1)
        stopped = next(
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit()
            and str(tiny_run.directory).encode() in _bytes(entry / "cmdline")
            and b"\0RANK=1\0" in b"\0" + _bytes(entry / "environ")
        )
        os.kill(stopped, signal.SIGSTOP)
        start = time.monotonic()
        assert process.stderr is not None
        words = next(line for line in process.stderr if b"silent" in line).decode()
        assert "rank 0 waits for rank 1" in words
        assert time.monotonic() - start < 60
    finally:
        if stopped:
            os.kill(stopped, signal.SIGKILL)
        process.terminate()
        assert process.wait(timeout=90) != 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@needs_root
def test_a_directory_that_cannot_be_written_is_one_sentence(tiny_run: TinyRun, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "ro") as disk:
        done = TinyRun(tiny_run.recipe, disk / "run").train()
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "Read-only file system" in done.stderr


def test_a_checkpoint_of_a_newer_version_is_left_alone(tiny_run: TinyRun) -> None:
    assert tiny_run.train("training.max_steps=2").returncode == 0
    for state in sorted(RunPaths(tiny_run.directory).checkpoints.glob("step_*/state.json")):
        content = json.loads(state.read_text())
        content["format"] = 99
        old = hashlib.sha256(state.read_bytes()).hexdigest()
        state.write_text(json.dumps(content))
        sums = state.with_name("SHA256SUMS")
        sums.write_text(sums.read_text().replace(old, hashlib.sha256(state.read_bytes()).hexdigest()))
    before = _files(tiny_run.directory)
    done = tiny_run.train("training.max_steps=4")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "newer" in done.stderr
    assert before.keys() <= _files(tiny_run.directory).keys()


def test_another_corpus_in_the_same_place_is_refused(tiny_run: TinyRun, tmp_path: Path) -> None:
    from tests.training.tiny_run import make_recipe

    assert tiny_run.train("training.max_steps=2").returncode == 0
    other = tmp_path / "other"
    other.mkdir()
    words = make_recipe(other).read_text().replace("size = 512", "size = 640")
    recipe = other / "changed.toml"
    recipe.write_text(words.replace(str(other / "corpus"), str(other / "corpus2")))
    done = TinyRun(recipe, tiny_run.directory).train("training.max_steps=4")
    assert done.returncode == 2
    assert "is a run of another recipe" in done.stderr and "vocabulary.size" in done.stderr


def _files(directory: Path) -> dict[str, int]:
    return {str(file.relative_to(directory)): file.stat().st_size for file in directory.rglob("*") if file.is_file()}
