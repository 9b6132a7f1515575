"""The lines of a file, whatever packs it, ends it or has damaged it."""

import gzip
import hashlib
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.errors import UserError
from dragoman.corpus import lines as lines_module
from dragoman.corpus.lines import CHUNK_BYTES, MAX_LINE_BYTES, FileRead, Lines

BOM = b"\xef\xbb\xbf"


def zst(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def zst_in_pieces(content: bytes) -> bytes:
    """One frame whose first block holds a single byte, as a program writes that flushes early."""
    compressor = zstandard.ZstdCompressor().compressobj()
    first = compressor.compress(content[:1]) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return first + compressor.compress(content[1:]) + compressor.flush()


def twice(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda content: pack(content[: len(content) // 2]) + pack(content[len(content) // 2 :])


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gz": gzip.compress,
    "gz of two members": twice(gzip.compress),
    "xz": lzma.compress,
    "xz of two streams": twice(lzma.compress),
    "zst": zst,
    "zst of two frames": twice(zst),
    "zst in pieces": zst_in_pieces,
}


def split(content: bytes) -> list[bytes]:
    """What lines mean: the parts between newlines; behind the last newline there is no further line."""
    parts = content.removeprefix(BOM).split(b"\n")
    return parts if parts[-1] else parts[:-1]


def read(path: Path, at_once: int = 1_000_000) -> tuple[list[bytes], list[int], FileRead]:
    lines = Lines(path)
    found: list[bytes] = []
    overlong: list[int] = []
    while True:
        taken, places = lines.take(at_once)
        if not taken:
            break
        overlong += sorted(len(found) + place for place in places)
        found += taken
    summary = lines.summary()
    lines.close()
    return found, overlong, summary


def written(directory: Path, content: bytes) -> Path:
    path = directory / "text"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"one", [b"one"]),
        (b"one\n", [b"one"]),
        (b"one\ntwo", [b"one", b"two"]),
        (b"\n\none\n\n", [b"", b"", b"one", b""]),
        (b"one\r\ntwo\r\n", [b"one\r", b"two\r"]),
        (b"one\rtwo\n", [b"one\rtwo"]),
        (BOM, []),
        (BOM + b"one\n", [b"one"]),
        (b"one\n" + BOM + b"two\n", [b"one", BOM + b"two"]),
        ("Grüße\n中文\n".encode(), ["Grüße".encode(), "中文".encode()]),
    ],
)
def test_every_packing_gives_the_same_lines(
    tmp_path: Path, packing: str, content: bytes, expected: list[bytes]
) -> None:
    found, overlong, _ = read(written(tmp_path, PACKINGS[packing](content)))
    assert found == expected == split(content)
    assert overlong == []


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_file_of_many_chunks_is_read_whole(tmp_path: Path, packing: str) -> None:
    numbers = b"".join(hashlib.sha256(str(i).encode()).hexdigest().encode() + b"\n" for i in range(10_000))
    content = BOM + numbers
    assert len(content) > 2 * CHUNK_BYTES
    found, _, summary = read(written(tmp_path, PACKINGS[packing](content)), at_once=777)
    assert found == split(content)
    assert summary.lines == 10_000
    assert summary.text_bytes == len(numbers)


@pytest.mark.parametrize("packing", PACKINGS)
def test_bytes_are_counted_and_hashed_as_they_lie_on_disk(tmp_path: Path, packing: str) -> None:
    packed = PACKINGS[packing](b"one\ntwo\nthree")
    path = written(tmp_path, packed)
    seen: list[int] = []
    lines = Lines(path, seen.append)
    lines.take(10)
    summary = lines.summary()
    assert summary == FileRead(str(path), len(packed), 13, 3, hashlib.sha256(packed).hexdigest())
    assert sum(seen) == len(packed)


def test_what_was_not_taken_still_counts(tmp_path: Path) -> None:
    lines = Lines(written(tmp_path, b"a\nb\nc\nd"))
    lines.take(1)
    assert lines.count_all() == 4


def test_lines_are_taken_until_they_hold_enough_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "CHUNK_BYTES", 4)
    lines = Lines(written(tmp_path, b"aaa\nbbb\nccc\nddd\n"))
    assert lines.take(100, 5)[0] == [b"aaa", b"bbb"]
    assert lines.take(1, 5)[0] == [b"ccc"]
    assert lines.take(100)[0] == [b"ddd"]
    assert lines.take(100)[0] == []


def test_lines_that_are_put_back_are_taken_again_with_their_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "MAX_LINE_BYTES", 3)
    lines = Lines(written(tmp_path, b"a\nlong line\nc\nd\n"))
    assert lines.take(3) == ([b"a", b"", b"c"], frozenset([1]))
    lines.put_back([b"", b"c"], [0])
    assert lines.take(10) == ([b"", b"c", b"d"], frozenset([0]))


