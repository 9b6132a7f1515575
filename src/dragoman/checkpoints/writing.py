"""One checkpoint, written whole or not at all.

Takes tensors in main memory and the text of the state; makes a directory. Hashes what it has written, so that a reader
can tell the smallest change. Knows nothing of other checkpoints.
"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from dragoman.core.files import building, sha256_of
from dragoman.core.paths import CheckpointPaths


def write(directory: Path, model: Mapping[str, Tensor], optimizer: Mapping[str, Tensor], state: str) -> None:
    """Make the directory, or replace it. OSError or UserError where it cannot be; then nothing has changed."""
    with building(directory) as partial:
        paths = CheckpointPaths(partial)
        paths.state.write_text(state, encoding="utf-8")
        for path, tensors in ((paths.model, model), (paths.optimizer, optimizer)):
            _write_tensors(path, tensors)
            shutil.copymode(paths.state, path)  # the library lets the owner alone read what it writes
        files = (paths.model, paths.optimizer, paths.state)
        paths.sums.write_text("".join(f"{sha256_of(path)}  {path.name}\n" for path in files), encoding="utf-8")


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    try:
        save_file(dict(tensors), path, metadata={"format": "pt"})
    except SafetensorError as error:
        # The library tells a full disk in words only: "I/O error: No space left on device (os error 28)".
        if number := re.search(r"\(os error (\d+)\)", str(error)):
            raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from None
        raise
