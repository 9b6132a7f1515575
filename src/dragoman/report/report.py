"""A report: facts, answers and their summary; and the three files that it is written to."""

import json
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.files import write_atomically
from dragoman.report.answers import Answer
from dragoman.report.facts import Facts
from dragoman.report.questions import answer_all
from dragoman.report.summary import Summary, summarise

HTML, MARKDOWN, JSON = "index.html", "report.md", "report.json"


@dataclass(frozen=True)
class Report:
    """All that is said about one run."""

    facts: Facts
    answers: tuple[Answer, ...]
    summary: Summary


def make_report(facts: Facts) -> Report:
    """Answer every question."""
    answers = answer_all(facts)
    return Report(facts, answers, summarise(facts, answers))


def write_files(report: Report, directory: Path) -> None:
    """Each file whole or not at all."""
    from dragoman.report.as_json import as_json
    from dragoman.report.as_markdown import as_markdown
    from dragoman.report.as_page import as_page

    write_atomically(directory / JSON, json.dumps(as_json(report), indent=1, ensure_ascii=False) + "\n")
    write_atomically(directory / MARKDOWN, as_markdown(report))
    write_atomically(directory / HTML, as_page(report))


def write_report(directory: Path) -> str | None:
    """Report on a run of ours at its exit. Never raises: what went wrong is given back as a sentence.

    Observers must not touch the observed: a run that ended well has ended well, whatever becomes of its report.
    """
    try:
        from dragoman.report.run_directory import read_run

        write_files(make_report(read_run(directory)), directory / "report")
        return None
    except Exception as error:
        return f"no report was written: {error}"
