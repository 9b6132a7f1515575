"""Gettext catalogues (.po): what has no translation yet, or a fuzzy one, gets one; all else stays.

An entry's msgid is the source, its msgstr what is written; of plural forms the first is that of one, the others those
of many. The header, finished translations, comments and obsolete entries stay as they are.
"""

import re
from dataclasses import dataclass, field

from dragoman.documents.codes import merged, split_at, with_placeholders
from dragoman.documents.document import Code, Document, Item, Segment

_FIELD = re.compile(r'[ \t]*(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)[ \t]*(".*")[ \t]*\r?\n?')
_MORE = re.compile(r'[ \t]*(".*")[ \t]*\r?\n?')
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|&(?:#\d+|#x[0-9A-Fa-f]+|[A-Za-z]\w+);|\$\d(?!\d|[.,]\d)")
"""Of what programs read in a message; $1 is an argument here, and money elsewhere."""
_ESCAPE = re.compile(r"\\(.)", re.S)
_UNESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', **{value: f"\\{key}" for key, value in _UNESCAPED.items()}})


@dataclass
class _Field:
    """One keyword and its strings, as they stand in the file."""

    keyword: str
    line: int
    raw: str
    text: str


@dataclass
class _Entry:
    """What is known of the entry that is being read."""

    fields: list[_Field] = field(default_factory=list)
    is_fuzzy: bool = False
    is_open: bool = False


def parse(text: str) -> Document:
    """A catalogue in segments: one a msgstr that is to be written."""
    parts: list[str | Segment] = []
    entry = _Entry()
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), start=1):
        found, more = _FIELD.fullmatch(line), _MORE.fullmatch(line)
        if found:
            is_next = found[1] in ("msgctxt", "msgid") and any(
                each.keyword.startswith("msgstr") for each in entry.fields
            )
            if is_next:
                parts += _written(entry)
                entry = _Entry()
            entry.fields.append(_Field(found[1], number, line, _unquoted(found[2])))
        elif more and entry.fields:
            entry.fields[-1].raw += line
            entry.fields[-1].text += _unquoted(more[1])
        else:
            if entry.fields:
                parts += _written(entry)
                entry = _Entry()
            if line.startswith("#,"):
                entry.is_fuzzy = "fuzzy" in [flag.strip() for flag in line[2:].split(",")]
            elif not line.strip():
                entry.is_fuzzy = False
            parts.append(line)
    return Document((*parts, *_written(entry)))


def _written(entry: _Entry) -> list[str | Segment]:
    sources = {each.keyword: each.text for each in entry.fields}
    many = sources.get("msgid_plural", sources.get("msgid", ""))
    parts: list[str | Segment] = []
    for each in entry.fields:
        source = many if re.fullmatch(r"msgstr\[[1-9]\d*\]", each.keyword) else sources.get("msgid", "")
        is_wanted = each.keyword.startswith("msgstr") and source.strip() and (entry.is_fuzzy or not each.text)
        parts += _segment(each, source) if is_wanted else [each.raw]
    return parts


def _segment(target: _Field, source: str) -> list[str | Segment]:
    """The keyword, and a segment whose raw text is the strings after it."""
    first = target.raw.index('"')
    end = target.raw[len(target.raw.rstrip("\r\n \t")) :]
    raw = target.raw[first : len(target.raw) - len(end)]
    newline = "\r\n" if "\r\n" in target.raw else "\n"

    def finish(translation: str) -> str:
        return _quoted(translation, newline)

    items = with_placeholders(merged([_with_role(item) for item in split_at(_TAG, source)]))
    return [target.raw[:first], Segment(raw, items, target.line, finish=finish, is_original=False), end]


def _with_role(item: Item) -> Item:
    match = re.fullmatch(r"<(/?)([A-Za-z]+)[^<>]*?(/?)>", item.source) if isinstance(item, Code) else None
    if not match or match[3]:
        return item
    return Code(match[0], "closes" if match[1] else "opens", match[2].lower())


def _quoted(text: str, newline: str) -> str:
    """Strings as msgfmt reads them: one, or one a line of the text."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if len(lines) < 2:
        return f'"{text.translate(_ESCAPED)}"'
    return newline.join(['""', *(f'"{line.translate(_ESCAPED)}"' for line in lines)])


def _unquoted(quoted: str) -> str:
    return _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[1]), quoted[1:-1])
