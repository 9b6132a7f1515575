"""Files of sentences, as people have them: packed, from Windows, one line short."""

import gzip
import json
from pathlib import Path

import pytest

from dragoman.cli.main import run_command
from dragoman.cli.sentence_files import parallel_sentences, sentences_in
from dragoman.core.errors import UserError


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", []),
        (b"Guten Tag.\n\nJa.\n", ["Guten Tag.", "", "Ja."]),
        (b"\xef\xbb\xbfGuten Tag.\r\nJa.\r\n", ["Guten Tag.", "Ja."]),
        (b"ein\rWagen\nJa.", ["ein\rWagen", "Ja."]),
        (b"Stra\xdfe\n", ["Stra\N{REPLACEMENT CHARACTER}e"]),
        (gzip.compress("Straße\nJa.\n".encode()), ["Straße", "Ja."]),
    ],
)
def test_a_line_is_a_sentence_whatever_the_file_is_packed_in(tmp_path: Path, content: bytes, wanted: list[str]) -> None:
    (tmp_path / "a").write_bytes(content)
    assert sentences_in(tmp_path / "a") == wanted


def test_sides_of_unequal_length_are_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("Yes.\nNo.\n")
    (tmp_path / "a.de").write_text("Ja.\n")
    with pytest.raises(UserError, match=r"a\.en has 2 lines, .*a\.de has 1; line N of one belongs to line N"):
        parallel_sentences(tmp_path / "a.en", tmp_path / "a.de")


def test_a_packed_file_is_scored_as_the_text_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Der Zug fährt heute nicht .\nWo ist der Bahnhof von Bremen ?\n"
    (tmp_path / "mine.de").write_text(text)
    (tmp_path / "news.de.gz").write_bytes(gzip.compress(text.encode()))
    words = ["evaluate", "--hypothesis", tmp_path / "mine.de", "--reference", tmp_path / "news.de.gz", "--json"]
    assert run_command([str(word) for word in words]) == 0
    assert json.loads(capsys.readouterr().out)["bleu"] == pytest.approx(100.0)
