"""From parallel text to a training-ready corpus, told in order.

    texts → clean, spill in random order → hold out dev and test → train subwords → encode → shards, manifest, card

Everything is built beside the corpus directory and renamed into it at the end: the directory is whole or not there.
The result depends on the recipe and the texts alone, never on the machine.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dragoman
from dragoman.core import records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import building, explaining_disk_errors, sha256_of
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Progress
from dragoman.corpus import card
from dragoman.corpus.clean import essence
from dragoman.corpus.cleaning import Account, CleanedBlock, CleaningJob, clean_block, decode_lines
from dragoman.corpus.encoding import EncodingJob, HeldOut, SamplingJob, encode_buckets, encode_pairs, sample_words
from dragoman.corpus.held_out import Document, Pair, Wanted, split_off
from dragoman.corpus.inputs import Inputs, TrainingText, gather
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
from dragoman.corpus.shards import MOST_PIECES, SplitWriter
from dragoman.corpus.sources import ParallelText, Reader
from dragoman.corpus.spill import Buckets, Run, group_buckets, hash_of
from dragoman.corpus.vocab import Vocabulary, train
from dragoman.corpus.workers import Workers, num_cores

INLINE_BYTES = 8_000_000  # of input: less is done sooner than other processes are started
PAIRS_AT_ONCE = 16_384


def prepare(config: Config, *, mirror: Path | None, progress: Progress) -> Manifest:
    """Prepare the corpus of a recipe in its directory; what stood there is replaced."""
    directory = Path(config.corpus.directory)
    inputs = gather(config, mirror, progress)
    num_bytes = sum(path.stat().st_size for one in inputs.train for path in one.text.files)
    workers = Workers(num_cores() if num_bytes > INLINE_BYTES else 0)
    with explaining_disk_errors(directory), building(directory) as partial, workers:
        return _build(_Site(config, inputs, CorpusPaths(partial), workers, progress))


@dataclass
class _TextBook:
    """The account of one text, kept while it is prepared."""

    training_text: TrainingText
    files: tuple[FileRead, ...] = ()
    num_read: int = 0
    num_kept: int = 0
    num_held_out: int = 0
    account: Account = field(default_factory=Account)


@dataclass
class _Site:
    """Where a corpus is being built: what everyone who works on it needs."""

    config: Config
    inputs: Inputs
    paths: CorpusPaths
    workers: Workers
    progress: Progress
    books: list[_TextBook] = field(init=False)
    runs: list[Run] = field(default_factory=list)
    groups: list[Buckets] = field(default_factory=list)
    num_records: int = 0
    documents: Counter[Document] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.books = [_TextBook(text) for text in self.inputs.train]

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[stage] = round(time.monotonic() - start, 3)


def _build(site: _Site) -> Manifest:
    spill = site.paths.directory / "spill"
    spill.mkdir()
    with site.timed("cleaning"):
        _clean(site, spill)
    with site.timed("holding out"):
        held_out, given = _hold_out(site)
    with site.timed("subwords"):
        vocabularies = _make_vocabularies(site)
    id_type = "<u2" if all(Vocabulary(path).size <= 1 << 16 for path in vocabularies) else "<u4"
    with site.timed("encoding"):
        train_report, files = _encode_train(site, held_out, vocabularies, id_type)
        splits = {"train": train_report}
        for split, pairs in held_out.items():
            splits[split], split_files = _encode_held_out(site, split, pairs, vocabularies, id_type)
            files += split_files
    for run in site.runs:
        run.path.unlink()
    (spill / "held_out.json").unlink()
    spill.rmdir()
    return _describe(site, given, splits, vocabularies, id_type, files)


def _clean(site: _Site, spill: Path) -> None:
    """Every text through the rules, into sorted runs."""
    num_bytes = sum(path.stat().st_size for book in site.books for path in book.training_text.text.files)
    with site.progress.stage("cleaning", total=num_bytes, unit="bytes") as bar:
        for cleaned in site.workers.map(clean_block, _cleaning_jobs(site, spill, bar.advance)):
            book = site.books[cleaned.text_number]
            _enter(book, cleaned)
            site.runs.append(cleaned.run)
            site.num_records += cleaned.num_records
            for name, number in cleaned.documents.items():
                site.documents[Document(cleaned.text_number, name)] += number
            bar.advance(0, pairs=cleaned.num_pairs)
    _refuse_nothing_left(site.books)
    site.groups = group_buckets(site.num_records, PAIRS_AT_ONCE)


def _cleaning_jobs(site: _Site, spill: Path, on_bytes: Any) -> Iterator[CleaningJob]:
    corpus, num_jobs = site.config.corpus, 0
    for text_number, book in enumerate(site.books):
        text = book.training_text.text
        reader = Reader(text, on_bytes)
        for block in reader.blocks():
            yield CleaningJob(
                block=block,
                text_name=text.name,
                text_number=text_number,
                weight=text.weight,
                seed=corpus.seed,
                config=site.config.cleaning,
                languages=(corpus.source_language, corpus.target_language),
                run_path=spill / f"run-{num_jobs:06}",
            )
            num_jobs += 1
        book.files = reader.files


def _enter(book: _TextBook, cleaned: CleanedBlock) -> None:
    book.num_read += cleaned.num_pairs
    book.num_kept += cleaned.num_kept
    book.account.add(cleaned.account)


def _refuse_nothing_left(books: Sequence[_TextBook]) -> None:
    names = ", ".join(book.training_text.text.name for book in books)
    num_read = sum(book.num_read for book in books)
    if num_read == 0:
        raise UserError(f"there are no sentences in {names}")
    if not any(book.num_kept for book in books):
        dropped: Counter[str] = Counter()
        for book in books:
            dropped.update(book.account.dropped)
        rule, number = dropped.most_common(1)[0]
        raise UserError(
            f"all {num_read:,} pairs of {names} were dropped, {number:,} of them by the rule {rule}",
            f"look at the text, or switch the rule off: --set 'cleaning.switched_off=[\"{rule}\"]'",
        )


def _hold_out(site: _Site) -> tuple[dict[str, list[Pair]], dict[str, tuple[FileRead, ...]]]:
    """Dev and test: as given, else split off. Also writes down what training must not see."""
    config = site.config
    held_out: dict[str, list[Pair]] = {}
    given: dict[str, tuple[FileRead, ...]] = {}
    wanted: dict[str, int] = {}
    for split, texts, number in (
        ("dev", site.inputs.dev, config.held_out.dev_pairs),
        ("test", site.inputs.test, config.held_out.test_pairs),
    ):
        if texts:
            held_out[split], given[split] = _read_given(texts)
        else:
            wanted[split] = number
    num_kept = sum(book.num_kept for book in site.books)
    copies = range(max(1, *(int(book.training_text.text.weight) + 1 for book in site.books)))
    split_pairs = split_off(
        site.runs, site.groups, Wanted(wanted).capped(num_kept), site.documents, config.corpus.seed, site.workers
    )
    held_out.update(split_pairs)
    HeldOut(
        hashes=frozenset(
            hash_of(*pair, copy, config.corpus.seed)
            for pairs in split_pairs.values()
            for pair in pairs
            for copy in copies
        ),
        essences=frozenset(essence(side) for pairs in held_out.values() for pair in pairs for side in pair if side),
    ).write(site.paths.directory / "spill" / "held_out.json")
    return {split: held_out[split] for split in ("dev", "test")}, given


def _read_given(texts: Sequence[ParallelText]) -> tuple[list[Pair], tuple[FileRead, ...]]:
    """A dev or test set as it was given. None of it is dropped, or scores could not be compared with others'."""
    pairs: list[Pair] = []
    files: tuple[FileRead, ...] = ()
    for text in texts:
        reader = Reader(text)
        for block in reader.blocks():
            sources, targets = decode_lines(block.sources), decode_lines(block.targets)
            for place, pair in enumerate(zip(sources, targets, strict=True)):
                if place in block.overlong or "\ufffd" in pair[0] or "\ufffd" in pair[1]:
                    what = "too long" if place in block.overlong else "not valid UTF-8"
                    raise UserError(f"line {block.first_line + place:,} of {text.source} or its target is {what}")
                pairs.append(pair)
        files += reader.files
    if not pairs:
        raise UserError(f"there are no sentences in {', '.join(text.name for text in texts)}")
    return pairs, files


