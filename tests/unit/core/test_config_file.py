"""Recipes: what is understood, and the exact sentence, file and line for what is not."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.core.config import Config, TextConfig
from dragoman.core.config_file import MAX_RECIPE_BYTES, load, parse
from dragoman.core.errors import UserError


def complaint(text: str) -> str:
    with pytest.raises(UserError) as error:
        parse(text, "r.toml")
    return str(error.value)


def complaint_about_set(*overrides: str) -> str:
    with pytest.raises(UserError) as error:
        load(None, overrides)
    return str(error.value)


def complaint_about_file(path: Path) -> str:
    with pytest.raises(UserError) as error:
        load(path)
    return str(error.value)


# What is understood


def test_nothing_set_gives_the_defaults() -> None:
    assert parse("", "r.toml") == Config() == load(None)


def test_a_recipe_changes_what_it_names_and_nothing_else() -> None:
    config = parse('[vocabulary]\nsize = 16_000\nkind = "unigram"\nshared = false', "r.toml")
    vocabulary = dataclasses.replace(Config().vocabulary, size=16_000, kind="unigram", shared=False)
    assert config == dataclasses.replace(Config(), vocabulary=vocabulary)


def test_a_whole_number_serves_as_a_number() -> None:
    ratio = parse("[cleaning]\nmax_length_ratio = 4", "r.toml").cleaning.max_length_ratio
    assert ratio == 4.0
    assert type(ratio) is float


def test_lists_become_tuples() -> None:
    assert parse('[cleaning]\nswitched_off = ["markup", "overlap"]', "r.toml").cleaning.switched_off == (
        "markup",
        "overlap",
    )


@pytest.mark.parametrize(
    "text",
    [
        '[[corpus.texts]]\nsource = "a"\n[[corpus.texts]]\nsource = "b"\nweight = 2',
        '[corpus]\ntexts = [{ source = "a" }, { source = "b", weight = 2.0 }]',
        'corpus = { texts = [{ source = "a" }, { source = "b", weight = 2 }] }',
        'corpus.texts = [\n  { source = "a" },\n  { source = "b", weight = 2 },\n]',
        '["corpus"]\n"texts" = [{ \'source\' = "a" }, { source = "b", weight = 2e0 }]',
    ],
    ids=["array of tables", "inline tables", "inline section", "dotted key", "quoted keys"],
)
def test_texts_are_understood_in_every_spelling_of_toml(text: str) -> None:
    assert parse(text, "r.toml").corpus.texts == (TextConfig(source="a"), TextConfig(source="b", weight=2.0))


def test_a_file_is_read_whatever_editor_wrote_it(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_bytes(b'\xef\xbb\xbf[corpus]\r\ndirectory = "B\xc3\xbccher"\r\n')
    assert load(recipe).corpus.directory == "Bücher"


def test_a_recipe_may_come_through_a_pipe(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"[corpus]\nseed = 7")
    os.close(writer)
    try:
        assert load(Path(f"/dev/fd/{reader}")).corpus.seed == 7
    finally:
        os.close(reader)


# What is not: names


@pytest.mark.parametrize(
    "text, message",
    [
        ("[vocabulary]\nsise = 8", "r.toml:2: unknown key vocabulary.sise; did you mean size?"),
        ("[vocabulary]\nzzz = 8", "r.toml:2: unknown key vocabulary.zzz"),
        ("\n\n[vocabluary]\nsize = 8", "r.toml:3: unknown section vocabluary; did you mean vocabulary?"),
        ("[vocabluary.more]\nsize = 8", "r.toml:1: unknown section vocabluary; did you mean vocabulary?"),
        ("[zzz]", "r.toml:1: unknown section zzz"),
        ("seed = 1", "r.toml:1: unknown key seed"),
        ("# recipe\nvocabulary = 8", "r.toml:2: vocabulary is a section; write [vocabulary]"),
        ("[[corpus]]\nseed = 1", "r.toml:1: corpus is a section; write [corpus]"),
        ("[corpus.seed]\nx = 1", "r.toml:1: corpus.seed is {'x': 1}; it must be a whole number"),
    ],
)
def test_unknown_names_are_told_with_their_line_and_what_was_meant(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    "text, line",
    [
        ("# c\n[vocabulary] # c\n\n  sise = 8", 4),
        ("[ vocabulary ]\nsise = 8", 2),
        ('["vocabulary"]\nsise = 8', 2),
        ("['vocabulary']\n'sise' = 8", 2),
        ('[vocabulary]\n"sise" = 8', 2),
        ("# c\nvocabulary.sise = 8", 2),
        ('\n"vocabulary" . sise = 8', 2),
        ("\nvocabulary = { size = 64, sise = 8 }", 2),
        ("[corpus]\nseed = 1\n[vocabulary]\nsize = 64\nsise = 8", 5),
        ("[vocabulary]\r\nsize = 64\r\nsise = 8\r\n", 3),
        ("vocabulary.size = 64\nvocabulary.sise = 8", 2),
    ],
)
def test_the_line_is_right_however_the_table_is_spelled(text: str, line: int) -> None:
    assert complaint(text) == f"r.toml:{line}: unknown key vocabulary.sise; did you mean size?"


def test_the_same_key_in_another_section_does_not_draw_the_blame() -> None:
    text = '[vocabulary]\nmodel = "m"\n[corpus]\nmodel = "x"\n[[corpus.texts]]\nsource = "y"'
    assert complaint(text) == "r.toml:4: unknown key corpus.model"


@pytest.mark.parametrize("key", ["a[b].c", "a]", "a[0].b", "[", ".", "", " ", "a=b", "ä", "\\t", "\\u0000"])
def test_no_key_however_strange_does_more_than_be_unknown(key: str) -> None:
    assert ": unknown key corpus." in complaint(f'[corpus]\n"{key}" = 1')
    assert ": unknown key corpus." in complaint(f'[corpus."{key}"]\nx = 1')
    assert ": unknown section " in complaint(f'["{key}"]\nx = 1')


# What is not: values


@pytest.mark.parametrize(
    "setting, value, problem",
    [
        ("vocabulary.size", "true", "is true; it must be a whole number"),
        ("vocabulary.size", "64.0", "is 64.0; it must be a whole number"),
        ("vocabulary.size", '"64"', "is '64'; it must be a whole number"),
        ("vocabulary.size", "[64]", "is [64]; it must be a whole number"),
        ("vocabulary.size", "{ x = 1 }", "is {'x': 1}; it must be a whole number"),
        ("vocabulary.size", "1979-05-27", "is 1979-05-27; it must be a whole number"),
        ("vocabulary.shared", "1", "is 1; it must be true or false"),
        ("vocabulary.shared", '"true"', "is 'true'; it must be true or false"),
        ("vocabulary.kind", "8", "is 8; it must be a text"),
        ("corpus.directory", '["a"]', "is ['a']; it must be a text"),
        ("corpus.directory", "false", "is false; it must be a text"),
        ("cleaning.max_length_ratio", '"3"', "is '3'; it must be a number"),
        ("cleaning.max_length_ratio", "true", "is true; it must be a number"),
        ("cleaning.max_length_ratio", "nan", "is nan; it must be at least 1.0 and finite"),
        ("cleaning.max_length_ratio", "inf", "is inf; it must be finite"),
        ("cleaning.max_length_ratio", "-inf", "is -inf; it must be at least 1.0 and finite"),
        ("cleaning.max_length_ratio", "1" + "0" * 400, "is inf; it must be finite"),
        ("cleaning.max_length_ratio", "0.5", "is 0.5; it must be at least 1.0"),
        ("cleaning.min_letter_share", "1.5", "is 1.5; it must be at most 1.0"),
        ("cleaning.max_words", "0", "is 0; it must be at least 1"),
        ("cleaning.max_pieces", "65_001", "is 65,001; it must be at most 65,000"),
        ("corpus.seed", "-1", "is -1; it must be at least 0"),
        (
            "corpus.seed",
            "9223372036854775808",
            "is 9,223,372,036,854,775,808; it must be at most 9,223,372,036,854,775,807",
        ),
        ("corpus.seed", "0x" + "f" * 9_999, "is too large to show; it must be at most 9,223,372,036,854,775,807"),
        ("vocabulary.size", "63", "is 63; it must be a multiple of 8 and at least 64"),
        ("vocabulary.size", "100", "is 100; it must be a multiple of 8"),
        ("vocabulary.size", "1_048_584", "is 1,048,584; it must be at most 1,048,576"),
        ("cleaning.switched_off", '"markup"', "is a list; 'markup' is not"),
        ("cleaning.switched_off", "[1]", "is 1; it must be a text"),
        ("corpus.texts", "{}", "is a list; {} is not"),
        ("corpus.directory", f"[{'1, ' * 99}]", f"is [{'1, ' * 19}1,…; it must be a text"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_what_it_must_be(setting: str, value: str, problem: str) -> None:
    section, key = setting.split(".")
    assert complaint(f"# c\n[{section}]\n\n{key} = {value}") == f"r.toml:4: {setting} {problem}"


def test_a_wrong_choice_is_told_the_choices_and_what_was_meant() -> None:
    assert complaint('[vocabulary]\nkind = "bpee"') == (
        "r.toml:2: vocabulary.kind: 'bpee' is not one of bpe, unigram; did you mean bpe?"
    )
    assert complaint('[vocabulary]\nkind = "words"') == "r.toml:2: vocabulary.kind: 'words' is not one of bpe, unigram"


def test_a_wrong_choice_within_a_list_is_told_too() -> None:
    message = complaint('[cleaning]\nswitched_off = ["markup", "duplicates"]')
    assert message.startswith("r.toml:2: cleaning.switched_off: 'duplicates' is not one of invalid_utf8, empty_side, ")
    assert message.endswith("; did you mean duplicate?")


@pytest.mark.parametrize(
    "text, message",
    [
        (
            '[[corpus.texts]]\nsource = "a"\nweight = 1\n[[corpus.texts]]\nsource = "b"\nweight = -1',
            "r.toml:6: corpus.texts[1].weight is -1.0; it must be at least 0.0",
        ),
        (
            "[[corpus.texts]]\nweight = 1\n\n[[ corpus . texts ]] # second\nwieght = 1",
            "r.toml:5: unknown key corpus.texts[1].wieght; did you mean weight?",
        ),
        (
            "[corpus]\nseed = 1\ntexts = [{ weight = 1 }, { weight = -1 }]",
            "r.toml:3: corpus.texts[1].weight is -1.0; it must be at least 0.0",
        ),
        ("[corpus]\ntexts = [{}, 3]", "r.toml:2: corpus.texts[1] is 3; it must be a table"),
        ("[corpus]\ntexts = [[]]", "r.toml:2: corpus.texts[0] is []; it must be a table"),
    ],
)
def test_the_fault_of_one_text_among_several_is_told_with_its_own_line(text: str, message: str) -> None:
    assert complaint(text) == message


# What is not: the text itself


@pytest.mark.parametrize(
    "text, message",
    [
        ("[corpus]\nseed = ", "r.toml:2: not valid TOML: Invalid value"),
        ("[corpus]\n\nseed 1\n", "r.toml:3: not valid TOML: Expected '=' after a key in a key/value pair"),
        ("[corpus]\nseed = 1\nseed = 2", "r.toml:3: not valid TOML: Cannot overwrite a value"),
        ('[corpus]\ndirectory = "a', "r.toml:2: not valid TOML: Unterminated string"),
        ("a = 1 b = 2", "r.toml:1: not valid TOML: Expected newline or end of document after a statement"),
        ("a = \x00", "r.toml:1: not valid TOML: Invalid value"),
        ("a = 2024-02-30", "r.toml:1: not valid TOML: Invalid date or datetime"),
        ("a = " + "9" * 5_000, "r.toml: not valid TOML: a number has too many digits"),
        ("a = " + "[" * 100_000, "r.toml: nested too deeply"),
    ],
    ids=range(9),
)
def test_text_that_is_no_toml_is_told_with_its_line(text: str, message: str) -> None:
    assert complaint(text) == message


def test_tables_in_tables_by_the_thousand_are_told_briefly() -> None:
    message = complaint(f"corpus.texts.{'a.' * 3_000}a = 1")  # deeper than some versions of Python can print
    assert message.startswith("r.toml:1: corpus.texts is a list; ")
    assert len(message) < 120


def test_a_fault_in_a_file_names_the_file(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("\ufeff[vocabulary]\nsise = 8")
    assert complaint_about_file(recipe) == f"{recipe}:2: unknown key vocabulary.sise; did you mean size?"


def test_a_recipe_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert complaint_about_file(tmp_path / "no.toml") == f"there is no recipe {tmp_path}/no.toml"


def test_a_directory_is_no_recipe(tmp_path: Path) -> None:
    assert complaint_about_file(tmp_path) == f"cannot read the recipe {tmp_path}: Is a directory"


def test_a_recipe_that_cannot_be_read_is_told_why(tmp_path: Path) -> None:
    loop = tmp_path / "loop.toml"  # a link to itself: unlike missing permissions, it stops root too
    loop.symlink_to(loop)
    assert complaint_about_file(loop) == f"cannot read the recipe {loop}: Too many levels of symbolic links"
    assert complaint_about_file(Path("a\0b")) == "cannot read the recipe a\0b: embedded null byte"
    long = Path("x" * 300)
    assert complaint_about_file(long) == f"cannot read the recipe {long}: File name too long"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_recipe_without_permission_is_told(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("")
    recipe.chmod(0)
    assert complaint_about_file(recipe) == f"cannot read the recipe {recipe}: Permission denied"


def test_a_binary_file_is_no_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "model.bin"
    recipe.write_bytes(b"\x80\x02\xff\x00")
    assert complaint_about_file(recipe) == f"cannot read the recipe {recipe}: it is not UTF-8 text"


def test_a_huge_file_is_no_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "corpus.txt"
    recipe.write_bytes(b"#" * MAX_RECIPE_BYTES)
    assert load(recipe) == Config()
    recipe.write_bytes(b"#" * (MAX_RECIPE_BYTES + 1))
    assert complaint_about_file(recipe) == f"{recipe} is larger than a recipe can be"
    assert complaint_about_file(Path("/dev/zero")) == "/dev/zero is larger than a recipe can be"


# --set


@pytest.mark.parametrize(
    "override, value",
    [
        ("vocabulary.size=16_000", 16_000),
        ("vocabulary.size = 64", 64),
        ("vocabulary.shared=false", False),
        ("vocabulary.kind=unigram", "unigram"),
        ('vocabulary.kind="unigram"', "unigram"),
        ("vocabulary.model=", ""),
        ("vocabulary.model=models/a b=c.model", "models/a b=c.model"),
        ("vocabulary.model='x' and 'y'", "'x' and 'y'"),
        ("corpus.languages=en-de", "en-de"),
        ("corpus.directory=2024", "2024"),
        ("corpus.directory=true", "true"),
        ("corpus.directory=[a]", "[a]"),
        ("corpus.directory=1\nseed = 2", "1\nseed = 2"),
        ("cleaning.max_length_ratio=4", 4.0),
        ("cleaning.max_length_ratio=4.5", 4.5),
        ("cleaning.switched_off=[]", ()),
        ('cleaning.switched_off=["markup", "overlap"]', ("markup", "overlap")),
        (
            "corpus.texts=[{dataset='multi30k'},{source='a',weight=2}]",
            (TextConfig(dataset="multi30k"), TextConfig(source="a", weight=2.0)),
        ),
    ],
)
def test_set_takes_a_value_of_every_type(override: str, value: Any) -> None:
    section, key = override.partition("=")[0].strip().split(".")
    found = getattr(getattr(load(None, [override]), section), key)
    assert found == value
    assert type(found) is type(value)


def test_set_wins_over_the_recipe_and_a_later_set_over_an_earlier(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("[vocabulary]\nsize = 64\nsample_pairs = 5\n[corpus]\nseed = 3")
    config = load(recipe, ["vocabulary.size=128", "corpus.seed=4", "corpus.seed=5"])
    assert (config.vocabulary.size, config.vocabulary.sample_pairs, config.corpus.seed) == (128, 5, 5)


@pytest.mark.parametrize(
    "override, problem",
    [
        ("vocabulary.sise=8", "unknown key vocabulary.sise; did you mean size?"),
        ("vocab.size=8", "unknown section vocab; did you mean vocabulary?"),
        ("size=8", "unknown key size"),
        ("vocabulary=8", "vocabulary is a section; write [vocabulary]"),
        ("vocabulary.size", "expected section.key=value"),
        ("", "expected section.key=value"),
        ("=8", "expected section.key=value"),
        (".size=8", "expected section.key=value"),
        ("vocabulary.=8", "expected section.key=value"),
        ("vocabulary.size=", "vocabulary.size is ''; it must be a whole number"),
        ("vocabulary.size=many", "vocabulary.size is 'many'; it must be a whole number"),
        ("vocabulary.size=64.0", "vocabulary.size is 64.0; it must be a whole number"),
        ("vocabulary.size=true", "vocabulary.size is true; it must be a whole number"),
        ("vocabulary.size=65", "vocabulary.size is 65; it must be a multiple of 8"),
        ("vocabulary.size=64\nshared = false", "vocabulary.size is '64\\nshared = false'; it must be a whole number"),
        ("vocabulary.shared=yes", "vocabulary.shared is 'yes'; it must be true or false"),
        ("vocabulary.kind=bpee", "vocabulary.kind: 'bpee' is not one of bpe, unigram; did you mean bpe?"),
        ("vocabulary.size.more=8", "vocabulary.size is {'more': 8}; it must be a whole number"),
        ("cleaning.switched_off=markup", "cleaning.switched_off is a list; 'markup' is not"),
        ("corpus.texts=[{wieght=1}]", "unknown key corpus.texts[0].wieght; did you mean weight?"),
        ("corpus.texts[0].weight=1", "unknown key corpus.texts[0]; did you mean texts?"),
        ("cleaning.max_length_ratio=nan", "cleaning.max_length_ratio is nan; it must be at least 1.0 and finite"),
    ],
)
def test_a_wrong_set_is_told_in_its_own_words(override: str, problem: str) -> None:
    assert complaint_about_set(override) == f"--set {override}: {problem}"


def test_a_number_of_too_many_digits_in_a_set_is_no_number() -> None:
    assert complaint_about_set(f"corpus.seed={'9' * 5_000}").endswith(f"is '{'9' * 59}…; it must be a whole number")


# Whatever comes: a Config or a UserError


def survives(text: str) -> None:
    try:
        assert isinstance(parse(text, "r.toml"), Config)
    except UserError as error:
        assert str(error).startswith("r.toml:")


REAL_NAMES = sorted(
    {section.name for section in dataclasses.fields(Config)}
    | {
        field.name
        for section in dataclasses.fields(Config)
        for field in dataclasses.fields(getattr(Config(), section.name))
    }
    | {field.name for field in dataclasses.fields(TextConfig)}
)

keys = st.sampled_from(REAL_NAMES) | st.sampled_from(REAL_NAMES).map(lambda name: name[:-1] + "x") | st.text(max_size=6)
scalars = (
    st.booleans()
    | st.integers()
    | st.integers(-2, 70_000)
    | st.integers(2**62, 2**5_000).map(hex)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["bpe", "unigram", "markup", "en-de", ""])
    | st.datetimes()
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
tables = st.dictionaries(keys, st.dictionaries(keys, values, max_size=4) | values, max_size=4)
section_tables = st.fixed_dictionaries(
    {},
    optional={
        section.name: st.dictionaries(
            st.sampled_from([field.name for field in dataclasses.fields(getattr(Config(), section.name))]) | keys,
            values,
        )
        for section in dataclasses.fields(Config)
    },
)


def toml(value: Any) -> str:
    """Inline TOML; hexadecimal numbers, which may be longer than any decimal one, pass as they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value if value.startswith("0x") else quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)} = {toml(item)}' for key, item in value.items())}}}"
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


