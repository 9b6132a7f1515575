"""Every path that Dragoman reads or writes, spelled once."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CorpusPaths:
    """The files of a prepared corpus; `docs/RUN_DIRECTORY.md` says what each holds."""

    directory: Path

    @property
    def manifest(self) -> Path:
        return self.directory / "manifest.json"

    @property
    def card(self) -> Path:
        return self.directory / "CARD.md"

    @property
    def dropped(self) -> Path:
        return self.directory / "dropped.jsonl"

    def chart(self, name: str) -> Path:
        return self.directory / f"{name}.svg"

    def vocabulary(self, side: str | None) -> Path:
        """The SentencePiece model of one side, or the shared one (None)."""
        return self.directory / (f"vocab.{side}.model" if side else "vocab.model")

    def text(self, split: str, language: str) -> Path:
        return self.directory / f"{split}.{language}"

    def shard(self, split: str, number: int, part: str) -> Path:
        """`part` is tokens, lengths or starts."""
        return self.directory / f"{split}-{number:03}.{part}"


WRITTEN_PIECES = "written_pieces"
"""Of a checkpoint's weights the one tensor that holds no weights: the pieces that the model writes, where not all."""


@dataclass(frozen=True)
class CheckpointPaths:
    """The files of one checkpoint."""

    directory: Path

    @property
    def model(self) -> Path:
        """The weights: all that translating needs."""
        return self.directory / "model.safetensors"

    @property
    def optimizer(self) -> Path:
        """What only going on with the training needs."""
        return self.directory / "optimizer.safetensors"

    @property
    def state(self) -> Path:
        return self.directory / "state.json"

    @property
    def sums(self) -> Path:
        """The hashes of the other files, as `sha256sum --check` reads them."""
        return self.directory / "SHA256SUMS"


@dataclass(frozen=True)
class RunPaths:
    """The files of a run; they are the interface between the training and all who look at it."""

    directory: Path

    @property
    def config(self) -> Path:
        return self.directory / "config.toml"

    @property
    def environment(self) -> Path:
        return self.directory / "environment.json"

    @property
    def plan(self) -> Path:
        return self.directory / "plan.json"

    @property
    def preflight(self) -> Path:
        return self.directory / "preflight.json"

    @property
    def events(self) -> Path:
        return self.directory / "events.jsonl"

    @property
    def evals(self) -> Path:
        return self.directory / "evals.jsonl"

    def sentence_losses(self, step: int) -> Path:
        """Dev losses of one evaluation, sentence by sentence."""
        return self.directory / "sentence_losses" / f"{step_name(step)}.json"

    def steps(self, rank: int) -> Path:
        return self.directory / "steps" / f"rank{rank:02}.jsonl"

    def exchanges(self, rank: int) -> Path:
        return self.directory / "exchanges" / f"rank{rank:02}.jsonl"

    def telemetry(self, host: str) -> Path:
        return self.directory / "telemetry" / f"{host}.jsonl"

    def samples(self, step: int) -> Path:
        return self.directory / "samples" / f"{step_name(step)}.txt"

    @property
    def tensorboard(self) -> Path:
        return self.directory / "tensorboard"

    @property
    def checkpoints(self) -> Path:
        return self.directory / "checkpoints"

    def checkpoint(self, step: int) -> CheckpointPaths:
        return CheckpointPaths(self.checkpoints / step_name(step))

    def vocabulary(self, side: str) -> Path:
        """The run's own copy of the SentencePiece model of `source` or `target`."""
        return self.directory / f"vocab.{side}.model"

    @property
    def heartbeats(self) -> Path:
        """A file a rank, signed every second while it lives."""
        return self.directory / "heartbeats"

    def report(self, kind: str) -> Path:
        """`kind` is index.html, report.md or report.json."""
        return self.directory / "report" / kind


@dataclass(frozen=True)
class ExportPaths:
    """The files of an exported model that are not CTranslate2's own."""

    directory: Path

    @property
    def card(self) -> Path:
        """What the model is, for programs."""
        return self.directory / "model.json"

    @property
    def readme(self) -> Path:
        """The same for people."""
        return self.directory / "README.md"

    @property
    def weights(self) -> Path:
        return self.directory / "model.bin"

    @property
    def sums(self) -> Path:
        """The hashes of all other files, as `sha256sum --check` reads them."""
        return self.directory / "SHA256SUMS"

    def vocabulary(self, side: str) -> Path:
        """The SentencePiece model of `source` or `target`."""
        return self.directory / f"vocab.{side}.model"


def step_name(step: int) -> str:
    """5000 -> 'step_0005000': names sort as steps do."""
    return f"step_{step:07}"


def cache_directory() -> Path:
    """Where downloads are kept: $DRAGOMAN_CACHE, else the user's cache directory."""
    if own := os.environ.get("DRAGOMAN_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman"