def _make_vocabularies(site: _Site) -> tuple[Path, Path]:
    """Train the subwords, or take the existing ones; the models of both sides, which may be one file."""
    config, paths = site.config.vocabulary, site.paths
    if config.model:
        paths.vocabulary(None).write_bytes(_existing_model(config.model))
        return paths.vocabulary(None), paths.vocabulary(None)
    if config.source_model or config.target_model:
        if not (config.source_model and config.target_model):
            raise UserError("one side has an existing vocabulary, the other has none", "set both, or vocabulary.model")
        paths.vocabulary("source").write_bytes(_existing_model(config.source_model))
        paths.vocabulary("target").write_bytes(_existing_model(config.target_model))
        return paths.vocabulary("source"), paths.vocabulary("target")
    source_words, target_words = _count_words(site)
    with site.progress.stage("training subwords", total=None, unit="pieces"):
        if config.shared:
            both = source_words + target_words
            paths.vocabulary(None).write_bytes(train(both, config, site.config.corpus.languages))
            return paths.vocabulary(None), paths.vocabulary(None)
        for side, words, language in (
            ("source", source_words, site.config.corpus.source_language),
            ("target", target_words, site.config.corpus.target_language),
        ):
            paths.vocabulary(side).write_bytes(train(words, config, language))
    return paths.vocabulary("source"), paths.vocabulary("target")


