"""A corpus that is already there: used if it is what the recipe asks for, never overwritten by surprise."""

from pathlib import Path

from dragoman.core.config import Config
from dragoman.core.config_text import differences
from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors, sha256_of
from dragoman.corpus.description import settings_of
from dragoman.corpus.manifest import Manifest
from dragoman.corpus.shards import open_corpus

FORCE = "prepare into another directory, or replace it with --force"


def already_prepared(config: Config, *, force: bool) -> Manifest | None:
    """The corpus in the recipe's directory if it is the wanted one; None if there is nothing, or it may be replaced.

    UserError if something else is there: another corpus without `force`, or, force or not, no corpus at all.
    """
    directory = Path(config.corpus.directory)
    with explaining_disk_errors(directory):
        if not directory.exists():
            return None
    if not directory.is_dir():
        raise UserError(f"{directory} is a file; a corpus is a directory", "name another with --out")
    if directory.is_mount():  # it cannot be renamed, and a corpus comes to its place by being renamed
        raise UserError(f"{directory} is a mount point", f"name a directory inside it: --out {directory / 'corpus'}")
    if not any(directory.iterdir()):
        return None
    if not _holds_corpus(directory):
        raise UserError(f"{directory} holds files but no corpus; nothing was changed", "name another with --out")
    if force:
        return None
    manifest = open_corpus(directory).manifest
    changes = differences(manifest.settings, settings_of(config)) + _changed_inputs(manifest)
    if changes:
        raise UserError(f"{directory} was prepared differently: {'; '.join(changes)}", FORCE)
    return manifest


def _holds_corpus(directory: Path) -> bool:
    """Web pages, browser add-ons and others have a manifest.json too; beside ours lie shards."""
    return (directory / "manifest.json").is_file() and any(directory.glob("*-000.*"))


def _changed_inputs(manifest: Manifest) -> list[str]:
    """Inputs that no longer are what was read. One that is gone is no reason to prepare again."""
    files = [file for text in manifest.texts for file in text.files]
    files += [file for given in manifest.given.values() for file in given]
    hashes = {file.path: file.sha256 for file in files}
    chosen = manifest.settings["vocabulary"]
    for side, vocabulary in manifest.vocabularies.items():
        if path := chosen["model"] or chosen[f"{side}_model"]:
            hashes[path] = vocabulary.sha256
    there = {path: sha256 for path, sha256 in hashes.items() if Path(path).is_file()}
    return [f"{path} has changed since" for path, sha256 in there.items() if sha256_of(Path(path)) != sha256]
