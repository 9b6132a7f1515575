"""A run that is stopped at any moment leaves nothing or a whole corpus, and nobody who works on."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.core.progress import Silent
from dragoman.corpus.shards import verify

from .prepare_runs import listing, write_text

# The real command, except that even this small text is shared among processes, in many portions.
DRIVER = """
import sys
from dragoman.cli.main import main
from dragoman.corpus import prepare, sources

prepare.INLINE_BYTES, prepare.PAIRS_AT_ONCE, prepare.num_cores, sources.BLOCK_PAIRS = 0, 200, lambda: 2, 200
sys.exit(main())
"""
WAIT_S = 60.0


@dataclass
class Running:
    """One run, in a process group of its own."""

    process: subprocess.Popen[str]
    partial: Path

    def wait_until_it_writes(self) -> None:
        until = time.monotonic() + WAIT_S
        while not (self.partial / "spill").exists():
            assert time.monotonic() < until
            assert self.process.poll() is None, "it ended before it could be stopped"
            time.sleep(0.002)

    def end(self) -> tuple[int, str]:
        """Its exit code and what it said, once nobody of its group is left."""
        _, talk = self.process.communicate(timeout=WAIT_S)
        until = time.monotonic() + WAIT_S
        while living(self.process.pid):
            assert time.monotonic() < until, f"still there: {living(self.process.pid)}"
            time.sleep(0.02)
        return self.process.returncode, talk


def living(group: int) -> list[int]:
    """The processes of a group that still do something; the dead may wait for a parent that never asks."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = status.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(int(status.parent.name))
    return found


@dataclass(frozen=True)
class Place:
    """A text, the corpus made of it without disturbance, and how long that took."""

    directory: Path
    arguments: list[str]
    fingerprint: str
    seconds: float

    @property
    def corpus(self) -> Path:
        return self.directory / "corpus"


def start(directory: Path, arguments: list[str]) -> Running:
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, "prepare", *arguments],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return Running(process, directory / ".corpus.partial")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Place:
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    directory = tmp_path_factory.mktemp("undisturbed")
    write_text(directory, number=3_000)
    arguments = ["--source", "a.en", "--target", "a.de", "--out", "corpus", "--set", "vocabulary.size=1024"]
    running = start(directory, arguments)
    running.wait_until_it_writes()
    began = time.monotonic()
    assert running.end()[0] == 0
    seconds = time.monotonic() - began
    return Place(directory, arguments, verify(directory / "corpus", Silent()).fingerprint, seconds)


@pytest.fixture
def place(undisturbed: Place, tmp_path: Path) -> Iterator[Place]:
    """The text alone, in a fresh directory."""
    for name in ("a.en", "a.de"):
        shutil.copy(undisturbed.directory / name, tmp_path / name)
    yield Place(tmp_path, undisturbed.arguments, undisturbed.fingerprint, undisturbed.seconds)


def assert_nothing_or_whole(place: Place) -> None:
    if place.corpus.exists():
        assert verify(place.corpus, Silent()).fingerprint == place.fingerprint


def assert_same_again(place: Place) -> None:
    """Another run ends well, with the same bytes, and clears away what an earlier one left."""
    running = start(place.directory, place.arguments)
    assert running.end()[0] == 0
    assert verify(place.corpus, Silent()).fingerprint == place.fingerprint
    assert sorted(path.name for path in place.directory.iterdir()) == ["a.de", "a.en", "corpus"]


def test_kill_9_at_any_moment_leaves_nothing_or_a_whole_corpus(place: Place) -> None:
    draw = random.Random(11)
    inputs = listing(place.directory)
    for sixth in range(6):
        running = start(place.directory, [*place.arguments, "--force"])
        running.wait_until_it_writes()
        time.sleep(place.seconds * (sixth + draw.random()) / 6)
        running.process.kill()  # the first process alone: the others must notice
        running.end()
        assert_nothing_or_whole(place)
    assert_same_again(place)
    assert {name: content for name, content in listing(place.directory).items() if name in inputs} == inputs


@pytest.mark.parametrize(
    ("moment", "sign", "code", "whom"),
    [
        (0.0, signal.SIGINT, 130, "group"),
        (0.1, signal.SIGINT, 130, "group"),
        (0.6, signal.SIGINT, 130, "first"),
        (0.0, signal.SIGTERM, 143, "first"),
        (0.5, signal.SIGTERM, 143, "group"),
    ],
)
def test_a_stopped_run_leaves_nothing_behind(
    place: Place, moment: float, sign: signal.Signals, code: int, whom: str
) -> None:
    before = listing(place.directory)
    running = start(place.directory, place.arguments)
    running.wait_until_it_writes()
    time.sleep(place.seconds * moment)
    if whom == "group":
        os.killpg(running.process.pid, sign)  # as a terminal does for Ctrl-C
    else:
        running.process.send_signal(sign)
    ended, talk = running.end()
    assert "Traceback" not in talk, talk
    if ended == 0:  # it was done before the signal came
        assert_nothing_or_whole(place)
        return
    assert ended == code
    if sign is signal.SIGINT:
        assert talk.endswith("dragoman: stopped; nothing half-written was left behind\n")
    assert listing(place.directory) == before


def test_a_killed_replacement_leaves_the_old_corpus_or_the_new_one(place: Place) -> None:
    assert_same_again(place)
    running = start(place.directory, [*place.arguments, "--set", "corpus.seed=2", "--force"])
    running.wait_until_it_writes()
    time.sleep(0.7 * place.seconds)
    running.process.kill()
    running.end()
    verify(place.corpus, Silent())
    assert start(place.directory, [*place.arguments, "--force"]).end()[0] == 0
    assert verify(place.corpus, Silent()).fingerprint == place.fingerprint


def test_a_killed_worker_is_told_in_a_sentence(place: Place) -> None:
    before = listing(place.directory)
    running = start(place.directory, place.arguments)
    running.wait_until_it_writes()
    until = time.monotonic() + WAIT_S
    while not (workers := [one for one in living(running.process.pid) if is_worker(one)]):
        assert time.monotonic() < until
        time.sleep(0.005)
    os.kill(workers[-1], signal.SIGKILL)
    code, talk = running.end()
    assert (code, "Traceback" in talk) == (2, False), talk
    assert "dragoman: a process that shared the work was killed" in talk
    assert listing(place.directory) == before


def is_worker(process: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def test_two_runs_do_not_build_the_same_corpus_at_once(place: Place) -> None:
    first = start(place.directory, place.arguments)
    first.wait_until_it_writes()
    code, talk = start(place.directory, place.arguments).end()
    assert (code, "another process is building" in talk) == (2, True)
    assert first.end()[0] == 0
    assert verify(place.corpus, Silent()).fingerprint == place.fingerprint


# An object that lives until the interpreter is cleared away, where Python has given the signals back to the system.
LATE_SIGNAL = """
import os, sys
from dragoman.cli.main import main

class Last:
    def __del__(self, end=os.kill, own=os.getpid()):
        end(own, SIGN)

sys.last = Last()
sys.exit(main())
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_work_is_done_does_not_make_it_a_failure(sign: signal.Signals) -> None:
    driver = LATE_SIGNAL.replace("SIGN", str(int(sign)))
    done = subprocess.run([sys.executable, "-c", driver, "completion", "bash"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