def quoted(text: str) -> str:
    """JSON's escapes are TOML's, except for characters beyond 16 bits and for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def document(table: dict[str, Any]) -> str:
    """Top-level values first, then each table under its own header, arrays of tables as [[...]]."""
    lines = [f"{quoted(key)} = {toml(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for section, content in table.items():
        if isinstance(content, dict):
            lines.append(f"[{quoted(section)}]")
            entries = {
                k: v for k, v in content.items() if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)
            }
            lines += [f"{quoted(key)} = {toml(value)}" for key, value in content.items() if key not in entries]
            for key, items in entries.items():
                for item in items:
                    lines.append(f"[[{quoted(section)}.{quoted(key)}]]")
                    lines += [f"{quoted(name)} = {toml(value)}" for name, value in item.items()]
    return "\n".join(lines)


@given(st.text())
def test_any_text_gives_a_config_or_a_user_error(text: str) -> None:
    survives(text)


@given(st.text(alphabet="[]{}=.,\"'#\n\r\t 01eabcorpusvtxs_-+:\\"))
@example('[corpus."a[b].c"]\nx = 1')
def test_any_text_of_tomls_own_characters_gives_a_config_or_a_user_error(text: str) -> None:
    survives(text)


@given(content=st.binary())
def test_any_bytes_in_a_file_give_a_config_or_a_user_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    recipe = tmp_path_factory.getbasetemp() / "any_bytes.toml"
    recipe.write_bytes(content)
    try:
        assert isinstance(load(recipe), Config)
    except UserError as error:
        assert str(recipe) in str(error)


@given(tables | section_tables)
def test_any_tables_give_a_config_or_a_user_error(table: dict[str, Any]) -> None:
    survives(document(table))


@given(keys, keys, values)
def test_any_set_of_a_real_or_nearly_real_setting_gives_a_config_or_a_user_error(
    section: str, key: str, value: Any
) -> None:
    try:
        assert isinstance(load(None, [f"{section}.{key}={toml(value)}"]), Config)
    except UserError as error:
        assert str(error).startswith("--set ")


@given(st.lists(st.text(), max_size=2))
@example(["a=" + "[" * 100_000])
@example(["corpus.seed=" + "9" * 5_000])
@example(["." * 5_000 + "=1", "a" + ".a" * 5_000 + "=1"])
def test_any_set_gives_a_config_or_a_user_error(overrides: list[str]) -> None:
    try:
        assert isinstance(load(None, overrides), Config)
    except UserError as error:
        assert str(error).startswith("--set ")


@pytest.mark.parametrize(
    "table", [{"corpus": {"seed": 3, "texts": [{"source": "a"}, {"weight": 0.5}]}, "cleaning": {}}]
)
def test_the_fuzz_can_write_recipes_that_are_understood(table: dict[str, Any]) -> None:
    config = parse(document(table), "r.toml")
    assert config.corpus.seed == 3
    assert config.corpus.texts == (TextConfig(source="a"), TextConfig(weight=0.5))


def test_a_retired_setting_of_an_old_run_is_passed_over_only_where_it_changed_nothing(tmp_path: Path) -> None:
    recipe = tmp_path / "config.toml"
    recipe.write_text("[schedule]\ndecay_steps = 0\nwarmup_steps = 7\n")
    assert load(recipe).schedule.warmup_steps == 7
    recipe.write_text("[schedule]\ndecay_steps = 500\n")
    with pytest.raises(UserError, match=r"unknown key schedule\.decay_steps"):
        load(recipe)
