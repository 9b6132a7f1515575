"""`dragoman prepare` from end to end: every way to call it, the account it gives, and the same bytes every time."""

import itertools
import json
import shutil
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from dragoman.core.progress import Silent
from dragoman.corpus import prepare as prepare_module
from dragoman.corpus import sources as sources_module
from dragoman.corpus.clean import essence
from dragoman.corpus.manifest import TextReport
from dragoman.corpus.shards import Corpus, open_corpus, verify
from dragoman.corpus.vocab import Vocabulary

from .prepare_runs import Done, dragoman, listing, packed, pairs, prepare, write_text


def texts_of(corpus: Corpus, split: str) -> list[tuple[str, str]]:
    """The pairs of a split, decoded."""
    one, other = (Vocabulary(corpus.directory / corpus.vocabularies[side].file) for side in ("source", "target"))
    return [(one.decode(source.tolist()), other.decode(target.tolist())) for source, target in corpus.split(split)]


def assert_every_pair_is_accounted_for(corpus: Corpus) -> None:
    texts = corpus.manifest.texts
    for text in texts:
        assert text.pairs_read == text.pairs_kept + text.pairs_held_out + sum(text.dropped.values())
        assert min(text.pairs_kept, text.pairs_held_out) >= 0
    if all(text.weight == 1 for text in texts):
        assert corpus.manifest.splits["train"].pairs == sum(text.pairs_kept for text in texts)


def assert_nothing_leaks(corpus: Corpus) -> None:
    """No side of a training pair says the same as a side of dev or test."""
    measured = {essence(side) for split in ("dev", "test") for pair in texts_of(corpus, split) for side in pair}
    assert measured
    for pair in texts_of(corpus, "train"):
        assert not {essence(side) for side in pair} & measured


def assert_whole(directory: Path) -> Corpus:
    verify(directory, Silent())
    corpus = open_corpus(directory)
    assert_every_pair_is_accounted_for(corpus)
    for chart in ("lengths.svg", "dropped.svg"):
        assert ElementTree.parse(directory / chart).getroot().tag.endswith("svg")
    assert (directory / "CARD.md").read_text().startswith("# Corpus card: ")
    for line in (directory / "dropped.jsonl").read_text().splitlines():
        assert {"text", "rule", "line", "source", "target"} == json.loads(line).keys()
    assert not (directory / "spill").exists()
    return corpus


def test_two_files_become_a_corpus(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    before = listing(tmp_path)
    done = prepare("--source", source, "--target", target, "--out", tmp_path / "corpus")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:3] == [
        "600 pairs read, 540 kept (90 %)",
        "dropped: none",
        "train 540, dev 30, test 30 pairs; 512 pieces shared",
    ]
    assert lines[3].startswith(f"{tmp_path}/corpus is ready after ")
    corpus = assert_whole(tmp_path / "corpus")
    everything = [pair for split in ("train", "dev", "test") for pair in texts_of(corpus, split)]
    assert sorted(everything) == sorted(pairs(600))
    assert_nothing_leaks(corpus)
    after = listing(tmp_path)
    assert {name: after[name] for name in before} == before
    assert {name.split("/")[0] for name in after.keys() - before.keys()} == {"corpus"}


def test_a_recipe_of_two_texts_with_weights(tmp_path: Path) -> None:
    write_text(tmp_path, "a", 400)
    write_text(tmp_path, "b", 300, seed=2)
    (tmp_path / "recipe.toml").write_text(
        """
        [corpus]
        directory = "corpus"
        languages = "en-de"
        seed = 7
        [[corpus.texts]]
        name = "plain"
        source = "a.en"
        target = "a.de"
        [[corpus.texts]]
        name = "doubled"
        source = "b.en"
        target = "b.de"
        weight = 2.0
        [held_out]
        dev_pairs = 10
        test_pairs = 20
        [vocabulary]
        size = 640
        """
    )
    done = dragoman("prepare", "recipe.toml", "--set", "held_out.test_pairs=15", directory=tmp_path)
    assert (done.code, done.err.count("Traceback")) == (0, 0)
    corpus = assert_whole(tmp_path / "corpus")
    manifest = corpus.manifest
    assert [(text.name, text.weight, text.pairs_read) for text in manifest.texts] == [
        ("plain", 1, 400),
        ("doubled", 2, 300),
    ]
    assert {name: split.pairs for name, split in manifest.splits.items() if name != "train"} == {"dev": 10, "test": 15}
    assert sum(text.pairs_held_out for text in manifest.texts) == 25
    plain, doubled = (text.pairs_kept for text in manifest.texts)
    times = Counter(texts_of(corpus, "train"))
    assert Counter(times.values()) == {1: plain, 2: doubled}
    assert manifest.splits["train"].pairs == plain + 2 * doubled
    assert manifest.settings["corpus"]["seed"] == 7


