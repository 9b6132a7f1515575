"""The settings themselves: defaults, derived values, bounds that hold for the defaults."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.core.config import (
    PRESETS,
    Bounds,
    Config,
    CorpusConfig,
    ModelConfig,
    OptimizerConfig,
    TextConfig,
    bounds_of,
    setting,
)


def settings(section: Any) -> Iterator[tuple[str, Any, Bounds]]:
    for field in dataclasses.fields(section):
        value = getattr(section, field.name)
        if dataclasses.is_dataclass(value):
            yield from settings(value)
        else:
            yield field.name, value, bounds_of(field)


def test_a_config_cannot_be_changed() -> None:
    config = Config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.corpus.seed = 2  # type: ignore[misc]


def test_two_configs_with_the_same_settings_are_equal() -> None:
    assert Config() == Config()
    assert Config(corpus=CorpusConfig(seed=2)) != Config()


def test_every_default_lies_within_its_own_bounds() -> None:
    for name, value, bounds in [*settings(Config()), *settings(TextConfig())]:
        if bounds.at_least is not None:
            assert value >= bounds.at_least, name
        if bounds.at_most is not None:
            assert value <= bounds.at_most, name
        if bounds.multiple_of is not None:
            assert value % bounds.multiple_of == 0, name
        if bounds.choices:
            assert set(value if isinstance(value, tuple) else [value]) <= set(bounds.choices), name


def test_muon_moves_narrow_models_unless_another_was_chosen() -> None:
    nobody, somebody = OptimizerConfig(), OptimizerConfig(kind="adam")
    assert [nobody.kind_for(ModelConfig(preset=preset)) for preset in PRESETS] == ["muon", "muon", "adamw", "adamw"]
    assert nobody.kind_for(ModelConfig(preset="base", width=256)) == "muon"
    assert somebody.kind_for(ModelConfig(preset="tiny")) == "adam"


def test_a_setting_keeps_its_default_and_its_bounds() -> None:
    @dataclasses.dataclass(frozen=True)
    class Tea:
        minutes: int = setting(3, "how long it draws", at_least=1, at_most=9, multiple_of=3)
        kind: str = setting("green", "which leaves", choices=("green", "black"))

    minutes, kind = dataclasses.fields(Tea)
    assert Tea() == Tea(minutes=3, kind="green")
    assert bounds_of(minutes) == Bounds("how long it draws", at_least=1, at_most=9, multiple_of=3)
    assert bounds_of(kind) == Bounds("which leaves", choices=("green", "black"))


def test_the_language_codes_are_the_two_sides_of_the_pair() -> None:
    corpus = CorpusConfig(languages="fr-nl")
    assert (corpus.source_language, corpus.target_language) == ("fr", "nl")


def test_a_language_code_may_carry_a_script_or_a_country() -> None:
    corpus = CorpusConfig(languages="en-pt_BR")
    assert (corpus.source_language, corpus.target_language) == ("en", "pt_BR")
