"""`index.html`: the report as one page that needs nothing else. Everything that comes from the run is escaped."""

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib import resources

from dragoman.report.answers import Advice, Answer
from dragoman.report.drawing import drawn
from dragoman.report.facts import Facts
from dragoman.report.report import Report

NUMBER_AND_UNIT = re.compile(r"(\d) (?=(?:h|min|s|ms|%|B|kB|MB|GB|TB|MiB|W|TFLOP/s|GFLOP/s)\b|%)")


def as_page(report: Report) -> str:
    """The whole page."""
    facts, summary = report.facts, report.summary
    style, script = _resource("page.css"), _resource("page.js")
    # Only the page's own script may run, and nothing may be fetched: a second lock behind the escaping.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    figures = "".join(f"<li><b>{_text(one.text)}</b><span>{_text(one.label)}</span></li>" for one in summary.figures)
    things = "".join(_thing(advice) for advice in summary.things)
    eleven = [answer for answer in report.answers if answer.number is not None]
    more = [answer for answer in report.answers if answer.number is None]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">'
        f"<title>{_text(facts.source.name)} – report</title><style>{style}</style></head><body>\n"
        f'<header><p class="kicker">Report of a training run</p><h1>{_text(facts.source.name)}</h1>'
        f'<p class="meta">{_text(_meta(facts))}</p></header>\n<main>'
        f'<p class="verdict {summary.tone}">{_text(summary.sentence)}</p>'
        f'<ul class="figures">{figures}</ul>'
        + (f'<h2>What to do next</h2><ol class="things">{things}</ol>' if things else "")
        + f'<h2>The eleven questions</h2><table class="index">{_index(eleven)}</table>\n'
        + "\n".join(_article(answer) for answer in eleven)
        + f'\n<h2>And also</h2><table class="index">{_index(more)}</table>\n'
        + "\n".join(_article(answer) for answer in more)
        + f"</main>\n<footer><h2>What this rests on</h2>{_basis(facts)}</footer>\n"
        + f"<script>{script}</script></body></html>\n"
    )


def _text(text: str) -> str:
    """Safe to put between tags, with numbers kept beside their units at the end of a line."""
    return NUMBER_AND_UNIT.sub("\\1\u00a0", escape(text))


def _resource(name: str) -> str:
    return resources.files("dragoman.report").joinpath(name).read_text(encoding="utf-8")


def _meta(facts: Facts) -> str:
    settings = facts.settings
    words = [f"trained with {facts.source.system}"]
    if settings.model is not None:
        model = settings.model.sized()
        words.append(f"{model.encoder_layers}+{model.decoder_layers} layers of width {model.width}")
    if settings.parameters:
        words.append(f"{settings.parameters:,} parameters")
    if settings.ranks:
        hosts = f" on {settings.hosts} hosts" if settings.hosts and settings.hosts > 1 else ""
        words.append(f"{settings.ranks} rank{'s' * (settings.ranks != 1)}{hosts}")
    if settings.device:
        words.append(settings.device)
    if facts.is_running:
        words.append("still running")
    return " · ".join(words)


def _thing(advice: Advice) -> str:
    command = f" <code>{_text(advice.command)}</code>" if advice.command else ""
    return f'<li><div><p>{_text(advice.text)}</p><p class="gain">Brings: {_text(advice.gain)}.{command}</p></div></li>'


def _index(answers: Sequence[Answer]) -> str:
    return "".join(
        f'<tr><td>{answer.number or ""}</td><td><a href="#{answer.key}">{_text(answer.question)}</a></td>'
        f"<td>{_badge(answer)}</td></tr>"
        for answer in answers
    )


def _badge(answer: Answer) -> str:
    return f'<span class="badge {answer.tone}">{_text(answer.shown or answer.verdict)}</span>'


def _article(answer: Answer) -> str:
    number = f'<span class="no">{answer.number}</span>' if answer.number is not None else ""
    rows = "".join(f"<dt>{_text(one.name)}</dt><dd>{_text(one.text)}</dd>" for one in answer.numbers)
    evidence = "".join(f"<li>{_text(sentence)}</li>" for sentence in answer.evidence)
    return (
        f'<article id="{answer.key}"><div class="head"><h3>{number}{_text(answer.question)}</h3>'
        f"{_badge(answer)}</div>"
        f'<p class="answer">{_text(answer.sentence)}</p>'
        + (f"<dl>{rows}</dl>" if rows else "")
        + (drawn(answer.chart) if answer.chart is not None else "")
        + (f'<ul class="evidence">{evidence}</ul>' if evidence else "")
        + (f"<details><summary>The rule</summary><p>{_text(answer.rule)}</p></details>" if answer.rule else "")
        + "</article>"
    )


def _basis(facts: Facts) -> str:
    source = facts.source
    parts = [f"<p>Read as a run of {_text(source.system)}: {_text(', '.join(source.files) or 'nothing')}.</p>"]
    for title, sentences in (
        ("Assumed", source.assumptions),
        ("Remarked", source.remarks),
        ("Passed over", source.passed_over),
    ):
        if sentences:
            entries = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
            parts.append(f"<p>{title}:</p><ul>{entries}</ul>")
    return "".join(parts)
