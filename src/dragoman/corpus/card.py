"""The corpus card: the manifest told for people, with charts of lengths and of what was dropped."""

from collections.abc import Sequence
from pathlib import Path

from dragoman.core.paths import CorpusPaths
from dragoman.core.units import count, duration, share, size
from dragoman.corpus import charts
from dragoman.corpus.manifest import Manifest, TextReport

MOST_BINS = 40
SHOWN_SHARE = 0.995


def write(manifest: Manifest, paths: CorpusPaths) -> list[Path]:
    """Write `CARD.md` and its charts."""
    lengths, dropped = paths.chart("lengths"), paths.chart("dropped")
    lengths.write_text(_lengths_chart(manifest), encoding="utf-8")
    dropped.write_text(_dropped_chart(manifest), encoding="utf-8")
    paths.card.write_text(_page(manifest, lengths.name, dropped.name), encoding="utf-8")
    return [paths.card, lengths, dropped]


def _page(manifest: Manifest, lengths_chart: str, dropped_chart: str) -> str:
    train = manifest.splits["train"]
    source, target = manifest.languages.split("-", 1)
    names = ", ".join(dict.fromkeys(text.name for text in manifest.texts))
    sections = [
        f"# Corpus card: {source} → {target}",
        f"{count(manifest.pairs_read)} pairs were read from {names}; {count(train.pairs)} make the training set. "
        f"Prepared {manifest.prepared_at[:10]} by Dragoman {manifest.dragoman_version} in "
        f"{duration(sum(manifest.seconds.values()))}.",
        "## Splits",
        _table(
            ("split", "pairs", f"{source} pieces", f"{target} pieces", "mean", "longest"),
            [
                (
                    name,
                    count(split.pairs),
                    count(split.source_tokens),
                    count(split.target_tokens),
                    f"{split.source_tokens / split.pairs:.1f} / {split.target_tokens / split.pairs:.1f}"
                    if split.pairs
                    else "–",
                    f"{len(split.source_lengths) - 1} / {len(split.target_lengths) - 1}" if split.pairs else "–",
                )
                for name, split in manifest.splits.items()
            ],
        ),
        f"![Lengths of the training sentences in pieces, but for the longest half per cent]({lengths_chart})",
        "## Texts",
        _table(
            ("text", "weight", "size", "lines", "kept", "held out", "dropped"),
            [_text_row(text) for text in manifest.texts],
        ),
        "## Dropped",
        _dropped(manifest, dropped_chart),
        "## Subwords",
        *_vocabularies(manifest),
        "## Sources and licences",
        *dict.fromkeys(
            f"- {text.name}: {text.licence or 'licence not known to Dragoman: ask whoever gave you the files'}"
            + (f". {text.citation}" if text.citation else "")
            for text in manifest.texts
        ),
        "## Identity",
        f"Seed {manifest.seed}, fingerprint `{manifest.fingerprint}`. Two corpora with this fingerprint are the same "
        "to the byte. `dragoman prepare --verify` checks this one.",
    ]
    return "\n\n".join(sections).replace("\n\n- ", "\n- ") + "\n"


def _vocabularies(manifest: Manifest) -> list[str]:
    models = {vocabulary.file: vocabulary for vocabulary in manifest.vocabularies.values()}
    return [
        f"- `{model.file}`{' for both sides' if len(models) == 1 else ''}: {count(model.size)} pieces, "
        f"sha256 `{model.sha256[:16]}…`"
        for model in models.values()
    ]


def _text_row(text: TextReport) -> tuple[str, ...]:
    num_dropped = sum(text.dropped.values())
    return (
        text.name,
        f"{text.weight:g}",
        size(sum(file.text_bytes for file in text.files)),
        count(text.pairs_read),
        count(text.pairs_kept),
        count(text.pairs_held_out),
        f"{count(num_dropped)} ({share(num_dropped, text.pairs_read)})",
    )


def _dropped(manifest: Manifest, chart: str) -> str:
    if not manifest.dropped():
        return "Nothing: every pair was kept."
    return (
        f"![Dropped pairs by rule]({chart})\n\nNothing was cut: a pair is kept whole or dropped. "
        "`dropped.jsonl` shows the first examples of each rule."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _dropped_chart(manifest: Manifest) -> str:
    rows = [
        (rule.replace("_", " "), number, f"{count(number)} ({share(number, manifest.pairs_read)})")
        for rule, number in manifest.dropped().items()
    ]
    return charts.bars("Dropped pairs, by rule", rows)


def _lengths_chart(manifest: Manifest) -> str:
    train = manifest.splits["train"]
    longest = max(_length_of_most(train.source_lengths), _length_of_most(train.target_lengths), 1)
    bin_width = -(-longest // MOST_BINS)
    series = {
        language: [
            sum(lengths[first : first + bin_width]) / max(train.pairs, 1) for first in range(0, longest, bin_width)
        ]
        for language, lengths in zip(
            manifest.languages.split("-", 1), (train.source_lengths, train.target_lengths), strict=True
        )
    }
    return charts.histogram("Lengths of the training sentences", "pieces", series, bin_width)


def _length_of_most(lengths: Sequence[int]) -> int:
    """The length that all but the longest half per cent stay below: a few giants would squeeze the rest."""
    left = SHOWN_SHARE * sum(lengths)
    for length, number in enumerate(lengths):
        left -= number
        if left <= 0:
            return length + 1
    return len(lengths)
