"""One file from the network or from a mirror directory, whole and verified.

Takes an address, a place and a sha256, and gives the file at that place. A broken download goes on where it stopped,
if the server says that the file is still the same one. Where no sha256 is known, the first download's is recorded and
every later one must match it. With a mirror, the network is not touched.
Knows nothing of what is in the file.
"""

import hashlib
import http.client
import json
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from dragoman.core.errors import UserError
from dragoman.core.files import partial_of, publish, write_whole
from dragoman.core.progress import Progress

CHUNK_BYTES = 1 << 18


@dataclass(frozen=True)
class Patience:
    """How long a weak connection is put up with."""

    tries: int = 4
    """How often in a row an attempt may end without one new byte."""
    backoff_s: float = 1.0
    """The wait after the first failure; it doubles with each further one."""
    timeout_s: float = 30.0
    """How long the server may be silent."""


def download(
    url: str,
    to: Path,
    *,
    expected_sha256: str | None,
    max_bytes: int,
    known_hashes: Path,
    progress: Progress,
    mirror: Path | None = None,
    patience: Patience = Patience(),  # noqa: B008  frozen
) -> Path:
    """Give `to`, downloaded if it is not there yet; `known_hashes` is the JSON file that remembers first downloads.

    A mirror holds the file under its base name, or in a directory that is called like the one `to` lies in.
    """
    if to.exists():
        return to
    to.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_of(to)
    if mirror is not None:
        shutil.copyfile(_in_mirror(mirror, to, max_bytes), partial)
    else:
        _fetch(_Wanted(url, to.name, partial, max_bytes, is_hash_known=expected_sha256 is not None), progress, patience)
    try:
        _verify(url, to.name, _sha256(partial), expected_sha256, known_hashes)
    except UserError:
        partial.unlink()
        raise
    publish(partial, to)
    _validator_of(partial).unlink(missing_ok=True)
    return to


@dataclass(frozen=True)
class _Wanted:
    url: str
    name: str
    partial: Path
    max_bytes: int
    is_hash_known: bool


class _InterruptedError(Exception):
    """The network failed; trying again may help."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never away from http(s), and from https to http only where the hash is known."""

    def __init__(self, is_hash_known: bool) -> None:
        self._may_be_http = is_hash_known

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        was_http = urlsplit(req.full_url).scheme == "http"
        if urlsplit(newurl).scheme not in ("https", "http" if was_http or self._may_be_http else "https"):
            raise UserError(f"{req.full_url} leads on to {newurl}, which is less secure than where it started")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(wanted: _Wanted, progress: Progress, patience: Patience) -> None:
    if urlsplit(wanted.url).scheme not in ("http", "https"):
        raise UserError(f"{wanted.url} is not an http or https address")
    furthest_bytes = num_failures = 0
    while True:
        try:
            return _attempt(wanted, progress, patience.timeout_s)
        except _InterruptedError as error:
            reached_bytes = _size_bytes(wanted.partial)
            num_failures = 0 if reached_bytes > furthest_bytes else num_failures + 1
            furthest_bytes = max(furthest_bytes, reached_bytes)
            if num_failures >= patience.tries:
                raise UserError(
                    f"{wanted.url} could not be downloaded: {error}",
                    "run the same command again to go on where it stopped, "
                    f"or put {wanted.name} into a directory and name it with `--mirror DIR`",
                ) from error
            time.sleep(patience.backoff_s * 2 ** max(num_failures - 1, 0))


def _attempt(wanted: _Wanted, progress: Progress, timeout_s: float) -> None:
    """Bring the partial file to its full length, or raise; what came so far stays for the next attempt."""
    have_bytes = _size_bytes(wanted.partial)
    validator_file = _validator_of(wanted.partial)
    validator = validator_file.read_text(encoding="latin-1") if validator_file.exists() else ""
    headers = {"User-Agent": "dragoman"}
    if have_bytes and validator:
        # If-Range: a file that changed since comes whole (200), so two versions are never glued together.
        headers |= {"Range": f"bytes={have_bytes}-", "If-Range": validator}
    with _open(urllib.request.Request(wanted.url, headers=headers), wanted, timeout_s) as response:
        start_bytes, total_bytes = _extent(response.status, response.headers, have_bytes, wanted)
        if total_bytes is None and not response.chunked and not wanted.is_hash_known:
            raise UserError(f"{wanted.url} has no known sha256 and its server does not say how long the file is")
        if total_bytes is not None and total_bytes > wanted.max_bytes:
            raise _too_large(wanted)
        received_bytes = start_bytes
        with (
            wanted.partial.open("ab" if start_bytes else "wb") as file,
            progress.stage(f"download {wanted.name}", total=total_bytes, unit="bytes") as bar,
        ):
            if not start_bytes:
                write_whole(validator_file, [_validator(response.headers).encode("latin-1")])
            bar.advance(start_bytes)
            while chunk := _read(response):
                received_bytes += len(chunk)
                if received_bytes > wanted.max_bytes:
                    raise _too_large(wanted)
                file.write(chunk)
                bar.advance(len(chunk))
    if total_bytes is not None and received_bytes < total_bytes:
        raise _InterruptedError(f"the connection ended after {received_bytes:,} of {total_bytes:,} bytes")


