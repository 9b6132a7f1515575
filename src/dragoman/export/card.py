"""What an exported model says of itself: `model.json`, and the hashes of all its files.

Read by everyone who opens a model, so nothing here knows torch or CTranslate2.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.core import records
from dragoman.core.config import DecodingConfig, ModelConfig
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of
from dragoman.core.paths import ExportPaths

FORMAT = 1
"""Of an exported folder; older ones are read, newer ones refused."""
EXPORT_AGAIN = "export it again with `dragoman export RUN --out DIR`"


@dataclass(frozen=True)
class TrainingText:
    """One of the texts that the model was trained on."""

    name: str
    pairs: int
    licence: str
    citation: str


@dataclass(frozen=True)
class TrainingData:
    """What the model was trained on."""

    fingerprint: str
    pairs: int
    target_tokens: int
    texts: tuple[TrainingText, ...]


@dataclass(frozen=True)
class EngineScore:
    """How well one engine translates the sentences of the check, from 0 to 100."""

    bleu: float
    bleu_interval: tuple[float, float]
    chrf: float


@dataclass(frozen=True)
class Check:
    """The trained and the exported model on the same sentences, compared before the folder got its name."""

    sentences: str
    """Which: `dev`, or the name of a file."""
    num_sentences: int
    same_tokens: float
    """Share of sentences that both engines translate into the same pieces by greedy search."""
    same_translations: float
    """The same by the search that the model is used with."""
    trained: EngineScore
    exported: EngineScore
    bleu_signature: str
    chrf_signature: str
    bleu_lost: float = 0.0
    """What the stored weights cost, by greedy search: there the two engines differ in nothing else."""


@dataclass(frozen=True)
class ExportCard:
    """Everything that `model.json` holds."""

    format: int
    name: str
    source_language: str
    target_language: str
    quantization: str
    parameters: int
    steps: tuple[int, ...]
    """Checkpoints whose mean the weights are; one for a single checkpoint."""
    exported_at: str
    """UTC."""
    max_source_pieces: int
    """Longer sentences are translated in parts."""
    max_target_pieces: int
    """Positions that the model knows; no translation of a part is longer."""
    model: ModelConfig
    decoding: DecodingConfig
    data: TrainingData | None
    check: Check | None
    versions: dict[str, str] = field(default_factory=dict)


def is_export(directory: Path) -> bool:
    """Whether the directory looks like an exported model."""
    return ExportPaths(directory).card.is_file()


def read_card(directory: Path) -> ExportCard:
    """UserError if no exported model is there, or one that this version cannot read."""
    path = ExportPaths(directory).card
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] > FORMAT:
            raise UserError(
                f"{directory} was exported by a newer version of Dragoman (format {value['format']}; this one reads up"
                f" to {FORMAT})",
                "update with `pip install --upgrade dragoman`",
            )
        return records.from_json(ExportCard, value)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{directory} is not an exported model: no model.json", EXPORT_AGAIN) from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path} is damaged", EXPORT_AGAIN) from None


def sums_of(directory: Path) -> str:
    """The hashes of all files of a finished folder but SHA256SUMS, as `sha256sum` writes them."""
    sums = ExportPaths(directory).sums
    files = sorted(path for path in directory.iterdir() if path != sums)
    return "".join(f"{sha256_of(path)}  {path.name}\n" for path in files)


def verify_sums(directory: Path) -> None:
    """UserError names the first file that is missing or not as it was exported."""
    path = ExportPaths(directory).sums
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        raise UserError(f"{directory} is a broken export: SHA256SUMS is missing", EXPORT_AGAIN) from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    matches = [re.fullmatch(r"([0-9a-f]{64})  ([^/\0]+)", line) for line in lines]
    named = {match[2]: match[1] for match in matches if match}
    needed = {ExportPaths(directory).card.name, ExportPaths(directory).weights.name}
    if not all(matches) or not needed <= named.keys():
        raise UserError(f"{directory} is a broken export: SHA256SUMS is not as it was written", EXPORT_AGAIN)
    for name, sha256 in named.items():
        file = directory / name
        if not file.is_file():
            raise UserError(f"{directory} is a broken export: {name} is missing", EXPORT_AGAIN)
        if sha256_of(file) != sha256:
            raise UserError(f"{directory} is a broken export: {name} is not as it was written", EXPORT_AGAIN)
