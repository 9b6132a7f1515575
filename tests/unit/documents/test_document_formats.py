"""Each format: what is a segment, what stays, and that an untouched document is the same to the byte."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import UserError
from dragoman.documents.document import Code, Segment
from dragoman.documents.formats import FORMATS, PARSERS, format_of, retold
from dragoman.documents.subtitles import broken

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
    "[^1]: note\n",
    "[r] [r][] [x][r] [no]\n",
    "a | b\n",
    "--|--\n",
    ": meaning\n",
    "$x_1$ $$y$$ {#id}\n",
    "+++\n",
    "        deep\n",
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
    '<input placeholder="a &amp; b" value=x>',
    "<a title=word href=y>",
    "<meta name=description content='It&#39;s \"it\"\n'>",
    '<svg aria-label="s"><title>x</title></svg>',
    '<img translate=no alt="n">',
    '<b title="',
    "' alt=z",
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
    "[door]\n",
    '<font size="2">big</font> word\n',
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
    assert all(parse(text).rebuilt({}) == text for parse in PARSERS[kind])


@pytest.mark.parametrize("kind", ["markdown", "html", "srt"])
@given(data=st.data())
def test_an_identical_translation_gives_the_same_bytes(kind: str, data: st.DataObject) -> None:
    text = data.draw(documents(kind))
    assert retold(text, kind, same) == (text, [])


@given(documents("po"))
def test_a_catalogue_that_was_filled_is_filled_no_further(text: str) -> None:
    filled, notes = retold(text, "po", same)
    assert notes == []
    assert retold(filled, "po", same)[0] == filled


@pytest.mark.parametrize("kind", PARSERS)
@given(text=st.text(max_size=60))
def test_any_text_at_all_can_be_parsed(kind: str, text: str) -> None:
    assert all(parse(text).rebuilt({}) == text for parse in PARSERS[kind])


def segments(text: str, kind: str) -> list[Segment]:
    return [segment for parse in PARSERS[kind] for segment in parse(text).segments]


def shown(text: str, kind: str) -> list[str]:
    """Segments as a person reads them, codes in angle quotes."""
    return [
        "".join(f"‹{item.source}›" if isinstance(item, Code) else item for item in segment.items)
        for segment in segments(text, kind)
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


def shouted(texts: Sequence[str]) -> list[list[str]]:
    """In capitals, but for what stands between braces and after a dollar."""
    return [[re.sub(r"(\{.*\}|%\(\w+\)s|\$\w+)|[a-z]+", lambda m: m[1] or m[0].upper(), text)] for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        '<img alt="A DOG" src="keep">',
        "<a title='SAY \"HI\"' href=x>GO</a>",
        '<p>SEE <img alt="A CAT"> AND <a title="TO IT">GO</a>.</p>',
        '<input type=submit value="SEND IT"><input type=text value="keep" placeholder="NAME">',
        '<textarea placeholder="WRITE">keep</textarea>',
        '<button aria-label="CLOSE" data-title="keep">X</button>',
        '<meta name="description" content="DOGS &amp; CATS"><meta name=viewport content="keep">',
        "<meta property='og:title' content='HERE'><link title=keep><style title='keep'></style>",
        '<optgroup label="FRUIT"><option label="APPLE" value="keep"></optgroup>',
        '<svg aria-label="CHART"><text>keep</text></svg><iframe title="MAP"></iframe>',
        '<div translate="no" title="keep"><img alt="keep"></div><img translate="no" alt="keep">',
        "<script>'<img alt=\"keep\">'</script><!-- <img alt='keep'> -->",
        '<a href=\'x?title="keep"\' onclick="f(\'alt=keep\')">GO</a><img alt="" title=" ">',
        '<td title="{0} OF %(total)s">5</td>',
    ],
)
def test_attributes_that_people_read_are_translated_and_no_others(text: str) -> None:
    plain = re.sub(r"[A-Z]+", lambda match: match[0].lower(), text)
    assert retold(plain, "html", shouted) == (text, [])


def test_an_attribute_is_quoted_as_its_translation_needs() -> None:
    def translated(texts: Sequence[str]) -> list[list[str]]:
        return [['Er sagt "ja" & it\'s <gut>'] for _ in texts]

    assert retold("<img alt=yes>", "html", translated)[0] == (
        '<img alt="Er sagt &quot;ja&quot; &amp; it\'s &lt;gut&gt;">'
    )
    assert retold("<img alt='yes'>", "html", translated)[0] == ("<img alt='Er sagt \"ja\" &amp; it&#39;s &lt;gut&gt;'>")


def test_white_space_around_a_text_stays_to_the_byte() -> None:
    assert retold("<p>\n\t a \n b\r\n</p>\n<i>c</i>\n\n<p>", "html", shouted)[0] == (
        "<p>\n\t A B\r\n</p>\n<i>C</i>\n\n<p>"
    )


@pytest.mark.parametrize(
    "text",
    [
        "A | B\n--|:-:\nC | D\n",
        "1. ONE\n\n   MORE\n\n       keep\n\n2. TWO\n",
        "# HEAD\n\n    keep\n",
        "[^1]: A NOTE\n\n    AND MORE\n",
        "WORD\n: ITS MEANING\n",
        "THE SUM $a + b$ IS $$c$$ FOR $5 OR 6\n",
        "# HEAD {#keep .keep}\n",
        "[A](http://x/y_(z) 'keep') AND ![B](c)\n",
        "+++\nkeep = 1\n+++\nTEXT\n",
        "---\n\nTEXT\n",
        "---\nNOT CLOSED\n",
        "A [NOTE IN *BRACKETS*] HERE\n",
    ],
)
def test_markdown_keeps_what_programs_read(text: str) -> None:
    plain = re.sub(r"[A-Z]+", lambda match: match[0].lower(), text)
    assert retold(plain, "markdown", shouted) == (text, [])


def test_a_link_whose_text_is_its_label_keeps_the_label() -> None:
    text = "see [the guide], [Guide][] and ![guide][]\n\n[guide]: a\n[The  Guide]: b\n"
    assert retold(text, "markdown", shouted)[0] == (
        "SEE [THE GUIDE][the guide], [GUIDE][Guide] AND ![GUIDE][guide]\n\n[guide]: a\n[The  Guide]: b\n"
    )


def test_subtitles_without_empty_lines_songs_and_sounds() -> None:
    text = "1\n0:0:1,0 --> 0:0:2,0\n[door]\n♪ la ♪\n2\n0:0:3,0 --> 0:0:4,0\n1984\nwas\n"
    assert shown(text, "srt") == ["[door]", "‹♪› la ‹♪›", "1984 was"]


def test_a_line_of_a_subtitle_never_breaks_inside_a_tag() -> None:
    assert broken('<font color="red" size="2">one two</font> three', 2) == [
        '<font color="red" size="2">one two</font>',
        "three",
    ]


def test_subtitles_are_one_segment_or_one_a_speaker() -> None:
    text = "1\n00:00:01,0 --> 00:00:02,0\n<i>Two\nlines</i>\n\n2\n00:00:03,0 --> 00:00:04,0\n- Yes.\n- No.\n"
    assert shown(text, "srt") == ["‹<i>›Two lines‹</i>›", "Yes.", "No."]
    capitals, _ = retold(text, "srt", lambda texts: [[text.upper()] for text in texts])
    assert capitals == text.replace("Two\nlines", "TWO\nLINES").replace("Yes", "YES").replace("No", "NO")


def test_a_catalogue_is_filled_where_it_is_empty_or_fuzzy() -> None:
    text = (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n\nmsgid "Done"\nmsgstr "Fertig"\n\n'
        '#, fuzzy\nmsgid "Old"\nmsgstr "Neu"\n\n'
        'msgid "One \\"file\\""\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
        'msgid ""\n"First\\n"\n"second"\nmsgstr ""\n\nmsgid "%s"\nmsgstr ""\n'
    )
    filled, _ = retold(text, "po", lambda texts: [[text.replace("i", "ii")] for text in texts])
    assert 'msgid "Done"\nmsgstr "Fertig"\n' in filled
    assert '"Language: de\\n"\n' in filled
    assert '#, fuzzy\nmsgid "Old"\nmsgstr "Old"\n' in filled
    assert 'msgstr[0] "One \\"fiile\\""\nmsgstr[1] "%d fiiles"\n' in filled
    assert 'msgstr ""\n"Fiirst\\n"\n"second"\n' in filled
    assert 'msgid "%s"\nmsgstr "%s"\n' in filled


def test_segments_know_their_lines() -> None:
    lines = {
        kind: [segment.line for segment in segments(text, kind)]
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
        retold("", "pdf", same)


def test_a_byte_order_mark_stays_in_front() -> None:
    asked: list[str] = []

    def noted(texts: Sequence[str]) -> list[list[str]]:
        asked.extend(texts)
        return [[text.upper()] for text in texts]

    assert retold("\ufeff# Title\n", "markdown", noted) == ("\ufeff# TITLE\n", [])
    assert asked == ["Title"]
