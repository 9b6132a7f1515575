"""Marked-up evaluation and training texts as plain lines.

Takes the bytes of a WMT `.sgm`, of an IWSLT `.xml` or of an IWSLT `train.tags` file and gives one line a segment, so
that the two sides of a text stay aligned line by line. Spaces are collapsed; nothing else about a sentence changes.
Knows nothing of languages, files or archives.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)
# The title and the description of a talk are translated sentences too: they stay, as in fairseq's prepare-iwslt14.sh.
KEPT = re.compile(rb"\s*<(title|description)>(.*)</\1>\s*", re.DOTALL)
ABOUT_A_TALK = re.compile(rb"\s*</?(doc|url|keywords|speaker|talkid|reviewer|translator|transcript)\b[^>]*>")
ENTITIES = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&apos;", b"'"), (b"&amp;", b"&"))


def plain_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines as they are."""
    return (line.rstrip(b"\r\n") for line in file)


def sgm_segments(file: BinaryIO) -> Iterator[bytes]:
    """The segments of a WMT test set, which is not real SGML: entities in it stand for themselves, as in sacreBLEU."""
    return (_collapse(segment) for segment in SEGMENT.findall(file.read()))


def xml_segments(file: BinaryIO) -> Iterator[bytes]:
    """The segments of an IWSLT test set."""
    return (_collapse(_unescape(segment)) for segment in SEGMENT.findall(file.read()))


def talk_lines(file: BinaryIO) -> Iterator[bytes]:
    """The sentences of IWSLT training talks, with titles and descriptions; what else is told of a talk is dropped."""
    for line in file:
        if kept := KEPT.fullmatch(line):
            yield _collapse(_unescape(kept[2]))
        elif not ABOUT_A_TALK.match(line):
            yield _collapse(_unescape(line))


def _collapse(text: bytes) -> bytes:
    return b" ".join(text.split())


def _unescape(text: bytes) -> bytes:
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return text
