"""The three files: they say the same, need nothing else, and let nothing from a run act as markup."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.core.run_records import EventRecord
from dragoman.report.answers import Advice, Bar, Bars, Curves, Line, Mark, money, percent, seconds
from dragoman.report.as_json import VERSION, as_json
from dragoman.report.as_markdown import as_markdown, escaped
from dragoman.report.as_page import as_page
from dragoman.report.drawing import drawn, tick_label, ticks
from dragoman.report.facts import CorpusFacts, CorpusFile, Facts, Settings, Source
from dragoman.report.report import Report, make_report, write_files, write_report
from dragoman.report.summary import summarise
from dragoman.report.thinning import MOST_POINTS, line
from tests.unit.report.made_up import curve, preflight, rank_steps, run

EVIL = "</script><img src=x onerror=alert(1)>\"'&<b>`|\x1b[31m"
FALLING = 2 + 5 * (100 * np.arange(1.0, 21.0)) ** -0.3


class Tags(HTMLParser):
    """What a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attributes)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop() if self._open else None

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("script", "style"):
            self.text += data


def report_of(**more: Any) -> Report:
    members = (rank_steps(wait_s=0.3, seed=0), rank_steps(wait_s=0.3, seed=7))
    return make_report(run(*members, evaluations=curve(FALLING), preflight=preflight(1e8), **more))


def evil_report() -> Report:
    facts = report_of().facts
    events = (EventRecord("2026-01-01T00:00:00+00:00", "resumed", 3, 0, EVIL),)
    source = Source(EVIL, EVIL, (EVIL,), (EVIL,), (EVIL,), (EVIL,))
    corpus = CorpusFacts(files=(CorpusFile(EVIL, 1, 1),), pairs_read=10, train_pairs=1, dropped={EVIL: 3})
    settings = dataclasses.replace(facts.settings, device=EVIL)
    return make_report(
        dataclasses.replace(facts, source=source, events=events, corpus=corpus, settings=settings, ended=EVIL)
    )


def test_nothing_from_a_run_acts_as_markup() -> None:
    page = as_page(evil_report())
    tags = Tags(page)
    assert "img" not in {tag for tag, _ in tags.seen} and "b" not in [tag for tag, a in tags.seen if "onerror" in a]
    assert all(not name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert sum(tag == "script" and not attributes for tag, attributes in tags.seen) == 1
    assert page.count("</script><img") == 0
    assert "<img src=x" in tags.text, "it is shown as text"


def test_the_page_needs_nothing_else() -> None:
    page = as_page(report_of())
    tags = Tags(page)
    assert not [
        tag for tag, attributes in tags.seen if {"src", "srcset"} & set(attributes) or tag in ("link", "iframe")
    ]
    assert "http://" not in page and "https://" not in page and "url(" not in page
    policy = next(a["content"] for tag, a in tags.seen if tag == "meta" and "http-equiv" in a)
    assert policy is not None and policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"
    )


def test_the_page_begins_with_the_verdict_and_three_things_to_do() -> None:
    report = report_of()
    text = Tags(as_page(report)).text.replace("\u00a0", " ")
    assert len(report.summary.things) == 3
    places = [text.index(report.summary.sentence), text.index("What to do next"), text.index("The eleven questions")]
    assert places == sorted(places)
    for number in range(1, 12):
        assert any(answer.number == number for answer in report.answers)


def test_every_picture_has_words() -> None:
    tags = Tags(as_page(report_of()))
    pictures = [attributes for tag, attributes in tags.seen if tag == "svg"]
    assert len(pictures) >= 5
    assert all(attributes.get("role") == "img" and attributes.get("aria-label") for attributes in pictures)


def test_the_page_of_a_long_run_stays_light() -> None:
    steps = rank_steps(100_000)
    page = as_page(make_report(run(steps, evaluations=curve(FALLING))))
    assert len(page) < 400_000


def test_json_is_versioned_and_holds_every_answer() -> None:
    report = report_of()
    value = json.loads(json.dumps(as_json(report), allow_nan=False))
    assert (value["schema"], value["version"]) == ("dragoman-report", VERSION)
    assert [answer["key"] for answer in value["answers"]] == [answer.key for answer in report.answers]
    assert len({answer["key"] for answer in value["answers"]}) == len(report.answers)
    assert value["summary"]["sentence"] == report.summary.sentence
    assert {"key", "number", "verdict", "sentence", "numbers", "evidence", "rule"} <= set(value["answers"][0])


def test_markdown_escapes_what_comes_from_a_run() -> None:
    assert escaped("a|b\n# c <b> `d` *e*") == r"a\|b \# c \<b\> \`d\` \*e\*"
    text = as_markdown(evil_report())
    assert "<img" not in re.sub(r"\\<", "", text)
    assert as_markdown(report_of()).startswith("# made up\n\n**")


def test_every_answer_of_every_kind_of_run_has_a_rule_and_a_sentence() -> None:
    for report in (report_of(), make_report(Facts(Source("x", "Marian"))), make_report(run(rank_steps()))):
        for answer in report.answers:
            assert answer.rule, answer.key
            assert answer.sentence.strip() and answer.sentence[-1] in ".?!", answer
            assert "nan" not in answer.sentence.lower().split(), answer.sentence