def _open(request: urllib.request.Request, wanted: _Wanted, timeout_s: float) -> http.client.HTTPResponse:
    try:
        opener = urllib.request.build_opener(_Redirects(wanted.is_hash_known))
        response: http.client.HTTPResponse = opener.open(request, timeout=timeout_s)
        return response
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            wanted.partial.unlink(missing_ok=True)
        elif error.code not in (408, 425, 429) and error.code < 500:
            raise UserError(
                f"{wanted.url} cannot be had: the server answers {error.code} {error.reason}",
                f"if you have {wanted.name}, put it into a directory and name it with `--mirror DIR`",
            ) from error
        raise _InterruptedError(f"the server answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _InterruptedError(str(getattr(error, "reason", error)) or type(error).__name__) from error


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise _InterruptedError(str(error) or type(error).__name__) from error


def _extent(status: int, headers: Message, have_bytes: int, wanted: _Wanted) -> tuple[int, int | None]:
    """At which byte the answer begins, and how long the whole file is if the server says so."""
    length = headers.get("Content-Length", "")
    if status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0, int(length) if length.isdecimal() else None
    answer = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers.get("Content-Range", ""))
    if answer is None or int(answer[1]) != have_bytes:
        wanted.partial.unlink(missing_ok=True)
        raise _InterruptedError("the server sent another part of the file than it was asked for")
    return have_bytes, int(answer[2])


def _validator(headers: Message) -> str:
    """What tells this version of the file from any other; a weak ETag does not."""
    etag: str = headers.get("ETag", "")
    modified: str = headers.get("Last-Modified", "")
    return etag if etag and not etag.startswith("W/") else modified


def _validator_of(partial: Path) -> Path:
    return partial.with_name(partial.name + ".validator")


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _too_large(wanted: _Wanted) -> UserError:
    wanted.partial.unlink(missing_ok=True)
    return UserError(f"{wanted.url} is larger than the {wanted.max_bytes:,} bytes allowed for it, so it is refused")


def _in_mirror(mirror: Path, to: Path, max_bytes: int) -> Path:
    for path in (mirror / to.parent.name / to.name, mirror / to.name):
        if path.is_file():
            if path.stat().st_size > max_bytes:
                raise UserError(f"{path} is larger than the {max_bytes:,} bytes allowed for it, so it is refused")
            return path
    raise UserError(f"the mirror {mirror} holds neither {to.name} nor {to.parent.name}/{to.name}", "put the file there")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(url: str, name: str, actual: str, expected: str | None, known_hashes: Path) -> None:
    if expected is not None:
        if actual != expected:
            raise UserError(
                f"{name} is not the file it should be: its sha256 is {actual}, expected {expected}",
                "it was removed; run the same command again, or take the file from elsewhere with `--mirror DIR`",
            )
        return
    known = read_known_hashes(known_hashes)
    if url not in known:
        _write_known_hashes(known_hashes, {**known, url: actual})
    elif actual != known[url]:
        raise UserError(
            f"{name} is not the file that came the first time: its sha256 is {actual}, then it was {known[url]}",
            f"if you trust the new one, remove the line of {url} from {known_hashes} and run the same command again",
        )


def forget_hash(url: str, known_hashes: Path) -> None:
    """Take back the record of a first download that turned out to be no good."""
    known = read_known_hashes(known_hashes)
    _write_known_hashes(known_hashes, {address: sha256 for address, sha256 in known.items() if address != url})


def _write_known_hashes(known_hashes: Path, known: Mapping[str, str]) -> None:
    write_whole(known_hashes, [json.dumps(known, indent=1, sort_keys=True).encode() + b"\n"])


def read_known_hashes(known_hashes: Path) -> Mapping[str, str]:
    """The sha256 of every file, by address, that came without a published one."""
    if not known_hashes.exists():
        return {}
    try:
        known = json.loads(known_hashes.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{known_hashes} is not JSON: {error}", "mend it or remove it") from error
    if not isinstance(known, dict):
        raise UserError(f"{known_hashes} is not a table of addresses and hashes", "mend it or remove it")
    return known
