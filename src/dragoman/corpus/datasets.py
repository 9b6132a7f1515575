"""Data sets by name.

Takes a name, two languages and a cache directory and gives plain parallel text in the cache, made at the first call
and used without a network from then on. A directory in the cache that has its final name is whole.
Knows nothing of cleaning or of splitting: where a data set has no dev or test text, none is given.
"""

import difflib
import errno
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import UserError
from dragoman.core.files import write_whole
from dragoman.core.progress import Progress
from dragoman.corpus import libreoffice, phrasebook
from dragoman.corpus.archives import unpack
from dragoman.corpus.cache import fill_once
from dragoman.corpus.catalogue import CATALOGUE, DataSet, Text
from dragoman.corpus.download import download, forget_hash, read_known_hashes
from dragoman.corpus.sources import ParallelText

# Part of every directory name in the cache: raise it when the same files would give another text.
CONVERSION = "v1"
HELP_PAGES, PHRASEBOOK = "libreoffice-help", "phrasebook"
SPLITS = ("train", "dev", "test")
PHRASES = "phrases"
PHRASES_WEIGHT = 20.0
"""What is learnt by heart must be met more than once, even in the first minutes of training."""


@dataclass(frozen=True)
class Fetched:
    """Where the texts of a data set lie; `dev` and `test` are empty where they are to be split off."""

    train: tuple[ParallelText, ...]
    dev: tuple[ParallelText, ...]
    test: tuple[ParallelText, ...]
    licence: str
    citation: str


def names() -> tuple[str, ...]:
    """Every data set, with the languages it is there for where one name stands for many."""
    return (*CATALOGUE, f"{HELP_PAGES}:en-XX", PHRASEBOOK)


def fetch(name: str, languages: tuple[str, str], *, cache: Path, mirror: Path | None, progress: Progress) -> Fetched:
    """The texts of the data set `name`, in the order of `languages`; a name may carry its pair (`name:en-de`)."""
    name, _, pair = name.partition(":")
    source, target = languages = (_code(languages[0]), _code(languages[1]))
    if pair and sorted(_pair(pair)) != sorted(languages):
        raise UserError(f"{name}:{pair} has no text from {source} to {target}", f"name {name}:{source}-{target}")
    _check(name, languages)
    try:
        if name == PHRASEBOOK:
            return _phrasebook(languages, cache, progress)
        if name == HELP_PAGES:
            return _help_pages(languages, cache, mirror, progress)
        return fetch_catalogued(CATALOGUE[name], languages, cache, mirror, progress)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.ENOTDIR, errno.EPERM, errno.EROFS):
            raise
        raise UserError(f"the cache {cache} cannot be filled: {error}", "make room there or name another") from error


def _code(language: str) -> str:
    return language.lower().replace("_", "-")


def _pair(pair: str) -> tuple[str, str]:
    """Both languages of `en-de` or `en-pt-br`: it is split where both halves are known."""
    parts = _code(pair).split("-")
    for i in range(1, len(parts)):
        first, second = "-".join(parts[:i]), "-".join(parts[i:])
        if first in libreoffice.LANGUAGES and second in libreoffice.LANGUAGES:
            return first, second
    raise UserError(f"{pair} is not a pair of languages", "write it like en-de")


def _check(name: str, languages: tuple[str, str]) -> None:
    known = (*CATALOGUE, HELP_PAGES, PHRASEBOOK)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}"
        raise UserError(f"{name} is not a data set", hint)
    if name == HELP_PAGES:
        there = set(libreoffice.LANGUAGES)
    else:
        there = set(CATALOGUE[name].languages) if name in CATALOGUE else {"de", "en"}
    if not set(languages) <= there or languages[0] == languages[1]:
        raise UserError(
            f"{name} has no text from {languages[0]} to {languages[1]}",
            f"its languages are {', '.join(sorted(there))}, any two of them",
        )


def fetch_catalogued(
    data_set: DataSet, languages: tuple[str, str], cache: Path, mirror: Path | None, progress: Progress
) -> Fetched:
    """The texts of a data set that is downloaded file by file."""
    directory = cache / data_set.name / f"text-{CONVERSION}"
    fill_once(directory, cache, lambda partial: _convert(data_set, partial, cache, mirror, progress))
    for file in data_set.downloads:  # packed copies of what now lies there as text; WMT's take 1.7 GB
        (cache / data_set.name / file.base_name).unlink(missing_ok=True)

    def texts(split: str) -> tuple[ParallelText, ...]:
        source, target = languages
        return tuple(
            ParallelText(
                f"{data_set.name} {text.name}",
                directory / f"{text.name}.{source}",
                directory / f"{text.name}.{target}",
            )
            for text in data_set.texts
            if text.split == split
        )

    return Fetched(texts("train"), texts("dev"), texts("test"), data_set.licence, data_set.citation)