@given(
    st.lists(st.integers(0, 30), max_size=40), st.integers(6, 25), st.integers(1, 9), st.sampled_from(list(PACKINGS))
)
def test_overlong_lines_are_empty_and_marked_wherever_chunks_end(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], chunk_bytes: int, at_once: int, packing: str
) -> None:
    content = b"".join(bytes([97 + i % 26]) * length + b"\n" for i, length in enumerate(lengths))
    path = written(tmp_path_factory.mktemp("lines"), PACKINGS[packing](content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "MAX_LINE_BYTES", 12)
        patch.setattr(lines_module, "CHUNK_BYTES", chunk_bytes)
        patch.setattr(lines_module, "ZSTANDARD_CHUNK_BYTES", chunk_bytes)
        found, overlong, summary = read(path, at_once)
    assert found == [b"" if len(line) > 12 else line for line in split(content)]
    assert overlong == [place for place, length in enumerate(lengths) if length > 12]
    assert summary.lines == len(lengths)


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_overlong_last_line_without_an_end_is_marked_too(tmp_path: Path, packing: str) -> None:
    content = b"first\n" + b"x" * (MAX_LINE_BYTES + 3 * CHUNK_BYTES)
    assert read(written(tmp_path, PACKINGS[packing](content)))[:2] == ([b"first", b""], [1])


@pytest.mark.parametrize("extra", [0, 1])
def test_a_line_may_have_the_most_bytes_and_not_one_more(tmp_path: Path, extra: int) -> None:
    found, overlong, _ = read(written(tmp_path, b"a\n" + b"b" * (MAX_LINE_BYTES + extra) + b"\nc\n"))
    assert [len(line) for line in found] == [1, 0 if extra else MAX_LINE_BYTES, 1]
    assert overlong == ([1] if extra else [])


MEASURE = """
import resource, sys
from pathlib import Path
from dragoman.corpus.lines import Lines
lines = Lines(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
taken, overlong = lines.take(10)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print([len(line) for line in taken], sorted(overlong), (after - before) // 1024)
"""


@pytest.mark.parametrize(("packing", "most_mb"), [("gz", 40), ("zst", 160)])
def test_a_line_of_100_mb_needs_little_memory(tmp_path: Path, packing: str, most_mb: int) -> None:
    path = written(tmp_path, PACKINGS[packing](b"before\n" + b"a" * 100_000_000 + b"\nafter\n"))
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    told = done.stdout.rpartition(" ")
    assert told[0] == "[6, 0, 5] [1]"
    assert int(told[2]) < most_mb


@pytest.mark.parametrize(("packing", "magic_bytes"), [("gz", 2), ("xz", 6), ("zst", 4)])
def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path, packing: str, magic_bytes: int) -> None:
    packed = PACKINGS[packing](b"one\ntwo\nthree\n" * 20)
    for size in range(magic_bytes, len(packed)):
        with pytest.raises(UserError, match=r"text is cut off or damaged .*; fetch or compress it again"):
            read(written(tmp_path, packed[:size]))


@pytest.mark.parametrize("packing", ["gz", "xz", "zst"])
def test_a_file_cut_off_in_its_second_part_is_refused(tmp_path: Path, packing: str) -> None:
    packed = PACKINGS[packing](b"one\ntwo\n")
    with pytest.raises(UserError, match="cut off or damaged"):
        read(written(tmp_path, packed + packed[:-3]))


@pytest.mark.parametrize("packing", ["gz", "xz", "zst"])
def test_a_damaged_file_is_refused(tmp_path: Path, packing: str) -> None:
    packed = bytearray(PACKINGS[packing](bytes(range(33, 127)) * 50))
    packed[len(packed) // 2] ^= 0x10
    with pytest.raises(UserError, match="cut off or damaged"):
        read(written(tmp_path, bytes(packed)))


@pytest.mark.parametrize("packing", ["plain", "gz", "zst"])
def test_a_binary_file_is_refused(tmp_path: Path, packing: str) -> None:
    binary = b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20
    with pytest.raises(UserError, match="text is not a text file: it is full of NUL bytes"):
        read(written(tmp_path, PACKINGS[packing](binary)))


def test_a_single_nul_in_much_text_is_for_the_cleaning_rules(tmp_path: Path) -> None:
    content = b"one line of text\n" * 1_000 + b"with a NUL \0\n"
    assert read(written(tmp_path, content))[0] == split(content)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_the_command_that_converts_it(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, "\ufeffEine Zeile\n".encode(encoding))
    with pytest.raises(UserError, match="is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"):
        read(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory; expected a text file"):
        Lines(tmp_path)


@pytest.mark.parametrize("name", ["missing", "missing/too"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"there is no file .*{name}"):
        Lines(tmp_path / name)


@pytest.mark.parametrize("name", ["nul \0 in it", "x" * 300, "text/behind a file"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    written(tmp_path, b"")
    with pytest.raises(UserError, match="cannot read"):
        Lines(tmp_path / name)


def test_a_file_that_cannot_be_read_is_refused() -> None:
    unreadable = Path("/proc/self/mem")  # opens for anyone; its first page can be read by no one
    if not unreadable.exists():
        pytest.skip("no /proc here")
    with pytest.raises(UserError, match="cannot read /proc/self/mem: Input/output error"):
        read(unreadable)


MAGICS = [b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", BOM, b"\xff\xfe", b"\0" * 8]


@settings(max_examples=300)
@given(st.sampled_from(MAGICS), st.binary(max_size=200) | st.text(max_size=60).map(str.encode), st.integers(6, 300))
def test_any_bytes_are_lines_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, magic: bytes, content: bytes, chunk_bytes: int
) -> None:
    path = written(tmp_path_factory.mktemp("lines"), magic + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "CHUNK_BYTES", chunk_bytes)
        try:
            found, overlong, _ = read(path)
        except UserError:
            return
    is_packed = (magic + content).startswith((b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"))
    if not is_packed:
        assert found == split(magic + content)
    assert overlong == []


@settings(max_examples=60)
@given(st.sampled_from(["gz", "xz", "zst"]), st.integers(0, 10_000), st.integers(0, 7))
def test_a_flipped_bit_in_a_packed_file_is_text_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, packing: str, place: int, bit: int
) -> None:
    packed = bytearray(PACKINGS[packing](b"a line of text, and another\n" * 30))
    packed[place % len(packed)] ^= 1 << bit
    try:
        read(written(tmp_path_factory.mktemp("lines"), bytes(packed)))
    except UserError as error:
        assert "\n" not in str(error)
