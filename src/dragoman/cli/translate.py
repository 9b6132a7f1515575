"""`dragoman translate`: lines in, lines out, in the same order; or a whole document, whose structure stays."""

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dragoman.cli.settings import decoding_config, only_decoding
from dragoman.core import config_file
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from dragoman.core.paths import ExportPaths, RunPaths
from dragoman.documents import formats

EXAMPLES = """\
examples:
  echo 'Where is the train station?' | dragoman translate models/en-de
  dragoman translate models/en-de letter.txt > brief.txt
  dragoman translate models/en-de letter.txt --n-best 3 --json
  dragoman translate models/en-de letters.en --n-best 5 --nearest-to letters.de > taught.de
  echo 'Where is the train station?' | dragoman translate models/en-de --alternatives 'Wo '
  dragoman translate models/en-de guide.md > anleitung.md
  dragoman translate models/en-de messages.po > de.po

MODEL is what `dragoman export` wrote, or a run. Markdown, HTML, .srt and .po keep their structure: tags,
placeholders and numbers are checked, and what would lose one is left as it was and named on standard error."""
LINES_AT_ONCE = 1024
"""Enough for full batches, few enough to stream."""
CANDIDATES = 3
"""Translations of a segment among which the first that keeps codes and numbers is taken."""
ALTERNATIVES = 5

Ranked = Sequence[tuple[str, float | None]]
"""Translations of one text with their scores, best first."""


@dataclass(frozen=True)
class Model:
    """What this verb needs of an engine."""

    ranked: Callable[[Sequence[str], int], list[Ranked]]
    """Texts and a number → so many translations of each."""
    alternatives: Callable[[str, str, int], list[str]]
    """A text, the start of its translation and a number → so many ways to go on."""
    target_language: str


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "translate",
        help="translate with a trained model",
        description="Translate a file, or standard input, to standard output: line by line, or a document as a whole.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="an exported model, or a run directory")
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="text, a sentence or paragraph a line")
    parser.add_argument("--format", choices=formats.FORMATS, help="what the text is (as the file's name says)")
    parser.add_argument("--n-best", type=int, default=1, metavar="N", help="give the N best translations of each line")
    parser.add_argument(
        "--nearest-to", type=Path, metavar="REFERENCE", help="of the N best the one nearest to this file's line"
    )
    parser.add_argument("--alternatives", metavar="START", help="ways to go on after this start of the translation")
    parser.add_argument("--json", action="store_true", help="a list of objects a line, with scores")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="an exported model: cores to use (all)")
    parser.add_argument("--average", type=int, default=1, metavar="K", help="a run: the mean of its last K checkpoints")
    parser.add_argument("--set", action="append", default=[], metavar="a.b=c", help="such as decoding.beam=1")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if options.n_best < 1 or options.average < 1 or options.threads < 0:
        raise UserError("--n-best and --average are 1 or more, --threads is 0 or more")
    if options.nearest_to and (options.n_best < 2 or options.file is None or options.alternatives is not None):
        raise UserError("--nearest-to chooses among the translations of a file's lines", "name FILE and --n-best 5")
    kind = options.format or formats.format_of(options.file)
    if kind != "text" and (options.json or options.n_best > 1 or options.alternatives is not None):
        raise UserError("--json, --n-best and --alternatives are for plain text", "add --format text")
    if options.nearest_to:
        _translate_nearest(options)
        return
    with _opened(options.file) as source:
        if kind == "text":
            _translate_lines(_model(options), source, options)
        else:
            name = str(options.file or "standard input")
            _translate_document(_text(source.read(), name), kind, name, options)


def _opened(file: Path | None) -> BinaryIO:
    try:
        return sys.stdin.buffer if file is None else file.open("rb")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _translate_lines(model: Model, source: BinaryIO, options: argparse.Namespace) -> None:
    """Some lines at a time, so that any number streams through; broken bytes are shown as such."""
    # Someone who types waits for each line; a file is translated many lines at a time.
    at_once = 1 if options.file is None and sys.stdin.isatty() else LINES_AT_ONCE
    lines = (line.decode(errors="replace").rstrip("\r\n") for line in source)
    while chunk := list(itertools.islice(lines, at_once)):
        if options.alternatives is None:
            found = model.ranked(chunk, options.n_best)
        else:
            num = options.n_best if options.n_best > 1 else ALTERNATIVES
            found = [[(way, None) for way in model.alternatives(line, options.alternatives, num)] for line in chunk]
        for ranked in found:
            _print_ranked(ranked, as_json=options.json)
        sys.stdout.flush()


