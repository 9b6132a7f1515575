"""A corpus that is already there: used if it is what the recipe asks for, never overwritten by surprise."""

from pathlib import Path
from typing import Any

from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.corpus.manifest import Manifest
from dragoman.corpus.prepare import settings_of
from dragoman.corpus.shards import open_corpus

FORCE = "prepare into another directory, or replace it with --force"


def already_prepared(config: Config, *, force: bool) -> Manifest | None:
    """The corpus in the recipe's directory if it is the wanted one; None if there is nothing, or it may be replaced.

    UserError if something else is there: another corpus without `force`, or, force or not, no corpus at all.
    """
    directory = Path(config.corpus.directory)
    if not directory.exists():
        return None
    if not directory.is_dir():
        raise UserError(f"{directory} is a file; a corpus is a directory", "name another with --out")
    if not any(directory.iterdir()):
        return None
    if not (directory / "manifest.json").is_file():
        raise UserError(f"{directory} holds files but no corpus; nothing was changed", "name another with --out")
    if force:
        return None
    manifest = open_corpus(directory).manifest
    changes = differences(manifest.settings, settings_of(config)) + _changed_inputs(manifest)
    if changes:
        raise UserError(f"{directory} was prepared differently: {'; '.join(changes)}", FORCE)
    return manifest


def differences(before: Any, now: Any, path: str = "") -> list[str]:
    """The settings that differ, each as `section.key was …, now …`."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            text
            for key in keys
            for text in differences(before.get(key), now.get(key), f"{path}.{key}" if path else str(key))
        ]
    return [] if before == now else [f"{path} was {before!r}, now {now!r}"]


def _changed_inputs(manifest: Manifest) -> list[str]:
    """Inputs that no longer are what was read. One that is gone is no reason to prepare again."""
    files = [file for text in manifest.texts for file in text.files]
    files += [file for given in manifest.given.values() for file in given]
    changes = []
    for file in files:
        path = Path(file.path)
        if path.is_file() and (path.stat().st_size != file.bytes or sha256_of(path) != file.sha256):
            changes.append(f"{file.path} has changed since")
    return changes
