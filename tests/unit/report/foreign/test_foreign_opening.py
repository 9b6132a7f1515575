"""Whose log is it? By its content, packed or not; and what is none is told in one sentence."""

import gzip
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.report.foreign.opening import open_transcript

OPENSEQ2SEQ = "*** Global step 100: ***     Train loss: 7.0 \ntime per step = 0:00:1.800\n"
MARIAN = "[2021-07-17 20:10:00] Ep. 1 : Up. 500 : Sen. 100,000 : Cost 6.5 : Time 250.00s : 10000.00 words/s\n"
FAIRSEQ = "| epoch 001:    100 / 1891 loss=12.000, nll_loss=11.000, wps=50000, wpb=100000, num_updates=100, wall=210\n"
JSON = '2020-07-17 06:48:46 | INFO | train_inner | {"epoch": 1, "loss": "15.878", "num_updates": "100"}\n'
LOGS = {"OpenSeq2Seq": OPENSEQ2SEQ, "Marian": MARIAN, "fairseq": FAIRSEQ, "fairseq in JSON": JSON}


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_is_known_by_its_words_whatever_its_name(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "nohup.out"
    file.write_text(LOGS[kind])
    found = open_transcript(file)
    assert found.system == kind.split()[0]
    assert len({point.step for point in found.points}) == 1


@pytest.mark.parametrize("kind", LOGS)
def test_packed_logs_and_16_bit_letters_are_read_too(tmp_path: Path, kind: str) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(LOGS[kind].encode()))
    (tmp_path / "wide").write_bytes(LOGS[kind].encode("utf-16"))
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + LOGS[kind].encode())
    assert open_transcript(tmp_path / "packed") == open_transcript(tmp_path / "wide")
    assert open_transcript(tmp_path / "packed") == open_transcript(tmp_path / "marked")


def test_a_packed_log_that_was_cut_gives_its_beginning(tmp_path: Path) -> None:
    lines = [OPENSEQ2SEQ.replace("100:", f"{100 * i}:").replace("7.0", f"{7 + i / 977:.4f}") for i in range(1, 2000)]
    whole = gzip.compress("".join(lines).encode())
    file = tmp_path / "log.gz"
    file.write_bytes(whole[: len(whole) // 2])
    steps = {point.step for point in open_transcript(file).points}
    assert 500 < len(steps) < 1900


def test_a_packed_log_of_several_parts_is_read_whole(tmp_path: Path) -> None:
    parts = [OPENSEQ2SEQ.replace("100:", f"{100 * i}:").encode() for i in (1, 2, 3)]
    (tmp_path / "log").write_bytes(b"".join(gzip.compress(part) for part in parts))
    assert {point.step for point in open_transcript(tmp_path / "log").points} == {100, 200, 300}


def test_a_folder_with_one_log_is_that_log(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(MARIAN)
    (tmp_path / "model.npz").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    assert open_transcript(tmp_path).system == "Marian"


def test_a_folder_with_two_logs_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(MARIAN)
    (tmp_path / "b.log").write_text(MARIAN)
    with pytest.raises(UserError, match=r"holds 2 logs: a\.log, b\.log; name one: dragoman report"):
        open_transcript(tmp_path)


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"Dear diary, today the loss was great.\n" * 50, "is no training log that Dragoman knows"),
        (bytes(range(256)) * 400, "is no training log that Dragoman knows"),
        (b"PK\x03\x04" + bytes(2000), "is no training log that Dragoman knows"),
        (b"\x1f\x8b" + b"not gzip at all", "is empty"),
        (b"Wall time,Step,Value\n", "has no step and no evaluation"),
        (b"*** Training config:\n{'batch_size_per_gpu': 256}\n", "an OpenSeq2Seq log, but it has no step"),
        (b"[2021-07-17 20:00:00] [marian] Marian v1.10.0\n", "a Marian log, but it has no step"),
    ],
)
def test_what_is_no_log_is_told_in_one_sentence(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(UserError, match=problem) as error:
        open_transcript(file)
    assert error.value.fix is not None
    assert "OpenSeq2Seq, Marian or fairseq" in error.value.fix


def test_an_empty_folder_and_a_missing_path_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no files"):
        open_transcript(tmp_path)
    with pytest.raises(UserError, match="is not there"):
        open_transcript(tmp_path / "missing")
    (tmp_path / "a.bin").write_bytes(b"\0" * 10)
    with pytest.raises(UserError, match="holds 1 files, none of them a log"):
        open_transcript(tmp_path)


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("junk", [b"\xff\xfe\x00", b"\x00" * 50, "▁Führungs".encode("latin-1", "replace"), b"\x1b[2K"])
def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path, kind: str, junk: bytes) -> None:
    file = tmp_path / "log"
    log = LOGS[kind].encode()
    file.write_bytes(log + b"line " + junk + b"\n" + log)
    assert open_transcript(file).points
