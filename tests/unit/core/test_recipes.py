"""The recipes that come with Dragoman: each is whole, and says what it is."""

from pathlib import Path

import pytest

from dragoman.core import config_file
from dragoman.theory.cost import parameters

RECIPES = sorted((Path(__file__).resolve().parents[3] / "recipes").glob("*.toml"))


def test_all_that_we_speak_of_are_there() -> None:
    names = {
        "europarl_en_de",
        "libreoffice_help",
        "multi30k_en_de",
        "phrasebook",
        "wmt16_en_de_base",
        "wmt16_en_de_big",
    }
    assert {recipe.stem for recipe in RECIPES} == names


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_a_recipe_is_understood_and_explains_itself(recipe: Path) -> None:
    config = config_file.load(recipe)
    config.model.validate()
    assert config.corpus.texts and config.corpus.directory
    assert recipe.read_text().startswith("# ")
    training = config.training
    assert training.max_steps or training.max_hours or training.max_epochs


@pytest.mark.parametrize("name, expected", [("wmt16_en_de_base", 60_880_896), ("wmt16_en_de_big", 209_842_176)])
def test_the_sizes_of_2017(name: str, expected: int) -> None:
    config = config_file.load(next(recipe for recipe in RECIPES if recipe.stem == name))
    assert parameters(config.model, config.vocabulary.size, config.vocabulary.size) == expected
