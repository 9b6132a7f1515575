"""One block of a text, cleaned: undecoded line pairs in, a sorted run of kept pairs and an account of the rest out.

A pure function of its job apart from the run that it writes, so any process may do it. Decodes UTF-8, normalises to
NFC, strips the ends, asks the rules of `clean`, and repeats or leaves out pairs as the text's weight wants it.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from dragoman.core.config import CleaningConfig
from dragoman.corpus.clean import Rule, first_fault, rules
from dragoman.corpus.sources import Block
from dragoman.corpus.spill import Run, format_key, hash_of, write_run

NUM_EXAMPLES = 5  # of dropped pairs, for each text and rule
EXAMPLE_CHARACTERS = 300
BY_WEIGHT = "left_out_by_weight"


@dataclass(frozen=True)
class DroppedPair:
    """An example of what a rule dropped; long sides are shortened here, never in the corpus."""

    text: str
    rule: str
    line: int
    source: str
    target: str


@dataclass(frozen=True)
class CleaningJob:
    """What cleaning a block needs to know."""

    block: Block
    text_name: str
    text_number: int
    weight: float
    seed: int
    config: CleaningConfig
    languages: tuple[str, str]
    run_path: Path


@dataclass
class Account:
    """What became of pairs: numbers by rule, and the first examples."""

    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[DroppedPair] = field(default_factory=list)

    def drop(self, text: str, rule: str, line: int, source: str, target: str) -> None:
        self.dropped[rule] += 1
        if self.dropped[rule] <= NUM_EXAMPLES:
            self.examples.append(DroppedPair(text, rule, line, _shortened(source), _shortened(target)))

    def add(self, other: "Account") -> None:
        """Go on with the account of pairs that come after these."""
        have = Counter(example.rule for example in self.examples)
        for example in other.examples:
            have[example.rule] += 1
            if have[example.rule] <= NUM_EXAMPLES:
                self.examples.append(example)
        self.dropped.update(other.dropped)


@dataclass(frozen=True)
class CleanedBlock:
    """The kept pairs as a run, and what was not kept."""

    text_number: int
    num_pairs: int
    num_kept: int
    num_records: int
    account: Account
    documents: Counter[str]
    run: Run


def clean_block(job: CleaningJob) -> CleanedBlock:
    """Clean the pairs of a block into a run."""
    asked = _rules(job.config, *job.languages)
    account, documents = Account(), Counter[str]()
    records: list[str] = []
    num_kept = 0
    sources, targets = decode_lines(job.block.sources), decode_lines(job.block.targets)
    names = decode_lines(job.block.documents) if job.block.documents else None
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        line = job.block.first_line + place
        fault = "too_long" if place in job.block.overlong else first_fault(source, target, asked)
        if fault is not None:
            account.drop(job.text_name, fault, line, source, target)
            continue
        document = names[place] if names else ""
        copies = list(_copies(source, target, job))
        if not copies:
            account.drop(job.text_name, BY_WEIGHT, line, source, target)
            continue
        num_kept += 1
        if document:
            documents[document] += 1
        for copy, pair_hash in enumerate(copies):
            key = format_key(pair_hash, job.text_number, line, copy, document)
            records.append(f"{key}\n{source}\n{target}\n")
    run = write_run(job.run_path, records)
    return CleanedBlock(job.text_number, len(job.block), num_kept, len(records), account, documents, run)


@lru_cache(maxsize=4)
def _rules(config: CleaningConfig, source_language: str, target_language: str) -> dict[str, Rule]:
    return rules(config, source_language, target_language)


def decode_lines(lines: list[bytes]) -> list[str]:
    """UTF-8 lines as NFC text without white space at the ends; broken bytes become U+FFFD, which a rule drops."""
    text = b"\n".join(lines).decode(errors="replace")
    # A line feed takes part in no composition, so the block can be normalised as a whole.
    return [line.strip() for line in unicodedata.normalize("NFC", text).split("\n")]


def _copies(source: str, target: str, job: CleaningJob) -> Iterator[str]:
    """A place in the shuffle for each time that the pair appears: once, or as the weight wants it."""
    first = hash_of(source, target, 0, job.seed)
    whole = math.floor(job.weight)
    luck = int(first[-8:], 16) / 2**32
    for copy in range(whole + (luck < job.weight - whole)):
        yield first if copy == 0 else hash_of(source, target, copy, job.seed)


def _shortened(side: str) -> str:
    return side if len(side) <= EXAMPLE_CHARACTERS else side[:EXAMPLE_CHARACTERS] + "…"
