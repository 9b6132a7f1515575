"""Where a corpus is being built: what everyone who works on it needs, and the books that are kept."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.core.config import Config
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Progress
from dragoman.corpus.cleaning import Account
from dragoman.corpus.held_out import Document
from dragoman.corpus.inputs import Inputs, TrainingText
from dragoman.corpus.lines import FileRead
from dragoman.corpus.spill import Buckets, Run
from dragoman.corpus.workers import Workers


@dataclass
class TextBook:
    """The account of one text."""

    training_text: TrainingText
    files: tuple[FileRead, ...] = ()
    num_read: int = 0
    num_kept: int = 0
    num_held_out: int = 0
    account: Account = field(default_factory=Account)


@dataclass
class Site:
    """Grows from stage to stage: cleaning fills the books and the runs, the stages after it read them."""

    config: Config
    inputs: Inputs
    paths: CorpusPaths
    workers: Workers
    progress: Progress
    books: list[TextBook] = field(init=False)
    runs: list[Run] = field(default_factory=list)
    groups: list[Buckets] = field(default_factory=list)
    num_records: int = 0
    documents: Counter[Document] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.books = [TextBook(text) for text in self.inputs.train]

    @property
    def spill(self) -> Path:
        """Where the runs lie until they are encoded."""
        return self.paths.directory / "spill"

    @property
    def unseen(self) -> Path:
        """What training must not see."""
        return self.spill / "held_out.json"

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[stage] = round(time.monotonic() - start, 3)