def _translate_nearest(options: argparse.Namespace) -> None:
    """For each line that one of its best translations which is most like what a person wrote."""
    from dragoman.cli.sentence_files import parallel_sentences
    from dragoman.decoding.score import nearest, tokenizer_for

    pairs = zip(*parallel_sentences(options.file, options.nearest_to), strict=True)
    model = _model(options)
    tokenizer = tokenizer_for(model.target_language)
    while chunk := list(itertools.islice(pairs, LINES_AT_ONCE)):
        found = model.ranked([source for source, _ in chunk], options.n_best)
        for ranked, (_, reference) in zip(found, chunk, strict=True):
            place = nearest([text for text, _ in ranked], reference, tokenizer)
            _print_ranked([ranked[place]], as_json=options.json)
        sys.stdout.flush()


def _print_ranked(ranked: Ranked, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_as_object(text, score) for text, score in ranked], ensure_ascii=False))
    else:
        for text, _ in ranked:
            print(text)


def _as_object(text: str, score: float | None) -> dict[str, object]:
    return {"text": text} if score is None else {"text": text, "score": round(score, 4)}


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name}:{line}: not UTF-8, so its structure cannot be kept", "convert it to UTF-8") from None


def _translate_document(text: str, kind: str, name: str, options: argparse.Namespace) -> None:
    model = _model(options, CANDIDATES)

    def candidates(texts: Sequence[str]) -> list[list[str]]:
        return [[text for text, _ in ranked] for ranked in model.ranked(texts, CANDIDATES)]

    translated, notes = formats.retold(text, kind, candidates)
    sys.stdout.buffer.write(translated.encode())
    sys.stdout.flush()
    for note in notes:
        short = note.text if len(note.text) <= 60 else note.text[:59] + "…"
        reason = "left untranslated, it would lose a number or a placeholder"
        print(f"{name}:{note.line}: {reason}: {short}", file=sys.stderr)


def _model(options: argparse.Namespace, at_least_beam: int = 1) -> Model:
    """The engine that fits what was named."""
    if ExportPaths(options.model).card.is_file():
        return _exported(options)
    if not RunPaths(options.model).config.is_file():
        raise UserError(
            f"there is no model in {options.model}: neither model.json nor config.toml",
            "export one with `dragoman export RUN --out DIR`",
        )
    return _run(options, at_least_beam)


def _exported(options: argparse.Namespace) -> Model:
    from dragoman.export.engine import Translator

    translator = Translator.open(options.model, threads=options.threads)
    if options.set:
        as_exported = Config(decoding=translator.card.decoding)
        decoding = config_file.parse_onto(as_exported, "\n".join(only_decoding(options.set)), "--set").decoding
        translator = translator.with_decoding(decoding)

    def ranked(texts: Sequence[str], num: int) -> list[Ranked]:
        return [[(each.text, each.score) for each in found] for found in translator.hypotheses(texts, num)]

    return Model(ranked, translator.alternatives, translator.card.target_language)


def _run(options: argparse.Namespace, at_least_beam: int) -> Model:
    decoding = decoding_config(options.model, options.set, at_least_beam=max(options.n_best, at_least_beam))
    from dragoman.decoding.load import load_run

    translator = load_run(options.model, decoding, average_last=options.average)

    def ranked(texts: Sequence[str], num: int) -> list[Ranked]:
        return [[(each.text, each.score) for each in found.candidates] for found in translator.stream(texts, num)]

    def alternatives(text: str, prefix: str, num: int) -> list[str]:
        export = f"`dragoman export {options.model} --out DIR`"
        raise UserError("a run gives no alternatives, an exported model does", export)

    return Model(ranked, alternatives, config_file.load(RunPaths(options.model).config).corpus.target_language)
