"""Another machine's run: what ssh is told, and what never reaches it."""

import shlex
import subprocess
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.watch import remote
from dragoman.watch.remote import Place, place_of


def told(place: Place, *, has_terminal: bool = False, once: bool = False, web_port: int | None = None) -> list[str]:
    return remote.command(place, has_terminal=has_terminal, once=once, web_port=web_port)


@pytest.mark.parametrize(
    "word, place",
    [
        ("me@gpu1:runs/a", Place("me@gpu1", "runs/a")),
        ("gpu1:/data/runs/a b", Place("gpu1", "/data/runs/a b")),
        ("me@10.0.0.7:~/runs/a", Place("me@10.0.0.7", "runs/a")),
        ("runs/a", None),
        ("./a:b", None),
        ("/runs/a:b", None),
    ],
)
def test_a_word_names_a_machine_or_a_directory(word: str, place: Place | None) -> None:
    assert place_of(word) == place


def test_a_directory_that_is_here_is_no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpu1:a").mkdir()
    assert place_of("gpu1:a") is None


@pytest.mark.parametrize(
    "word",
    [
        "-v:x",
        "me@-v:x",
        "-v@host:x",
        "-oProxyCommand=touch:x",
        "me@-oProxyCommand=x:a",
        "a b:c",
        "$(x):y",
        "me@host:",
        ":a",
        "m;e@host:a",
    ],
)
def test_a_word_that_could_be_an_option_or_a_command_is_refused(word: str) -> None:
    with pytest.raises(UserError, match="names no machine; write user@host:path/to/run"):
        place_of(word)


def test_a_path_with_line_breaks_is_refused() -> None:
    with pytest.raises(UserError, match="holds characters that no path should"):
        place_of("me@host:a\nb")


def test_ssh_gets_a_list_and_the_other_shell_one_word_for_the_path() -> None:
    words = told(Place("me@gpu1", "runs/a; rm -rf 'x' $HOME"), has_terminal=True)
    assert words[:4] == ["ssh", "-t", "--", "me@gpu1"]
    assert words[4].startswith(f"{remote.ENVIRONMENT} dragoman ")
    assert shlex.split(words[4])[2:] == ["dragoman", "watch", "--", "runs/a; rm -rf 'x' $HOME"]
    assert len(words) == 5


def test_without_a_terminal_none_is_asked_for_and_options_are_passed_on() -> None:
    assert told(Place("gpu1", "a"), once=True) == [
        *("ssh", "--", "gpu1"),
        'env PATH="$PATH:$HOME/dragoman/venv/bin" dragoman watch --once -- a',
    ]


def test_the_page_comes_through_a_tunnel_on_loopback() -> None:
    assert told(Place("gpu1", "a"), web_port=8642) == [
        *("ssh", "-L", "127.0.0.1:8642:127.0.0.1:8642", "--", "gpu1"),
        f"{remote.ENVIRONMENT} dragoman watch --web --port 8642 -- a",
    ]


def watch_with(fake_ssh: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    (directory / "ssh").write_text(f"#!/bin/sh\n{fake_ssh}\n")
    (directory / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    return remote.watch(Place("gpu1", "a b"), has_terminal=False, once=True, web_port=None)


def test_the_exit_code_of_the_other_side_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert watch_with(f'printf "%s|" "$@" > {tmp_path}/told; exit 2', tmp_path, monkeypatch) == 2
    assert (tmp_path / "told").read_text() == f"--|gpu1|{remote.ENVIRONMENT} dragoman watch --once -- 'a b'|"


def test_what_an_installation_made_there_is_found_and_the_path_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    as_the_other_shell = 'shift 2; exec /bin/sh -c "$1"'
    for place in ("home/dragoman/venv/bin", "."):
        program = tmp_path / place / "dragoman"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nprintf "%s|" {place} "$@" > {tmp_path}/told\n')
        program.chmod(0o755)
        assert watch_with(as_the_other_shell, tmp_path, monkeypatch) == 0
        assert (tmp_path / "told").read_text() == f"{place}|watch|--once|--|a b|"


def test_a_machine_without_dragoman_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"gpu1 has no `dragoman` on its path; install it there"):
        watch_with("exit 127", tmp_path, monkeypatch)


def test_a_machine_without_ssh_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", missing)
    with pytest.raises(UserError, match="there is no ssh on this machine"):
        remote.watch(Place("gpu1", "a"), has_terminal=False, once=True, web_port=None)
