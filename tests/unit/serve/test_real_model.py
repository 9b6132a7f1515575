"""`dragoman serve` as people start it, with a real (if untrained) model, from its first line to SIGTERM."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dragoman.export.engine import Translator
from tests.unit.export.tiny_models import SIZES, make_vocabulary, trained_model, write_export

PAIR = {"source": "en", "target": "de"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("served")
    vocabulary = make_vocabulary(directory, None)
    write_export(trained_model(SIZES, vocabulary, vocabulary), vocabulary, vocabulary, directory / "model")
    return directory / "model"


@pytest.fixture(scope="module")
def process(model: Path) -> "Iterator[subprocess.Popen[str]]":
    command = [str(Path(sys.executable).with_name("dragoman")), "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def client(process: "subprocess.Popen[str]") -> Iterator[httpx.Client]:
    assert process.stdout is not None
    assert process.stdout.readline() == "en → de  tiny\n"
    with httpx.Client(base_url=process.stdout.readline().strip(), timeout=30) as client:
        yield client


def test_the_server_says_what_the_model_says(client: httpx.Client, model: Path) -> None:
    text = "Where is the train station?\n\nI would like a room. It rains."
    engine = Translator.open(model, threads=1)
    found = client.post("/translate", json={"q": text, "alternatives": 2, **PAIR}).json()
    assert found["translatedText"] == engine.translate([text])[0]
    assert found["alternatives"] == [each.text for each in engine.hypotheses([text], 3)[0][1:]]
    pairs = client.post("/sentences", json={"q": text, **PAIR}).json()["sentences"]
    assert [(pair["source"], pair["target"]) for pair in pairs] == engine.sentences(text)
    best = engine.translate(["It rains."])[0]
    prefix = best[: len(best) // 2]
    ways = client.post("/alternatives", json={"q": "It rains.", "prefix": prefix, "alternatives": 3, **PAIR}).json()
    assert ways == {"alternatives": engine.alternatives("It rains.", prefix, 3)}


def test_one_sentence_of_twenty_thousand_characters_is_answered(client: httpx.Client) -> None:
    assert client.post("/translate", json={"q": "abc" * 6_000, **PAIR}).status_code in (200, 504)
    assert client.get("/health").json() == {"status": "ok"}


def test_sigterm_ends_it_without_a_word(process: "subprocess.Popen[str]", client: httpx.Client) -> None:
    assert client.get("/health").status_code == 200
    client.close()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 143
    assert process.stderr is not None and process.stderr.read() == ""
