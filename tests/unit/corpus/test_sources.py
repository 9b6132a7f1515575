"""Line pairs in blocks: aligned, bounded, and refused where the sides do not match."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import UserError
from dragoman.corpus import lines as lines_module
from dragoman.corpus import sources as sources_module
from dragoman.corpus.sources import Block, ParallelText, Reader


def two_files(directory: Path, source: bytes, target: bytes) -> ParallelText:
    (directory / "a.en").write_bytes(source)
    (directory / "a.de").write_bytes(target)
    return ParallelText("a", directory / "a.en", directory / "a.de")


def tsv(directory: Path, content: bytes) -> ParallelText:
    (directory / "a.tsv").write_bytes(content)
    return ParallelText("a", directory / "a.tsv")


def blocks(text: ParallelText) -> list[Block]:
    return list(Reader(text).blocks())


def pairs(found: Sequence[Block]) -> list[tuple[bytes, bytes]]:
    return [pair for block in found for pair in zip(block.sources, block.targets, strict=True)]


def test_two_files_and_a_tsv_give_the_same_pairs(tmp_path: Path) -> None:
    expected = [(b"one", b"eins"), (b"", b"leer"), (b"three", b"")]
    assert pairs(blocks(two_files(tmp_path, b"one\n\nthree\n", b"eins\nleer\n\n"))) == expected
    assert pairs(blocks(tsv(tmp_path, b"one\teins\n\tleer\nthree\t\n"))) == expected


def test_a_tsv_may_say_which_document_a_pair_stands_in(tmp_path: Path) -> None:
    [block] = blocks(tsv(tmp_path, b"a\tb\tpage 1\textra\tcells\r\nc\td\r\ne\r\n"))
    assert (block.sources, block.targets) == ([b"a", b"c", b"e"], [b"b", b"d", b""])
    assert block.documents == [b"page 1", b"", b""]


def test_a_tsv_without_documents_has_none(tmp_path: Path) -> None:
    [block] = blocks(tsv(tmp_path, b"a\tb\nc\td\t\n"))
    assert block.documents is None


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_empty_files_have_no_blocks(tmp_path: Path, content: bytes) -> None:
    assert blocks(two_files(tmp_path, content, content)) == []
    assert blocks(tsv(tmp_path, content)) == []


def test_blocks_are_bounded_in_pairs_and_know_their_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources_module, "BLOCK_PAIRS", 3)
    content = b"".join(b"%d\n" % number for number in range(8))
    for text in (two_files(tmp_path, content, content), tsv(tmp_path, content)):
        assert [(block.first_line, len(block)) for block in blocks(text)] == [(1, 3), (4, 3), (7, 2)]


def test_blocks_are_bounded_in_bytes_on_either_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources_module, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(lines_module, "CHUNK_BYTES", 100)
    short, long = b"x\n" * 300, b"y" * 99 + b"\n"
    for source, target in ((short, long * 300), (long * 300, short)):
        found = blocks(two_files(tmp_path, source, target))
        assert len(pairs(found)) == 300
        assert max(sum(map(len, block.sources + block.targets)) for block in found) < 1_000 + 100 + 300


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_pairs_around_an_overlong_line_stay_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    monkeypatch.setattr(lines_module, "MAX_LINE_BYTES", 10)
    plain, with_long = b"1\n2\n3\n", b"one\n" + b"x" * 50 + b"\nthree\n"
    text = two_files(tmp_path, *((with_long, plain) if side == "source" else (plain, with_long)))
    [block] = blocks(text)
    assert block.overlong == {1}
    assert {(block.sources[0], block.targets[0]), (block.sources[2], block.targets[2])} == (
        {(b"one", b"1"), (b"three", b"3")} if side == "source" else {(b"1", b"one"), (b"3", b"three")}
    )


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=60),
    st.integers(1, 20),
    st.integers(1, 60),
    st.integers(1, 40),
)
def test_blocks_hold_every_pair_once_whatever_their_size(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[tuple[int, int]],
    block_pairs: int,
    block_bytes: int,
    chunk_bytes: int,
) -> None:
    sources, targets = ([b"x" * lengths_of[side] for lengths_of in lengths] for side in (0, 1))
    text = two_files(
        tmp_path_factory.mktemp("text"),
        b"".join(line + b"\n" for line in sources),
        b"".join(line + b"\n" for line in targets),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources_module, "BLOCK_PAIRS", block_pairs)
        patch.setattr(sources_module, "BLOCK_BYTES", block_bytes)
        patch.setattr(lines_module, "CHUNK_BYTES", chunk_bytes)
        patch.setattr(lines_module, "MAX_LINE_BYTES", 15)
        found = blocks(text)
    assert pairs(found) == [
        (b"" if len(source) > 15 else source, b"" if len(target) > 15 else target)
        for source, target in zip(sources, targets, strict=True)
    ]
    assert [block.first_line + place - 1 for block in found for place in sorted(block.overlong)] == [
        place for place, both in enumerate(lengths) if max(both) > 15
    ]
    assert all(len(block) <= block_pairs for block in found)


@pytest.mark.parametrize(
    ("source", "target", "counts"),
    [
        (b"a\nb\nc\n", b"a\nb\n", "a.en has 3 lines but .*a.de has 2;"),
        (b"a\n", b"a\nb\nc\nd", "a.en has 1 lines but .*a.de has 4;"),
        (b"", b"a\n", "a.en has 0 lines but .*a.de has 1;"),
        (b"a\n\n", b"", "a.en has 2 lines but .*a.de has 0;"),
        (b"x\n" * 12, b"x\n" * 7, "a.en has 12 lines but .*a.de has 7;"),
    ],
)
def test_unequal_sides_are_refused_with_both_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: bytes, target: bytes, counts: str
) -> None:
    monkeypatch.setattr(sources_module, "BLOCK_PAIRS", 5)
    with pytest.raises(UserError, match=counts):
        blocks(two_files(tmp_path, source, target))


def test_what_was_read_is_known_at_the_end(tmp_path: Path) -> None:
    reader = Reader(two_files(tmp_path, b"a\nb\n", b"cc\ndd\n"))
    list(reader.blocks())
    assert [(file.path, file.bytes, file.lines) for file in reader.files] == [
        (str(tmp_path / "a.en"), 4, 2),
        (str(tmp_path / "a.de"), 6, 2),
    ]