@pytest.mark.parametrize(("weight", "copies"), [(0.5, {1}), (1, {1}), (3, {3}), (2.5, {2, 3})])
def test_weights_repeat_training_pairs_and_never_what_is_held_out(
    tmp_path: Path, weight: float, copies: set[int]
) -> None:
    source, target = write_text(tmp_path)
    texts = f"corpus.texts=[{{source={str(source)!r}, target={str(target)!r}, weight={weight}}}]"
    assert prepare("--set", texts, "--out", tmp_path / "corpus").code == 0
    corpus = assert_whole(tmp_path / "corpus")
    [text] = corpus.manifest.texts
    times = Counter(texts_of(corpus, "train"))
    assert set(times.values()) == copies
    assert len(times) == text.pairs_kept
    assert text.pairs_held_out == sum(corpus.manifest.splits[split].pairs for split in ("dev", "test"))
    assert abs(corpus.manifest.splits["train"].pairs - weight * (600 - text.pairs_held_out)) < 60
    assert_nothing_leaks(corpus)


def test_a_data_set_by_name_from_a_mirror(shared_data: Path, tmp_path: Path) -> None:
    done = dragoman(
        "prepare",
        "multi30k:de-en",
        "--mirror",
        shared_data / "multi30k",
        "--out",
        "corpus",
        "--json",
        "--set",
        "vocabulary.size=2048",
        directory=tmp_path,
    )
    assert done.code == 0, done.err
    manifest = json.loads(done.out)
    assert manifest["languages"] == "de-en"
    assert {name: split["pairs"] for name, split in manifest["splits"].items() if name != "train"} == {
        "dev": 1_014,
        "test": 1_000,
    }
    assert manifest["texts"][0]["pairs_read"] == 29_000
    assert manifest["texts"][0]["citation"].startswith("Elliott, Frank")
    assert_nothing_leaks(assert_whole(tmp_path / "corpus"))


def test_several_files_and_a_tsv_are_one_corpus(tmp_path: Path) -> None:
    one, other = write_text(tmp_path, "a", 300), write_text(tmp_path, "b", 300, seed=2)
    arguments = ("--source", one[0], "--source", other[0], "--target", one[1], "--target", other[1])
    assert prepare(*arguments, "--out", tmp_path / "two").code == 0
    rows = "".join(f"{source}\t{target}\n" for source, target in pairs(300) + pairs(300, seed=2))
    (tmp_path / "all.tsv").write_text(rows)
    assert prepare("--source", tmp_path / "all.tsv", "--out", tmp_path / "tsv").code == 0
    corpora = [assert_whole(tmp_path / name).manifest for name in ("two", "tsv")]
    assert [text.name for text in corpora[0].texts] == ["a.en", "b.en"]
    assert corpora[0].fingerprint == corpora[1].fingerprint


