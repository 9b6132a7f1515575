"""Every path that Dragoman reads or writes, spelled once."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CorpusPaths:
    """The files of a prepared corpus; `docs/CORPUS_DIRECTORY.md` says what each holds."""

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


def cache_directory() -> Path:
    """Where downloads are kept: $DRAGOMAN_CACHE, else the user's cache directory."""
    if own := os.environ.get("DRAGOMAN_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman"