def _existing_model(path: str) -> bytes:
    Vocabulary(Path(path))  # refuses what is no model
    return Path(path).read_bytes()


def _count_words(site: _Site) -> tuple[Counter[str], Counter[str]]:
    """The words of the first `sample_pairs` pairs of the shuffle: a fair sample."""
    wanted = min(site.config.vocabulary.sample_pairs, site.num_records)
    share = wanted / site.num_records
    groups = site.groups[: max(1, -(-len(site.groups) * wanted // site.num_records))]
    source_words: Counter[str] = Counter()
    target_words: Counter[str] = Counter()
    most_of_each = -(-wanted // len(groups)) if share < 1 else site.num_records
    with site.progress.stage("counting words", total=wanted, unit="pairs") as bar:
        jobs = (SamplingJob(site.runs, buckets, most_of_each) for buckets in groups)
        for sources, targets, num_pairs in site.workers.map(sample_words, jobs):
            source_words.update(sources)
            target_words.update(targets)
            bar.advance(num_pairs, pairs=num_pairs)
    return source_words, target_words


def _encode_train(
    site: _Site, held_out: dict[str, list[Pair]], vocabularies: tuple[Path, Path], id_type: str
) -> tuple[SplitReport, list[HashedFile]]:
    cleaning = site.config.cleaning
    jobs = (
        EncodingJob(
            runs=site.runs,
            buckets=buckets,
            held_out=site.paths.directory / "spill" / "held_out.json",
            vocabularies=vocabularies,
            id_type=id_type,
            max_pieces=None if "too_many_pieces" in cleaning.switched_off else cleaning.max_pieces,
            switched_off=cleaning.switched_off,
            text_names=tuple(book.training_text.text.name for book in site.books),
        )
        for buckets in site.groups
    )
    with (
        site.progress.stage("encoding", total=site.num_records, unit="pairs") as bar,
        SplitWriter(site.paths, "train", int(id_type[-1])) as writer,
    ):
        for encoded in site.workers.map(encode_buckets, jobs):
            writer.append(encoded.pairs)
            for text_number, account in encoded.accounts.items():
                book = site.books[text_number]
                book.num_kept -= account.dropped.total()
                book.account.add(account)
            for text_number, number in encoded.held_out.items():
                site.books[text_number].num_kept -= number
                site.books[text_number].num_held_out += number
            bar.advance(encoded.num_records, pairs=encoded.num_records)
        _refuse_nothing_left(site.books)
        return writer.finish()


def _encode_held_out(
    site: _Site, split: str, pairs: Sequence[Pair], vocabularies: tuple[Path, Path], id_type: str
) -> tuple[SplitReport, list[HashedFile]]:
    """Dev or test, in its own order, as ids and as text."""
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    encoded, fits = encode_pairs(sources, targets, vocabularies, id_type, MOST_PIECES)
    if not all(fits):
        raise UserError(f"pair {fits.index(False) + 1:,} of the {split} set has more than {MOST_PIECES:,} pieces")
    with SplitWriter(site.paths, split, int(id_type[-1])) as writer:
        writer.append(encoded)
        report, files = writer.finish()
    corpus = site.config.corpus
    for language, side in ((corpus.source_language, sources), (corpus.target_language, targets)):
        path = site.paths.text(split, language)
        path.write_text("".join(f"{sentence}\n" for sentence in side), encoding="utf-8")
        files.append(_hashed(path))
    return report, files


def _describe(
    site: _Site,
    given: dict[str, tuple[FileRead, ...]],
    splits: dict[str, SplitReport],
    vocabularies: tuple[Path, Path],
    id_type: str,
    files: list[HashedFile],
) -> Manifest:
    """Write the manifest and the pages for people."""
    models = {side: _hashed(path) for side, path in zip(("source", "target"), vocabularies, strict=True)}
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
    return write_manifest(manifest, [_hashed(page) for page in pages], site.paths.directory)


def _hashed(path: Path) -> HashedFile:
    return HashedFile(path.name, path.stat().st_size, sha256_of(path))


def _text_report(book: _TextBook) -> TextReport:
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
