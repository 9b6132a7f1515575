"""What one rank does: `python -m dragoman.training.worker RUN_DIRECTORY`.

The run directory holds the resolved recipe; the environment says which rank this is. Exit codes: 0 done, 2 the user can
mend it, 130 and 143 stopped by a signal with a checkpoint written.
"""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch

from dragoman.core import config_file
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths
from dragoman.model.machine import prepare_cpu
from dragoman.telemetry.monitor import Monitor
from dragoman.training.guards import Signals, silent_ranks
from dragoman.training.loop import fit
from dragoman.training.meeting import MeetingError
from dragoman.training.run import Run
from dragoman.training.world import World, joined


def main(directory: Path) -> int:
    signals = Signals()
    paths = RunPaths(directory)
    prepare_cpu(len(os.sched_getaffinity(0)) if "OMP_NUM_THREADS" not in os.environ else torch.get_num_threads())
    try:
        config = config_file.load(paths.config)
        signals.stop_with_parent()
        with joined() as world, _watched(paths, world):
            run = Run(config, paths, world, signals)
            try:
                finished = fit(run, run.begin())
                run.tell("stopped", finished.state.step, finished.reason)
            finally:
                run.close()
    except UserError as error:
        if _is_main() or "DRAGOMAN_BIND" in os.environ:  # on several hosts the trouble may be another's alone
            print(f"dragoman: {error}", file=sys.stderr)
        return 2
    except MeetingError as error:
        print(f"dragoman: {error}", file=sys.stderr)
        return 1
    except RuntimeError as error:
        if "Connection closed by peer" not in str(error) and "Timed out" not in str(error):
            raise
        size = int(os.environ.get("WORLD_SIZE", os.environ.get("SLURM_NTASKS", "1")))
        silent = ", ".join(f"rank {rank}" for rank in silent_ranks(paths.heartbeats, size))
        waited_for = silent or "another rank, which has ended"
        print(f"dragoman: waited in vain for {waited_for}", file=sys.stderr)
        return 1
    return 128 + signals.received if signals.received else 0


def _watched(paths: RunPaths, world: World) -> AbstractContextManager[object]:
    """One rank a host writes down what the host does."""
    if world.local_rank:
        return nullcontext()
    return Monitor(paths, world.host, backend="nccl" if world.device.type == "cuda" else "gloo")


def _is_main() -> bool:
    return os.environ.get("RANK", os.environ.get("SLURM_PROCID", "0")) == "0"


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is on disk. A thread of torch that outlives the interpreter would turn a good end into an abort.
    os._exit(code)
