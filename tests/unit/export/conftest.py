"""Vocabularies and one exported model, made once."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.decoding.translate import Translator as Trained
from dragoman.export.engine import Translator
from tests.unit.export.tiny_models import SIZES, make_vocabulary, trained_model, write_export


@dataclass(frozen=True)
class Vocabularies:
    shared: Path
    source: Path
    target: Path


@dataclass(frozen=True)
class Tiny:
    """A model on both sides of an export."""

    directory: Path
    trained: Trained
    exported: Translator


@pytest.fixture(scope="session")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> Vocabularies:
    directory = tmp_path_factory.mktemp("vocabularies")
    return Vocabularies(*(make_vocabulary(directory, side) for side in (None, 0, 1)))


@pytest.fixture(scope="session")
def tiny(vocabularies: Vocabularies, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    directory = tmp_path_factory.mktemp("tiny") / "model"
    trained = trained_model(SIZES, vocabularies.shared, vocabularies.shared)
    write_export(trained, vocabularies.shared, vocabularies.shared, directory)
    return Tiny(directory, trained, Translator.open(directory, threads=2))
