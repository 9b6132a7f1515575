"""What a request says, read within its limits: JSON, a form, a file, or the address itself.

Everything here is from outside: each value is checked for its type, and what is wrong becomes one sentence.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qs

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from dragoman.serve.refusal import RefusedError, invalid, too_large
from dragoman.serve.translations import writable

DRAIN_BYTES = 32_000_000
"""Of a body that is too large: read and thrown away, because most clients look at an answer only when all is sent."""
MOST_FIELDS = 1_024
_TYPES = "application/json, application/x-www-form-urlencoded or multipart/form-data"
_File: TypeAlias = tuple[str, bytes]


@dataclass(frozen=True)
class Fields:
    """The named values of a request, and its file as (name, content)."""

    values: Mapping[str, object]
    file: _File | None = None

    def text(self, name: str, default: str | None = None) -> str:
        value = self.values.get(name, default)
        if value is None:
            raise invalid(f"missing {name} parameter")
        if not isinstance(value, str):
            raise invalid(f"{name} must be a text")
        return writable(value)

    def texts(self, name: str) -> tuple[list[str], bool]:
        """One text or a list of them, and whether it was a list."""
        value = self.values.get(name)
        if isinstance(value, list):
            if not all(isinstance(each, str) for each in value):
                raise invalid(f"{name} must be a text or a list of texts")
            return [writable(each) for each in value], True
        if value is not None and not isinstance(value, str):
            raise invalid(f"{name} must be a text or a list of texts")
        return [self.text(name)], False

    def number(self, name: str, default: int, most: int) -> int:
        value = self.values.get(name, default)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise invalid(f"{name} must be a whole number from 0 to {most}")
        return value


async def read_fields(request: Request, most_bytes: int, seconds: float) -> Fields:
    """The fields of body and address; the body goes first."""
    try:
        async with asyncio.timeout(seconds):
            body = await _read_body(request, most_bytes)
    except TimeoutError:
        raise RefusedError(408, f"The request did not arrive within {seconds:g} s.", {"Connection": "close"}) from None
    query = _form(request.scope["query_string"])
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body:
        return Fields(query)
    if kind == "application/json":
        return Fields({**query, **_object(body)})
    if kind == "application/x-www-form-urlencoded":
        return Fields({**query, **_form(body)})
    if kind == "multipart/form-data":
        values, file = await _multipart(request, body)
        return Fields({**query, **values}, file)
    raise RefusedError(415, f"The body must be {_TYPES}.")


async def _read_body(request: Request, most_bytes: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > DRAIN_BYTES:
        raise _body_too_large(most_bytes)
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= most_bytes:
            chunks.append(chunk)
        elif size > DRAIN_BYTES:
            break
    if size > most_bytes:
        raise _body_too_large(most_bytes)
    return b"".join(chunks)


def _body_too_large(most_bytes: int) -> RefusedError:
    refusal = too_large(f"The request is larger than {most_bytes / 1e6:g} MB.")
    refusal.headers["Connection"] = "close"
    return refusal


def _object(body: bytes) -> dict[str, object]:
    try:
        value = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise invalid("the body is not UTF-8") from None
    except (ValueError, RecursionError):
        raise invalid("the body is not JSON") from None
    if not isinstance(value, dict):
        raise invalid("the body must be a JSON object")
    return value


def _form(body: bytes) -> dict[str, object]:
    """Fields of a form or of an address; one that is there several times is a list."""
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise invalid("the form is not UTF-8") from None
    except ValueError:
        raise invalid(f"the form has more than {MOST_FIELDS:,} fields") from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


class _InMemory(MultiPartParser):
    spool_max_size = 64_000_000  # the body was read within its limit already; nothing of it goes to the disk


async def _multipart(request: Request, body: bytes) -> tuple[dict[str, object], _File | None]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        # The parser counts what is not a file against max_part_size, and a long text may be such a field.
        parser = _InMemory(request.headers, stream(), max_files=1, max_fields=MOST_FIELDS, max_part_size=len(body))
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeDecodeError, LookupError, ValueError):
        raise invalid("the form cannot be read") from None
    values: dict[str, object] = {}
    file: _File | None = None
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            file = writable(value.filename or ""), await value.read()
            await value.close()
        else:
            values[name] = value
    return values, file
