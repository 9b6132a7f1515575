"""`report.md`: the same in plain text, for a terminal, a repository or a mail."""

import re

from dragoman.report.answers import Advice, Answer, Bars
from dragoman.report.report import Report

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def as_markdown(report: Report) -> str:
    """Headings, sentences, tables."""
    facts, summary = report.facts, report.summary
    parts = [f"# {escaped(facts.source.name)}", f"**{escaped(summary.sentence)}**"]
    if summary.figures:
        names = " | ".join(escaped(figure.label) for figure in summary.figures)
        values = " | ".join(escaped(figure.text) for figure in summary.figures)
        parts.append(f"| {names} |\n|{'---|' * len(summary.figures)}\n| {values} |")
    if summary.things:
        parts.append("## What to do next")
        parts.append("\n".join(f"{place}. {_advice(advice)}" for place, advice in enumerate(summary.things, start=1)))
    parts.append("## The eleven questions")
    parts += [_answer(answer) for answer in report.answers if answer.number is not None]
    parts.append("## And also")
    parts += [_answer(answer) for answer in report.answers if answer.number is None]
    parts.append("## What this rests on")
    parts.append(_list([f"Read as a run of {facts.source.system}: {', '.join(facts.source.files) or 'nothing'}."]))
    for title, sentences in (
        ("Assumed", facts.source.assumptions),
        ("Remarked", facts.source.remarks),
        ("Passed over", facts.source.passed_over),
    ):
        if sentences:
            parts.append(f"{title}:\n\n{_list(sentences)}")
    return "\n\n".join(parts) + "\n"


def _answer(answer: Answer) -> str:
    number = f"{answer.number}. " if answer.number is not None else ""
    parts = [
        f"### {number}{escaped(answer.question)}",
        f"**{escaped(answer.shown or answer.verdict)}** — {escaped(answer.sentence)}",
    ]
    if answer.numbers:
        rows = "\n".join(f"| {escaped(one.name)} | {escaped(one.text)} |" for one in answer.numbers)
        parts.append(f"| | |\n|---|---|\n{rows}")
    if isinstance(answer.chart, Bars):
        rows = "\n".join(f"| {escaped(bar.label)} | {escaped(bar.text)} |" for bar in answer.chart.bars)
        parts.append(f"{escaped(answer.chart.title)}:\n\n| | |\n|---|---|\n{rows}")
    if answer.evidence:
        parts.append(_list(answer.evidence))
    if answer.rule:
        parts.append(f"*Rule: {escaped(answer.rule)}*")
    return "\n\n".join(parts)


def _advice(advice: Advice) -> str:
    command = f" (`{advice.command.replace('`', chr(39))}`)" if advice.command else ""
    return f"{escaped(advice.text)} Brings: {escaped(advice.gain)}.{command}"


def _list(sentences: "tuple[str, ...] | list[str]") -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def escaped(text: str) -> str:
    """Text from a run stays text: one line, and no markup."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
