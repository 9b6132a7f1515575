"""`dragoman report`: what happened in a run, with evidence, also in a log of another system."""

import argparse
import json
import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.core.errors import UserError
from dragoman.core.files import explaining_disk_errors

if TYPE_CHECKING:
    from dragoman.report.facts import Device, Facts
    from dragoman.report.report import Report

EXAMPLES = """\
examples:
  dragoman report runs/phrasebook
  dragoman report train.log --price 12.24 --out /tmp/report
  dragoman report runs/phrasebook --json | jq .summary

A run directory of Dragoman, or a log, event file or folder of OpenSeq2Seq, Marian, fairseq or TensorBoard.
The report goes to RUN/report, or to the directory that --out names."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "report",
        help="what happened in a run, with evidence",
        description="Answer the eleven questions about a run and what follows from them; write a page, text and JSON.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory, or a log of another system")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the report goes (RUN/report)")
    parser.add_argument("--price", type=float, metavar="N", help="what all machines cost an hour together")
    parser.add_argument("--json", action="store_true", help="print report.json instead of the short form")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    from dragoman.report.as_json import as_json
    from dragoman.report.report import HTML, make_report, write_files

    if options.price is not None and not 0 < options.price < 1e9:
        raise UserError(f"--price {options.price:g}: a price an hour is above zero")
    facts = read_facts(options.run, options.price)
    directory = options.out or (options.run / "report" if options.run.is_dir() else Path(f"{options.run.name}.report"))
    report = make_report(facts)
    with explaining_disk_errors(directory):
        write_files(report, directory)
    if options.json:
        print(json.dumps(as_json(report), ensure_ascii=False))
    else:
        print(short_form(report, shutil.get_terminal_size().columns))
    print(f"\nThe whole report: {directory / HTML}", file=sys.stderr)


def read_facts(path: Path, price_per_hour: float | None = None) -> "Facts":
    """A run of ours, or of another system; UserError for what is neither."""
    import dataclasses

    from dragoman.core.paths import RunPaths
    from dragoman.report.run_directory import read_run

    paths = RunPaths(path)
    if path.is_dir() and (paths.config.is_file() or paths.steps(0).parent.is_dir()):
        facts = read_run(path, _peak_of, num_processes=os.cpu_count() or 1)
        settings = facts.settings
        if price_per_hour is not None:
            settings = dataclasses.replace(settings, price_per_hour=price_per_hour)
        return dataclasses.replace(facts, settings=settings)
    if not path.exists():
        raise UserError(f"there is no run {path}", "train one with `dragoman train RECIPE.toml`")
    if path.is_dir() and not any(path.iterdir()):
        raise UserError(f"{path} is empty: no run and no log", "train one with `dragoman train RECIPE.toml`")
    from dragoman.report.foreign.to_facts import read

    return read(path, price_per_hour)


def _peak_of(device: str, precision: str) -> "Device | None":
    """By the planner's catalogue; None for a device that it does not know."""
    from dragoman.planner import hardware
    from dragoman.report.facts import Device

    try:
        gpu = hardware.find_gpu(device)
        return Device(gpu.name, gpu.peak(precision), gpu.source)
    except (UserError, AttributeError):
        return None


def short_form(report: "Report", width: int) -> str:
    """What fits a terminal: the verdict, what to do next, and each question in a sentence."""
    width = max(40, min(width, 110))
    lines = ["", *textwrap.wrap(report.summary.sentence, width), ""]
    if report.summary.figures:
        shown = "   ".join(f"{figure.text} {figure.label}" for figure in report.summary.figures)
        lines += [*textwrap.wrap(shown, width), ""]
    if report.summary.things:
        lines.append("What to do next")
        for place, advice in enumerate(report.summary.things, start=1):
            text = f"{advice.text} → {advice.gain}" + (f" [{advice.command}]" if advice.command else "")
            lines += textwrap.wrap(text, width, initial_indent=f" {place}  ", subsequent_indent="    ")
        lines.append("")
    for answer in report.answers:
        if answer.number == 1:
            lines.append("The eleven questions")
        name = f"{answer.number:>2}" if answer.number is not None else " ·"
        text = f"{answer.question} {answer.sentence}"
        lines += textwrap.wrap(_printable(text), width, initial_indent=f"{name}  ", subsequent_indent="    ")
    return "\n".join(lines)


def _printable(text: str) -> str:
    """Without control characters: what a log holds must not move the cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
