"""From a path to a transcript: opens it, finds out by its content whose log it is, and calls that parser.

Takes a log (plain or gzip), an event file, an exported table, or a folder of these. What is none of them is a
`UserError` that says what was found and what would be understood.
"""

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from dragoman.core import units
from dragoman.core.errors import UserError
from dragoman.report.foreign import fairseq, marian, openseq2seq, scalars, tensorboard_files
from dragoman.report.foreign.transcript import Transcript

MAX_BYTES = 2_000_000_000
"""Of text; a longer log is a mistake or a bomb."""
CHUNK_BYTES = 1 << 20
LOOK_CHARACTERS = 400_000
"""How far into a file its kind is looked for; banners and configurations come first."""
GZIP = b"\x1f\x8b"
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\n]*\x07|[@-Z\\^_])")
"""Commands to a terminal: colours, places of the cursor, titles."""
PART_OF_A_RUN = re.compile(
    r"(?:train|eval|valid|val|dev|test)(?:ing|idation|uation)?(?:_inner|_\d+)?|host-.*|logs?|tensorboard|tb",
    re.IGNORECASE,
)
"""Folders that divide one run: its parts, its hosts, the place of its charts."""
UNDERSTOOD = "give it a log of OpenSeq2Seq, Marian or fairseq, a TensorBoard event file, or a folder of its CSV exports"

PARSERS: tuple[tuple[str, Callable[[str], bool], Callable[[str], Transcript]], ...] = (
    (marian.SYSTEM, lambda text: bool(marian.MARK.search(text)), marian.parse),
    (fairseq.SYSTEM, lambda text: bool(fairseq.MARK.search(text)), fairseq.parse),
    (openseq2seq.SYSTEM, lambda text: bool(openseq2seq.MARK.search(text)), openseq2seq.parse),
)
"""Asked in this order; the words of the first two are theirs alone."""


def open_transcript(path: Path) -> Transcript:
    """What a file or folder of another system says."""
    if not path.exists():
        raise UserError(f"{path} is not there", UNDERSTOOD)
    transcript = _of_folder(path) if path.is_dir() else _of_file(path)
    if not transcript.points and not transcript.evaluations:
        raise UserError(
            f"{path} looks like {_article(transcript.system)} log, but it has no step and no evaluation", UNDERSTOOD
        )
    return transcript


def _of_folder(folder: Path) -> Transcript:
    events = sorted(file for file in folder.rglob(tensorboard_files.EVENT_FILES) if file.is_file())
    files = sorted(file for file in folder.iterdir() if file.is_file() and file not in events)
    tables = {file: text for file in files if (text := _table(file)) is not None}
    logs = [file for file in files if file not in tables and _is_log(file)]
    if len(logs) > 1:
        names = ", ".join(file.name for file in logs[:5])
        raise UserError(f"{folder} holds {len(logs)} logs: {names}", f"name one: dragoman report {logs[0]}")
    if logs:
        return _of_file(logs[0])
    if events:
        roots = {_run_of(file.parent.relative_to(folder)) for file in events}
        _refuse_several(folder, roots, f"name one, such as `dragoman report {folder / max(roots)}`")
        runs = (("" if f.parent == folder else str(f.parent.relative_to(folder)), read_bytes(f)) for f in events)
        return scalars.transcript(tensorboard_files.read_events(runs))
    if tables:
        roots = {_run_of(Path(tensorboard_files.tag_of_table(file.name)).parent) for file in tables}
        _refuse_several(folder, roots, "put the tables of one run into a folder of their own")
        named = [(file.name, text) for file, text in tables.items()]
        return scalars.transcript(tensorboard_files.read_tables(named))
    what = f"{len(files):,} files, none of them a log" if files else "no files"
    raise UserError(f"{folder} holds {what}", UNDERSTOOD)


def _run_of(place: Path) -> str:
    """The run that a folder of curves belongs to: its path without the part of the run that it holds."""
    names = list(place.parts)
    while names and PART_OF_A_RUN.fullmatch(names[-1]):
        names.pop()
    return "/".join(names)


def _refuse_several(folder: Path, runs: set[str], fix: str) -> None:
    """Curves of two runs must not be mixed into one answer."""
    if len(runs) > 1:
        names = sorted(name or "the folder itself" for name in runs)
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise UserError(f"{folder} holds curves of {len(runs)} runs: {shown}", fix)


def _of_file(path: Path) -> Transcript:
    data = read_bytes(path)
    if tensorboard_files.is_event_file(data):
        return scalars.transcript(tensorboard_files.read_events([("", data)]))
    text = decode(data)
    if tensorboard_files.is_table(text[:200]):
        return scalars.transcript(tensorboard_files.read_tables([(path.name, text)]))
    if not text.strip():
        raise UserError(f"{path} is empty", UNDERSTOOD)
    for _, fits, parse in PARSERS:
        if fits(text[:LOOK_CHARACTERS]):
            return parse(text)
    raise UserError(f"{path} is no training log that Dragoman knows", UNDERSTOOD)


def read_bytes(path: Path) -> bytes:
    """A whole file, unpacked where it is gzip whatever its name; a gzip that was cut gives what there is of it."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == GZIP
        if not is_packed:
            if path.stat().st_size > MAX_BYTES:
                raise _too_long(path)
            return path.read_bytes()
        return _unpacked(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def _unpacked(path: Path) -> bytes:
    """All members of a gzip file, up to where it is cut or broken: half a log is still half a log."""
    parts, size = [], 0
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    with path.open("rb") as file:
        while packed := file.read(CHUNK_BYTES):
            while packed:
                try:
                    parts.append(unpack.decompress(packed, MAX_BYTES - size + 1))
                except zlib.error:
                    return b"".join(parts)
                size += len(parts[-1])
                if size > MAX_BYTES:
                    raise _too_long(path)
                packed = unpack.unused_data or unpack.unconsumed_tail
                if unpack.eof:
                    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    return b"".join(parts)


def _too_long(path: Path) -> UserError:
    return UserError(f"{path} has more than {units.size(MAX_BYTES)} of text", "cut out the part of one run")


def decode(data: bytes) -> str:
    """UTF-8, or the 16 bits that a Windows shell writes; what cannot be read is marked, because logs mix encodings.

    Colours and other commands to a terminal are taken out: they stand between words and numbers.
    """
    is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")
    return TERMINAL.sub("", text) if "\x1b" in text else text


def _table(file: Path) -> str | None:
    if not file.name.lower().endswith((".csv", ".csv.gz")):
        return None
    text = decode(read_bytes(file))
    return text if tensorboard_files.is_table(text[:200]) else None


def _is_log(file: Path) -> bool:
    """Whether a parser knows the beginning; large binaries are not read whole."""
    try:
        with file.open("rb") as raw:
            start = raw.read(LOOK_CHARACTERS)
        if start[:2] == GZIP:
            with gzip.open(file, "rb") as packed:
                start = packed.read(LOOK_CHARACTERS)
    except (OSError, EOFError, zlib.error):
        return False
    text = decode(start)
    return any(fits(text) for _, fits, _ in PARSERS)


def _article(system: str) -> str:
    return f"an {system}" if system[0] in "AEIOU" else f"a {system}"
