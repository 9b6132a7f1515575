"""A run as an exported model: converted, checked on the spot, described, and only then given its name."""

import importlib.metadata
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import dragoman
from dragoman.core import config_file, records
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.files import building, explaining_disk_errors, write_atomically
from dragoman.core.paths import ExportPaths, RunPaths
from dragoman.corpus.manifest import Manifest
from dragoman.corpus.shards import open_corpus
from dragoman.decoding.load import Weights, load_weights, with_weights
from dragoman.decoding.score import tokenizer_for
from dragoman.decoding.translate import Translator as Trained
from dragoman.export.card import FORMAT, ExportCard, TrainingData, TrainingText, is_export, sums_of
from dragoman.export.check import MOST_SENTENCES, Sentences, compare, refuse_if_different
from dragoman.export.convert import QUANTIZATIONS, convert
from dragoman.export.engine import Translator
from dragoman.export.readme import readme

LEAST_POSITIONS = 2048
"""Positions that are written out: room for translations of any part, also by a search with other settings."""


@dataclass(frozen=True)
class Wish:
    """What is to be exported, and how."""

    run: Path
    out: Path
    quantization: str = "int8"
    average_last: int = 1
    sentences: Sentences | None = None
    """What the export is checked on; None for dev of the run's corpus."""
    replaces: bool = False
    """Whether an exported model at `out` may be replaced."""


def export(wish: Wish, tell: Callable[[str], None]) -> ExportCard:
    """Write the model; UserError, and nothing on disk has changed, where that is not possible or not right."""
    _refuse_bad_wish(wish)
    config = config_file.load(RunPaths(wish.run).config)
    manifest = _manifest_of(config)
    sentences = wish.sentences or _dev_of(config)
    weights = load_weights(wish.run, average_last=wish.average_last)
    trained = with_weights(wish.run, weights)
    card = _card(wish, config, trained, weights, manifest)
    with explaining_disk_errors(wish.out), building(wish.out) as directory:
        paths = ExportPaths(directory)
        for side in ("source", "target"):
            shutil.copyfile(RunPaths(wish.run).vocabulary(side), paths.vocabulary(side))
        tell(f"converting {card.parameters:,} weights to {wish.quantization}")
        convert(trained, directory, wish.quantization, card.max_target_pieces + 1)
        num_sentences = min(len(sentences.sources), MOST_SENTENCES)
        tell(f"checking: both engines translate {num_sentences:,} sentences of {sentences.name}")
        exported = Translator.of_files(directory, card)
        check = compare(trained, exported, sentences, tokenizer_for(card.target_language))
        refuse_if_different(check, wish.quantization)
        card = replace(card, check=check)
        write_atomically(paths.card, records.dumps(card))
        write_atomically(paths.readme, readme(card))
        write_atomically(paths.sums, sums_of(directory))
    return card


def _refuse_bad_wish(wish: Wish) -> None:
    if wish.quantization not in QUANTIZATIONS:
        raise UserError(f"{wish.quantization!r} is no quantization", f"take one of {', '.join(QUANTIZATIONS)}")
    if not RunPaths(wish.run).config.is_file():
        raise UserError(f"{wish.run} is not a run: no config.toml", "train one with `dragoman train RECIPE.toml`")
    if wish.out.exists():
        if not is_export(wish.out) and (not wish.out.is_dir() or any(wish.out.iterdir())):
            raise UserError(f"{wish.out} exists and is not an exported model", "export to another place")
        if is_export(wish.out) and not wish.replaces:
            raise UserError(f"{wish.out} holds an exported model", "replace it with --force")


def _manifest_of(config: Config) -> Manifest | None:
    """The account of the run's corpus; None where the corpus is gone."""
    try:
        return open_corpus(Path(config.corpus.directory)).manifest
    except UserError:
        return None


def _dev_of(config: Config) -> Sentences:
    try:
        corpus = open_corpus(Path(config.corpus.directory))
    except UserError as error:
        raise UserError(
            f"the export cannot be checked on dev: {error.problem}", "name sentences with --source and --reference"
        ) from None
    return Sentences("dev", corpus.text("dev", 0), corpus.text("dev", 1))


def _card(wish: Wish, config: Config, trained: Trained, weights: Weights, manifest: Manifest | None) -> ExportCard:
    decoding = config.decoding
    longest = int(decoding.max_length_ratio * trained.max_source_pieces) + decoding.max_length_extra
    libraries = ("ctranslate2", "sentencepiece", "torch")
    return ExportCard(
        format=FORMAT,
        name=_name_of(wish.run),
        source_language=config.corpus.source_language,
        target_language=config.corpus.target_language,
        quantization=wish.quantization,
        parameters=sum(parameter.numel() for parameter in trained.model.parameters()),
        steps=weights.steps,
        exported_at=datetime.now(UTC).isoformat(timespec="seconds"),
        max_source_pieces=trained.max_source_pieces,
        max_target_pieces=max(longest, LEAST_POSITIONS),
        model=trained.model.config,
        decoding=decoding,
        data=_data(manifest),
        check=None,
        versions={"dragoman": dragoman.__version__} | {name: importlib.metadata.version(name) for name in libraries},
    )


def _name_of(run: Path) -> str:
    """The run's name; that of the directory around it where it is only called run."""
    place = run.resolve()
    return place.parent.name if place.name == "run" and place.parent.name else place.name


def _data(manifest: Manifest | None) -> TrainingData | None:
    if manifest is None:
        return None
    texts = tuple(TrainingText(text.name, text.pairs_kept, text.licence, text.citation) for text in manifest.texts)
    train = manifest.splits["train"]
    return TrainingData(manifest.fingerprint, train.pairs, train.target_tokens, texts)
