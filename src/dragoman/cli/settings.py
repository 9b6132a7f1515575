"""Settings of a run, as the verbs that only use it need them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from dragoman.core import config_file
from dragoman.core.config import DecodingConfig
from dragoman.core.errors import UserError
from dragoman.core.paths import RunPaths


def decoding_config(run: Path, overrides: Sequence[str], *, at_least_beam: int = 1) -> DecodingConfig:
    """The run's way of searching, changed by `decoding.key=value`."""
    paths = RunPaths(run)
    if not paths.config.is_file():
        raise UserError(f"{run} is not a run: no config.toml", "train one with `dragoman train RECIPE.toml`")
    decoding = config_file.load(paths.config, only_decoding(overrides)).decoding
    return dataclasses.replace(decoding, beam=max(decoding.beam, at_least_beam))


def only_decoding(overrides: Sequence[str]) -> Sequence[str]:
    """The overrides; UserError where one changes what a trained model cannot change any more."""
    for override in overrides:
        if not override.startswith("decoding."):
            raise UserError(f"--set {override}: only decoding settings can be changed here")
    return overrides
