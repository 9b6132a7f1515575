"""The page for people: the numbers of the manifest, in Markdown that holds together and charts that are XML."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dragoman.core.paths import CorpusPaths
from dragoman.corpus import card, charts
from dragoman.corpus.lines import FileRead
from dragoman.corpus.manifest import Manifest, SplitReport, TextReport, VocabularyReport
from dragoman.corpus.vocab import SpecialIds

SVG = "{http://www.w3.org/2000/svg}"


def manifest(name: str = "talks", dropped: dict[str, int] | None = None, dev_pairs: int = 20) -> Manifest:
    file = FileRead("a.en.gz", 1_000, 12_345_678, 1_234, "0" * 64)
    return Manifest(
        format_version=1,
        dragoman_version="9.9",
        fingerprint="f" * 64,
        languages="en-de",
        seed=5,
        id_type="<u2",
        prepared_at="2026-02-03T04:05:06+00:00",
        seconds={"cleaning": 61.0, "encoding": 14.0},
        texts=(TextReport(name, 2.5, (file, file), 1_234, 1_000, 40, dropped or {}, "CC0", "Somebody (2020)"),),
        given={},
        splits={
            "train": SplitReport(1_000, 5_000, 6_000, (0, 0, 400, 600), (0, 0, 0, 0, 1_000), (1_000,)),
            "dev": SplitReport(dev_pairs, 60, 80, (0, 0, 0, 20), (0, 0, 0, 0, 20), (dev_pairs,)),
        },
        vocabularies={"source": VocabularyReport("vocab.model", 8_192, SpecialIds(0, 1, 2, 3), "ab" * 32)},
        settings={},
        files=(),
        pages=(),
    )


def page(tmp_path: Path, described: Manifest) -> str:
    assert [path.name for path in card.write(described, CorpusPaths(tmp_path))] == [
        "CARD.md",
        "lengths.svg",
        "dropped.svg",
    ]
    return (tmp_path / "CARD.md").read_text()


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block] for block in blocks]


def test_the_card_tells_the_numbers_of_the_manifest(tmp_path: Path) -> None:
    text = page(tmp_path, manifest(dropped={"empty_side": 150, "markup": 44}))
    assert text.startswith("# Corpus card: en → de\n")
    for told in (
        "1,234 pairs were read from talks; 1,000 make the training set.",
        "Prepared 2026-02-03 by Dragoman 9.9 in 1 min 15 s.",
        "| train | 1,000 | 5,000 | 6,000 | 5.0 / 6.0 | 3 / 4 |",
        "| talks | 2.5 | 24.7 MB | 1,234 | 1,000 | 40 | 194 (16 %) |",
        "- `vocab.model` for both sides: 8,192 pieces, sha256 `abababababababab…`",
        "- talks: CC0. Somebody (2020)",
        f"Seed 5, fingerprint `{'f' * 64}`.",
    ):
        assert told in text, told


def test_every_table_has_as_many_cells_in_each_row(tmp_path: Path) -> None:
    found = tables(page(tmp_path, manifest(name="a|b | c", dropped={"markup": 1})))
    assert len(found) == 2
    for table in found:
        assert len({len(row) for row in table}) == 1


def test_an_empty_split_and_nothing_dropped_are_told(tmp_path: Path) -> None:
    text = page(tmp_path, manifest(dev_pairs=0))
    assert "| dev | 0 | 60 | 80 | – | – |" in text
    assert "Nothing: every pair was kept." in text


def test_pictures_of_the_card_are_there(tmp_path: Path) -> None:
    text = page(tmp_path, manifest(dropped={"markup": 1}))
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", text)
    assert pictures == ["lengths.svg", "dropped.svg"]
    for picture in pictures:
        assert ElementTree.parse(tmp_path / picture).getroot().tag == f"{SVG}svg"


def test_bars_are_as_long_as_their_numbers() -> None:
    root = ElementTree.fromstring(charts.bars("A <title> & more", [("many", 300, "300"), ("few & odd", 100, "<100>")]))
    widths = [int(rectangle.attrib["width"]) for rectangle in root.iter(f"{SVG}rect")]
    assert widths == [360, 120]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"A <title> & more", "few & odd", "<100>"} <= set(texts)


@pytest.mark.parametrize("lengths", [(), (0,), tuple(range(10)), tuple(range(500))])
def test_the_lengths_chart_has_a_bar_for_every_bin(lengths: tuple[int, ...]) -> None:
    root = ElementTree.fromstring(charts.histogram("Lengths", "pieces", {"en": lengths, "de": lengths}, 3))
    bars = [one for one in root.iter(f"{SVG}rect") if one.attrib["height"] != "10" or one.attrib["width"] != "10"]
    assert len(bars) == 2 * len(lengths)
    assert all(float(bar.attrib["height"]) <= 170 for bar in bars)
    assert all(0 <= float(bar.attrib["x"]) <= charts.WIDTH for bar in bars)


def test_long_sentences_share_bins(tmp_path: Path) -> None:
    described = manifest()
    wide = SplitReport(1_000, 1, 1, tuple([2] * 500), tuple([2] * 333), (1_000,))
    described = Manifest(**{**vars(described), "splits": {**described.splits, "train": wide}})
    page(tmp_path, described)
    root = ElementTree.parse(tmp_path / "lengths.svg").getroot()
    kinds = [one.attrib["class"] for one in root.iter(f"{SVG}rect")]
    assert kinds.count("a") - 1 <= card.MOST_BINS
    assert kinds.count("b") - 1 <= card.MOST_BINS


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    assert ElementTree.fromstring(charts.bars("Nothing", [])).tag == f"{SVG}svg"
