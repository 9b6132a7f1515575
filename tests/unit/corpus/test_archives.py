"""Archives as the network may send them: good, damaged and hostile."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from dragoman.core.errors import UserError
from dragoman.corpus.archives import Limits, members, unpack

NAMES = ("de-en/train.de", "de-en/train.en", "readme")


def tar_bytes(*entries: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    """A plain tar of files and, as they are given, of anything else."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                tar.addfile(info, io.BytesIO(entry[1]))
    return packed.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def ar_bytes(*entries: tuple[str, bytes]) -> bytes:
    """A Debian package's container, members padded to even length."""
    packed = b"!<arch>\n"
    for name, content in entries:
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += header + content + b"\n" * (len(content) % 2)
    return packed


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def content_of(archive: Path, limits: Limits | None = None) -> dict[str, bytes]:
    """Everything in an archive."""
    return {name: stream.read() for name, stream in members(archive, lambda name: True, limits=limits or Limits())}


FILES = tuple((name, f"line of {name}\n".encode() * 3) for name in NAMES)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("tar", bytes),
        ("tgz", gzip.compress),
        ("tar.gz", gzip.compress),
        ("tar.xz", lzma.compress),
        ("tar.bz2", bz2.compress),
        ("tar.zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_every_kind_of_tar_gives_its_files(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    archive = written(tmp_path / f"a.{suffix}", compress(tar_bytes(special("de-en", tarfile.DIRTYPE), *FILES)))
    assert content_of(archive) == dict(FILES)


def test_a_zip_gives_its_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as package:
        package.mkdir("de-en")
        for name, content in FILES:
            package.writestr(name, content)
    assert content_of(tmp_path / "a.zip") == dict(FILES)


def test_a_single_compressed_file_is_an_archive_of_one(tmp_path: Path) -> None:
    assert content_of(written(tmp_path / "train.en.gz", gzip.compress(b"one\ntwo\n"))) == {"train.en": b"one\ntwo\n"}


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("data.tar.xz", lzma.compress),
        ("data.tar.gz", gzip.compress),
        ("data.tar.zst", zstandard.ZstdCompressor().compress),
        ("data.tar/", bytes),
    ],
)
def test_a_debian_package_gives_its_files(tmp_path: Path, name: str, compress: Callable[[bytes], bytes]) -> None:
    tar = tar_bytes(*((f"./{path}", content) for path, content in FILES))
    package = ar_bytes(("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), (name, compress(tar)))
    assert content_of(written(tmp_path / "a.deb", package)) == dict(FILES)


def test_only_the_members_wanted_are_written(tmp_path: Path) -> None:
    archive = written(tmp_path / "a.tgz", gzip.compress(tar_bytes(*FILES)))
    unpack(archive, tmp_path / "out", NAMES[:2])
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == ["train.de", "train.en"]
    assert (tmp_path / "out" / NAMES[0]).read_bytes() == FILES[0][1]


def test_a_member_that_is_not_there_is_named(tmp_path: Path) -> None:
    archive = written(tmp_path / "a.tgz", gzip.compress(tar_bytes(*FILES)))
    with pytest.raises(UserError, match=r"a.tgz does not hold de-en/train.fr: it is not the archive expected"):
        unpack(archive, tmp_path / "out", [NAMES[0], "de-en/train.fr"])


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/outside", "a\\..\\outside"])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    archive = written(tmp_path / "a.tar", tar_bytes((name, b"x")))
    with pytest.raises(UserError, match=r"a.tar is refused: its member .* points outside"):
        unpack(archive, tmp_path / "deep" / "out", [name])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as package:
        package.writestr(name, b"x")
    with pytest.raises(UserError, match=r"a.zip is refused: its member .* points outside"):
        unpack(tmp_path / "a.zip", tmp_path / "deep" / "out", [name])
    assert not list(tmp_path.rglob("outside"))


@pytest.mark.parametrize(
    "entry",
    [
        special("wanted", tarfile.SYMTYPE, "/etc/passwd"),
        special("wanted", tarfile.LNKTYPE, "/etc/passwd"),
        special("wanted", tarfile.CHRTYPE),
        special("wanted", tarfile.BLKTYPE),
        special("wanted", tarfile.FIFOTYPE),
        special("wanted", tarfile.GNUTYPE_SPARSE),
    ],
    ids=["symbolic link", "hard link", "character device", "block device", "fifo", "sparse file"],
)
def test_what_is_not_a_plain_file_is_refused(tmp_path: Path, entry: tarfile.TarInfo) -> None:
    archive = written(tmp_path / "a.tar", tar_bytes(entry))
    with pytest.raises(UserError, match=r"a.tar is refused: its member wanted is not a plain file"):
        unpack(archive, tmp_path / "out", ["wanted"])


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("wanted")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as package:
        package.writestr(link, "/etc/passwd")
    with pytest.raises(UserError, match=r"a.zip is refused: its member wanted is not a plain file"):
        unpack(tmp_path / "a.zip", tmp_path / "out", ["wanted"])


def test_links_among_the_members_not_wanted_do_no_harm(tmp_path: Path) -> None:
    archive = written(tmp_path / "a.tar", tar_bytes(special("latest", tarfile.SYMTYPE, "/"), ("../up", b"x"), FILES[0]))
    unpack(archive, tmp_path / "out", [NAMES[0]])
    assert [path.name for path in tmp_path.rglob("*") if path.is_symlink() or path.name == "up"] == []


def bombs(directory: Path) -> list[Path]:
    zeros = bytes(4_000_000)
    with zipfile.ZipFile(directory / "a.zip", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("wanted", zeros)
    tar = lzma.compress(tar_bytes(("skipped", zeros), ("wanted", b"x")))
    return [
        directory / "a.zip",
        written(directory / "a.tgz", gzip.compress(tar_bytes(("wanted", zeros)))),
        written(directory / "b.tar.xz", tar),
        written(directory / "wanted.gz", gzip.compress(zeros)),
        written(directory / "a.deb", ar_bytes(("data.tar.xz", tar))),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_bomb_is_refused_by_its_ratio_even_where_its_member_is_not_wanted(tmp_path: Path, number: int) -> None:
    bomb = bombs(tmp_path)[number]
    with pytest.raises(UserError, match=f"{bomb.name} is refused: it unpacks to more than 100 times its size"):
        unpack(bomb, tmp_path / "out", ["wanted"])
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


@pytest.mark.parametrize("number", range(5))
def test_what_unpacks_to_too_many_bytes_is_refused(tmp_path: Path, number: int) -> None:
    limits = Limits(max_total_bytes=1_000_000, max_ratio=1_000_000)
    with pytest.raises(UserError, match=r"is refused: it unpacks to more than 1,000,000 bytes"):
        unpack(bombs(tmp_path)[number], tmp_path / "out", ["wanted"], limits=limits)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_member_that_is_too_large_is_refused(tmp_path: Path, number: int) -> None:
    limits = Limits(max_file_bytes=1_000_000, max_ratio=1_000_000)
    with pytest.raises(UserError, match=r"is refused: it.* more than 1,000,000|larger than 1,000,000 bytes"):
        unpack(bombs(tmp_path)[number], tmp_path / "out", ["wanted"], limits=limits)


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    entries = [(f"file{i}", b"") for i in range(11)]
    tar = written(tmp_path / "a.tar", tar_bytes(*entries))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as package:
        for name, content in entries:
            package.writestr(name, content)
    for archive in (tar, tmp_path / "a.zip"):
        with pytest.raises(UserError, match=r"is refused: it has more than 10 members"):
            content_of(archive, Limits(max_members=10))


@pytest.mark.parametrize("kept", [0.3, 0.9])
@pytest.mark.parametrize(
    ("name", "compress"), [("a.tgz", gzip.compress), ("a.tar.xz", lzma.compress), ("a.tar.bz2", bz2.compress)]
)
def test_a_damaged_archive_is_told_in_a_sentence(
    tmp_path: Path, name: str, compress: Callable[[bytes], bytes], kept: float
) -> None:
    noise = bytes((i * i * 31 + i // 7) % 256 for i in range(50_000))
    packed = compress(tar_bytes(("wanted", noise)))
    archive = written(tmp_path / name, packed[: int(len(packed) * kept)])
    with pytest.raises(UserError, match=rf"{name} is damaged: .*; get it anew and run the same command again"):
        unpack(archive, tmp_path / "out", ["wanted"])
    assert not (tmp_path / "out" / "wanted").exists()


@pytest.mark.parametrize("name", ["a.zip", "a.tgz", "a.tar", "a.tar.xz", "a.tar.zst", "a.gz"])
def test_what_is_not_an_archive_at_all_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=rf"{name} is damaged"):
        content_of(written(tmp_path / name, b"<html>not found</html>"))


def test_a_file_of_an_unknown_kind_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a.rar is not an archive of a known kind; known are tar, zip, deb"):
        content_of(written(tmp_path / "a.rar", b"x"))


@pytest.mark.parametrize("package", [b"<html>", ar_bytes(("debian-binary", b"2.0\n")), b"!<arch>\n" + b"x" * 60])
def test_what_is_not_a_debian_package_is_told_in_a_sentence(tmp_path: Path, package: bytes) -> None:
    with pytest.raises(UserError, match=r"a.deb is (not a Debian package|a damaged Debian package)"):
        content_of(written(tmp_path / "a.deb", package))
