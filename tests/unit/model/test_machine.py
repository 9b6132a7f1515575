"""Process-wide settings, each in a process of its own."""

import subprocess
import sys


def test_preparing_the_process_sets_threads_and_keeps_working() -> None:
    code = (
        "import torch; from dragoman.model.machine import keep_freed_memory, prepare_cpu; prepare_cpu(1);"
        "print(torch.get_num_threads(), keep_freed_memory() in (True, False), torch.ones(3_000_000).sum().item())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["1", "True", "3000000.0"]
