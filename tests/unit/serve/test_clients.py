"""Programs that were written for LibreTranslate, unchanged, and the description that others are generated from."""

from collections.abc import Iterator

import httpx
import pytest

pytest.importorskip("libretranslatepy")
pytest.importorskip("deep_translator")

from deep_translator import LibreTranslator  # type: ignore[import-untyped]
from libretranslatepy import LibreTranslateAPI  # type: ignore[import-untyped]

from dragoman.serve.application import build
from tests.serving.fakes import served, two_ways


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(api_keys=["secret"]) as url:
        yield url


def test_libretranslatepy_works_unchanged(url: str) -> None:
    client = LibreTranslateAPI(url, api_key="secret")
    assert client.translate("Hello there. Fine?", "en", "de") == "hELLO THERE. fINE?"
    assert client.languages()[1] == {"code": "en", "name": "English", "targets": ["de"]}
    assert client.detect("Where is the train station?")[0]["language"] == "en"


def test_deep_translator_works_unchanged(url: str) -> None:
    client = LibreTranslator(source="en", target="de", custom_url=f"{url}/", api_key="secret")
    assert client.translate("Hello there. Fine?") == "hELLO THERE. fINE?"
    assert client.translate_batch(["One", "Two"]) == ["oNE", "tWO"]


def test_every_address_is_described(url: str) -> None:
    described = httpx.get(f"{url}/openapi.json").json()
    paths = {route.path for route in build(two_ways()).routes}  # type: ignore[attr-defined]
    own = {"/", "/page.css", "/page.js", "/asking.js", "/translation.js", "/openapi.json", "/spec"}
    assert set(described["paths"]) == paths - own
    translate = described["paths"]["/translate"]["post"]
    fields = translate["requestBody"]["content"]["application/json"]["schema"]
    assert set(translate["responses"]) == {
        "200", "400", "403", "408", "413", "415", "421", "429", "500", "504",
    }  # fmt: skip
    assert fields["properties"]["target"] == {"type": "string", "enum": ["de", "en"]}
    assert "api_key" in fields["required"]
