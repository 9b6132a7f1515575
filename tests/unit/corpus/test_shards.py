"""Token ids on disk: what is written is read back, opening reads next to nothing, and every changed byte is found."""

import dataclasses
import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core import config_file
from dragoman.core.errors import UserError
from dragoman.core.paths import CorpusPaths
from dragoman.core.progress import Silent
from dragoman.corpus import shards as shards_module
from dragoman.corpus.manifest import HashedFile, Manifest, SplitReport, fingerprint_of, write_manifest
from dragoman.corpus.prepare import prepare
from dragoman.corpus.shards import EncodedPairs, SplitWriter, open_corpus, verify

Ids = tuple[list[int], list[int]]


def encoded(pairs: Sequence[Ids], id_type: str) -> EncodedPairs:
    tokens = b"".join(np.array(side, dtype=id_type).tobytes() for pair in pairs for side in pair)
    lengths = np.array([[len(source), len(target)] for source, target in pairs], dtype="<u2").reshape(-1, 2)
    return EncodedPairs(tokens, lengths)


def written(directory: Path, portions: Sequence[Sequence[Ids]], id_type: str) -> SplitReport:
    """A corpus of one split, portion by portion."""
    directory.mkdir(exist_ok=True)
    with SplitWriter(CorpusPaths(directory), "train", int(id_type[-1])) as writer:
        for portion in portions:
            writer.append(encoded(portion, id_type))
        report, files = writer.finish()
    write_manifest(manifest_of(report, files, id_type), [], directory)
    return report


def manifest_of(report: SplitReport, files: Sequence[HashedFile], id_type: str) -> Manifest:
    return Manifest(
        format_version=1,
        dragoman_version="0",
        fingerprint=fingerprint_of(files, "en-de"),
        languages="en-de",
        seed=1,
        id_type=id_type,
        prepared_at="2026-01-01T00:00:00+00:00",
        seconds={},
        texts=(),
        given={},
        splits={"train": report},
        vocabularies={},
        settings={},
        files=tuple(files),
        pages=(),
    )


def ids_of(directory: Path) -> list[Ids]:
    return [(source.tolist(), target.tolist()) for source, target in open_corpus(directory).split("train")]


SIDE = st.lists(st.integers(0, 65_535), min_size=1, max_size=6)


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.tuples(SIDE, SIDE), max_size=5), max_size=5),
    st.sampled_from(["<u2", "<u4"]),
    st.integers(1, 60),
)
def test_ids_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, portions: list[list[Ids]], id_type: str, shard_bytes: int
) -> None:
    directory = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards_module, "SHARD_BYTES", shard_bytes)
        report = written(directory, portions, id_type)
    pairs = [pair for portion in portions for pair in portion]
    assert ids_of(directory) == pairs
    split = open_corpus(directory).split("train")
    assert split.lengths().tolist() == [[len(source), len(target)] for source, target in pairs]
    assert (report.pairs, sum(report.shard_pairs)) == (len(pairs), len(pairs))
    assert report.source_tokens == sum(len(source) for source, _ in pairs)
    assert report.target_tokens == sum(len(target) for _, target in pairs)
    assert sum(report.source_lengths) == len(pairs)
    verify(directory, Silent())


def test_large_ids_need_four_bytes(tmp_path: Path) -> None:
    written(tmp_path / "corpus", [[([70_000, 1], [2**31, 1])]], "<u4")
    assert ids_of(tmp_path / "corpus") == [([70_000, 1], [2**31, 1])]


def test_a_full_shard_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "SHARD_BYTES", 16)
    portions = [[([number, 1], [number, 1])] * 2 for number in range(5)]  # 16 bytes each
    report = written(tmp_path / "corpus", portions, "<u2")
    assert report.shard_pairs == (2, 2, 2, 2, 2)
    assert sorted(path.name for path in (tmp_path / "corpus").glob("*.tokens")) == [
        f"train-{number:03}.tokens" for number in range(5)
    ]
    split = open_corpus(tmp_path / "corpus").split("train")
    assert [split[number][0].tolist() for number in (0, 1, 2, 9)] == [[0, 1], [0, 1], [1, 1], [4, 1]]


