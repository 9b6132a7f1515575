"""Each format: what is a segment, what stays, and that an untouched document is the same to the byte."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import UserError
from dragoman.documents.document import Code
from dragoman.documents.formats import FORMATS, PARSERS, format_of, parse
from dragoman.documents.retelling import retell

MARKDOWN = [
    "# Title #\n",
    "text *of* **two**\n",
    "lines and `code`\n",
    "\n",
    '- item [a](b "c")\n',
    "  1. more\n",
    "> quote\n",
    "| a | b \\| c |\n",
    "|---|:-:|\n",
    "```py\n",
    "x = 1\n",
    "~~~\n",
    "    indented\n",
    "***\n",
    "===\n",
    "[r]: http://x\n",
    "<!-- comment\n",
    "-->\n",
    "hard  \n",
    "&amp; <b>bold</b>\n",
    "%s {name} 5\n",
    "_a_ ~~b~~ ![i](j)\n",
    "---\n",
    "\t- tab\n",
    "* * *\n",
    "a\\*b <http://x.y>\n",
    "end",
    "\r\n",
    "windows\r\n",
    "[^1] ``a`b``\n",
]
HTML = [
    "<p>",
    "</p>",
    "text ",
    "<b>bold</b>",
    "&amp;",
    "&nbsp;",
    "&#39;",
    "&bogus",
    "\n",
    "<br>",
    "<br/>",
    "<img alt='a>b'>",
    "<script>if (a < b) { '</p>' }</script>",
    "<style>p > a {}</style>",
    "<!-- <p>no</p> -->",
    "<code>x < y</code>",
    "< ",
    '<a href="x?a=1&b=2">',
    "</a>",
    "<!DOCTYPE html>",
    "<?php echo ?>",
    "<pre>\n a  b </pre>",
    "\r\n",
    "5 > 4",
    "<td",
    '<span translate="no">Dragoman</span>',
    "<textarea>t</textarea>",
    "</b>",
    "<![CDATA[x]]>",
    "é日本",
    "<p class=a\nid=b>",
]
SRT = [
    "1\n",
    "00:00:01,000 --> 00:00:02,500\n",
    "Hello there.\n",
    "<i>How are</i>\n",
    "you?\n",
    "\n",
    "- Yes.\n",
    "- No!\n",
    "{\\an8}Up\n",
    "♪ la ♪\n",
    "2\r\n",
    "00:00:03,000 --> 00:00:04,000\r\n",
    "Two\r\n",
    "\r\n",
    "end",
]
PO = [
    "# comment\n",
    "#, fuzzy\n",
    "#, c-format\n",
    'msgctxt "menu"\n',
    'msgid "Open %s"\n',
    'msgid ""\n',
    '"a\\n"\n',
    '"b \\"c\\""\n',
    'msgid_plural "%d files"\n',
    'msgstr ""\n',
    'msgstr "Fertig"\n',
    'msgstr[0] ""\n',
    'msgstr[1] ""\n',
    "\n",
    '#~ msgid "old"\n',
    '#~ msgstr "alt"\n',
    "\r\n",
    'msgid "win"\r\n',
    'msgstr ""\r\n',
    "junk",
]
FRAGMENTS = {"markdown": MARKDOWN, "html": HTML, "srt": SRT, "po": PO}


def same(texts: Sequence[str]) -> list[list[str]]:
    return [[text] for text in texts]


def documents(kind: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*FRAGMENTS[kind], "\ufeff"]), max_size=14).map("".join)


@pytest.mark.parametrize("kind", PARSERS)
@given(data=st.data())
def test_what_is_not_translated_is_the_same_to_the_byte(kind: str, data: st.DataObject) -> None:
    text = data.draw(documents(kind))
    assert parse(text, kind).rebuilt({}) == text


@pytest.mark.parametrize("kind", ["markdown", "html", "srt"])
@given(data=st.data())
def test_an_identical_translation_gives_the_same_bytes(kind: str, data: st.DataObject) -> None:
    text = data.draw(documents(kind))
    assert retell(parse(text, kind), same) == (text, [])


@given(documents("po"))
def test_a_catalogue_that_was_filled_is_filled_no_further(text: str) -> None:
    filled, notes = retell(parse(text, "po"), same)
    assert notes == []
    assert retell(parse(filled, "po"), same)[0] == filled


@pytest.mark.parametrize("kind", PARSERS)
@given(text=st.text(max_size=60))
def test_any_text_at_all_can_be_parsed(kind: str, text: str) -> None:
    assert parse(text, kind).rebuilt({}) == text


def shown(text: str, kind: str) -> list[str]:
    """Segments as a person reads them, codes in angle quotes."""
    return [
        "".join(f"‹{item.source}›" if isinstance(item, Code) else item for item in segment.items)
        for segment in parse(text, kind).segments
    ]


def test_markdown_has_segments_where_people_read() -> None:
    text = (
        "---\ntitle: Front\n---\n# The *title* #\n\nA sentence\nover [two](x) lines.\n\n"
        "- first `code`\n  goes on\n- [x] second\n\n> quoted\n\n"
        "| Cell | 17 |\n|---|---|\n| a \\| b | c |\n\n```\ncode\n```\n\n    indented\n\n[ref]: http://x\n"
    )
    assert shown(text, "markdown") == [
        "The ‹*›title‹*›",
        "A sentence over ‹[›two‹](x)› lines.",
        "first ‹`code`› goes on",
        "second",
        "quoted",
        "Cell",
        "17",
        "a ‹\\|› b",
        "c",
    ]


def test_html_has_segments_where_people_read() -> None:
    text = (
        "<title>Hi</title><style>p{}</style><p>A  <b>bold</b>\n word &amp; <code>x</code><br>end</p>"
        "<script>var a;</script><pre>kept</pre><div translate='no'><p>kept</p></div>tail"
    )
    assert shown(text, "html") == ["Hi", "A ‹<b>›bold‹</b>› word & ‹<code>x</code>›", "end", "tail"]


def test_subtitles_are_one_segment_or_one_a_speaker() -> None:
    text = "1\n00:00:01,0 --> 00:00:02,0\n<i>Two\nlines</i>\n\n2\n00:00:03,0 --> 00:00:04,0\n- Yes.\n- No.\n"
    assert shown(text, "srt") == ["‹<i>›Two lines‹</i>›", "Yes.", "No."]
    shouted, _ = retell(parse(text, "srt"), lambda texts: [[text.upper()] for text in texts])
    assert shouted == text.replace("Two\nlines", "TWO\nLINES").replace("Yes", "YES").replace("No", "NO")


def test_a_catalogue_is_filled_where_it_is_empty_or_fuzzy() -> None:
    text = (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n\nmsgid "Done"\nmsgstr "Fertig"\n\n'
        '#, fuzzy\nmsgid "Old"\nmsgstr "Neu"\n\n'
        'msgid "One \\"file\\""\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
        'msgid ""\n"First\\n"\n"second"\nmsgstr ""\n\nmsgid "%s"\nmsgstr ""\n'
    )
    filled, _ = retell(parse(text, "po"), lambda texts: [[text.replace("i", "ii")] for text in texts])
    assert 'msgid "Done"\nmsgstr "Fertig"\n' in filled
    assert '"Language: de\\n"\n' in filled
    assert '#, fuzzy\nmsgid "Old"\nmsgstr "Old"\n' in filled
    assert 'msgstr[0] "One \\"fiile\\""\nmsgstr[1] "%d fiiles"\n' in filled
    assert 'msgstr ""\n"Fiirst\\n"\n"second"\n' in filled
    assert 'msgid "%s"\nmsgstr "%s"\n' in filled


def test_segments_know_their_lines() -> None:
    lines = {
        kind: [segment.line for segment in parse(text, kind).segments]
        for kind, text in (
            ("markdown", "# a\n\nb\nc\n\n- d\n"),
            ("html", "<p>a</p>\n\n<p>b</p>"),
            ("srt", "1\n0:0:1,0 --> 0:0:2,0\na\n"),
            ("po", '\nmsgid "a"\nmsgstr ""\n'),
        )
    }
    assert lines == {"markdown": [1, 3, 6], "html": [1, 3], "srt": [3], "po": [3]}


def test_the_format_is_told_by_the_name() -> None:
    names = {"a.md": "markdown", "b.HTML": "html", "c.srt": "srt", "d.po": "po", "e.txt": "text", "f": "text"}
    assert {name: format_of(Path(name)) for name in names} == names
    assert format_of(None) == "text"
    assert set(names.values()) == set(FORMATS)
    with pytest.raises(UserError, match="'pdf' is no format of documents; take one of text, markdown, html, srt, po"):
        parse("", "pdf")


def test_a_byte_order_mark_stays_in_front() -> None:
    document = parse("\ufeff# Title\n", "markdown")
    assert [segment.raw for segment in document.segments] == ["Title"]
    assert document.rebuilt({}) == "\ufeff# Title\n"
