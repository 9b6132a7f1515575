"""Files and directories that are whole or not there, whatever happens while they are made."""

import contextlib
import errno
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.core import files
from dragoman.core.errors import UserError
from dragoman.core.files import building, explaining_disk_errors, sha256_of, write_atomically, write_whole


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def build(directory: Path, text: str) -> None:
    with building(directory) as partial:
        (partial / "page").write_text(text)


# write_atomically


@pytest.mark.parametrize("content", ["", "Grüße\n", b"\x00\xff"])
def test_a_file_holds_what_was_written(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "file"
    write_atomically(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert names(tmp_path) == ["file"]


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a much longer old text")
    write_atomically(path, "new")
    assert path.read_text() == "new"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "half a character: \ud83d")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_file_written_in_pieces_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def breaking_off() -> Iterator[bytes]:
        yield b"one"
        raise ZeroDivisionError

    path = tmp_path / "new" / "file"
    with pytest.raises(ZeroDivisionError):
        write_whole(path, breaking_off())
    assert names(path.parent) == []
    write_whole(path, [b"one", b"two"])
    assert path.read_bytes() == b"onetwo"
    assert names(path.parent) == ["file"]


# sha256_of


def test_the_hash_of_abc_is_that_of_the_standard(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("length", [0, 1, 2**18, 2**18 + 1, 1_000_000])
def test_a_file_of_any_size_has_the_hash_of_its_bytes(tmp_path: Path, length: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * length)
    assert sha256_of(path) == hashlib.sha256(b"x" * length).hexdigest()


# building


def test_a_directory_appears_when_it_is_whole(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "parents" / "corpus"
    with building(directory) as partial:
        (partial / "page").write_text("text")
        (partial / "below").mkdir()
        (partial / "below" / "page").write_text("more")
        assert not directory.exists()
    assert names(directory) == ["below", "page"]
    assert names(directory.parent) == ["corpus"]


def test_an_exception_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), building(tmp_path / "corpus") as partial:
        (partial / "page").write_text("text")
        raise ZeroDivisionError
    assert names(tmp_path) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), building(tmp_path / "corpus") as partial:
        (partial / "page").write_text("text")
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_an_existing_directory_is_replaced_whole(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    build(directory, "old")
    (directory / "only in the old one").write_text("old")
    build(directory, "new")
    assert names(directory) == ["page"]
    assert (directory / "page").read_text() == "new"
    assert names(tmp_path) == ["corpus"]


def test_an_existing_directory_stays_when_its_replacement_fails(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    build(directory, "old")
    with pytest.raises(ZeroDivisionError), building(directory) as partial:
        (partial / "page").write_text("new")
        raise ZeroDivisionError
    assert (directory / "page").read_text() == "old"
    assert names(tmp_path) == ["corpus"]


def test_a_relative_directory_is_built_where_the_build_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with building(Path("corpus")):
        monkeypatch.chdir(tmp_path / "elsewhere")
    assert names(tmp_path) == ["corpus", "elsewhere"]


def test_a_link_to_a_directory_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    build(tmp_path / "disk" / "real", "old")
    link = tmp_path / "corpus"
    link.symlink_to(tmp_path / "disk" / "real")
    for text in ("new", "newer"):
        build(link, text)
        assert link.is_symlink()
        assert (link / "page").read_text() == text
    assert names(tmp_path / "disk") == ["real"]


def test_a_file_is_never_replaced_by_a_directory(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("precious")
    with pytest.raises(UserError) as error, building(path):
        pass
    assert str(error.value) == f"{path} is a file; a directory of that name cannot be built"
    assert path.read_text() == "precious"
    assert names(tmp_path) == ["notes"]


def test_a_second_builder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    with building(directory) as partial:
        (partial / "page").write_text("first")
        with pytest.raises(UserError) as error, building(directory):
            pass
        assert str(error.value) == f"another process is building {directory}; wait for it or stop it first"
    assert (directory / "page").read_text() == "first"


def test_a_builder_that_comes_while_the_first_one_ends_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, second = tmp_path / "corpus", contextlib.ExitStack()
    flush = files.flush

    def a_second_one_begins(path: Path) -> None:
        if path == tmp_path:  # the first one has renamed its directory and waits for the disk
            monkeypatch.setattr(files, "flush", flush)
            (second.enter_context(building(directory)) / "page").write_text("second")
        flush(path)

    monkeypatch.setattr(files, "flush", a_second_one_begins)
    build(directory, "first")
    assert (directory / "page").read_text() == "first"
    second.close()
    assert (directory / "page").read_text() == "second"
    assert names(tmp_path) == ["corpus"]


def test_an_error_of_the_builders_own_is_not_taken_for_a_second_builder(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError), building(tmp_path / "corpus"):
        raise BlockingIOError
    assert names(tmp_path) == []


BUILDER = """
import sys, time
from pathlib import Path
from dragoman.core.files import building
with building(Path(sys.argv[1])) as partial:
    (partial / "half").write_text("half")
    (partial / "below").mkdir()
    print("inside", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def another_process_building(directory: Path) -> Iterator[int]:
    with subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(directory)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "inside\n"
            yield process.pid
        finally:
            process.kill()


def test_another_process_is_refused_while_the_first_one_lives(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    with another_process_building(directory):
        with pytest.raises(UserError, match="another process is building"), building(directory):
            pass
        assert not directory.exists()


def test_a_killed_builder_leaves_no_directory_and_the_next_build_works(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    with another_process_building(directory) as pid:
        os.kill(pid, signal.SIGKILL)
    assert not directory.exists()
    build(directory, "whole")
    assert names(directory) == ["page"]
    assert names(tmp_path) == ["corpus"]


def test_a_killed_builder_leaves_the_old_directory(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    build(directory, "old")
    with another_process_building(directory) as pid:
        os.kill(pid, signal.SIGKILL)
    assert (directory / "page").read_text() == "old"
    build(directory, "new")
    assert names(directory) == ["page"]


def test_the_old_directory_comes_back_after_a_kill_between_the_two_renames(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    build(directory, "old")
    directory.rename(tmp_path / ".corpus.replaced")
    with pytest.raises(ZeroDivisionError), building(directory):
        raise ZeroDivisionError
    assert (directory / "page").read_text() == "old"
    assert names(tmp_path) == ["corpus"]


def test_everything_is_on_the_disk_before_a_directory_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, flushed, flush = tmp_path / "corpus", dict[str, bool](), files.flush

    def note(path: Path) -> None:
        flushed[path.name] = directory.exists()
        flush(path)

    monkeypatch.setattr(files, "flush", note)
    with building(directory) as partial:
        (partial / "below").mkdir()
        (partial / "below" / "page").write_text("text")
    assert flushed == {"below": False, "page": False, ".corpus.partial": False, tmp_path.name: True}


# explaining_disk_errors


@pytest.mark.parametrize(
    "number, sentence",
    [
        (errno.ENOSPC, "the disk that holds corpus is full; make room, or write elsewhere"),
        (errno.EDQUOT, "the disk that holds corpus is full; make room, or write elsewhere"),
        (errno.EROFS, "cannot write to corpus: Read-only file system; write elsewhere"),
        (errno.EACCES, "cannot write to corpus: Permission denied; write elsewhere"),
    ],
)
def test_a_disk_that_refuses_is_told_in_a_sentence(number: int, sentence: str) -> None:
    with pytest.raises(UserError) as error, explaining_disk_errors(Path("corpus")):
        raise OSError(number, os.strerror(number))
    assert str(error.value) == sentence


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(OSError, match="Input/output error"), explaining_disk_errors(Path("corpus")):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    with pytest.raises(KeyError), explaining_disk_errors(Path("corpus")):
        raise KeyError


def test_a_file_where_a_directory_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(UserError, match=r"cannot write to .*: File exists; write elsewhere"):  # noqa: SIM117
        with explaining_disk_errors(tmp_path / "file" / "corpus"), building(tmp_path / "file" / "corpus"):
            pass
