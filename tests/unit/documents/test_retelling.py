"""Translated documents: codes and numbers are all there, or the segment is left and named."""

from collections.abc import Sequence

import pytest

from dragoman.documents.codes import are_nested, numbers_in, with_placeholders
from dragoman.documents.document import Code
from dragoman.documents.formats import retold
from dragoman.documents.retelling import Note

WORDS = {
    "Where is the train station?": ["Wo ist der Bahnhof?"],
    "train station": ["Bahnhof."],
    "Where is the": ["Wo ist das."],
    "Good morning": ["Guten Morgen."],
    "Hello %s, you have 3 letters": ["Hallo, du hast Briefe", "Hallo %s, du hast 3 Briefe"],
    "Hello": ["Hallo"],
    "Delete 5 files": ["Fünf Dateien löschen"],
    "Delete %s now": ["Lösche es jetzt"],
    "Delete `x` now": ["Lösche es jetzt"],
    "Delete": ["Lösche"],
    "now": ["jetzt"],
    "red house": ["rotes Haus"],
    "The very red house": ["Das sehr rote Haus"],
    "The": ["Das"],
    "very": ["sehr"],
}


def translated(texts: Sequence[str]) -> list[list[str]]:
    return [WORDS.get(text, [f"»{text}«"]) for text in texts]


@pytest.mark.parametrize(
    "kind, text, expected",
    [
        ("html", "<p>Where is the <b>train station</b>?</p>", "<p>Wo ist der <b>Bahnhof</b>?</p>"),
        ("html", "<p><b>Good morning</b></p>", "<p><b>Guten Morgen</b></p>"),
        ("html", "<p>The very <i>red house</i></p>", "<p>»The very« <i>rotes Haus</i></p>"),
        ("markdown", "Where is the [train station](map)?", "Wo ist der [Bahnhof](map)?"),
        ("markdown", "# Good morning\n", "# Guten Morgen\n"),
        ("markdown", "`x` Good morning `y`", "`x` Guten Morgen `y`"),
        ("markdown", "Delete `x` now", "Lösche `x` jetzt"),
        ("po", 'msgid "Delete %s now"\nmsgstr ""\n', 'msgid "Delete %s now"\nmsgstr "Lösche %s jetzt"\n'),
    ],
)
def test_codes_find_their_places(kind: str, text: str, expected: str) -> None:
    assert retold(text, kind, translated) == (expected, [])


def test_the_first_translation_that_keeps_everything_is_taken() -> None:
    text = "Hello %s, you have 3 letters\n"
    assert retold(text, "markdown", translated) == ("Hallo %s, du hast 3 Briefe\n", [])


def test_what_loses_a_number_is_left_and_named() -> None:
    text = "# Good morning\n\nDelete 5 files\n"
    assert retold(text, "markdown", translated) == (
        "# Guten Morgen\n\nDelete 5 files\n",
        [Note(3, "Delete 5 files")],
    )


def test_what_is_no_language_is_not_asked_for() -> None:
    asked: list[str] = []

    def candidates(texts: Sequence[str]) -> list[list[str]]:
        asked.extend(texts)
        return [[text] for text in texts]

    retold("| 17 | %s | word |\n|---|---|---|\n\n42\n", "markdown", candidates)
    assert [text for text in asked if any(letter.isalpha() for letter in text.replace("%s", ""))] == ["word"]


def test_text_is_escaped_as_the_format_needs() -> None:
    text, _ = retold("<p>a &amp; b</p>", "html", lambda texts: [["x < y & z\xa0!"] for _ in texts])
    assert text == "<p>x &lt; y &amp; z&nbsp;!</p>"
    text, _ = retold('msgid "a"\nmsgstr ""\n', "po", lambda texts: [['b "c" \\ d\n'] for _ in texts])
    assert text == 'msgid "a"\nmsgstr "b \\"c\\" \\\\ d\\n"\n'


@pytest.mark.parametrize(
    "text, codes",
    [
        ("Copy %s to %1$s and %(name)s", ["%s", "%1$s", "%(name)s"]),
        ("{0} of {total} in {{ place }} at ${HOME}", ["{0}", "{total}", "{{ place }}", "${HOME}"]),
        ("Write to me@x.org or https://x.org/a?b=c.", ["me@x.org", "https://x.org/a?b=c"]),
        ("100% sure, 50 % off", []),
        ("%d%% done", ["%d", "%%"]),
        ("{dir!r:>10} {0:,.2f} {a[b].c} $HOME, not $5", ["{dir!r:>10}", "{0:,.2f}", "{a[b].c}", "$HOME"]),
        ("You have {n, plural, one {# file} other {{n} files}}.", ["{n, plural, one {# file} other {{n} files}}"]),
    ],
)
def test_placeholders_are_codes(text: str, codes: list[str]) -> None:
    items = with_placeholders([text])
    assert [item.source for item in items if isinstance(item, Code)] == codes
    assert "".join(item.source if isinstance(item, Code) else item for item in items) == text


def test_numbers_are_the_same_however_they_are_written() -> None:
    assert numbers_in("1,000.50 and 7") == numbers_in("7 und 1.000,50") == ["100050", "7"]
    assert numbers_in("7 and 7") != numbers_in("7")


def test_spans_that_cross_are_noticed() -> None:
    assert are_nested([(0, 5), (1, 3), (6, 8)])
    assert not are_nested([(0, 5), (3, 8)])
    assert not are_nested([(0, 5), (0, 5)])


def test_an_argument_of_a_message_is_a_placeholder_in_a_catalogue_only() -> None:
    def without_dollar(texts: Sequence[str]) -> list[list[str]]:
        return [[text.replace("$1", "1")] for text in texts]

    message = 'msgid "Hello $1, now"\nmsgstr ""\n'
    assert retold(message, "po", without_dollar)[0] == 'msgid "Hello $1, now"\nmsgstr "Hello $1, now"\n'
    assert retold("It costs $1 now\n", "markdown", without_dollar)[0] == "It costs 1 now\n"
