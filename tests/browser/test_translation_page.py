"""The page in Chromium, as a reader uses it: typing, pointing, files, errors, keyboard, phone, dark.

With DRAGOMAN_SCREENSHOTS=docs/images the pictures of the README are made anew.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.serve.models import Models
from tests.serving.fakes import FakeEngine, served

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed; apt install chromium"),
]
LETTER = (
    "Where is the train station?\nI would like a room for two nights. Is breakfast included?"
    "\n\nWe are four people. The table by the window is very beautiful."
)
GERMAN = {
    "Where is the train station?": "Wo ist der Bahnhof?",
    "I would like a room for two nights.": "Ich hätte gern ein Zimmer für zwei Nächte.",
    "Is breakfast included?": "Ist das Frühstück inbegriffen?",
    "We are four people.": "Wir sind vier Personen.",
    "The table by the window is very beautiful.": "Der Tisch am Fenster ist sehr schön.",
}
WAYS = (
    "möchte ein Zimmer für zwei Nächte.",
    "brauche ein Zimmer für zwei Nächte.",
    "suche ein Zimmer für zwei Nächte.",
)


@dataclass
class Phrases(FakeEngine):
    """Knows a few sentences."""

    name: str = "phrasebook"

    def translate(self, texts: Sequence[str]) -> list[str]:
        return [
            GERMAN.get(text) or translated for text, translated in zip(texts, super().translate(texts), strict=True)
        ]

    def alternatives(self, text: str, prefix: str, num: int) -> list[str]:
        return [prefix + way for way in WAYS]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(Models([Phrases(), FakeEngine("de", "en", "phrasebook back")])) as url:
        yield url


@pytest.fixture
def page(browser: Any, url: str) -> Iterator[Any]:
    yield from opened(browser, url)


def opened(browser: Any, url: str, **options: Any) -> Iterator[Any]:
    """A page that must end without an error of its own and without a request to anybody else."""
    options.setdefault("viewport", {"width": 1200, "height": 680})
    context = browser.new_context(**options)
    page = context.new_page()
    errors: list[str] = []
    foreign: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith((url, "data:")) else foreign.append(request.url))
    page.goto(url)
    page.wait_for_selector("#source option:nth-child(2)", state="attached")
    yield page
    context.close()
    assert errors == [] and foreign == []


def type_text(page: Any, text: str) -> None:
    page.fill("#text", text)


def wait_for(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('#translation').textContent === text", arg=text)


def picture(page: Any, name: str) -> None:
    if directory := os.environ.get("DRAGOMAN_SCREENSHOTS"):
        page.screenshot(path=Path(directory) / name)


def german(text: str) -> str:
    for source, target in GERMAN.items():
        text = text.replace(source, target)
    return text


def test_a_text_is_translated_while_it_is_typed(page: Any) -> None:
    page.type("#text", "Where is the train station?")
    wait_for(page, "Wo ist der Bahnhof?")
    page.type("#text", "\nIs breakfast included?")
    wait_for(page, "Wo ist der Bahnhof?\nIst das Frühstück inbegriffen?")
    assert page.inner_text("#count") == "50 / 20,000"
    assert page.get_attribute("#translation", "lang") == "de"
    page.click("#clear")
    wait_for(page, "")
    assert page.is_hidden("#copy") and page.evaluate("document.activeElement.id") == "text"


def test_an_answer_to_an_older_text_is_dropped(page: Any) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        if "Is breakfast" in (route.request.post_data or ""):
            route.continue_()
        else:
            held.append(route)

    page.route("**/sentences", hold)
    type_text(page, "Where is the train station?")
    page.wait_for_timeout(400)
    assert len(held) == 1
    type_text(page, "Is breakfast included?")
    wait_for(page, "Ist das Frühstück inbegriffen?")
    held[0].abort()  # the page took it back already; whatever comes of it changes nothing
    page.wait_for_timeout(100)
    wait_for(page, "Ist das Frühstück inbegriffen?")
    assert page.inner_text("#problem") == ""


def test_a_sentence_is_marked_in_both_panes(page: Any) -> None:
    type_text(page, LETTER)
    wait_for(page, german(LETTER))
    page.hover(".sentence:has-text('Frühstück')")
    assert page.inner_text(".sentence.marked") == "Ist das Frühstück inbegriffen?"
    assert page.inner_text("#mirror .marked") == "Is breakfast included?"
    page.mouse.move(5, 5)
    assert page.locator(".marked").count() == 0
    page.focus("#text")
    page.evaluate("document.querySelector('#text').setSelectionRange(3, 3)")
    page.wait_for_selector(".sentence.marked:has-text('Bahnhof')")
    assert page.inner_text("#mirror .marked") == "Where is the train station?"


def test_a_word_offers_other_translations(page: Any) -> None:
    type_text(page, LETTER)
    wait_for(page, german(LETTER))
    page.click(".word:text-is('hätte')")
    page.wait_for_selector("#choices li:has-text('möchte')")
    assert page.locator("#choices li").all_inner_texts() == [f"Ich {way}" for way in WAYS]
    picture(page, "translation-page.png")
    page.click("#choices li:has-text('suche')")
    changed = german(LETTER).replace(GERMAN["I would like a room for two nights."], "Ich " + WAYS[2])
    wait_for(page, changed)
    type_text(page, LETTER + " Thank you")  # the choice stays while the sentence does
    wait_for(page, changed + " tHANK YOU")
    page.click(".word:text-is('vier')")
    page.wait_for_selector("#choices li:has-text('möchte')")
    page.mouse.click(5, 5)
    assert page.is_hidden("#choices")


def test_everything_works_with_the_keyboard_alone(page: Any) -> None:
    press = page.keyboard.press
    page.keyboard.type("I would like a room for two nights.")  # the text has the focus from the start
    wait_for(page, "Ich hätte gern ein Zimmer für zwei Nächte.")
    for _ in range(3):  # past opening a file and clearing
        press("Tab")
    assert page.evaluate("document.activeElement.className") == "sentence marked"
    press("ArrowRight")
    press("ArrowRight")
    assert page.inner_text(".word.chosen") == page.inner_text("#status") == "hätte"
    press("Enter")
    page.wait_for_selector("#choices li:has-text('möchte'):focus")
    press("Escape")
    assert page.is_hidden("#choices")
    press("Enter")
    page.wait_for_selector("#choices li:has-text('brauche')")
    press("ArrowDown")
    press("Enter")
    wait_for(page, "Ich " + WAYS[1])
    press("Tab")
    assert page.evaluate("document.activeElement.id") == "copy"


def test_swapping_takes_the_translation_as_the_text(page: Any) -> None:
    type_text(page, "Hello")
    wait_for(page, "hELLO")
    page.click("#swap")
    wait_for(page, "Hello")
    assert page.input_value("#text") == "hELLO"
    assert (page.input_value("#source"), page.input_value("#target")) == ("de", "en")


def test_a_detected_language_is_named(page: Any) -> None:
    page.select_option("#source", "auto")
    type_text(page, "Wo ist der Bahnhof, bitte?")
    page.select_option("#target", "en")
    wait_for(page, "wO IST DER bAHNHOF, BITTE?")
    assert page.inner_text("#source option:checked") == "Detected: German"
    type_text(page, "Bonjour, comment allez-vous aujourd'hui ?")
    page.wait_for_selector("#problem:has-text('The text is in French; this server translates from German, English.')")


def test_the_translation_is_copied(browser: Any, url: str) -> None:
    for page in opened(browser, url, permissions=["clipboard-read", "clipboard-write"]):
        type_text(page, LETTER)
        wait_for(page, german(LETTER))
        page.click("#copy")
        page.wait_for_selector("#copy:has-text('Copied')")
        assert page.evaluate("navigator.clipboard.readText()") == german(LETTER)


def drop(page: Any, name: str, content: str) -> None:
    page.evaluate(
        """([name, content]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([content], name));
          for (const type of ["dragenter", "dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        [name, content],
    )


def test_a_dropped_file_is_translated_and_downloaded(page: Any) -> None:
    drop(page, "letter.md", "# Where is the train station?\n\n* Is breakfast included?\n")
    page.wait_for_selector("a.download")
    assert page.is_hidden("#drop") and page.inner_text("#document .name") == "letter.md"
    with page.expect_download() as download:
        page.click("a.download")
    assert download.value.suggested_filename == "letter.de.md"
    assert download.value.path().read_text() == "# Wo ist der Bahnhof?\n\n* Ist das Frühstück inbegriffen?\n"
    type_text(page, "Hello")
    wait_for(page, "hELLO")
    assert page.is_hidden("#document")


def test_a_file_that_cannot_be_translated_is_said(page: Any) -> None:
    drop(page, "photo.jpg", "x")
    page.wait_for_selector(
        "#problem:has-text('photo.jpg cannot be translated; there are .txt, .md, .html, .htm, .srt, .po.')"
    )
    page.set_input_files("#file", {"name": "big.txt", "mimeType": "text/plain", "buffer": b"x" * 2_100_000})
    page.wait_for_selector("#problem:has-text('big.txt is larger than 2 MB, the most that this server takes.')")


def test_a_text_that_is_too_long_is_said_without_asking(page: Any) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    type_text(page, "a" * 20_314)
    page.wait_for_selector("#problem:has-text('The text is 314 characters longer than this server takes at once.')")
    assert asked == []
    assert page.get_attribute("#count", "class") == "quiet over"


def test_a_busy_server_is_asked_again(page: Any) -> None:
    answers = iter([429])

    def refuse(route: Any) -> None:
        if next(answers, None):
            route.fulfill(status=429, headers={"Retry-After": "1"}, json={"error": "The server is busy."})
        else:
            route.continue_()

    page.route("**/sentences", refuse)
    type_text(page, "Hello")
    page.wait_for_selector("#problem:has-text('The server is busy; trying again in 1 s.')")
    wait_for(page, "hELLO")
    assert page.inner_text("#problem") == ""


def test_a_server_that_is_gone_is_said_and_asked_again(page: Any) -> None:
    page.context.set_offline(True)
    type_text(page, "Hello")
    page.wait_for_selector("#problem:has-text('The server cannot be reached. Your text is still here; trying again…')")
    picture(page, "translation-page-offline.png")
    page.context.set_offline(False)
    wait_for(page, "hELLO")
    assert page.input_value("#text") == "Hello"


def test_a_model_that_breaks_is_said(page: Any) -> None:
    type_text(page, "BREAK")
    page.wait_for_selector("#problem:has-text('The model could not translate this.')")


def test_a_key_is_asked_for(browser: Any) -> None:
    with served(Models([Phrases()]), api_keys=["right"]) as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.fill("#text", "Hello")
        page.fill("#key", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#problem:has-text('The API key is not valid.')")
        page.fill("#key", "right")
        page.keyboard.press("Enter")
        wait_for(page, "hELLO")
        assert page.is_hidden("#key-form")
        context.close()


def test_it_works_on_a_phone(browser: Any, url: str) -> None:
    phone = {"width": 390, "height": 760}
    for page in opened(browser, url, viewport=phone, has_touch=True, is_mobile=True, device_scale_factor=2):
        type_text(page, LETTER)
        wait_for(page, german(LETTER))
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        top, bottom = (page.locator(name).bounding_box() for name in ("#text", "#translation"))
        assert bottom["y"] > top["y"] + top["height"] - 1
        assert all(page.locator(name).bounding_box()["height"] >= 36 for name in ("#swap", "#copy", "#open", "#theme"))
        page.tap(".word:text-is('hätte')")
        page.wait_for_selector("#choices li:has-text('möchte')")
        box = page.locator("#choices").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        page.tap("#choices li:has-text('suche')")
        picture(page, "translation-page-phone.png")


def test_dark_follows_the_system_until_the_reader_chooses(browser: Any, url: str) -> None:
    for page in opened(browser, url, color_scheme="dark"):
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        type_text(page, LETTER)
        wait_for(page, german(LETTER))
        page.hover(".sentence:has-text('Frühstück')")
        picture(page, "translation-page-dark.png")
        page.click("#theme")
        page.reload()
        page.wait_for_selector("html[data-theme=light]", state="attached")
        assert page.get_attribute("#theme", "aria-pressed") == "false"


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, which knows the rules of accessibility; kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman" / "axe"
    source = cache / "node_modules" / "axe-core" / "axe.min.js"
    npm = shutil.which("npm")
    if not source.exists() and npm:
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--prefix", str(cache), "--no-save", "axe-core"]
        subprocess.run(command, capture_output=True, check=False, timeout=60)
    if not source.exists():
        pytest.skip("axe-core is not here and npm cannot fetch it")
    return source.read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_a_screen_reader(browser: Any, url: str, axe: str, scheme: str) -> None:
    for page in opened(browser, url, color_scheme=scheme, reduced_motion="reduce"):
        page.evaluate(axe)
        type_text(page, "a" * 20_001)
        page.wait_for_selector("#problem:not(:empty)")
        assert violations(page) == []
        type_text(page, LETTER)
        wait_for(page, german(LETTER))
        page.hover(".sentence:has-text('Frühstück')")
        assert violations(page) == []
        page.click(".word:text-is('hätte')")
        page.wait_for_selector("#choices li:has-text('möchte')")
        assert violations(page) == []


def violations(page: Any) -> list[str]:
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:120]} {each['nodes'][0]['failureSummary']}" for each in found]
