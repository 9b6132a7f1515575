"""What was built, written down: the manifest, the card, the examples of what was dropped."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dragoman
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.files import sha256_of
from dragoman.corpus import card
from dragoman.corpus.lines import FileRead
from dragoman.corpus.manifest import (
    FORMAT_VERSION,
    HashedFile,
    Manifest,
    SplitReport,
    TextReport,
    VocabularyReport,
    fingerprint_of,
    write_manifest,
)
from dragoman.corpus.site import Site, TextBook
from dragoman.corpus.vocab import Vocabulary


def describe(
    site: Site,
    given: dict[str, tuple[FileRead, ...]],
    splits: dict[str, SplitReport],
    vocabularies: tuple[Path, Path],
    id_type: str,
    files: list[HashedFile],
) -> Manifest:
    """Write the manifest and the pages for people."""
    models = {side: hashed(path) for side, path in zip(("source", "target"), vocabularies, strict=True)}
    files += {model.name: model for model in models.values()}.values()
    files.sort(key=lambda file: file.name)
    languages = site.config.corpus.languages
    vocabulary_of = {side: Vocabulary(path) for side, path in zip(models, vocabularies, strict=True)}
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        dragoman_version=dragoman.__version__,
        fingerprint=fingerprint_of(files, languages),
        languages=languages,
        seed=site.config.corpus.seed,
        id_type=id_type,
        prepared_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=site.seconds,
        texts=tuple(_text_report(book) for book in site.books),
        given=given,
        splits=splits,
        vocabularies={
            side: VocabularyReport(model.name, vocabulary_of[side].size, vocabulary_of[side].special, model.sha256)
            for side, model in models.items()
        },
        settings=settings_of(site.config),
        files=tuple(files),
        pages=(),
    )
    records.write_lines(site.paths.dropped, [example for book in site.books for example in book.account.examples])
    pages = [site.paths.dropped, *card.write(manifest, site.paths)]
    return write_manifest(manifest, [hashed(page) for page in pages], site.paths.directory)


def hashed(path: Path) -> HashedFile:
    return HashedFile(path.name, path.stat().st_size, sha256_of(path))


def _text_report(book: TextBook) -> TextReport:
    return TextReport(
        name=book.training_text.text.name,
        weight=book.training_text.text.weight,
        files=book.files,
        pairs_read=book.num_read,
        pairs_kept=book.num_kept,
        pairs_held_out=book.num_held_out,
        dropped=dict(book.account.dropped.most_common()),
        licence=book.training_text.licence,
        citation=book.training_text.citation,
    )


def settings_of(config: Config) -> dict[str, Any]:
    """The settings that decide what a corpus holds; where it lies is not among them."""
    sections: dict[str, Any] = records.to_json(config)
    settings = {name: dict(sections[name]) for name in ("corpus", "held_out", "cleaning", "vocabulary")}
    del settings["corpus"]["directory"]
    return settings
