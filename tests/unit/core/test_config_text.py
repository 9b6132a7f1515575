"""Settings written out and read back."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from dragoman.core import config_file
from dragoman.core.config import Config, CorpusConfig, TextConfig
from dragoman.core.config_text import differences, to_toml


def test_what_is_written_is_read_back() -> None:
    texts = (TextConfig(name="a", source="a.en", target="a.de", weight=0.5), TextConfig(dataset="multi30k"))
    config = Config(corpus=CorpusConfig(directory="corpus/é", texts=texts))
    assert config_file.parse(to_toml(config), "written") == config


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_survives(text: str) -> None:
    config = Config(corpus=CorpusConfig(directory=text))
    assert config_file.parse(to_toml(config), "written") == config


def test_every_setting_is_written_out() -> None:
    text = to_toml(Config())
    for section in dataclasses.fields(Config):
        assert f"[{section.name}]" in text
    assert "tokens_per_step = 4096" in text
    assert "byte_fallback = true" in text


def test_differences_name_the_settings() -> None:
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}) == ["a.c was 2, now 3"]
    assert differences({"a": 1}, {"a": 1, "d": 4}) == ["d was None, now 4"]
    assert differences({"a": [1]}, {"a": [1]}) == []
