"""Files between machines: directories arrive whole or not at all, records come home once and in order."""

import hashlib
from pathlib import Path

import pytest

from dragoman.cluster.agent_files import COMES_HOME, Announced, Follower, Receiver, inside
from dragoman.cluster.home import Home
from dragoman.core.errors import UserError


def announced(name: str, content: bytes) -> Announced:
    return Announced(name, len(content), hashlib.sha256(content).hexdigest())


def test_a_directory_arrives_whole(tmp_path: Path) -> None:
    contents = {"a": b"12345", "empty": b"", "sub/b": b"x" * 100}
    receiver = Receiver(tmp_path / "corpus", [announced(name, content) for name, content in contents.items()])
    stream = b"".join(contents.values())
    for start in range(0, len(stream), 7):
        assert not (tmp_path / "corpus").exists()
        receiver.write(stream[start : start + 7])
    assert receiver.is_complete
    receiver.finish()
    assert {name: (tmp_path / "corpus" / name).read_bytes() for name in contents} == contents


def test_a_flipped_byte_is_noticed_and_nothing_is_left(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "corpus", [announced("a", b"12345")])
    with pytest.raises(UserError, match="a did not arrive as it was sent") as caught:
        receiver.write(b"12346")
    with pytest.raises(UserError):
        receiver.abandon(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_more_than_was_announced_is_refused(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path / "corpus", [announced("a", b"1")])
    with pytest.raises(UserError, match="more bytes than announced"):
        receiver.write(b"12")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".ssh/authorized_keys", "a//b", "", "-x", "a\0b"])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError, match="is no path inside"):
        inside(tmp_path, path)
    with pytest.raises(UserError, match="is no path inside"):
        Receiver(tmp_path / "corpus", [announced(path, b"")])


def test_records_come_in_whole_lines_and_once(tmp_path: Path) -> None:
    steps = tmp_path / "steps"
    steps.mkdir()
    (steps / "rank01.jsonl").write_text('{"step": 1}\n')
    (tmp_path / "config.toml").write_text("not a record")
    follower = Follower(tmp_path, {})
    assert list(follower.news()) == [], "what was there before is at home"
    with (steps / "rank01.jsonl").open("a") as file:
        file.write('{"step": 2}\n{"st')
        file.flush()
        assert list(follower.news()) == [("steps/rank01.jsonl", 12, b'{"step": 2}\n')]
        file.write('ep": 3}\n')
    assert list(follower.news()) == [("steps/rank01.jsonl", 24, b'{"step": 3}\n')]
    (tmp_path / "exchanges").mkdir()
    (tmp_path / "exchanges/rank01.jsonl").write_text('{"step": 10}\n')
    assert list(follower.news()) == [("exchanges/rank01.jsonl", 0, b'{"step": 10}\n')]
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples/step_0000012.txt").write_text("sample")
    assert list(follower.news()) == [("samples/step_0000012.txt", 0, b"sample")]
    assert list(follower.news()) == []


def test_a_host_that_was_cut_off_goes_on_where_home_stopped_hearing(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("one\ntwo\nthree\n")
    assert list(Follower(tmp_path, {"events.jsonl": 4}).news()) == [("events.jsonl", 4, b"two\nthree\n")]


def test_home_takes_each_piece_once_and_believes_no_path(tmp_path: Path) -> None:
    home = Home(tmp_path / "run")
    home.take("right", "steps/rank01.jsonl", 0, b"one\n")
    home.take("right", "steps/rank01.jsonl", 0, b"one\n")
    home.take("right", "steps/rank01.jsonl", 4, b"two\n")
    home.take("third", "steps/rank01.jsonl", 0, b"other host\n")
    assert (tmp_path / "run/steps/rank01.jsonl").read_bytes() == b"one\ntwo\nother host\n"
    assert home.offsets("right") == {"steps/rank01.jsonl": 8}
    for path in ("../evil", "/etc/passwd", "config.toml", "checkpoints/step_0000001/model.safetensors", "steps/x.py"):
        home.take("right", path, 0, b"evil")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["rank01.jsonl"]


def test_only_records_match() -> None:
    assert COMES_HOME.fullmatch("telemetry/gpu-1.example.jsonl")
    assert not COMES_HOME.fullmatch("telemetry/../x.jsonl")
    assert COMES_HOME.fullmatch("tensorboard/left/events.out.tfevents.1.dragoman")
    for path in ("tensorboard/a/b/c", "tensorboard/../x", "tensorboard/..", "telemetry/..jsonl"):
        assert not COMES_HOME.fullmatch(path)


def test_a_directory_among_the_records_keeps_nothing_else_from_coming(tmp_path: Path) -> None:
    (tmp_path / "tensorboard/left").mkdir(parents=True)
    (tmp_path / "checkpoints").mkdir()
    follower = Follower(tmp_path, {})
    (tmp_path / "tensorboard/left/events.1").write_bytes(b"x")
    (tmp_path / "checkpoints/latest").write_text("step_0000002")
    assert [name for name, _, _ in follower.news()] == ["tensorboard/left/events.1", "checkpoints/latest"]
