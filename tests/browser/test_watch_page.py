"""The live page in a real browser: it shows the run, follows it, and says so when there is nothing to follow."""

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from dragoman.watch.observer import Observer
from dragoman.watch.web import PageServer
from tests.watched_run import WatchedRun

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")]

SOON_MS = 20_000


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with playwright.sync_playwright() as starter:
        browser = starter.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def run(tmp_path: Path) -> WatchedRun:
    return WatchedRun(tmp_path / "run").as_usual()


@pytest.fixture
def server(run: WatchedRun) -> Iterator[PageServer]:
    with PageServer(Observer(run.paths.directory), 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: "Browser", server: PageServer) -> "Iterator[Page]":
    """The page, opened; complaints of its script and requests to other places fail the test."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(SOON_MS)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: complaints.append(request.url) if not is_own(request.url, server) else None)
    page.goto(server.url)
    yield page
    page.close()
    assert [one for one in complaints if "ERR_CONNECTION_REFUSED" not in one] == []


def is_own(url: str, server: PageServer) -> bool:
    return url.startswith(server.url) or url == "data:,"


def curve(page: "Page", title: str) -> "Locator":
    return page.locator(f'figure[data-title="{title}"] polyline').first


def num_points(page: "Page", title: str) -> int:
    return len((curve(page, title).get_attribute("points") or "").split())


def test_the_page_shows_the_run(page: "Page") -> None:
    expect = playwright.expect
    expect(page.locator("#status")).to_have_text("running")
    expect(page.locator("#head li").first).to_contain_text("step 200 of 1,000 (20 %)")
    expect(page.locator("#ranks")).to_contain_text("rank 1: 0.500 s = data wait 2 %")
    expect(page.locator("#hosts")).to_contain_text("GPU 0 Tesla V100: 100 % of the time busy · 42 W of 250 W")
    expect(page.locator("#samples")).to_contain_text("→ Ein Hund rennt.")
    expect(page).to_have_title(re.compile("^200 · "))
    assert page.locator("#share").evaluate("bar => bar.value") == pytest.approx(0.2)
    assert num_points(page, "Loss (nats a token)") == 200
    titles = page.locator("figcaption").all_text_contents()
    assert {"BLEU and chrF on dev", "Target tokens a second", "Network sent (MB/s)", "GPU power (share of cap)"} <= set(
        titles
    )
    assert page.locator('figure[data-title="Seconds of a step, main rank"] polygon').count() == 5
    assert page.locator("#problem").is_hidden()


def test_a_falling_loss_falls_from_left_to_right(page: "Page") -> None:
    way = curve(page, "Loss (nats a token)")
    way.wait_for(state="attached")
    points = [tuple(map(float, pair.split(","))) for pair in (way.get_attribute("points") or "").split()]
    assert points[0][0] == 52 and points[-1][0] == 432
    assert points[0][1] < points[100][1] < points[-1][1]  # further down is lower


def test_a_new_line_appears_by_itself(page: "Page", run: WatchedRun) -> None:
    curve(page, "Loss (nats a token)").wait_for(state="attached")
    run.steps(201, 203)
    run.evaluation(203, bleu=45.6)
    head = page.locator("#head")
    playwright.expect(head).to_contain_text("step 203 of 1,000")
    playwright.expect(head).to_contain_text("BLEU 45.6")
    assert num_points(page, "Loss (nats a token)") == 203


def test_after_a_resume_the_abandoned_steps_are_gone(page: "Page", run: WatchedRun) -> None:
    curve(page, "Loss (nats a token)").wait_for(state="attached")
    run.steps(151, 152)
    playwright.expect(page.locator("#head")).to_contain_text("step 152 of 1,000")
    assert num_points(page, "Loss (nats a token)") == 152


def test_a_gap_in_what_is_known_is_a_gap_in_the_line(page: "Page", run: WatchedRun) -> None:
    run.steps(201, 201, loss=None)
    run.steps(202, 210)
    playwright.expect(page.locator("#head")).to_contain_text("step 210")
    assert page.locator('figure[data-title="Loss (nats a token)"] polyline.s0').count() == 2


def test_pointing_at_a_curve_tells_its_value_there(page: "Page") -> None:
    figure = page.locator('figure[data-title="Target tokens a second"]')
    figure.locator("svg").hover(position={"x": 200, "y": 60})
    playwright.expect(figure.locator(".legend")).to_have_text(re.compile(r"^step \d+tokens/s: 4,000$"))


def test_a_run_that_vanishes_is_told_and_shown_again_when_it_is_back(
    page: "Page", run: WatchedRun, tmp_path: Path
) -> None:
    playwright.expect(page.locator("#status")).to_have_text("running")
    run.paths.directory.rename(tmp_path / "aside")
    problem = page.locator("#problem")
    playwright.expect(problem).to_be_visible()
    playwright.expect(problem).to_contain_text("is gone or holds no run any more")
    (tmp_path / "aside").rename(run.paths.directory)
    playwright.expect(problem).to_be_hidden()


def test_a_server_that_has_ended_is_told(page: "Page", server: PageServer) -> None:
    playwright.expect(page.locator("#status")).to_have_text("running")
    server.shutdown()
    server.socket.close()
    playwright.expect(page.locator("#problem")).to_contain_text("is `dragoman watch` still running?")


def test_words_of_a_run_are_text_and_no_markup(page: "Page", run: WatchedRun) -> None:
    run.event("saved", 200, "<img src=x onerror=alert(1)><b>bold</b>")
    playwright.expect(page.locator("#events")).to_contain_text("<img src=x onerror=alert(1)><b>bold</b>")
    assert page.locator("#events img, #events b").count() == 0


@pytest.mark.parametrize("scheme, is_dark", [("light", False), ("dark", True)])
def test_the_page_follows_the_wish_for_darkness_and_stays_readable(
    page: "Page", scheme: Literal["light", "dark"], is_dark: bool
) -> None:
    page.emulate_media(color_scheme=scheme)
    ground, ink = (
        page.evaluate(f"getComputedStyle(document.body).{name}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)")
        for name in ("backgroundColor", "color")
    )
    assert (ground < ink) == is_dark
    assert abs(ground - ink) > 500


def test_a_narrow_screen_needs_no_sideways_scrolling(page: "Page") -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    curve(page, "Loss (nats a token)").wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
