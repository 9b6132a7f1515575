"""The page's server: two addresses, one machine, and only what is new."""

import http.client
import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import UserError
from dragoman.watch import web
from dragoman.watch.observer import Observer
from dragoman.watch.web import PageServer
from tests.watched_run import WatchedRun


@pytest.fixture
def run(tmp_path: Path) -> WatchedRun:
    return WatchedRun(tmp_path / "run").as_usual()


@pytest.fixture
def server(run: WatchedRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(web, "LOOK_EVERY_S", 0.0)
    with PageServer(Observer(run.paths.directory), 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(server: PageServer, path: str, host: str | None = None, method: str = "GET") -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply.status, body, reply.headers


def told(server: PageServer, query: str = "") -> Any:
    status, body, _ = asked(server, f"/data{query}")
    assert status == 200
    return json.loads(body)


def losses(answer: Any) -> list[list[float]]:
    [chart] = [chart for chart in answer["charts"] if chart["title"] == "Loss (nats a token)"]
    points: list[list[float]] = chart["series"][0]["points"]
    return points


def test_the_first_answer_holds_everything(server: PageServer) -> None:
    answer = told(server)
    assert (answer["step"], answer["share"], answer["since"]) == (200, 0.2, 0)
    assert answer["lines"][0].startswith("step 200 of 1,000 (20 %)")
    assert len(losses(answer)) == 200
    assert losses(answer)[0][1:] == [1.0, pytest.approx(7.92079)]
    assert answer["ranks"][1].startswith("rank 1: 0.500 s")
    assert answer["samples"][0]["translation"] == "Ein Hund rennt."


def test_the_next_answer_holds_only_what_is_new(server: PageServer, run: WatchedRun) -> None:
    first = told(server)
    run.steps(201, 202)
    second = told(server, f"?session={first['session']}&since={first['revision']}")
    assert second["since"] == first["revision"]
    assert [x for _, x, _ in losses(second)] == [201, 202]
    assert len(json.dumps(second)) < 0.1 * len(json.dumps(first))


@pytest.mark.parametrize("query", ["?session=other&since=1", "?since=abc", "?since=-1", "?since=99999999", "?since=٣"])
def test_a_page_of_another_session_gets_everything(server: PageServer, query: str) -> None:
    told(server)
    query = query.encode("ascii", "ignore").decode()
    assert len(losses(told(server, query))) == 200


def test_after_a_resume_everything_is_sent_anew(server: PageServer, run: WatchedRun) -> None:
    first = told(server)
    run.steps(150, 151)
    second = told(server, f"?session={first['session']}&since={first['revision']}")
    assert second["since"] == 0
    assert len(losses(second)) == 151


def test_a_run_that_vanishes_is_a_sentence_and_one_that_comes_back_is_shown(
    server: PageServer, run: WatchedRun, tmp_path: Path
) -> None:
    run.paths.directory.rename(tmp_path / "aside")
    assert "is gone or holds no run any more" in told(server)["problem"]
    (tmp_path / "aside").rename(run.paths.directory)
    assert told(server)["step"] == 200
    shutil.rmtree(run.paths.directory)
    assert "problem" in told(server)


def test_the_page_loads_nothing_from_elsewhere_and_may_not(server: PageServer) -> None:
    status, body, headers = asked(server, "/")
    page = body.decode()
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    elsewhere = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", page)
    assert elsewhere == ["data:,"]
    assert re.findall(r"https?://[^\"']+", page) == ["http://www.w3.org/2000/svg"]  # a name, never asked for
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost:1", "evil.example:{port}", "127.0.0.1.evil:{port}"]
)
def test_another_host_name_is_refused(server: PageServer, host: str) -> None:
    for path in ("/", "/data"):
        status, body, _ = asked(server, path, host.format(port=server.server_port))
        assert (status, body) == (421, b"this page has another name\n")


def test_localhost_is_a_name_of_this_machine(server: PageServer) -> None:
    assert asked(server, "/data", f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/config.toml", "/../../etc/passwd", "/data/../config.toml", "//etc/passwd", "/%2e%2e/x"]
)
def test_no_other_address_is_served(server: PageServer, path: str) -> None:
    status, body, _ = asked(server, path)
    assert (status, body) == (404, b"there is / and /data\n")


def test_only_reading_is_possible(server: PageServer) -> None:
    assert asked(server, "/data", method="POST")[0] == 501


def test_it_listens_on_loopback_only(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_port_in_use_is_told(run: WatchedRun) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=rf"cannot listen on port {port}: Address already in use; name another"):
            PageServer(Observer(run.paths.directory), port)
