"""Dev and test: as they were given, else split off; and what training must therefore not see."""

from collections.abc import Sequence

from dragoman.core.errors import UserError
from dragoman.corpus.clean import essence
from dragoman.corpus.cleaning import decode_lines
from dragoman.corpus.encoding import HeldOut
from dragoman.corpus.held_out import Pair, Wanted, split_off
from dragoman.corpus.lines import FileRead
from dragoman.corpus.site import Site
from dragoman.corpus.sources import ParallelText, Reader
from dragoman.corpus.spill import hash_of


def hold_out(site: Site) -> tuple[dict[str, list[Pair]], dict[str, tuple[FileRead, ...]]]:
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
    ).write(site.unseen)
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