@pytest.mark.parametrize("number", [-1, 2])
def test_a_pair_beyond_the_end_is_an_index_error(tmp_path: Path, number: int) -> None:
    written(tmp_path / "corpus", [[([5, 1], [6, 1])] * 2], "<u2")
    with pytest.raises(IndexError):
        open_corpus(tmp_path / "corpus").split("train")[number]


@pytest.mark.parametrize("portions", [[], [[]]])
def test_an_empty_split_has_no_pairs(tmp_path: Path, portions: list[list[Ids]]) -> None:
    written(tmp_path / "corpus", portions, "<u2")
    split = open_corpus(tmp_path / "corpus").split("train")
    assert (len(split), list(split), split.lengths().shape) == (0, [], (0, 2))


def test_opening_maps_the_shards_and_reads_only_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "corpus", [[([5, 1], [6, 1])] * 2], "<u2")
    opened: list[str] = []
    real_open = Path.open

    def watching_open(path: Path, *options: object, **named: object) -> object:
        opened.append(path.name)
        return real_open(path, *options, **named)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", watching_open)
        corpus = open_corpus(tmp_path / "corpus")
    assert opened == ["manifest.json"]
    source, target = corpus.split("train")[1]
    assert isinstance(source, np.memmap)
    assert isinstance(target, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        source[0] = 7


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus with everything that a directory can hold."""
    directory = tmp_path_factory.mktemp("prepared")
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(3, 8))) for _ in range(200)]
    sources = [" ".join(draw.choices(words, k=draw.randint(3, 9))) for _ in range(600)] + ["<b>Größe</b>"] * 3
    (directory / "a.en").write_text("".join(f"{line}\n" for line in sources))
    (directory / "a.de").write_text("".join(f"{line.upper()}\n" for line in sources))
    text = f"corpus.texts=[{{source={str(directory / 'a.en')!r}, target={str(directory / 'a.de')!r}}}]"
    settings = [text, f"corpus.directory={str(directory / 'corpus')!r}", "vocabulary.size=512"]
    prepare(config_file.load(None, settings), mirror=None, progress=Silent())
    return directory / "corpus"


def file_names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_corpus_has_the_files_that_the_pages_name(prepared: Path) -> None:
    parts = [f"{split}-000.{part}" for split in ("train", "dev", "test") for part in ("tokens", "lengths", "starts")]
    texts = [f"{split}.{language}" for split in ("dev", "test") for language in ("en", "de")]
    pages = ["CARD.md", "dropped.jsonl", "dropped.svg", "lengths.svg"]
    assert file_names(prepared) == sorted([*parts, *texts, *pages, "manifest.json", "vocab.model"])
    verify(prepared, Silent())


def test_one_flipped_bit_in_any_file_is_found(prepared: Path, tmp_path: Path) -> None:
    draw = random.Random(7)
    for name in file_names(prepared):
        copy = tmp_path / name
        shutil.copytree(prepared, copy)
        content = (copy / name).read_bytes()
        assert content, f"{name} is empty"
        for place in {0, len(content) - 1, draw.randrange(len(content))}:
            changed = bytearray(content)
            changed[place] ^= 1 << draw.randrange(8)
            (copy / name).write_bytes(changed)
            with pytest.raises(UserError, match=rf"{name} is|prepared by|not a prepared corpus"):
                verify(copy, Silent())


def test_any_flipped_bit_of_the_manifest_is_found(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "copy")
    path = tmp_path / "copy" / "manifest.json"
    content = path.read_bytes()
    draw = random.Random(8)
    for _ in range(150):
        changed = bytearray(content)
        changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(UserError):
            verify(tmp_path / "copy", Silent())


def test_a_missing_file_is_found(prepared: Path, tmp_path: Path) -> None:
    for name in file_names(prepared):
        copy = tmp_path / name
        shutil.copytree(prepared, copy)
        (copy / name).unlink()
        with pytest.raises(UserError, match=rf"{name} is (missing|not as it was written)|no {name}"):
            verify(copy, Silent())


def test_a_truncated_file_is_found(prepared: Path, tmp_path: Path) -> None:
    for name in file_names(prepared):
        copy = tmp_path / name
        shutil.copytree(prepared, copy)
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[:-2])
        with pytest.raises(UserError, match=rf"{name} is (not as long as it was|not as it was written|damaged)"):
            verify(copy, Silent())


def test_opening_notices_a_missing_or_truncated_file_without_reading_it(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "copy")
    tokens = tmp_path / "copy" / "train-000.tokens"
    tokens.write_bytes(tokens.read_bytes()[:-2])
    with pytest.raises(
        UserError, match=r"train-000.tokens is not as long as it was; prepare the corpus again with --force"
    ):
        open_corpus(tmp_path / "copy")
    tokens.unlink()
    with pytest.raises(UserError, match=r"train-000.tokens is missing"):
        open_corpus(tmp_path / "copy")


@pytest.mark.parametrize("key", ["fingerprint", "languages", "seed", "id_type", "prepared_at", "seal"])
def test_a_changed_number_or_word_of_the_manifest_is_found(prepared: Path, tmp_path: Path, key: str) -> None:
    shutil.copytree(prepared, tmp_path / "copy")
    path = tmp_path / "copy" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest[key] = manifest[key] + 1 if isinstance(manifest[key], int) else manifest[key][::-1]
    path.write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"manifest.json is not as it was written"):
        verify(tmp_path / "copy", Silent())


def test_a_changed_count_of_a_text_is_found(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "copy")
    path = tmp_path / "copy" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["texts"][0]["pairs_kept"] += 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(UserError, match=r"manifest.json is not as it was written"):
        verify(tmp_path / "copy", Silent())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is damaged"),
        ("[]", "is damaged"),
        ("{}", "is damaged"),
        ("null", "is damaged"),
        ('{"format_version": 1}', "is damaged"),
        ('{"format_version": "1"}', "is damaged"),
        ('{"format_version": null}', "is damaged"),
        ("[" * 100_000, "is damaged"),
        ('{"format_version": 2}', "was prepared by a newer version of Dragoman; prepare it again with this one"),
        ('{"format_version": 0}', "was prepared by an older version of Dragoman"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_told(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UserError, match=sentence):
        open_corpus(tmp_path)


def test_a_directory_without_a_manifest_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a prepared corpus: no manifest.json; run `dragoman prepare`"):
        open_corpus(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot read .*: Not a directory"):
        open_corpus(tmp_path / "file")


def test_the_fingerprint_is_that_of_the_content_alone(prepared: Path) -> None:
    manifest = open_corpus(prepared).manifest
    assert fingerprint_of(reversed(manifest.files), "en-de") == manifest.fingerprint
    assert fingerprint_of(manifest.files, "de-en") != manifest.fingerprint
    renamed = [dataclasses.replace(file, name=f"x{file.name}") for file in manifest.files]
    assert fingerprint_of(renamed, "en-de") != manifest.fingerprint


def test_the_text_of_dev_and_test_belongs_to_its_ids(prepared: Path) -> None:
    corpus = open_corpus(prepared)
    for split in ("dev", "test"):
        sources, targets = corpus.text(split, 0), corpus.text(split, 1)
        assert len(sources) == len(targets) == len(corpus.split(split)) > 0
        assert [source.upper() for source in sources] == targets


def test_pieces_of_target_sentences_are_told_from_those_of_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards_module, "PAIRS_AT_ONCE", 2)
    monkeypatch.setattr(shards_module, "SHARD_BYTES", 20)
    portions = [[([1, 2], [3]), ([4], [5, 3])], [([3], [6]), ([9], []), ([], [7])]]
    written(tmp_path, portions, "<u2")
    split = open_corpus(tmp_path).split("train")
    assert split.has_in_target(10).nonzero()[0].tolist() == [3, 5, 6, 7]


def test_a_model_writes_what_train_and_dev_have_in_their_targets(prepared: Path) -> None:
    opened = open_corpus(prepared)
    special = opened.vocabularies["target"].special
    expected = {special.pad, special.bos, special.eos, special.unk}
    for split in ("train", "dev"):
        expected |= {int(piece) for _, target in opened.split(split) for piece in target}
    assert opened.written_pieces() == sorted(expected)
    assert len(expected) < opened.vocabularies["target"].size
