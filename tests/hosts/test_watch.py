"""A run that is watched over a real SSH connection, where Dragoman is not on the path but where `--install` puts it."""

import subprocess
import sys

from tests.hosts.runs import HostsRun


def test_a_run_on_another_machine_is_shown_as_it_is_there(two: HostsRun) -> None:
    program = two.ground.main.directory / "dragoman/venv/bin/dragoman"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dragoman.cli.main "$@"\n')
    program.chmod(0o755)
    assert two.train("--skip-check") == 0, two.words()
    shown = two.ground.dragoman("watch", f"{two.ground.main.address}:run", "--once", stdout=subprocess.PIPE)
    told, _ = shown.communicate(timeout=60)
    assert shown.returncode == 0
    assert "run: stopped: 12 steps are done" in told
    assert "rank 1: " in told
    missing = two.ground.dragoman("watch", f"{two.ground.main.address}:nothing", "--once", stderr=subprocess.PIPE)
    _, complaint = missing.communicate(timeout=60)
    assert missing.returncode == 2
    assert "nothing holds no run" in complaint
