"""Records: there and back, strict about what is missing, lenient about what is new."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.records import from_json, read_lines, to_json, write_lines


@dataclass(frozen=True)
class Text:
    name: str
    weight: float = 1.0


@dataclass(frozen=True)
class Manifest:
    pairs: int
    texts: tuple[Text, ...]
    dropped: dict[str, int]
    span: tuple[int, int]
    is_whole: bool
    best: Text | None = None
    bleu: float | None = None
    label: int | str = 0
    home: Path = Path("corpus")
    anything: Any = None
    notes: tuple[str, ...] = field(default_factory=tuple)


MANIFEST = Manifest(
    pairs=29_000,
    texts=(Text("multi30k"), Text("Europäisch", 0.5)),
    dropped={"empty_side": 3, "länge": 0},
    span=(1, 9),
    is_whole=True,
    best=Text("multi30k"),
    label="seven",
    home=Path("/mnt/corpus"),
    anything={"free": [1, None]},
)


def test_nested_records_come_back_as_they_were() -> None:
    assert from_json(Manifest, json.loads(json.dumps(to_json(MANIFEST)))) == MANIFEST


@given(
    st.builds(
        Manifest,
        pairs=st.integers(),
        texts=st.lists(st.builds(Text, name=st.text(), weight=st.floats(allow_nan=False, allow_infinity=False))).map(
            tuple
        ),
        dropped=st.dictionaries(st.text(), st.integers()),
        span=st.tuples(st.integers(), st.integers()),
        is_whole=st.booleans(),
        best=st.none() | st.builds(Text, name=st.text()),
        bleu=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        label=st.integers() | st.text(),
        home=st.just(Path("a/b")),
        anything=st.none(),
        notes=st.lists(st.text()).map(tuple),
    )
)
def test_any_record_comes_back_as_it_was(manifest: Manifest) -> None:
    assert from_json(Manifest, json.loads(json.dumps(to_json(manifest)))) == manifest


def test_fields_are_written_in_their_own_order() -> None:
    assert list(to_json(MANIFEST)) == list(Manifest.__dataclass_fields__)
    assert to_json(MANIFEST)["texts"][0] == {"name": "multi30k", "weight": 1.0}


def with_change(**changes: object) -> dict[str, object]:
    return {**to_json(MANIFEST), **changes}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"pairs": "29000"}, 'Manifest.pairs does not fit: "29000"'),
        ({"pairs": 1.0}, "Manifest.pairs does not fit: 1.0"),
        ({"pairs": True}, "Manifest.pairs does not fit: true"),
        ({"pairs": None}, "Manifest.pairs does not fit: null"),
        ({"is_whole": 1}, "Manifest.is_whole does not fit: 1"),
        ({"bleu": True}, "Manifest.bleu does not fit: true"),
        ({"span": [1, 2, 3]}, "Manifest.span does not fit: [1, 2, 3]"),
        ({"notes": "one"}, 'Manifest.notes does not fit: "one"'),
        ({"dropped": [1]}, "Manifest.dropped does not fit: [1]"),
        ({"dropped": {"a": "x"}}, 'Manifest.dropped.a does not fit: "x"'),
        ({"texts": [{"weight": 1.0}]}, "Manifest.texts has no name"),
        ({"texts": [3]}, "Manifest.texts is not an object"),
        ({"label": None}, "Manifest.label does not fit: null"),
        ({"home": 3}, "Manifest.home does not fit: 3"),
        ({"best": {}}, "Manifest.best has no name"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as error:
        from_json(Manifest, with_change(**changes))
    assert str(error.value) == message


def test_a_missing_field_without_a_default_is_named() -> None:
    value = to_json(MANIFEST)
    del value["pairs"]
    with pytest.raises(ValueError, match=r"^Manifest has no pairs$"):
        from_json(Manifest, value)


def test_a_missing_field_with_a_default_takes_it() -> None:
    value = to_json(MANIFEST)
    del value["bleu"], value["notes"]
    assert from_json(Manifest, value) == MANIFEST


def test_fields_of_a_later_version_are_passed_over() -> None:
    assert from_json(Manifest, with_change(invented_later={"a": 1})) == MANIFEST


def test_a_whole_number_is_a_number() -> None:
    assert from_json(Text, {"name": "a", "weight": 2}) == Text("a", 2.0)


@pytest.mark.parametrize("value", [None, 3, "text", [], [{"name": "a"}]])
def test_what_is_no_object_is_no_record(value: object) -> None:
    with pytest.raises(ValueError, match=r"^Text is not an object$"):
        from_json(Text, value)


def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    texts = [Text("a"), Text("line\nbreak\r and \u2028 ‚quotes‘"), Text("c", 0.5)]
    write_lines(path, texts)
    assert len(path.read_bytes().split(b"\n")) == 4
    assert list(read_lines(path, Text)) == texts


@given(cut=st.integers(1, 60))
def test_a_half_last_line_is_passed_over(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("records") / "texts.jsonl"
    write_lines(path, [Text("first"), Text("Füße, Füße, Füße")])
    whole = path.read_bytes()
    last_line = len(whole.split(b"\n")[1]) + 1
    path.write_bytes(whole[: -min(cut, last_line)])
    assert list(read_lines(path, Text)) == [Text("first")]


def test_an_empty_file_holds_no_records(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b"")
    assert list(read_lines(path, Text)) == []


@pytest.mark.parametrize(
    "line, problem",
    [
        ("not json", "Expecting value"),
        ("", "Expecting value"),
        ('{"weight": 1.0}', "Text has no name"),
        ('{"name": 1}', "Text.name does not fit: 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_in_the_middle_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"name": "a"}\n' + line + '\n{"name": "c"}\n')
    with pytest.raises(ValueError) as error:
        list(read_lines(path, Text))
    assert str(error.value).startswith(f"{path}:2: {problem}")


def test_records_before_a_bad_line_are_still_given(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"name": "a"}\nbad\n')
    lines = read_lines(path, Text)
    assert next(lines) == Text("a")
