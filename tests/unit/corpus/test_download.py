"""Downloads over a real loopback server that can misbehave on purpose."""

import errno
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dragoman.core.errors import UserError
from dragoman.core.files import write_whole
from dragoman.core.progress import Bar, Silent
from dragoman.corpus.cache import filling
from dragoman.corpus.download import Patience, download

CONTENT = bytes(range(256)) * 4_000
HURRY = Patience(tries=3, backoff_s=0.001, timeout_s=5.0)


@dataclass
class Server:
    """What the server does next, and what it was asked."""

    content: bytes = CONTENT
    etag: str | None = '"one"'
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the connection of each coming answer is cut."""
    statuses: list[int] = field(default_factory=list)
    """Errors to answer first."""
    ignores_range: bool = False
    answers_another_range: bool = False
    says_length: bool = True
    length_added: int = 0
    location: str | None = None
    after_a_cut: bytes | None = None
    """What the file becomes, under a new ETag, when a connection has been cut."""
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(dict(request.headers))
        if self.location is not None:
            request.send_response(302)
            request.send_header("Location", self.location)
            request.end_headers()
            self.location = None
            return
        if self.statuses:
            request.send_error(self.statuses.pop(0))
            return
        wanted = request.headers.get("Range")
        is_same = request.headers.get("If-Range") in (None, self.etag)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and is_same and not self.ignores_range else 0
        total = len(self.content) + self.length_added
        request.send_response(206 if start else 200)
        if start:
            said = start + 7 if self.answers_another_range else start
            request.send_header("Content-Range", f"bytes {said}-{total - 1}/{total}")
        if self.says_length:
            request.send_header("Content-Length", str(total - start))
        if self.etag is not None:
            request.send_header("ETag", self.etag)
        request.end_headers()
        if not self.cuts:
            request.wfile.write(self.content[start:])
            return
        request.wfile.write(self.content[start : start + self.cuts.pop(0)])
        request.close_connection = True
        if self.after_a_cut is not None:
            self.content, self.etag = self.after_a_cut, '"two"'


@pytest.fixture
def server() -> Iterator[Server]:
    behaviour = Server()

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(ConnectionError):  # whoever refuses a file hangs up
                behaviour.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    behaviour.url = f"http://127.0.0.1:{listening.server_address[1]}/files/corpus.tgz"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield behaviour
    listening.shutdown()
    listening.server_close()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def get(
    server: Server,
    directory: Path,
    *,
    expected_sha256: str | None = None,
    max_bytes: int = 10_000_000,
    mirror: Path | None = None,
) -> bytes:
    """Download from the server into `directory/set/corpus.tgz`."""
    path = download(
        server.url,
        directory / "set" / "corpus.tgz",
        expected_sha256=expected_sha256,
        max_bytes=max_bytes,
        known_hashes=directory / "known_hashes.json",
        progress=Silent(),
        mirror=mirror,
        patience=HURRY,
    )
    return path.read_bytes()


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


def test_a_file_comes_whole_and_leaves_nothing_beside_it(server: Server, tmp_path: Path) -> None:
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT
    assert files(tmp_path) == ["corpus.tgz"]


def test_a_file_that_is_there_is_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    get(server, tmp_path, expected_sha256=sha256(CONTENT))
    get(server, tmp_path, expected_sha256=sha256(CONTENT))
    assert len(server.asked) == 1


def test_a_cut_connection_is_resumed_with_a_range_request(server: Server, tmp_path: Path) -> None:
    server.cuts = [300_001, 100_000]
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT
    assert [asked.get("Range") for asked in server.asked] == [None, "bytes=300001-", "bytes=400001-"]
    assert server.asked[1]["If-Range"] == '"one"'


def test_a_later_run_resumes_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    server.cuts = [1_000, 0, 0, 0]
    with pytest.raises(
        UserError, match=r"could not be downloaded: the connection ended after 1,000 of 1,024,000 bytes"
    ):
        get(server, tmp_path, expected_sha256=sha256(CONTENT))
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT
    assert server.asked[-1]["Range"] == "bytes=1000-"


def test_a_download_that_keeps_growing_is_never_given_up(server: Server, tmp_path: Path) -> None:
    server.cuts = [50_000] * 20
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT


def test_a_server_that_ignores_the_range_is_read_from_the_start(server: Server, tmp_path: Path) -> None:
    server.cuts, server.ignores_range = [300_000], True
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT


def test_another_range_than_asked_for_is_not_believed(server: Server, tmp_path: Path) -> None:
    server.cuts, server.answers_another_range = [300_000], True
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT


def test_two_versions_of_a_file_are_never_glued_together(server: Server, tmp_path: Path) -> None:
    changed = CONTENT[::-1]
    server.cuts, server.after_a_cut = [300_000], changed
    assert get(server, tmp_path) == changed


def test_without_an_etag_a_broken_download_starts_over(server: Server, tmp_path: Path) -> None:
    server.cuts, server.etag = [300_000], None
    assert get(server, tmp_path) == CONTENT
    assert all("Range" not in asked for asked in server.asked)


def test_a_complete_partial_file_that_was_never_checked_is_downloaded_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "corpus.tgz.partial").write_bytes(CONTENT)
    (tmp_path / "set" / "corpus.tgz.partial.validator").write_text('"one"')
    server.statuses = [416]
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 429]
    assert get(server, tmp_path) == CONTENT


def test_a_missing_file_is_not_asked_for_again_and_the_mirror_is_named(server: Server, tmp_path: Path) -> None:
    server.statuses = [404, 404]
    with pytest.raises(UserError, match=r"the server answers 404 .*; if you have corpus.tgz, .*`--mirror DIR`"):
        get(server, tmp_path)
    assert len(server.asked) == 1


def test_a_length_that_is_a_lie_ends_in_a_sentence(server: Server, tmp_path: Path) -> None:
    server.length_added = 10
    with pytest.raises(UserError, match=r"ended after 1,024,000 of 1,024,010 bytes; run the same command again"):
        get(server, tmp_path)
    assert not (tmp_path / "set" / "corpus.tgz").exists()


def test_a_length_that_is_too_short_fails_the_hash(server: Server, tmp_path: Path) -> None:
    server.length_added = -10
    with pytest.raises(UserError, match=r"corpus.tgz is not the file it should be"):
        get(server, tmp_path, expected_sha256=sha256(CONTENT))


def test_a_file_of_unknown_length_is_taken_only_with_a_hash(server: Server, tmp_path: Path) -> None:
    server.says_length = False
    with pytest.raises(UserError, match=r"has no known sha256 and its server does not say how long"):
        get(server, tmp_path)
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT


@pytest.mark.parametrize("says_length", [True, False])
def test_a_file_larger_than_allowed_is_refused(server: Server, tmp_path: Path, says_length: bool) -> None:
    server.says_length = says_length
    with pytest.raises(UserError, match=r"larger than the 1,000,000 bytes allowed"):
        get(server, tmp_path, expected_sha256=sha256(CONTENT), max_bytes=1_000_000)
    assert "corpus.tgz.partial" not in files(tmp_path)


def test_a_wrong_hash_removes_the_file_and_names_both_hashes(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"corpus.tgz .* its sha256 is {sha256(CONTENT)}, expected {'0' * 64}"):
        get(server, tmp_path, expected_sha256="0" * 64)
    assert not [name for name in files(tmp_path) if not name.endswith(".validator")]


def test_only_http_addresses_are_opened(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"file:///etc/hostname is not an http or https address"):
        get(Server(url="file:///etc/hostname"), tmp_path)


def test_a_redirect_to_another_protocol_is_refused(server: Server, tmp_path: Path) -> None:
    server.location = "ftp://127.0.0.1/corpus.tgz"
    with pytest.raises(UserError, match=r"leads on to ftp://127.0.0.1/corpus.tgz, which is less secure"):
        get(server, tmp_path)


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.location = server.url + ".moved"
    assert get(server, tmp_path, expected_sha256=sha256(CONTENT)) == CONTENT
    assert len(server.asked) == 2


def test_a_server_that_is_not_there_ends_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"http://127.0.0.1:9/x could not be downloaded: .*refused"):
        get(Server(url="http://127.0.0.1:9/x"), tmp_path)


def test_the_first_hash_is_recorded_and_held(server: Server, tmp_path: Path) -> None:
    get(server, tmp_path)
    known = tmp_path / "known_hashes.json"
    assert json.loads(known.read_text()) == {server.url: sha256(CONTENT)}
    (tmp_path / "set" / "corpus.tgz").unlink()
    server.content = b"something else"
    with pytest.raises(UserError, match=r"not the file that came the first time: .*; if you trust the new one, remove"):
        get(server, tmp_path)
    assert not (tmp_path / "set" / "corpus.tgz").exists()
    known.write_text("{}")
    assert get(server, tmp_path) == b"something else"


def test_a_spoiled_record_of_hashes_is_told_and_not_overwritten(server: Server, tmp_path: Path) -> None:
    (tmp_path / "known_hashes.json").write_text("{half")
    with pytest.raises(UserError, match=r"known_hashes.json is not JSON: .*; mend it or remove it"):
        get(server, tmp_path)
    assert (tmp_path / "known_hashes.json").read_text() == "{half"


@pytest.mark.parametrize("place", ["corpus.tgz", "set/corpus.tgz"])
def test_a_mirror_is_used_without_a_network(server: Server, tmp_path: Path, place: str) -> None:
    mirror = tmp_path / "mirror"
    write_whole(mirror / place, [CONTENT])
    assert get(server, tmp_path / "cache", expected_sha256=sha256(CONTENT), mirror=mirror) == CONTENT
    assert server.asked == []
    assert (mirror / place).exists()


def test_a_mirror_that_lacks_the_file_names_it(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    with pytest.raises(UserError, match=r"holds neither corpus.tgz nor set/corpus.tgz; put the file there"):
        get(server, tmp_path, mirror=tmp_path / "mirror")
    assert server.asked == []


def test_a_wrong_file_in_the_mirror_is_refused_and_stays_where_it_is(server: Server, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    write_whole(mirror / "corpus.tgz", [b"wrong"])
    with pytest.raises(UserError, match=r"corpus.tgz is not the file it should be"):
        get(server, tmp_path, expected_sha256=sha256(CONTENT), mirror=mirror)
    with pytest.raises(UserError, match=r"larger than the 3 bytes allowed"):
        get(server, tmp_path, max_bytes=3, mirror=mirror)
    assert files(tmp_path) == ["corpus.tgz"]


def test_progress_counts_every_byte_once_per_attempt(server: Server, tmp_path: Path) -> None:
    stages: list[tuple[str, int | None, str, list[int]]] = []

    class Recorded:
        @contextmanager
        def stage(self, name: str, *, total: int | None, unit: str) -> Iterator[Bar]:
            amounts: list[int] = []
            stages.append((name, total, unit, amounts))

            class Counting:
                def advance(self, amount: int, *, pairs: int = 0) -> None:
                    amounts.append(amount)

            yield Counting()

    server.cuts = [300_000]
    download(
        server.url,
        tmp_path / "corpus.tgz",
        expected_sha256=sha256(CONTENT),
        max_bytes=len(CONTENT),
        known_hashes=tmp_path / "known_hashes.json",
        progress=Recorded(),
        patience=HURRY,
    )
    assert [stage[:3] for stage in stages] == [("download corpus.tgz", len(CONTENT), "bytes")] * 2
    assert [sum(stage[3]) for stage in stages] == [300_000, len(CONTENT)]
    assert stages[1][3][0] == 300_000


def test_a_file_whose_content_breaks_off_is_not_there(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.EIO, "gone")

    with pytest.raises(OSError, match="gone"):
        write_whole(tmp_path / "file", broken())
    assert files(tmp_path) == []


def test_two_runs_do_not_fill_one_cache_at_once(tmp_path: Path) -> None:
    with filling(tmp_path), pytest.raises(UserError, match=r"another run is filling the cache .*; wait"):  # noqa: SIM117
        with filling(tmp_path):
            pass
    with filling(tmp_path):
        pass