def _convert(data_set: DataSet, to: Path, cache: Path, mirror: Path | None, progress: Progress) -> None:
    """Download, unpack and convert a data set into line-aligned files `<text>.<language>`."""
    wanted = {member for text in data_set.texts for side in text.members.values() for member in side}
    raw, known_hashes = to / "raw", cache / "known_hashes.json"
    for file in data_set.downloads:
        is_first = file.sha256 is None and file.url not in read_known_hashes(known_hashes)
        archive = download(
            file.url,
            cache / data_set.name / file.base_name,
            expected_sha256=file.sha256,
            max_bytes=file.max_bytes,
            known_hashes=known_hashes,
            progress=progress,
            mirror=mirror,
        )
        try:
            unpack(archive, raw, [member for member in wanted if member.startswith(file.holds)], progress=progress)
        except UserError:
            archive.unlink()
            if is_first:  # what a captive portal sends in place of an archive must not be held against the archive
                forget_hash(file.url, known_hashes)
            raise
    for text in data_set.texts:
        num_lines = {
            language: _write_lines(to / f"{text.name}.{language}", _lines(text, raw, language))
            for language in text.members
        }
        if len(set(num_lines.values())) > 1:
            counts = " and ".join(f"{count:,} lines of {language}" for language, count in sorted(num_lines.items()))
            raise UserError(f"{text.name} of {data_set.name} is not aligned: it has {counts}")
    shutil.rmtree(raw)


def _lines(text: Text, raw: Path, language: str) -> Iterator[bytes]:
    def all_lines() -> Iterator[bytes]:
        for member in text.members[language]:
            with (raw / member).open("rb") as file:
                yield from text.lines(file)

    return (line for number, line in enumerate(all_lines(), start=1) if text.has_line(number))


def _write_lines(path: Path, lines: Iterable[bytes]) -> int:
    num_lines = 0

    def counted() -> Iterator[bytes]:
        nonlocal num_lines
        for line in lines:
            num_lines += 1
            yield line + b"\n"

    write_whole(path, counted())
    return num_lines


def _help_pages(languages: tuple[str, str], cache: Path, mirror: Path | None, progress: Progress) -> Fetched:
    first, second = sorted(languages)
    directory = cache / HELP_PAGES / f"{first}-{second}-{CONVERSION}"

    def fill(partial: Path) -> None:
        with libreoffice.packages((first, second), mirror) as packages:
            rows = libreoffice.aligned_paragraphs(*packages, progress)
            _write_both_directions(partial / "train", (first, second), rows)

    fill_once(directory, cache, fill)
    return Fetched(
        train=(ParallelText(HELP_PAGES, _tsv(directory / "train", languages)),),
        dev=(),
        test=(),
        licence="MPL-2.0, parts Apache-2.0",
        citation="The Document Foundation: LibreOffice Help, as packaged by Debian",
    )


def _phrasebook(languages: tuple[str, str], cache: Path, progress: Progress) -> Fetched:
    directory = cache / PHRASEBOOK / f"v{phrasebook.VERSION}-phrases-apart"

    def fill(partial: Path) -> None:
        fixed = phrasebook.fixed_phrases()
        for split in SPLITS:
            with progress.stage(f"write phrasebook {split}", total=None, unit="pairs") as bar:
                rows = [pair for pair in phrasebook.pairs(split) if pair not in fixed]
                bar.advance(len(rows), pairs=len(rows))
                _write_both_directions(partial / split, ("en", "de"), rows)
        _write_both_directions(partial / PHRASES, ("en", "de"), sorted(fixed))

    def texts(split: str, weight: float = 1.0) -> tuple[ParallelText, ...]:
        return (ParallelText(f"{PHRASEBOOK} {split}", _tsv(directory / split, languages), weight=weight),)

    fill_once(directory, cache, fill)
    train = texts("train") + texts(PHRASES, PHRASES_WEIGHT)
    return Fetched(train, texts("dev"), texts("test"), "Apache-2.0", "Dragoman's built-in phrasebook")


def _tsv(stem: Path, languages: tuple[str, str]) -> Path:
    return stem.with_name(f"{stem.name}.{languages[0]}-{languages[1]}.tsv")


def _write_both_directions(stem: Path, languages: tuple[str, str], rows: Iterable[tuple[str, ...]]) -> None:
    """Write rows of source, target and whatever follows, and the same rows with the first two swapped."""
    rows = list(rows)
    source, target = languages
    _write_lines(_tsv(stem, (source, target)), ("\t".join(row).encode() for row in rows))
    _write_lines(_tsv(stem, (target, source)), ("\t".join((row[1], row[0], *row[2:])).encode() for row in rows))