def test_json_is_the_manifest(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    done = prepare("--source", source, "--target", target, "--out", tmp_path / "corpus", "--json")
    assert json.loads(done.out) == json.loads((tmp_path / "corpus" / "manifest.json").read_text())


def test_a_second_run_finds_everything_done(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target, "--out", tmp_path / "corpus")
    first = prepare(*arguments)
    before = listing(tmp_path)
    second = prepare(*arguments)
    assert second.code == 0
    assert second.err == f"{tmp_path}/corpus is already prepared with these settings\n"
    assert second.out == first.out
    assert listing(tmp_path) == before


def test_other_settings_are_refused_by_name_until_forced(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target, "--out", tmp_path / "corpus")
    prepare(*arguments)
    before = listing(tmp_path)
    other = (*arguments, "--set", "corpus.seed=2", "--set", "cleaning.max_words=99")
    refused = prepare(*other)
    assert refused.code == 2
    assert refused.err == (
        f"dragoman: {tmp_path}/corpus was prepared differently: corpus.seed was 1, now 2; "
        "cleaning.max_words was 150, now 99; prepare into another directory, or replace it with --force\n"
    )
    assert listing(tmp_path) == before
    old = open_corpus(tmp_path / "corpus").manifest.fingerprint
    assert prepare(*other, "--force").code == 0
    assert assert_whole(tmp_path / "corpus").manifest.fingerprint != old
    assert listing(tmp_path).keys() == before.keys()


def test_a_changed_input_is_noticed(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    arguments = ("--source", source, "--target", target, "--out", tmp_path / "corpus")
    prepare(*arguments)
    source.write_text(source.read_text().replace("a", "b", 1))
    refused = prepare(*arguments)
    assert (refused.code, f"{source} has changed since" in refused.sentence) == (2, True)
    source.unlink()
    assert prepare(*arguments).code == 0, "an input that is gone is no reason to prepare again"


def test_verify_tells_that_every_file_is_as_written(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    prepare("--source", source, "--target", target, "--out", tmp_path / "corpus")
    fingerprint = open_corpus(tmp_path / "corpus").manifest.fingerprint
    done = dragoman("prepare", "--verify", "corpus", directory=tmp_path)
    assert (done.code, done.out) == (0, f"corpus: 18 files as written, fingerprint {fingerprint[:16]}\n")


def test_an_empty_directory_may_become_a_corpus(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    (tmp_path / "corpus").mkdir()
    assert prepare("--source", source, "--target", target, "--out", tmp_path / "corpus").code == 0
    assert_whole(tmp_path / "corpus")


# The same bytes every time.


def test_the_result_depends_on_text_and_settings_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = write_text(tmp_path, number=1_500)

    def fingerprint(name: str, *files: Path) -> str:
        assert prepare("--source", files[0], "--target", files[1], "--out", tmp_path / name).code == 0
        return assert_whole(tmp_path / name).manifest.fingerprint

    first = fingerprint("first", source, target)
    assert fingerprint("second", source, target) == first
    assert fingerprint("packed", packed(source), packed(target)) == first
    with monkeypatch.context() as patch:
        patch.setattr(sources_module, "BLOCK_PAIRS", 97)
        patch.setattr(prepare_module, "PAIRS_AT_ONCE", 60)
        assert fingerprint("blocks", source, target) == first
        patch.setattr(prepare_module, "INLINE_BYTES", 0)
        for processes in (1, 2, 3):
            patch.setattr(prepare_module, "num_cores", lambda number=processes: number)
            assert fingerprint(f"{processes} processes", source, target) == first


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    prepare("--source", source, "--target", target, "--out", tmp_path / "one")
    for path in (source, target):
        path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    prepare("--source", source, "--target", target, "--out", tmp_path / "other")
    one, other = (open_corpus(tmp_path / name).manifest.fingerprint for name in ("one", "other"))
    assert one == other


def test_every_setting_that_matters_changes_the_fingerprint(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    settings = [
        "corpus.seed=1",
        "corpus.seed=2",
        "held_out.dev_pairs=3",
        "vocabulary.kind=unigram",
        "vocabulary.shared=false",
    ]
    found = set()
    for number, setting in enumerate(settings):
        done = prepare("--source", source, "--target", target, "--out", tmp_path / str(number), "--set", setting)
        assert done.code == 0, done.err
        found.add(assert_whole(tmp_path / str(number)).manifest.fingerprint)
    assert len(found) == len(settings)


# What is dropped and what is held out.


def messy(tmp_path: Path) -> tuple[Path, Path]:
    """A text with duplicates, near duplicates and sentences that have several translations."""
    rows: list[tuple[str, str]] = []
    for number, (source, target) in enumerate(pairs(1_000)):
        rows.append((source, target))
        if number % 5 == 0:
            rows.append((source, target))
        if number % 7 == 0:
            rows.append((f"{source.upper()} !", f"{target} again and again"))
        if number % 11 == 0:
            rows.append((f"once more {source}", f"{target}."))
        if number % 50 == 0:
            rows += [("", target), (source, source), (f"<b>{source}</b>", target)]
    (tmp_path / "m.en").write_text("".join(f"{source}\n" for source, _ in rows))
    (tmp_path / "m.de").write_text("".join(f"{target}\n" for _, target in rows))
    return tmp_path / "m.en", tmp_path / "m.de"


def report(done: Done, directory: Path) -> TextReport:
    assert done.code == 0, done.err
    [text] = assert_whole(directory).manifest.texts
    return text


def test_every_pair_of_a_messy_text_is_accounted_for_and_nothing_leaks(tmp_path: Path) -> None:
    source, target = messy(tmp_path)
    text = report(prepare("--source", source, "--target", target, "--out", tmp_path / "corpus"), tmp_path / "corpus")
    assert text.pairs_held_out == 2 * ((text.pairs_read - 60) // 20)
    assert text.dropped["duplicate"] == 200
    assert text.dropped["overlap"] > 0
    assert {rule: text.dropped[rule] for rule in ("empty_side", "identical_sides", "markup")} == {
        "empty_side": 20,
        "identical_sides": 20,
        "markup": 20,
    }
    assert_nothing_leaks(open_corpus(tmp_path / "corpus"))
    assert len(set(texts_of(open_corpus(tmp_path / "corpus"), "train"))) == text.pairs_kept
    told = json.loads((tmp_path / "corpus" / "dropped.jsonl").read_text().splitlines()[0])
    lines = source.read_text().splitlines(), target.read_text().splitlines()
    assert (told["source"], told["target"]) == (lines[0][told["line"] - 1], lines[1][told["line"] - 1])


def test_rules_after_cleaning_can_be_switched_off(tmp_path: Path) -> None:
    source, target = messy(tmp_path)
    off = 'cleaning.switched_off=["duplicate", "overlap", "too_many_pieces"]'
    text = report(
        prepare("--source", source, "--target", target, "--out", tmp_path / "corpus", "--set", off), tmp_path / "corpus"
    )
    assert set(text.dropped) == {"empty_side", "identical_sides", "markup"}


def test_pairs_of_too_many_pieces_are_dropped_and_counted(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    arguments = (
        "--source",
        source,
        "--target",
        target,
        "--out",
        tmp_path / "corpus",
        "--set",
        "cleaning.max_pieces=20",
    )
    text = report(prepare(*arguments), tmp_path / "corpus")
    assert 0 < text.dropped["too_many_pieces"] < 600
    corpus = open_corpus(tmp_path / "corpus")
    assert corpus.split("train").lengths().max() == 21  # the end of the sentence is not counted


def test_documents_stay_together(tmp_path: Path) -> None:
    page_of = {pair: number // 12 for number, pair in enumerate(pairs(1_200))}
    rows = "".join(f"{source}\t{target}\tpage {page}\n" for (source, target), page in page_of.items())
    (tmp_path / "pages.tsv").write_text(rows)
    assert prepare("--source", tmp_path / "pages.tsv", "--out", tmp_path / "corpus").code == 0
    corpus = assert_whole(tmp_path / "corpus")
    pages = {split: {page_of[pair] for pair in texts_of(corpus, split)} for split in ("train", "dev", "test")}
    assert sum(map(len, pages.values())) == len(set().union(*pages.values())) == 100
    assert [len(pages[split]) for split in ("dev", "test")] == [5, 5]
    assert_nothing_leaks(corpus)


def test_given_dev_and_test_are_taken_whole_and_in_order(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    dev = [("", "leer"), ("A <b>tag</b>", "ein Tag"), ("carriage\rreturn", "Wagen\u2028lauf"), *pairs(5)]
    for side, name in enumerate(("dev.en", "dev.de")):
        (tmp_path / name).write_bytes("".join(f"{pair[side]}\n" for pair in dev).encode())
    test_source, test_target = write_text(tmp_path, "t", 40, seed=9)
    settings = [f"held_out.dev_source={tmp_path / 'dev.en'}", f"held_out.dev_target={tmp_path / 'dev.de'}"]
    settings += [f"held_out.test_source={test_source}", f"held_out.test_target={test_target}"]
    sets = [word for setting in settings for word in ("--set", setting)]
    text = report(
        prepare("--source", source, "--target", target, "--out", tmp_path / "corpus", *sets), tmp_path / "corpus"
    )
    corpus = open_corpus(tmp_path / "corpus")
    assert list(zip(corpus.text("dev", 0), corpus.text("dev", 1), strict=True)) == dev
    assert list(zip(corpus.text("test", 0), corpus.text("test", 1), strict=True)) == pairs(40, seed=9)
    assert (text.pairs_held_out, text.dropped) == (0, {"overlap": 5})
    assert {split: [file.lines for file in files] for split, files in corpus.manifest.given.items()} == {
        "dev": [8, 8],
        "test": [40, 40],
    }


def test_a_language_code_of_two_parts_names_its_files(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    done = prepare(
        "--source", source, "--target", target, "--out", tmp_path / "corpus", "--set", "corpus.languages=en-pt-br"
    )
    assert done.code == 0, done.err
    corpus = assert_whole(tmp_path / "corpus")
    assert (tmp_path / "corpus" / "dev.pt-br").is_file()
    assert len(corpus.text("dev", 1)) == len(corpus.split("dev"))


# Subwords.


def test_one_vocabulary_a_side(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    done = prepare(
        "--source", source, "--target", target, "--out", tmp_path / "corpus", "--set", "vocabulary.shared=false"
    )
    assert done.out.splitlines()[2].endswith("; 512 pieces a side")
    corpus = assert_whole(tmp_path / "corpus")
    assert {side: one.file for side, one in corpus.vocabularies.items()} == {
        "source": "vocab.source.model",
        "target": "vocab.target.model",
    }
    everything = [pair for split in ("train", "dev", "test") for pair in texts_of(corpus, split)]
    assert sorted(everything) == sorted(pairs(600))


def test_an_existing_model_is_used_as_it_is(shared_data: Path, tmp_path: Path) -> None:
    model = shared_data / "wmt16" / "m_common.model"
    source, target = write_text(tmp_path, number=300)
    done = prepare(
        "--source", source, "--target", target, "--out", tmp_path / "corpus", "--set", f"vocabulary.model={model}"
    )
    assert done.code == 0, done.err
    corpus = assert_whole(tmp_path / "corpus")
    assert (tmp_path / "corpus" / "vocab.model").read_bytes() == model.read_bytes()
    assert corpus.vocabularies["source"].size == 32_768
    assert all(int(side[-1]) == 1 for pair in corpus.split("train") for side in pair)


def test_two_existing_models_may_differ_in_the_size_of_their_ids(tmp_path: Path) -> None:
    words = [
        "".join(letters)
        for letters in itertools.islice(itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=4), 70_000)
    ]
    options: dict[str, Any] = {"model_type": "word", "hard_vocab_limit": False, "minloglevel": 2}
    for name, size in (("small", 500), ("large", 66_000)):
        prefix = str(tmp_path / name)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(words), model_prefix=prefix, vocab_size=size, **options
        )
    source, target = write_text(tmp_path, number=300)
    sets = (
        "--set",
        f"vocabulary.source_model={tmp_path}/small.model",
        "--set",
        f"vocabulary.target_model={tmp_path}/large.model",
    )
    done = prepare("--source", source, "--target", target, "--out", tmp_path / "corpus", *sets)
    assert done.code == 0, done.err
    corpus = assert_whole(tmp_path / "corpus")
    assert corpus.manifest.id_type == "<u4"
    source_eos, target_eos = (corpus.vocabularies[side].special.eos for side in ("source", "target"))
    assert all((one[-1], other[-1]) == (source_eos, target_eos) for one, other in corpus.split("train"))


def test_a_copied_corpus_is_the_same_corpus(tmp_path: Path) -> None:
    source, target = write_text(tmp_path)
    prepare("--source", source, "--target", target, "--out", tmp_path / "corpus")
    shutil.copytree(tmp_path / "corpus", tmp_path / "elsewhere")
    assert_whole(tmp_path / "elsewhere")
