"""`dragoman watch` on the command line."""

import argparse
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from dragoman.cli import watch
from dragoman.core.errors import UserError
from tests.watched_run import WatchedRun


def run_verb(*words: str) -> int:
    parser = argparse.ArgumentParser()
    watch.add_to(parser.add_subparsers())
    options = parser.parse_args(["watch", *words])
    code: int = options.run_verb(options)
    return code


def test_without_a_terminal_the_view_is_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = WatchedRun(tmp_path / "run").as_usual()
    assert run_verb(str(run.paths.directory)) == 0
    assert "step 200 of 1,000 (20 %)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["{}", "--web", "--once"], "--web and --once do not go together"),
        (["{}", "--web", "--port", "70000"], "--port 70000 is no port"),
        (["{}/nothing"], "nothing holds no run; `dragoman train RECIPE` begins one"),
        (["-x@y:z"], None),
        (["me@-host:z"], "names no machine"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], sentence: str | None) -> None:
    words = [word.format(tmp_path) for word in words]
    if sentence is None:
        with pytest.raises(SystemExit):  # argparse takes it for an option, as ssh never will
            run_verb(*words)
        return
    with pytest.raises(UserError, match=sentence):
        run_verb(*words)


def test_ctrl_c_is_the_way_to_leave_the_page(tmp_path: Path) -> None:
    run = WatchedRun(tmp_path / "run").as_usual()
    program = (
        "import argparse, sys; from dragoman.cli import watch; parser = argparse.ArgumentParser();"
        "watch.add_to(parser.add_subparsers()); options = parser.parse_args(sys.argv[1:]);"
        "sys.exit(options.run_verb(options))"
    )
    command = [sys.executable, "-c", program, "watch", str(run.paths.directory), "--web", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(30, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        url, _, words = process.stdout.readline().partition("  ")
        assert words == "(this machine only; Ctrl-C ends it)\n"
        with urllib.request.urlopen(f"{url}data", timeout=10) as reply:
            assert b'"step": 200' in reply.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
