"""The Translator: any text in, its translation out; and what it says of a folder that it cannot use."""

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.core.errors import UserError
from dragoman.export import engine
from dragoman.export.engine import Translator
from tests.unit.export.conftest import Tiny
from tests.unit.export.tiny_models import PAIRS

SOURCES = [source for source, _ in PAIRS]


@pytest.fixture(scope="module")
def sources(tiny: Tiny) -> list[str]:
    """Sentences whose translations have several words and an end."""
    found = []
    for text in SOURCES:
        ((best,),) = tiny.exported.search([tiny.exported.pieces(text)])
        has_end = len(best.pieces) < tiny.exported.limit(len(tiny.exported.pieces(text)))
        if has_end and " " in tiny.exported.text(best.pieces):
            found.append(text)
    assert len(found) >= 3
    return found


def test_the_package_offers_the_translator() -> None:
    assert dragoman.Translator is Translator
    with pytest.raises(AttributeError, match="module 'dragoman' has no attribute 'Nothing'"):
        dragoman.Nothing  # noqa: B018


def test_translating_needs_no_torch(tiny: Tiny) -> None:
    program = (
        "import sys; from dragoman import Translator; print(Translator.open(sys.argv[1]).translate(['Hello.'])[0]);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tiny.directory)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [tiny.exported.translate(["Hello."])[0], "False"]


def test_a_folder_works_without_dragoman(tiny: Tiny) -> None:
    """The lines that its README gives, run by an interpreter that cannot find our package."""
    readme = (tiny.directory / "README.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in readme.split("```python\n")[1:]]
    plain = next(block for block in blocks if "import ctranslate2" in block)
    guard = "import sys\nsys.modules['dragoman'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", guard + plain], cwd=tiny.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_order_stays_whatever_the_batches(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = [tiny.exported.translate([text])[0] for text in SOURCES[:60]]
    assert len(set(one_by_one)) > 10
    monkeypatch.setattr(engine, "PIECES_AT_ONCE", 64)
    monkeypatch.setattr(engine, "UNITS_AT_ONCE", 17)
    assert tiny.exported.translate(SOURCES[:60]) == one_by_one


def test_sentences_are_translated_one_by_one_and_joined_again(tiny: Tiny) -> None:
    one, two = SOURCES[0], SOURCES[1]
    first, second = tiny.exported.translate([one, two])
    text = f"  {one}  {two}\n\n{one}\r\n"
    assert tiny.exported.translate([text, "", " \n"]) == [f"  {first}  {second}\n\n{first}\r\n", "", " \n"]
    pairs = tiny.exported.sentences(text)
    assert "".join(source for source, _ in pairs) == text
    assert "".join(target for _, target in pairs) == tiny.exported.translate([text])[0]
    assert pairs[0] == (f"  {one}  ", f"  {first}  ")


def test_sentences_are_spaced_as_the_target_language_wants(tiny: Tiny) -> None:
    model = tiny.exported
    chinese = Translator(replace(model.card, target_language="zh"), model._model, model._source, model._target)
    first, second = model.translate(["Hello。", "Yes."])
    assert model.translate(["Hello。Yes."]) == [f"{first} {second}"]
    assert chinese.translate([f"{SOURCES[0]} {SOURCES[1]}"]) == ["".join(model.translate(SOURCES[:2]))]


def test_a_sentence_that_is_too_long_is_translated_in_parts(tiny: Tiny) -> None:
    text = " ".join(["word"] * 500)
    (translation,) = tiny.exported.translate([text])
    assert translation
    assert all(len(tiny.exported.pieces(source)) <= 40 for source, _ in tiny.exported.sentences(text))
    assert tiny.exported.translate(["x" * 5000])[0]


@pytest.mark.parametrize("megabytes", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_a_whole_book_is_translated(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, megabytes: int) -> None:
    searched: list[int] = []

    def search(sources: list[list[int]], num: int = 1) -> list[list[engine.Found]]:
        searched.append(len(sources))
        return [[engine.Found([], "", 0.0)] for _ in sources]

    monkeypatch.setattr(tiny.exported, "search", search)
    text = "A sentence of some words, and one more. " * (25_000 * megabytes)
    assert len(text) == 1_000_000 * megabytes
    assert tiny.exported.translate([text])[0].strip() == ""
    assert searched == [25_000 * megabytes]


def test_hypotheses_come_best_first_with_mean_log_probabilities(tiny: Tiny, sources: list[str]) -> None:
    (found,) = tiny.exported.hypotheses(sources[:1], 3)
    assert len({each.text for each in found}) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[0].text == tiny.exported.translate(sources[:1])[0]
    (ours,) = tiny.trained.search([[*tiny.exported.pieces(sources[0]), tiny.trained.model.ids.eos]])
    assert tiny.trained.target_vocabulary.decode(ours[0].tokens) == found[0].text
    # CTranslate2 spreads the probability of what may not come over what may: 2 of 400 pieces here.
    assert found[0].score == pytest.approx(ours[0].log_probability / (len(ours[0].tokens) + 1), abs=0.02)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_scores_do_not_depend_on_the_length_penalty(tiny: Tiny, penalty: float) -> None:
    greedy = replace(tiny.exported.card.decoding, beam=1)
    plain = tiny.exported.with_decoding(greedy).hypotheses(SOURCES[:8], 1)
    other = tiny.exported.with_decoding(replace(greedy, length_penalty=penalty)).hypotheses(SOURCES[:8], 1)
    for one, two in zip(plain, other, strict=True):
        assert one[0].text == two[0].text
        assert one[0].score == pytest.approx(two[0].score, rel=1e-4)


def test_alternatives_go_on_after_the_prefix(tiny: Tiny, sources: list[str]) -> None:
    (best,) = tiny.exported.translate(sources[:1])
    prefix = best[: best.index(" ") + 1]
    ways = tiny.exported.alternatives(sources[0], prefix, 4)
    assert 0 < len(ways) <= 4
    assert len(set(ways)) == len(ways)
    assert all(way.startswith(prefix) for way in ways)
    assert len(tiny.exported.alternatives(sources[0], "", 3)) == 3


def test_alternatives_change_only_the_sentence_that_they_are_of(tiny: Tiny, sources: list[str]) -> None:
    one, two, three = tiny.exported.translate(sources[:3])
    prefix = f"{one} {two.split(' ')[0]} "
    ways = tiny.exported.alternatives(" ".join(sources[:3]), prefix, 3)
    assert ways
    assert all(way.startswith(prefix) and way.endswith(f" {three}") for way in ways)
    assert tiny.exported.alternatives("", "", 3) == []


def test_an_engine_that_runs_for_months_remembers_no_more_words_than_it_should(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "KNOWN_WORDS", 10)
    translator = Translator.open(tiny.directory, threads=1)
    numbers = [f"Room {number}." for number in range(50)]
    assert [translator.pieces(text) for text in numbers] == [tiny.exported.pieces(text) for text in numbers]
    assert translator._source._known_words is not None and len(translator._source._known_words) <= 10


def test_threads_may_share_a_translator(tiny: Tiny) -> None:
    expected = tiny.exported.translate(SOURCES[:20])
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(tiny.exported.translate(SOURCES[:20]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@settings(max_examples=40)
@given(st.text(max_size=80))
def test_any_text_has_a_translation(tiny: Tiny, text: str) -> None:
    pairs = tiny.exported.sentences(text)
    assert "".join(source for source, _ in pairs) == text
    assert "".join(target for _, target in pairs) == tiny.exported.translate([text])[0]


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\ufeffHello.\u202e", "\x1b[31m", "🙂" * 300, "ﷺ" * 50, "▁"])
def test_strange_characters_harm_nobody(tiny: Tiny, text: str) -> None:
    (translation,) = tiny.exported.translate([text])
    assert isinstance(translation, str)


# Folders that cannot be used


@pytest.fixture
def copied(tiny: Tiny, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny.directory, tmp_path / "copied"))


def refusal(directory: Path) -> str:
    with pytest.raises(UserError) as error:
        Translator.open(directory)
    return str(error.value).replace(str(directory), "DIR")


AGAIN = "export it again with `dragoman export RUN --out DIR`"


def test_no_model_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == f"DIR is not an exported model: no model.json; {AGAIN}"
    assert refusal(tmp_path) == f"DIR is not an exported model: no model.json; {AGAIN}"
    (tmp_path / "file").write_text("")
    assert refusal(tmp_path / "file") == f"DIR is not an exported model: no model.json; {AGAIN}"


def test_a_flipped_byte_is_noticed(copied: Path) -> None:
    for name in ("model.bin", "vocab.target.model", "shared_vocabulary.json", "README.md"):
        content = bytearray((copied / name).read_bytes())
        content[len(content) // 2] ^= 1
        (copied / name).write_bytes(content)
        assert refusal(copied) == f"DIR is a broken export: {name} is not as it was written; {AGAIN}"
        content[len(content) // 2] ^= 1
        (copied / name).write_bytes(content)
    Translator.open(copied)


def test_a_missing_file_is_noticed(copied: Path) -> None:
    (copied / "config.json").unlink()
    assert refusal(copied) == f"DIR is a broken export: config.json is missing; {AGAIN}"
    (copied / "SHA256SUMS").write_text("nonsense\n")
    assert refusal(copied) == f"DIR is a broken export: SHA256SUMS is not as it was written; {AGAIN}"
    (copied / "SHA256SUMS").unlink()
    assert refusal(copied) == f"DIR is a broken export: SHA256SUMS is missing; {AGAIN}"


def test_another_version_is_refused(copied: Path) -> None:
    card = json.loads((copied / "model.json").read_text())
    (copied / "model.json").write_text(json.dumps({**card, "format": 99}))
    assert refusal(copied) == (
        "DIR was exported by a newer version of Dragoman (format 99; this one reads up to 1);"
        " update with `pip install --upgrade dragoman`"
    )
    (copied / "model.json").write_text("{}")
    assert refusal(copied) == f"DIR/model.json is damaged; {AGAIN}"


def test_a_model_that_ctranslate2_refuses_is_named(copied: Path) -> None:
    content = (copied / "model.bin").read_bytes()
    (copied / "model.bin").write_bytes(b"\xff\xff" + content[2:])
    from dragoman.export.card import sums_of

    (copied / "SHA256SUMS").write_text(sums_of(copied))
    assert refusal(copied).startswith("CTranslate2 cannot load DIR: ")
