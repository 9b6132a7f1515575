"""`dragoman prepare`: parallel text in, a training-ready corpus out."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli import terminal
from dragoman.core import config_file, records
from dragoman.core.config import Config, TextConfig
from dragoman.core.errors import UserError
from dragoman.core.units import count, counted, duration, share

if TYPE_CHECKING:
    from dragoman.corpus.manifest import Manifest

EXAMPLES = """\
examples:
  dragoman prepare phrasebook --out corpus/phrasebook
  dragoman prepare libreoffice-help:en-fr --out corpus/help
  dragoman prepare --source talk.en.gz --target talk.de.gz --out corpus/talks
  dragoman prepare recipes/europarl.toml --set vocabulary.size=16384
  dragoman prepare --verify corpus/phrasebook

data sets: multi30k, iwslt14, wmt16, libreoffice-help:en-XX (any language that
Debian packages LibreOffice's help in), phrasebook (built in).

Files may be plain, .gz, .xz or .zst; --source without --target is a TSV of
source, target and, if there is one, the document that the pair stands in."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "prepare",
        help="turn parallel text into a training-ready corpus",
        description="Clean, count, shuffle, split into subwords and memory-map parallel text.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", metavar="RECIPE|NAME", help="a recipe.toml, or a data set such as multi30k")
    parser.add_argument("--source", action="append", default=[], metavar="FILE", help="source sentences; repeatable")
    parser.add_argument("--target", action="append", default=[], metavar="FILE", help="their translations; repeatable")
    parser.add_argument("--out", metavar="DIR", help="where the corpus goes")
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="take data sets from here instead of the network")
    parser.add_argument("--force", action="store_true", help="replace a corpus that was prepared differently")
    parser.add_argument("--verify", type=Path, metavar="DIR", help="check every byte of a prepared corpus")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="override a setting; repeatable")
    parser.add_argument("--json", action="store_true", help="print the manifest instead of a summary")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.verify:
        from dragoman.corpus.shards import verify

        manifest = verify(options.verify, terminal.progress())
        names = f"{counted(len(manifest.files) + len(manifest.pages), 'file')} as written"
        _print(manifest, options.json, f"{options.verify}: {names}, fingerprint {manifest.fingerprint[:16]}")
        return
    from dragoman.corpus.existing import already_prepared
    from dragoman.corpus.prepare import prepare

    config = config_of(options)
    manifest_there = already_prepared(config, force=options.force)
    if manifest_there is not None:
        print(f"{config.corpus.directory} is already prepared with these settings", file=sys.stderr)
    manifest = manifest_there or prepare(config, mirror=options.mirror, progress=terminal.progress())
    _print(manifest, options.json, summary(manifest, Path(config.corpus.directory)))


def config_of(options: argparse.Namespace) -> Config:
    """The recipe that the command line stands for."""
    is_recipe = bool(options.what) and (options.what.endswith(".toml") or _is_file(options.what))
    config = config_file.load(Path(options.what) if is_recipe else None, options.set)
    corpus = config.corpus
    if options.what and not is_recipe:
        name, _, pair = options.what.partition(":")
        corpus = dataclasses.replace(corpus, languages=pair or corpus.languages, texts=(TextConfig(dataset=name),))
    if options.source or options.target:
        if options.what and not is_recipe:
            raise UserError("a data set and --source exclude each other here", "name both in a recipe")
        corpus = dataclasses.replace(corpus, texts=corpus.texts + _texts(options.source, options.target))
    if options.out:
        corpus = dataclasses.replace(corpus, directory=options.out)
    if not corpus.texts:
        raise UserError("there is nothing to prepare", "name a recipe, a data set, or files with --source and --target")
    if not corpus.directory:
        raise UserError("the corpus needs a directory", "name it with --out DIR")
    return dataclasses.replace(config, corpus=corpus)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # too long for a file's name
        return False


def _texts(sources: list[str], targets: list[str]) -> tuple[TextConfig, ...]:
    if targets and len(sources) != len(targets):
        problem = f"{counted(len(sources), '--source file')} but {counted(len(targets), '--target file')}"
        raise UserError(problem, "name one --target for each --source, in the same order")
    return tuple(
        TextConfig(source=source, target=targets[number] if targets else "") for number, source in enumerate(sources)
    )


def summary(manifest: "Manifest", directory: Path) -> str:
    """What happened, in four lines."""
    kept = sum(text.pairs_kept for text in manifest.texts)
    dropped = ", ".join(f"{count(number)} {rule.replace('_', ' ')}" for rule, number in manifest.dropped().items())
    splits = ", ".join(f"{name} {count(split.pairs)}" for name, split in manifest.splits.items())
    sizes = dict.fromkeys(f"{count(vocabulary.size)} pieces" for vocabulary in manifest.vocabularies.values())
    shared = "shared" if len({vocabulary.file for vocabulary in manifest.vocabularies.values()}) == 1 else "a side"
    seconds = sum(manifest.seconds.values())
    return "\n".join(
        [
            f"{count(manifest.pairs_read)} pairs read, {count(kept)} kept ({share(kept, manifest.pairs_read)})",
            f"dropped: {dropped or 'none'}",
            f"{splits} pairs; {' and '.join(sizes)} {shared}",
            f"{directory} is ready after {duration(seconds)}; look at {directory / 'CARD.md'}",
        ]
    )


def _print(manifest: "Manifest", as_json: bool, text: str) -> None:
    print(json.dumps(records.to_json(manifest), ensure_ascii=False, indent=1) if as_json else text)
