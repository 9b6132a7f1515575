"""The server as a client sees it: LibreTranslate's interface, the right status for what is wrong, and it lives on."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from dragoman.serve.guard import LOOPBACK, Doors
from dragoman.serve.limits import Limits
from dragoman.serve.models import Models
from tests.serving.fakes import FakeEngine, served, two_ways

SMALL = Limits(body_bytes=50_000, file_bytes=60_000, characters=2_000, file_characters=5_000, body_s=0.5, head_s=0.5)
PAIR = {"source": "en", "target": "de"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with served(limits=SMALL) as url, httpx.Client(base_url=url) as client:
        yield client


def said(response: httpx.Response) -> tuple[int, Any]:
    """Status and sentence of a refusal."""
    answer = response.json()
    assert list(answer) == ["error"]
    return response.status_code, answer["error"]


# What is translated


@pytest.mark.parametrize("how", ["json", "data", "params"])
def test_a_text_is_translated_however_its_fields_are_sent(client: httpx.Client, how: str) -> None:
    fields: Any = {"q": "Hello there. How are you?\n\nFine — ça va 😀", **PAIR}
    response = client.post("/translate", **{how: fields})
    assert response.status_code == 200
    assert response.json() == {"translatedText": "hELLO THERE. hOW ARE YOU?\n\nfINE — ÇA VA 😀"}


def test_a_list_of_texts_gives_a_list(client: httpx.Client) -> None:
    asked = {"q": ["One", "", "Two"], "alternatives": 1, **PAIR}
    assert client.post("/translate", json=asked).json() == {
        "translatedText": ["oNE", "", "tWO"],
        "alternatives": [["oNE!"], [], ["tWO!"]],
    }
    assert client.post("/translate", json={"q": [], **PAIR}).json() == {"translatedText": []}
    assert client.post("/translate", data={"q": ["a", "b"], **PAIR}).json() == {"translatedText": ["A", "B"]}


def test_alternatives_come_without_the_best(client: httpx.Client) -> None:
    answer = client.post("/translate", data={"q": "One", "alternatives": "2", **PAIR}).json()
    assert answer == {"translatedText": "oNE", "alternatives": ["oNE!", "oNE!!"]}


def test_the_language_is_detected_where_it_can_be(client: httpx.Client) -> None:
    answer = client.post("/translate", json={"q": "Where is the train station?", "source": "auto", "target": "de"})
    detected = answer.json()["detectedLanguage"]
    assert detected["language"] == "en" and detected["confidence"] > 90
    french = {"q": "Bonjour, comment allez-vous aujourd'hui ?", "source": "auto", "target": "de"}
    assert said(client.post("/translate", json=french)) == (
        400,
        "The text is in French; this server translates from German, English.",
    )


def test_html_keeps_its_tags(client: httpx.Client) -> None:
    page = '<p class="green">Hello there, <b>world</b> <img alt="A map" src="map.png"></p><script>x = "Hello"</script>'
    answer = client.post("/translate", json={"q": page, "format": "html", **PAIR}).json()["translatedText"]
    assert answer == (
        '<p class="green">hELLO THERE, <b>WORLD</b> <img alt="a MAP" src="map.png"></p><script>x = "Hello"</script>'
    )


def test_sentences_say_which_became_which(client: httpx.Client) -> None:
    asked = " Hello there. How are you?\n\nFine "
    pairs = client.post("/sentences", json={"q": asked, **PAIR}).json()["sentences"]
    assert "".join(pair["source"] for pair in pairs) == asked
    assert [pair["target"] for pair in pairs] == [" hELLO THERE. ", "hOW ARE YOU?\n", "\n", "fINE "]


def test_alternatives_of_a_sentence_begin_with_the_prefix(client: httpx.Client) -> None:
    asked = {"q": "Hello there.", "prefix": "hELLO ", "alternatives": 2, **PAIR}
    assert client.post("/alternatives", json=asked).json() == {"alternatives": ["hELLO way 0", "hELLO way 1"]}
    assert client.post("/alternatives", json={**asked, "alternatives": 0}).json() == {"alternatives": []}


def test_detection_names_only_what_is_loaded_with_its_confidence(client: httpx.Client) -> None:
    found = client.post("/detect", data={"q": "Wo ist der Bahnhof?"}).json()
    assert [each["language"] for each in found] == ["de", "en"]
    assert found[0]["confidence"] > 90 and found[1]["confidence"] < 5


def test_detection_that_cannot_be_honest_says_so() -> None:
    with served(Models([FakeEngine("tlh", "en")])) as url:
        answer = httpx.post(f"{url}/detect", json={"q": "qaStaH nuq?"})
        assert said(answer) == (501, "None of the languages that are loaded here can be told from others.")
        answer = httpx.post(f"{url}/translate", json={"q": "qaStaH nuq?", "source": "auto", "target": "en"})
        assert said(answer) == (400, "The language of the text cannot be detected here; name it as the source.")


def test_languages_settings_and_health(client: httpx.Client) -> None:
    assert client.get("/languages").json() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de"]},
    ]
    settings = client.get("/frontend/settings").json()
    assert settings["language"]["source"] == {"code": "en", "name": "English"}  # of the first model
    assert settings["charLimit"] == 2_000 and settings["keyRequired"] is False
    assert client.get("/health").json() == {"status": "ok"}


# Files


def test_a_file_is_translated_and_fetched(client: httpx.Client) -> None:
    files = {"file": ("../../etc/letter.txt", b"Hello there.\r\nFine")}
    answer = client.post("/translate_file", files=files, data=PAIR).json()
    assert answer["leftLines"] == []
    fetched = client.get(answer["translatedFileUrl"])
    assert fetched.content == b"hELLO THERE.\r\nfINE"
    assert fetched.headers["content-disposition"] == "attachment; filename*=UTF-8''letter.de.txt"


@pytest.mark.parametrize(
    "name, content, wanted",
    [
        ("a.md", "# Hello there\n\n`code` stays\n", "# hELLO THERE\n\n`code` STAYS\n"),
        ("a.html", "<p>Hello</p>", "<p>hELLO</p>"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello\n", "1\n00:00:01,000 --> 00:00:02,000\nhELLO\n"),
        ("a.po", 'msgid "Hello"\nmsgstr ""\n', 'msgid "Hello"\nmsgstr "hELLO"\n'),
    ],
)
def test_the_structure_of_a_file_stays(client: httpx.Client, name: str, content: str, wanted: str) -> None:
    answer = client.post("/translate_file", files={"file": (name, content.encode())}, data=PAIR).json()
    assert client.get(answer["translatedFileUrl"]).text == wanted


def test_files_that_cannot_be_translated(client: httpx.Client) -> None:
    def ask(name: str, content: bytes) -> tuple[int, Any]:
        return said(client.post("/translate_file", files={"file": (name, content)}, data=PAIR))

    assert ask("a.exe", b"MZ") == (
        415,
        "Files of this kind are not translated; there are .txt, .md, .html, .htm, .srt, .po.",
    )
    assert ask("a.txt", b"\xff\xfe\x00") == (400, "Invalid request: the file is not UTF-8 text")
    assert ask("a.txt", b"word " * 1_001) == (413, "The file has 5,005 characters; 5,000 are the most.")
    assert ask("a.txt", b"x" * 70_000) == (413, "The request is larger than 0.06 MB.")
    assert said(client.post("/translate_file", data=PAIR)) == (400, "Invalid request: missing file parameter")
    assert said(client.get("/download_file/..%2f..%2fetc%2fpasswd"))[0] == 404


# Requests that are wrong


@pytest.mark.parametrize(
    "body, sentence",
    [
        ({}, "missing q parameter"),
        ({"q": "a"}, "missing source parameter"),
        ({"q": "a", "source": "en"}, "missing target parameter"),
        ({"q": 1, **PAIR}, "q must be a text or a list of texts"),
        ({"q": ["a", None], **PAIR}, "q must be a text or a list of texts"),
        ({"q": {"a": "b"}, **PAIR}, "q must be a text or a list of texts"),
        ({"q": "a", "source": ["en"], "target": "de"}, "source must be a text"),
        ({"q": "a", **PAIR, "format": "pdf"}, "format must be text or html"),
        ({"q": "a", **PAIR, "alternatives": 9}, "alternatives must be a whole number from 0 to 8"),
        ({"q": "a", **PAIR, "alternatives": -1}, "alternatives must be a whole number from 0 to 8"),
        ({"q": "a", **PAIR, "alternatives": True}, "alternatives must be a whole number from 0 to 8"),
        ({"q": "a", **PAIR, "alternatives": 1.5}, "alternatives must be a whole number from 0 to 8"),
        ({"q": "a", "source": "xx", "target": "de"}, "'xx' is no language that can be translated from here; see /lang"),
        ([], "the body must be a JSON object"),
        ("a", "the body must be a JSON object"),
    ],
)
def test_wrong_fields_are_named(client: httpx.Client, body: object, sentence: str) -> None:
    status, words = said(client.post("/translate", json=body))
    assert status == 400 and words.startswith(f"Invalid request: {sentence}")


@pytest.mark.parametrize(
    "kind, body, status, sentence",
    [
        ("application/json", b"{", 400, "Invalid request: the body is not JSON"),
        ("application/json", b"[" * 40_000, 400, "Invalid request: the body is not JSON"),
        ("application/json", b'{"q": "\xff"}', 400, "Invalid request: the body is not UTF-8"),
        ("application/x-www-form-urlencoded", b"q=%ff", 400, "Invalid request: the form is not UTF-8"),
        (
            "application/x-www-form-urlencoded",
            b"a&" * 2_000,
            400,
            "Invalid request: the form has more than 1,024 fields",
        ),
        ("multipart/form-data", b"--", 400, "Invalid request: the form cannot be read"),
        ("multipart/form-data; boundary=x", b"--y\r\n", 400, "Invalid request: the form cannot be read"),
        ("text/plain", b"Hello", 415, "The body must be application/json, application/x-www-form-urlencoded or mult"),
    ],
)
def test_bodies_that_cannot_be_read(client: httpx.Client, kind: str, body: bytes, status: int, sentence: str) -> None:
    answered = said(client.post("/translate", content=body, headers={"Content-Type": kind}))
    assert answered[0] == status and answered[1].startswith(sentence)


def test_strange_characters_are_no_reason_to_fail(client: httpx.Client) -> None:
    body = rb'{"q": "a\ud800\u0000\u202eb\ud83d\ude00", "source": "en", "target": "de"}'
    answer = client.post("/translate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert "\ufffd" in answer.json()["translatedText"] and "😀" in answer.json()["translatedText"]


def test_a_text_that_is_too_long_is_refused_with_both_numbers(client: httpx.Client) -> None:
    asked = {"q": ["a" * 1_500, "b" * 1_500], **PAIR}
    assert said(client.post("/translate", json=asked)) == (413, "The text has 3,000 characters; 2,000 are the most.")


def test_ten_megabytes_are_refused_and_the_client_reads_why(client: httpx.Client) -> None:
    body = json.dumps({"q": "a" * 10_000_000, **PAIR}).encode()
    headers = {"Content-Type": "application/json"}
    # This one sends everything before it looks at the answer, as most do.
    asked = urllib.request.Request(f"{client.base_url}/translate", body, headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(asked, timeout=20)
    assert refused.value.code == 413
    assert json.load(refused.value) == {"error": "The request is larger than 0.05 MB."}


def test_addresses_and_ways_that_are_not_there(client: httpx.Client) -> None:
    assert said(client.get("/etc/passwd")) == (404, "There is nothing at this address.")
    answer = client.get("/translate")
    assert said(answer) == (405, "This address is asked in another way.")
    assert answer.headers["allow"] == "POST"


# Models and clients that break


def test_a_broken_model_answers_with_a_generic_sentence_and_the_server_lives(client: httpx.Client) -> None:
    assert said(client.post("/translate", json={"q": "BREAK", **PAIR})) == (500, "The model could not translate this.")
    assert client.post("/translate", json={"q": "One", **PAIR}).status_code == 200


def test_a_translation_that_takes_too_long_ends() -> None:
    with served(Models([FakeEngine(seconds=1)]), limits=Limits(text_s=0.3)) as url:
        answer = httpx.post(f"{url}/translate", json={"q": "Slow", **PAIR})
        assert said(answer) == (504, "The translation was not ready within 0.3 s; send less at once.")
        assert httpx.get(f"{url}/health").status_code == 200


def test_more_requests_than_allowed_are_told_to_come_back() -> None:
    with served(Models([FakeEngine(seconds=0.3)]), limits=Limits(requests=2)) as url:
        found: list[httpx.Response] = []

        def ask(number: int) -> None:
            found.append(httpx.post(f"{url}/translate", json={"q": f"Text {number}", **PAIR}))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        assert httpx.get(f"{url}/health").status_code == 200
        for thread in threads:
            thread.join()
        refused = [each for each in found if each.status_code == 429]
        assert {each.status_code for each in found} == {200, 429}
        assert said(refused[0]) == (429, "The server is busy; try again in 1 s.")
        assert refused[0].headers["retry-after"] == "1"
        assert httpx.post(f"{url}/translate", json={"q": "Later", **PAIR}).status_code == 200


def until_closed(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(10_000), b""))


def raw(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def test_a_client_that_hangs_up_takes_its_sentences_out_of_the_queue() -> None:
    engine = FakeEngine(seconds=0.2)
    with served(Models([engine])) as url:
        body = json.dumps({"q": "\n".join(f"A sentence of a long letter, number {n}." for n in range(300)), **PAIR})
        head = f"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"  # noqa: E501
        with raw(url) as connection:
            connection.sendall((head + body).encode())
            time.sleep(0.1)
        time.sleep(0.3)
        assert "dragoman_sentences_waiting 0.0" in httpx.get(f"{url}/metrics").text
        assert 'status="499"' in httpx.get(f"{url}/metrics").text
        assert sum(map(len, engine.batches)) < 100
        with raw(url) as connection:  # in the middle of the body
            connection.sendall(head.encode() + b'{"q"')
        assert httpx.post(f"{url}/translate", json={"q": "One", **PAIR}).status_code == 200


def test_a_head_and_a_body_must_arrive_in_time(client: httpx.Client) -> None:
    url = str(client.base_url).rstrip("/")
    with raw(url) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        assert until_closed(connection) == b""  # without an answer
    with raw(url) as connection:
        connection.sendall(
            b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"The request did not arrive within 0.5 s." in answer


def test_a_second_request_on_the_same_connection_is_watched_as_the_first(client: httpx.Client) -> None:
    with raw(str(client.base_url).rstrip("/")) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(0.1)
        connection.sendall(b"GET /hea")
        assert until_closed(connection).count(b"HTTP/1.1") == 1


def test_more_connections_than_allowed_are_closed() -> None:
    with served(limits=Limits(connections=3)) as url:
        held = [raw(url) for _ in range(3)]
        time.sleep(0.1)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/health")
        for connection in held:
            connection.close()
        time.sleep(0.1)
        assert httpx.get(f"{url}/health").status_code == 200


# Who may ask


def test_a_key_is_asked_for_wherever_work_is_done() -> None:
    with served(api_keys=["right", "other"]) as url, httpx.Client(base_url=url) as client:
        asked = {"q": "One", **PAIR}
        assert said(client.post("/translate", json=asked)) == (403, "This server needs an API key.")
        assert said(client.post("/detect", json={"q": "One"}))[0] == 403
        wrong = client.post("/translate", json={**asked, "api_key": "wröng"})
        assert said(wrong) == (403, "The API key is not valid.")
        assert client.post("/translate", json={**asked, "api_key": "other"}).status_code == 200
        assert client.post("/translate", data={**asked, "api_key": "right"}).status_code == 200
        bearer = {"Authorization": "Bearer right"}
        assert client.post("/translate", json=asked, headers=bearer).status_code == 200
        assert client.get("/metrics").status_code == 403
        assert client.get("/metrics", headers=bearer).status_code == 200
        assert client.get("/health").status_code == client.get("/").status_code == 200
        assert client.get("/frontend/settings").json()["keyRequired"] is True


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1", "[::1]:5000", "LOCALHOST"])
def test_names_of_this_machine_are_ours(client: httpx.Client, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:5000", "[", ""])
def test_a_name_that_was_pointed_at_this_machine_is_not(client: httpx.Client, host: str) -> None:
    status, sentence = said(client.get("/health", headers={"Host": host}))
    assert status == 421 and sentence.startswith("This server is not called ")


def test_a_page_of_another_site_may_not_ask_unless_it_was_allowed(client: httpx.Client) -> None:
    asked = {"q": "One", **PAIR}
    theirs = client.post("/translate", data=asked, headers={"Origin": "https://evil.example"})
    assert said(theirs) == (403, "Pages of other sites may not use this server.")
    assert client.post("/translate", data=asked, headers={"Origin": "null"}).status_code == 403
    ours = client.post("/translate", data=asked, headers={"Origin": str(client.base_url).rstrip("/")})
    assert ours.status_code == 200 and "access-control-allow-origin" not in ours.headers
    doors = Doors(hosts={*LOOPBACK, "translate.example"}, origins=("https://friend.example",))
    with served(two_ways(), doors=doors) as url:
        friend = {"Origin": "https://friend.example", "Host": "translate.example"}
        answer = httpx.post(f"{url}/translate", json=asked, headers=friend)
        assert answer.headers["access-control-allow-origin"] == "https://friend.example"
        preflight = httpx.options(f"{url}/translate", headers={**friend, "Access-Control-Request-Method": "POST"})
        assert preflight.status_code == 200


def test_a_browser_is_told_what_the_page_may_do(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY" and page.headers["x-content-type-options"] == "nosniff"
    assert "server" not in page.headers
    assert client.get("/translation.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/languages").headers["cache-control"] == "no-store"


def test_prometheus_counts_answers_by_address_and_status(client: httpx.Client) -> None:
    client.post("/translate", json={"q": "Counted", **PAIR})
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert 'dragoman_requests_total{route="/translate",status="200"}' in text
    assert 'dragoman_requests_total{route="other",status="404"}' in text
    assert "dragoman_batch_sentences_count" in text and "dragoman_resident_bytes" in text
