"""`dragoman serve` at the command line: what it refuses, what it prints, how it ends."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli import serve as verb
from dragoman.core.errors import UserError
from dragoman.serve import models as models_module
from dragoman.serve import server
from tests.serving.fakes import two_ways


def run(*words: str) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    verb.add_to(parser.add_subparsers())
    verb.run(parser.parse_args(["serve", *words]))


@contextlib.contextmanager
def occupied() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_in_use_is_said_before_models_are_loaded(tmp_path: Path) -> None:
    with occupied() as port, pytest.raises(UserError, match=f"port {port} is in use; take another with --port, or 0"):
        run(str(tmp_path), "--port", str(port))


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_is_none(tmp_path: Path, port: str) -> None:
    with pytest.raises(UserError, match=f"there is no port {port}"):
        run(str(tmp_path), f"--port={port}")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not an exported model: no model\.json"):
        run(str(tmp_path), "--port", "0")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_an_address_that_others_reach_needs_a_word(tmp_path: Path, host: str) -> None:
    with pytest.raises(UserError, match=f"other machines may reach {host}; add --public if they shall"):
        run(str(tmp_path), "--host", host)


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot listen on 192\.0\.2\.1: .*; take --host 127\.0\.0\.1"):
        run(str(tmp_path), "--host", "192.0.2.1", "--public")
    with pytest.raises(UserError, match="'no such host' is no address of this machine"):
        run(str(tmp_path), "--host", "no such host", "--public")


def test_keys_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    with pytest.raises(UserError, match=r"cannot read .*keys\.txt: No such file"):
        server.read_keys(file)
    file.write_text("# the team\n\n")
    with pytest.raises(UserError, match=r"there is no key in .*keys\.txt; write one into it"):
        server.read_keys(file)
    file.write_text("# the team\n one \ntwo\n")
    assert server.read_keys(file) == ["one", "two"]
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="it is not text"):
        server.read_keys(file)


def test_it_says_what_is_served_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models_module, "open_models", lambda directories, threads: two_ways())
    monkeypatch.setattr(server, "serve", lambda app, listener: None)
    run(str(tmp_path), "--port", "0")
    said = capsys.readouterr()
    assert said.out.startswith("en → de  fake\nde → en  fake back\nhttp://127.0.0.1:")
    assert said.err == ""
    run(str(tmp_path), "--port", "0", "--host", "0.0.0.0", "--public")
    said = capsys.readouterr()
    assert "other machines may reach 0.0.0.0; texts and keys cross the network unencrypted" in said.err
    assert "whoever reaches it may use it; --api-key-file asks for a key" in said.err


def test_the_last_answers_are_given_before_the_end() -> None:
    import httpx

    from dragoman.serve.application import build
    from dragoman.serve.models import Models
    from tests.serving.fakes import FakeEngine

    listener = server.listening_socket("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    running = server.server_for(build(Models([FakeEngine(seconds=0.4)])))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    found: list[httpx.Response] = []

    def ask() -> None:
        found.append(httpx.post(f"{url}/translate", json={"q": "One", "source": "en", "target": "de"}))

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(timeout=0.2)
    running.should_exit = True  # as SIGTERM does
    asking.join(timeout=10)
    thread.join(timeout=10)
    assert [each.json() for each in found] == [{"translatedText": "oNE"}]
    assert not thread.is_alive()
