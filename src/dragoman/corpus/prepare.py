"""From parallel text to a training-ready corpus, told in order.

    texts → clean, spill in random order → hold out dev and test → train subwords → encode → shards, manifest, card

Everything is built beside the corpus directory and renamed into it at the end: the directory is whole or not there.
The result depends on the recipe and the texts alone, never on the machine.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import building, explaining_disk_errors
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Progress
from dragoman.corpus.cleaning import BY_WEIGHT, CleaningJob, clean_block
from dragoman.corpus.description import describe, hashed
from dragoman.corpus.encoding import EncodingJob, encode_buckets, encode_pairs
from dragoman.corpus.given import hold_out
from dragoman.corpus.held_out import Document, Pair
from dragoman.corpus.inputs import gather
from dragoman.corpus.manifest import HashedFile, Manifest, SplitReport
from dragoman.corpus.shards import MOST_PIECES, SplitWriter
from dragoman.corpus.site import Site, TextBook
from dragoman.corpus.sources import Reader
from dragoman.corpus.spill import group_buckets
from dragoman.corpus.subwords import check_existing_models, make_vocabularies
from dragoman.corpus.vocab import Vocabulary
from dragoman.corpus.workers import Workers, num_cores

INLINE_BYTES = 8_000_000  # of input: less is done sooner than other processes are started
PAIRS_AT_ONCE = 16_384


def prepare(config: Config, *, mirror: Path | None, progress: Progress) -> Manifest:
    """Prepare the corpus of a recipe in its directory; what stood there is replaced."""
    directory = Path(config.corpus.directory)
    check_existing_models(config.vocabulary)
    inputs = gather(config, mirror, progress)
    num_bytes = sum(path.stat().st_size for one in inputs.train for path in one.text.files)
    workers = Workers(num_cores() if num_bytes > INLINE_BYTES else 0)
    with explaining_disk_errors(directory), building(directory) as partial, workers:
        return _build(Site(config, inputs, CorpusPaths(partial), workers, progress))


def _build(site: Site) -> Manifest:
    site.spill.mkdir()
    with site.timed("cleaning"):
        _clean(site)
    with site.timed("holding out"):
        held_out, given = hold_out(site)
    with site.timed("subwords"):
        vocabularies = make_vocabularies(site)
    id_type = "<u2" if all(Vocabulary(path).size <= 1 << 16 for path in vocabularies) else "<u4"
    with site.timed("encoding"):
        train_report, files = _encode_train(site, vocabularies, id_type)
        splits = {"train": train_report}
        for split, pairs in held_out.items():
            splits[split], split_files = _encode_held_out(site, split, pairs, vocabularies, id_type)
            files += split_files
    for path in (*(run.path for run in site.runs), site.unseen):
        path.unlink()
    site.spill.rmdir()
    return describe(site, given, splits, vocabularies, id_type, files)


def _clean(site: Site) -> None:
    """Every text through the rules, into sorted runs."""
    num_bytes = sum(path.stat().st_size for book in site.books for path in book.training_text.text.files)
    with site.progress.stage("cleaning", total=num_bytes, unit="bytes") as bar:
        for cleaned in site.workers.map(clean_block, _cleaning_jobs(site, bar.advance)):
            book = site.books[cleaned.text_number]
            book.num_read += cleaned.num_pairs
            book.num_kept += cleaned.num_kept
            book.account.add(cleaned.account)
            site.runs.append(cleaned.run)
            site.num_records += cleaned.num_records
            for name, number in cleaned.documents.items():
                site.documents[Document(cleaned.text_number, name)] += number
            bar.advance(0, pairs=cleaned.num_pairs)
    _refuse_nothing_left(site.books)
    site.groups = group_buckets(site.num_records, PAIRS_AT_ONCE)


def _cleaning_jobs(site: Site, on_bytes: Callable[[int], None]) -> Iterator[CleaningJob]:
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
                run_path=site.spill / f"run-{num_jobs:06}",
            )
            num_jobs += 1
        book.files = reader.files


def _refuse_nothing_left(books: Sequence[TextBook]) -> None:
    names = ", ".join(book.training_text.text.name for book in books)
    num_read = sum(book.num_read for book in books)
    if num_read == 0:
        raise UserError(f"there are no sentences in {names}")
    if not any(book.num_kept for book in books):
        dropped: Counter[str] = Counter()
        for book in books:
            dropped.update(book.account.dropped)
        rule, number = dropped.most_common(1)[0]
        switch = f"look at the text, or switch the rule off: --set 'cleaning.switched_off=[\"{rule}\"]'"
        raise UserError(
            f"all {num_read:,} pairs of {names} were dropped, {number:,} of them by the rule {rule}",
            "give the text a larger weight" if rule == BY_WEIGHT else switch,
        )


def _encode_train(site: Site, vocabularies: tuple[Path, Path], id_type: str) -> tuple[SplitReport, list[HashedFile]]:
    cleaning = site.config.cleaning
    jobs = (
        EncodingJob(
            runs=site.runs,
            buckets=buckets,
            held_out=site.unseen,
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
    site: Site, split: str, pairs: Sequence[Pair], vocabularies: tuple[Path, Path], id_type: str
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
        files.append(hashed(path))
    return report, files
