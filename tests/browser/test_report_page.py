"""The report in a real browser: its script runs, charts answer pointer and keys, phones and printers can show it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dragoman.report.report import make_report, write_files
from tests.unit.report.made_up import curve, preflight, rank_steps, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")]
SOON_MS = 20_000


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of two ranks on a slow link."""
    directory: Path = tmp_path_factory.mktemp("report")
    members = (rank_steps(3000, wait_s=0.3, seed=0), rank_steps(3000, wait_s=0.3, seed=7))
    falling = 2 + 5 * (100 * np.arange(1.0, 21.0)) ** -0.3
    write_files(make_report(run(*members, evaluations=curve(falling), preflight=preflight(1e8))), directory)
    return (directory / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with playwright.sync_playwright() as starter:
        browser = starter.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "Browser", address: str) -> "Iterator[Page]":
    """The page, opened; a complaint of its script or a request to any other place fails the test."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.set_default_timeout(SOON_MS)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: complaints.append(request.url) if request.url != address else None)
    page.goto(address)
    yield page
    page.close()
    assert complaints == []


def test_the_first_screen_holds_the_verdict_and_what_to_do(page: "Page") -> None:
    assert page.locator(".verdict").bounding_box()["y"] < 300  # type: ignore[index]
    assert page.locator(".things li").count() == 3
    last = page.locator(".things li").nth(2).bounding_box()
    assert last is not None and last["y"] + last["height"] < 900


def test_the_pointer_shows_the_numbers_under_it(page: "Page") -> None:
    chart = page.locator("#trained svg")
    chart.scroll_into_view_if_needed()
    chart.hover(position={"x": 400, "y": 100})
    tip = page.locator("#trained .tip")
    assert tip.is_visible()
    assert tip.inner_text().startswith("step ") and "dev: " in tip.inner_text()
    page.mouse.move(1, 1)
    assert not tip.is_visible()


def test_arrow_keys_walk_along_a_chart(page: "Page") -> None:
    page.locator("#trained svg").focus()
    page.keyboard.press("Home")
    first = page.locator("#trained .tip").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#trained .tip").inner_text() != first
    page.keyboard.press("Escape")
    assert not page.locator("#trained .tip").is_visible()


@pytest.mark.parametrize("width", [360, 500, 1400])
def test_nothing_is_wider_than_the_screen(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_pages_are_dark_and_text_can_be_read(page: "Page") -> None:
    page.emulate_media(color_scheme="dark")
    colours = page.evaluate(
        "(() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; })()"
    )
    assert colours == ["rgb(22, 23, 26)", "rgb(233, 230, 223)"]


def test_in_print_the_rules_are_shown(page: "Page") -> None:
    page.emulate_media(media="print")
    assert page.locator("#network details p").is_visible()
