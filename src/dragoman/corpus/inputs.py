"""What a recipe names, found: data sets fetched, files checked to be there, dev and test put together.

Takes the recipe's sections and gives the texts to prepare. Reads no text.
"""

import dataclasses
import difflib
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.config import Config, TextConfig
from dragoman.core.errors import UserError
from dragoman.core.paths import cache_directory
from dragoman.core.progress import Progress
from dragoman.corpus.datasets import Fetched, fetch
from dragoman.corpus.sources import ParallelText


@dataclass(frozen=True)
class TrainingText:
    """A text to train on, and whose it is."""

    text: ParallelText
    licence: str = ""
    citation: str = ""


@dataclass(frozen=True)
class Inputs:
    """Everything that is read; no dev or test text means that they are split off."""

    train: tuple[TrainingText, ...]
    dev: tuple[ParallelText, ...]
    test: tuple[ParallelText, ...]


def gather(config: Config, mirror: Path | None, progress: Progress) -> Inputs:
    """Find every input of the recipe, downloading what is not there yet."""
    check_languages(config.corpus.languages)
    _check_name(config.corpus.directory)
    if not config.corpus.texts:
        raise UserError("there is nothing to prepare: the recipe names no texts", "add a [[corpus.texts]] table to it")
    train: list[TrainingText] = []
    dev: list[ParallelText] = []
    test: list[ParallelText] = []
    for entry in config.corpus.texts:
        if entry.dataset:
            fetched = _fetch(entry, config, mirror, progress)
            for text in fetched.train:
                weight = text.weight * entry.weight
                weighted = dataclasses.replace(text, name=entry.name or text.name, weight=weight)
                train.append(TrainingText(weighted, fetched.licence, fetched.citation))
            dev += fetched.dev
            test += fetched.test
        else:
            train.append(TrainingText(_files(entry.name, entry.source, entry.target, entry.weight)))
    held_out = config.held_out
    for split, source, target in (
        ("dev", held_out.dev_source, held_out.dev_target),
        ("test", held_out.test_source, held_out.test_target),
    ):
        if target and not source:
            raise UserError(f"held_out.{split}_target has no source", f"set held_out.{split}_source too")
    if held_out.dev_source:
        dev = [_files("dev", held_out.dev_source, held_out.dev_target)]
    if held_out.test_source:
        test = [_files("test", held_out.test_source, held_out.test_target)]
    return Inputs(tuple(train), tuple(dev), tuple(test))


def check_languages(languages: str) -> None:
    source, hyphen, target = languages.partition("-")
    if not (hyphen and source.isalnum() and target.replace("-", "").isalnum()) or source == target:
        raise UserError(f"{languages!r} is not a language pair", "write it like en-de")


def _fetch(entry: TextConfig, config: Config, mirror: Path | None, progress: Progress) -> Fetched:
    if entry.source or entry.target:
        raise UserError(f"the text {entry.dataset} is both a data set and files", "make two [[corpus.texts]] of it")
    languages = (config.corpus.source_language, config.corpus.target_language)
    return fetch(entry.dataset, languages, cache=cache_directory(), mirror=mirror, progress=progress)


def _files(name: str, source: str, target: str, weight: float = 1.0) -> ParallelText:
    if not source:
        raise UserError("a text needs a data set, or a source file", "set dataset or source in [[corpus.texts]]")
    text = ParallelText(name or Path(source).name, Path(source), Path(target) if target else None, weight)
    for path in text.files:
        _check_name(str(path))
        if not _exists(path):
            raise UserError(f"there is no file {path}", _nearest(path))
    return text


def _check_name(path: str) -> None:
    """Refuse what no manifest could name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UserError(f"the name of {path!r} is not valid UTF-8", "rename it") from None
    if "\0" in path:
        raise UserError(f"{path!r} is not a name that a file can have")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for any file
        return False


def _nearest(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"there is no directory {path.parent} either"
    near = difflib.get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=1, cutoff=0.75)
    return f"did you mean {path.parent / near[0]}?" if near else None