def test_nothing_known_is_undetermined_and_never_zero() -> None:
    report = make_report(Facts(Source("x", "Marian")))
    assert {answer.verdict for answer in report.answers} == {"undetermined"}
    assert all(number.value is None for answer in report.answers for number in answer.numbers)
    assert report.summary.figures == ()
    as_page(report)


def test_the_summary_names_the_worst_and_ranks_by_what_is_saved() -> None:
    report = report_of()
    assert report.summary.tone == "bad"
    assert "50 % of every step waited for the network (2 min 0 s)" in report.summary.sentence
    shares = [advice.saves_share for advice in report.summary.things]
    assert shares == sorted(shares, reverse=True)
    assert report.summary.things[0].text.startswith("Send less:")


def test_a_healthy_run_is_said_to_be_so() -> None:
    flat = 2 + 40 * (100 * np.arange(1.0, 21.0)) ** -1.2
    summary = make_report(run(evaluations=curve(flat))).summary
    assert summary.sentence == "The model is fully trained for its schedule after 400 steps in 2 min 2 s."
    assert summary.tone == "good"


def test_who_has_one_machine_is_not_told_to_measure_its_link() -> None:
    report = report_of()
    unsure = [
        dataclasses.replace(answer, verdict="undetermined" if answer.key == "network" else answer.verdict, advice=())
        for answer in report.answers
    ]
    for hosts, is_told in ((1, False), (2, True)):
        facts = dataclasses.replace(report.facts, settings=dataclasses.replace(report.facts.settings, hosts=hosts))
        things = [thing.text for thing in summarise(facts, unsure).things]
        assert ("Measure the link before the next run." in things) == is_told


def test_advice_beyond_three_is_left_out() -> None:
    report = report_of()
    crowded = [dataclasses.replace(answer, advice=(Advice("do", "much", 0.9),) * 4) for answer in report.answers]
    assert len(summarise(report.facts, crowded).things) == 3


def test_files_are_written_and_a_report_never_raises_into_training(tmp_path: Path) -> None:
    write_files(report_of(), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["index.html", "report.json", "report.md"]
    assert write_report(tmp_path / "nowhere") == (
        f"no report was written: there is no run {tmp_path / 'nowhere'}; train one with `dragoman train RECIPE.toml`"
    )


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.1, 0.31, [0.1, 0.15, 0.2, 0.25, 0.3]),
        (3, 3, [3]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    "value, label",
    [(0, "0"), (106_300, "106,300"), (0.25, "0.25"), (0.00025, "2.5e-4"), (3e7, "3e7"), (1.5, "1.5"), (-2, "-2")],
)
def test_tick_labels_are_short(value: float, label: str) -> None:
    assert tick_label(value) == label


def test_a_chart_of_nothing_is_nothing() -> None:
    assert drawn(Curves("x", "x", "y", (Line("a", (), ()),))) == ""
    assert drawn(Bars("x", "s", ())) == ""
    assert drawn(Bars("x", "s", (Bar("a", (("p", 0.0),), "none"),))) == ""


def test_a_chart_cuts_a_spike_and_says_so() -> None:
    y = (1.0,) * 50 + (900.0,)
    picture = drawn(Curves("x", "step", "s", (Line("a", tuple(map(float, range(51))), y),), is_y_from_zero=True))
    assert "cut off: up to 900" in picture


def test_a_single_point_and_a_mark_can_be_drawn() -> None:
    picture = drawn(Curves("x", "step", "y", (Line("a", (5.0,), (1.0,)),), (Mark(5.0, "here <"),)))
    assert "<circle" in picture and "here &lt;" in picture


def test_thinning_keeps_spikes_ends_and_few_points() -> None:
    y = np.zeros(100_000)
    y[54_321] = 7.0
    found = line("a", np.arange(100_000.0), y)
    assert len(found.x) <= MOST_POINTS + 2
    assert max(value for value in found.y if value is not None) == 7.0
    assert (found.x[0], found.x[-1]) == (0.0, 99_999.0)
    assert len(line("a", np.arange(100_000.0), y, smooth=True).x) == MOST_POINTS
    assert line("a", np.arange(3.0), np.array([1.0, np.nan, 3.0])).x == (0.0, 2.0)


def test_numbers_read_as_people_write_them() -> None:
    assert [percent(0.1234), percent(0.0123), percent(0.0)] == ["12 %", "1.2 %", "0 %"]
    assert [seconds(1.941), seconds(0.0123), seconds(34.893), seconds(1234.0)] == [
        "1.94 s",
        "12.3 ms",
        "34.9 s",
        "1,234 s",
    ]
    assert [money(12.345), money(1234.5)] == ["12.35", "1,234"]


def test_settings_of_a_foreign_run_need_no_model() -> None:
    as_page(make_report(Facts(Source("x", "fairseq"), Settings(parameters=5, ranks=8))))
