"""Text in sentences, and together again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.sentences import units_of


def texts(text: str) -> list[str]:
    return [unit.text for unit in units_of(text)]


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He said: “Go.” Then he went.", ["He said: “Go.”", "Then he went."]),
        ("Mr. Smith met Dr. Jones. They talked.", ["Mr. Smith met Dr. Jones.", "They talked."]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("See Fig. 3 and No. 5. It is there.", ["See Fig. 3 and No. 5. It is there."]),
        ("Am 3. Oktober, z. B. in Bonn. Dort ist es.", ["Am 3. Oktober, z. B. in Bonn.", "Dort ist es."]),
        ("It costs 3.50 euros. really", ["It costs 3.50 euros. really"]),
        ("Well… maybe. Yes", ["Well… maybe.", "Yes"]),
        ("¿Qué hora es? ¿Dónde está?", ["¿Qué hora es?", "¿Dónde está?"]),
        ("你好。再见！好", ["你好。", "再见！", "好"]),
        ("a line\nanother\r\n\nlast", ["a line", "another", "", "last"]),
        ("", [""]),
        ("   ", [""]),
    ],
)
def test_a_text_is_cut_at_the_ends_of_its_sentences(text: str, sentences: list[str]) -> None:
    assert texts(text) == sentences


@given(st.text(alphabet=st.sampled_from("aB1. !?…。\n\r\t\"'”)\u2028\xa0Z"), max_size=40))
def test_nothing_is_lost(text: str) -> None:
    units = units_of(text)
    assert "".join(unit.before + unit.text + unit.after for unit in units) == text
    assert all(unit.text == unit.text.strip() and "\n" not in unit.text for unit in units)
