"""The talk between machines: whole messages or none, and nothing that login scripts print is taken for one."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cluster import messages
from dragoman.cluster.messages import CHUNK_BYTES, GREETING, Message, ProtocolError


def heard(content: bytes) -> list[Message]:
    async def listen() -> list[Message]:
        reader = asyncio.StreamReader()
        reader.feed_data(content)
        reader.feed_eof()
        found = []
        while (message := await messages.read(reader)) is not None:
            found.append(message)
        return found

    return asyncio.run(listen())


@given(st.text(), st.binary(max_size=200), st.integers())
def test_what_is_said_is_heard(text: str, payload: bytes, number: int) -> None:
    said = [Message("data", {"text": text, "id": number}, payload), Message("bye")]
    assert heard(b"".join(message.encoded() for message in said)) == said


def test_half_a_message_is_none() -> None:
    whole = Message("data", {"id": 1}, b"12345").encoded()
    for length in range(len(whole)):
        assert heard(whole[:length]) == []


@pytest.mark.parametrize(
    "noise",
    [b"Welcome!\n", b"[]\n", b"3\n", b'{"no": "kind"}\n', b'{"kind": "data", "bytes": -1}\n', b'{"kind": 1}\n',
     b'{"kind": "data", "bytes": %d}\n' % (CHUNK_BYTES + 1), b"\xff\xfe\n"],
)  # fmt: skip
def test_what_is_no_message_is_refused(noise: bytes) -> None:
    with pytest.raises(ProtocolError):
        heard(noise)


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ProtocolError, match="a data message has no id"):
        Message("data")["id"]


def begins(content: bytes) -> bool:
    async def listen() -> bool:
        reader = asyncio.StreamReader()
        reader.feed_data(content)
        reader.feed_eof()
        return await messages.past_greeting(reader)

    return asyncio.run(listen())


def test_the_talk_begins_after_whatever_a_login_prints() -> None:
    assert begins(GREETING)
    assert begins(b"Welcome to Debian\n* 3 updates *\n" + GREETING)
    assert begins(b"no newline at the end of this banner" + GREETING)
    assert not begins(b"bash: python: not found\n")
    assert not begins(b"endless\n" * 20_000 + GREETING)
